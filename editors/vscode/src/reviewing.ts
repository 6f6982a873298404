// The commands for changes that were made: they are reviewed, shown and undone.
import { join, relative, sep } from "node:path";
import * as vscode from "vscode";
import {
  ChangedMeanwhile,
  type Changes,
  changesOf,
  comment,
  commentsOn,
  decideAs,
  diffOf,
  isAside,
  isSame,
  rejected,
  revert,
} from "./changes";
import { type Span, counted } from "./history";
import type { Located } from "./historyView";
import { takeBack } from "./patches";
import type { ChangedFile } from "./planning";
import { Failed } from "./refusal";
import { type Item, type Review, hunkOf } from "./review";
import type { Texts } from "./texts";
import {
  Complaint,
  Files,
  Refused,
  attempt,
  folder,
  program,
  unsavedIn,
  unsavedOf,
} from "./workspace";

/** The newest change that is not undone, with all of its turn. */
const NEWEST: Span = { args: [], title: "the newest change" };

/** The transactions of a line of the view, and the file that it is about. */
function spanOf({ node }: Located): { span: Span; path?: string } {
  if (node.kind === "folder") throw new Complaint("Choose a session or a change.");
  if (node.kind !== "file") return { span: node.span };
  return { span: node.change.span, path: node.toPath ?? node.path };
}

/** Shows what some transactions changed, to keep or revert each hunk; by default the newest. */
export async function reviewChanges(review: Review, item?: Located): Promise<void> {
  const where = item?.folder ?? (await folder());
  if (!where) return;
  const { span, path } = item ? spanOf(item) : { span: NEWEST, path: undefined };
  await open(review, where, span, path);
}

/** Asks since when, and shows what was changed since then. */
export async function reviewSince(review: Review): Promise<void> {
  const where = await folder();
  if (!where) return;
  const since = await vscode.window.showInputBox({
    title: "Review the changes since",
    prompt: "An age, a time, a day, or the id of a transaction.",
    placeHolder: "2h, 9am, yesterday, 2026-11-26",
  });
  if (!since) return;
  await open(review, where, { args: [`--since=${since}`], title: `the changes since ${since}` });
}

async function open(review: Review, where: vscode.Uri, span: Span, path?: string): Promise<void> {
  const files = new Files(where);
  const changes = await attempt(files, () => changesOf(program(files.root), span));
  if (changes.files.length === 0) {
    void vscode.window.showInformationMessage(`Nothing to review: ${span.title} changed no file.`);
    return;
  }
  const first = path && inProject(changes.project, files, path);
  await review.openChanges(changes, where, message(changes), first);
}

/** What the review shows and what can be done, in a few sentences. */
function message(changes: Changes): string {
  const { span, files, project, notes } = changes;
  const open = files.flatMap(({ parts }) => parts).length;
  const asides = files.flatMap(({ rows }) => rows).filter(isAside);
  const since = asides.filter(({ description }) => description === "changed since").length;
  const unsaved = unsavedOf(
    project,
    files.map(({ place }) => place),
  );
  return [
    `${span.title[0]?.toUpperCase()}${span.title.slice(1)}: ${counted(open, "hunk")} to review.`,
    since > 0 && `${since} changed since, and left alone.`,
    "What is checked is kept.",
    unsaved.length > 0 && `The files are shown as they are on the disk: ${unsavedIn(unsaved)}.`,
    ...notes.map((note) => `Note: ${note}.`),
  ]
    .filter(Boolean)
    .join(" ");
}

/** Reverts what is rejected of the changes under review. */
export async function revertRejected(review: Review): Promise<void> {
  const { changes, folder: where } = review;
  if (!changes || !where)
    throw new Complaint("No changes are under review. Choose Review in the view What Agents Did.");
  const hunks = rejected(changes);
  if (hunks.length === 0) {
    await review.close();
    void vscode.window.showInformationMessage("All hunks are kept. Nothing was changed.");
    return;
  }
  const places = [...new Set(hunks.map(({ file }) => file.place))];
  const dirty = unsavedOf(changes.project, places);
  if (dirty.length > 0)
    throw new Complaint(`Nothing was reverted: ${unsavedIn(dirty)}. Save or revert first.`);
  const files = new Files(where);
  const maker = program(files.root);
  let id: string;
  try {
    id = await revert(maker, changes);
  } catch (error) {
    if (!(error instanceof ChangedMeanwhile)) throw new Refused(files, error);
    return again(review, where, changes);
  }
  await review.close();
  const done = `${counted(hunks.length, "hunk")} in ${counted(places.length, "file")}`;
  const answer = await vscode.window.showInformationMessage(`Reverted: ${done}.`, "Undo");
  if (answer === "Undo") await takeBack(maker, files, id, unsavedOf(changes.project, places));
}

/** Asks for a comment on a hunk of the changes under review: of the list, or at the cursor. */
export async function commentOnHunk(review: Review, item?: Item): Promise<void> {
  const { changes, folder: where } = review;
  const hunk = hunkOf(item ?? review.partAtCursor());
  if (!changes || !where || !hunk)
    throw new Complaint("Choose a hunk of the changes under review.");
  const words = await vscode.window.showInputBox({
    title: "Comment on the hunk",
    prompt: "For the agent: Copy Comments for the Agent copies all comments of a review.",
    ignoreFocusOut: true,
  });
  if (!words?.trim()) return;
  const files = new Files(where);
  await attempt(files, () => comment(program(files.root), changes, hunk, words.trim()));
  review.refresh();
}

/** Copies the comments on the changes under review, or else on all, with their hunks. */
export async function copyComments(review: Review): Promise<void> {
  const where = review.changes ? review.folder : await folder();
  if (!where) return;
  const span = review.changes?.span ?? NEWEST;
  const files = new Files(where);
  const text = await attempt(files, () => commentsOn(program(files.root), span));
  if (text) await vscode.env.clipboard.writeText(text);
  const said = text ? "The comments are copied." : "There are no comments.";
  void vscode.window.showInformationMessage(said);
}

/** Makes a review again, after files have changed. What was decided stays decided. */
async function again(review: Review, where: vscode.Uri, earlier: Changes): Promise<void> {
  const files = new Files(where);
  const maker = program(files.root);
  const changes = await attempt(files, () => changesOf(maker, earlier.span));
  if (isSame(changes, earlier)) {
    throw new Complaint(
      `Nothing was reverted: ${maker.file} would not do what is shown here. Run apply-patch review at a terminal.`,
    );
  }
  decideAs(earlier, changes);
  const why = "The files have changed, and nothing was reverted. This is the review as it is now.";
  await review.openChanges(changes, where, `${why} ${message(changes)}`);
  void vscode.window.showWarningMessage("Nothing was reverted: files have changed. Look again.");
}

/** Opens the diff of some transactions, as they were made; of a file, its part. */
export async function showDiff(texts: Texts, item: Located): Promise<void> {
  const { span, path } = spanOf(item);
  const files = new Files(item.folder);
  const maker = program(files.root);
  const diff = await attempt(files, async () =>
    diffOf(maker, span, path && inProject(await maker.project(), files, path)),
  );
  const name = path?.split("/").at(-1) ?? span.title.replaceAll("/", " ");
  const uri = texts.add(`${name}.diff`, diff || "(no difference)\n");
  await vscode.window.showTextDocument(uri, { preview: true });
}

/** The path from the top of a project, of a path from a folder. */
function inProject(project: string, files: Files, path: string): string {
  return relative(project, join(files.root, path)).split(sep).join("/");
}

/** Asks whether to undo some transactions, and undoes them. */
export async function undoChanges(review: Review, item: Located): Promise<void> {
  const { span } = spanOf(item);
  const files = new Files(item.folder);
  const maker = program(files.root);
  const undo = (more: string[]) =>
    maker.ask(["undo", "--json", ...more, ...span.args]) as Promise<{
      changedFiles: ChangedFile[];
    }>;
  try {
    const { changedFiles } = await undo(["--dry-run", "--diff=none"]);
    const paths = changedFiles.flatMap(({ path, toPath }) => (toPath ? [path, toPath] : [path]));
    const items = [{ label: "Undo", detail: paths.join(", ") }, { label: "Cancel" }];
    const title = `Undo ${span.title}?`;
    const chosen = await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true });
    if (chosen?.label !== "Undo") return;
    const dirty = unsavedOf(files.root, paths);
    if (dirty.length > 0)
      throw new Complaint(`Nothing was undone: ${unsavedIn(dirty)}. Save or revert first.`);
    await undo([]);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    if (error.kind !== "stale_file") throw new Refused(files, error);
    const text = `Nothing was undone: ${error.message}.`;
    const answer = await vscode.window.showErrorMessage(text, "Review Instead");
    if (answer === "Review Instead") await reviewChanges(review, item);
    return;
  }
  void vscode.window.showInformationMessage(`Undone: ${span.title}.`);
}
