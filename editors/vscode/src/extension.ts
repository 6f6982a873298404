// The commands: what VS Code asks for, in terms of the modules beside this one.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import * as vscode from "vscode";
import {
  type DocumentText,
  type Editor,
  type FileChange,
  type Plan,
  type Rules,
  chosenAs,
  edits,
  isAccepted,
  pathsOf,
  prepare,
  result,
  summary,
} from "./planning";
import { Program, find, here } from "./program";
import { type Place, describe } from "./refusal";
import { Review } from "./review";

/** What is wrong with the request, in words for the person who made it. */
class Complaint extends Error {}

/** There is no program to make the changes; `instead` is what can be done without it. */
class NoProgram extends Error {
  constructor(readonly instead?: () => Promise<void>) {
    super("there is no program");
  }
}

const settings = () => vscode.workspace.getConfiguration("applyPatch");
const rules = (): Rules => ({ profile: settings().get<Rules["profile"]>("profile", "standard") });

const folders = () =>
  (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");

/**
 * The folder of a file, or of the active editor; else the only one, or the one that the person
 * picks.
 */
async function folder(
  of = vscode.window.activeTextEditor?.document.uri,
): Promise<vscode.Uri | undefined> {
  const all = folders();
  if (all.length === 0) throw new Complaint("Open the folder that the patch is for.");
  const own = of && vscode.workspace.getWorkspaceFolder(of);
  if (own && own.uri.scheme === "file") return own.uri;
  if (all.length === 1) return all[0]?.uri;
  return (
    await vscode.window.showWorkspaceFolderPick({ placeHolder: "The folder that the patch is for" })
  )?.uri;
}

/** The program that makes the changes in a folder. */
function program(root: string, instead?: () => Promise<void>): Program {
  const named = settings().get<string>("program");
  // A relative path would lead into the folder.
  if (named && !isAbsolute(named)) {
    throw new Complaint(`The setting applyPatch.program is not an absolute path: ${named}`);
  }
  const opened = folders().map(({ uri }) => real(uri.fsPath));
  const file = named || find(here(canRun), opened);
  if (!file) throw new NoProgram(instead);
  return new Program(file, root);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Where a path leads, also one of a file that is not there any more. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(real(dirname(path)), basename(path));
  }
}

/** The path of a file from a folder; undefined if it is not beneath it. */
function beneath(root: string, uri: vscode.Uri): string | undefined {
  if (uri.scheme !== "file") return undefined;
  const path = relative(root, real(uri.fsPath)).split(sep).join("/");
  return path === "" || path === ".." || path.startsWith("../") ? undefined : path;
}

function textOf(document: vscode.TextDocument): DocumentText {
  return { content: document.getText(), version: document.version };
}

const unsavedIn = (paths: string[]) =>
  `${paths.join(", ")} ${paths.length === 1 ? "has" : "have"} unsaved changes`;

/** A folder with its documents, as they are at this moment. */
class Files {
  readonly root: string;
  /** Those with unsaved changes, by path. */
  readonly documents = new Map<string, vscode.TextDocument>();
  /**
   * Files with unsaved changes that are not text here: notebooks, and what has an editor of its
   * own.
   */
  readonly locked = new Set<string>();

  constructor(readonly folder: vscode.Uri) {
    this.root = real(folder.fsPath);
    for (const document of vscode.workspace.textDocuments) {
      const path = document.isDirty && beneath(this.root, document.uri);
      if (path) this.documents.set(path, document);
    }
    for (const tab of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
      const path =
        tab.isDirty &&
        tab.input instanceof Object &&
        "uri" in tab.input &&
        beneath(this.root, tab.input.uri as vscode.Uri);
      if (path && !this.documents.has(path)) this.locked.add(path);
    }
  }

  uri(path: string): vscode.Uri {
    return this.documents.get(path)?.uri ?? vscode.Uri.joinPath(this.folder, path);
  }

  async plan(patch: string, rules: Rules, inEditor = false): Promise<Plan> {
    const editor: Editor = {
      dirty: new Map([...this.documents].map(([path, document]) => [path, textOf(document)])),
      open: async (path) => textOf(await vscode.workspace.openTextDocument(this.uri(path))),
    };
    const plan = await attempt(this, () => prepare(this.root, editor, patch, rules, inEditor));
    // Only their editor knows what is not saved.
    const locked = plan.files.flatMap(pathsOf).filter((path) => this.locked.has(path));
    if (locked.length > 0)
      throw new Complaint(`Nothing was changed: ${unsavedIn(locked)}. Save or revert first.`);
    return plan;
  }

  /** One edit for all files: VS Code makes all of it or nothing. */
  edit(files: FileChange[]): vscode.WorkspaceEdit {
    const all = new vscode.WorkspaceEdit();
    for (const file of files) {
      const uri = this.uri(file.path);
      if (file.operation === "create")
        all.createFile(uri, { contents: result(file) ?? new Uint8Array(), overwrite: false });
      else if (file.operation === "delete") all.deleteFile(uri);
      for (const { start, count, text } of edits(file))
        all.replace(uri, new vscode.Range(start, 0, start + count, 0), text);
      if (file.toPath !== null) all.renameFile(uri, this.uri(file.toPath), { overwrite: true });
    }
    return all;
  }
}

function selection(): string {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Complaint("Open an editor and select a patch.");
  return editor.document.getText(editor.selection.isEmpty ? undefined : editor.selection);
}

/** Shows what a patch would change. Nothing is written. */
async function open(review: Review, patch: string, where: vscode.Uri | undefined): Promise<void> {
  if (!where) return;
  const plan = await new Files(where).plan(patch, rules());
  if (plan.files.length === 0) {
    void vscode.window.showInformationMessage(
      "Nothing to do: the files are as the patch has them.",
    );
    return;
  }
  const how =
    plan.where === "disk"
      ? "Will be written to the disk. Undo Last Patch undoes it."
      : `Will be made in the editor and not saved, because ${unsavedIn(plan.unsaved)}. The editor's Undo undoes it.`;
  await review.open(
    plan,
    where,
    [`${plan.summary}.`, how, ...plan.notes.map((note) => `Note: ${note}.`)].join(" "),
  );
}

/** Applies what is accepted of the patch under review. */
async function apply(review: Review, inEditor = false): Promise<void> {
  const { plan, folder } = review;
  if (!plan || !folder)
    throw new Complaint(
      "There is no patch under review. Apply one from a file, a selection or the clipboard.",
    );
  const taken = plan.files.filter(isAccepted);
  if (taken.length === 0) throw new Complaint("Nothing was applied: all of the patch is rejected.");
  // The person may have typed, saved or switched branches meanwhile: what was shown is applied, or
  // nothing is.
  const files = new Files(folder);
  const now = await files.plan(plan.patch, plan.rules);
  if (now.where !== plan.where || now.digest !== plan.digest) {
    throw new Complaint(
      "The files have changed since the patch was shown, and nothing was applied. Apply the patch again.",
    );
  }
  const done = summary(taken);
  if (plan.where === "editor" || inEditor) {
    const asDocuments =
      plan.where === "editor"
        ? plan
        : chosenAs(plan, await files.plan(plan.patch, plan.rules, true));
    if (!(await vscode.workspace.applyEdit(files.edit(asDocuments.files.filter(isAccepted))))) {
      throw new Complaint("VS Code refused the edit. Look at the files before trying again.");
    }
    await review.close();
    void vscode.window.showInformationMessage(`Applied in the editor, not saved: ${done}.`);
    return;
  }
  const maker = program(files.root, () => apply(review, true));
  const id = await attempt(files, () => maker.commit(plan));
  await review.close();
  const answer = await vscode.window.showInformationMessage(
    `Applied to the disk: ${done}.`,
    "Undo",
  );
  if (answer === "Undo") await takeBack(maker, folder, id, taken.flatMap(pathsOf));
}

async function undo(): Promise<void> {
  const where = await folder();
  if (!where) return;
  const files = new Files(where);
  const maker = program(files.root);
  const transaction = await attempt(files, () => maker.last());
  if (!transaction) {
    void vscode.window.showInformationMessage("No patch to undo in this folder.");
    return;
  }
  const items = [{ label: "Undo", detail: transaction.paths.join(", ") }, { label: "Cancel" }];
  const title = `Undo the last patch? ${transaction.title}`;
  if ((await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.label !== "Undo")
    return;
  await takeBack(maker, where, transaction.id, transaction.paths);
}

async function takeBack(
  maker: Program,
  where: vscode.Uri,
  id: string,
  paths: string[],
): Promise<void> {
  const files = new Files(where);
  const dirty = paths.filter((path) => files.documents.has(path) || files.locked.has(path));
  if (dirty.length > 0)
    throw new Complaint(`Nothing was undone: ${unsavedIn(dirty)}. Save or revert first.`);
  await attempt(files, () => maker.undo(id));
  void vscode.window.showInformationMessage("The patch is undone.");
}

async function chooseProgram(): Promise<void> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: "The program apply-patch",
      openLabel: "Choose",
    })) ?? [];
  if (file) await settings().update("program", file.fsPath, vscode.ConfigurationTarget.Global);
}

/** A refusal, with the folder that its paths are in. */
class Refused extends Error {
  constructor(
    readonly files: Files,
    readonly reason: unknown,
  ) {
    super("refused");
  }
}

async function attempt<T>(files: Files, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new Refused(files, error);
  }
}

/**
 * Shows why a command failed; refusals can be copied for the model, and lead to the lines that they
 * are about.
 */
async function report(error: unknown): Promise<void> {
  if (error instanceof NoProgram) return offer(error);
  if (!(error instanceof Refused)) {
    void vscode.window.showErrorMessage(describe(error).message);
    return;
  }
  const { message, full, places } = describe(error.reason);
  const actions = places.length > 0 ? ["Show", "Copy for the Model"] : ["Copy for the Model"];
  const action = await vscode.window.showErrorMessage(message, ...actions);
  if (action === "Copy for the Model") await vscode.env.clipboard.writeText(full);
  if (action === "Show") await reveal(error.files, places);
}

/** Says what to do without the program. */
async function offer({ instead }: NoProgram): Promise<void> {
  const message =
    "The program apply-patch, which writes and undoes patches on the disk, was not found here.";
  const actions = [
    "How to Install",
    "Choose the Program",
    ...(instead ? ["Apply in the Editor"] : []),
  ];
  const action = await vscode.window.showWarningMessage(message, ...actions);
  if (action === "How to Install")
    await vscode.commands.executeCommand(
      "workbench.action.openWalkthrough",
      "apply-patch.apply-patch#start",
      true,
    );
  if (action === "Choose the Program") await chooseProgram();
  if (action === "Apply in the Editor") await instead?.();
}

async function reveal(files: Files, places: Place[]): Promise<void> {
  const items = places.map((place) => ({ label: `${place.path}:${place.line}`, place }));
  const chosen =
    items.length === 1
      ? items[0]
      : await vscode.window.showQuickPick(items, { title: "Show which place?" });
  if (!chosen) return;
  const { path, line } = chosen.place;
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.window.showTextDocument(files.uri(path), { selection: at });
}

/** Called by VS Code when a command is used for the first time. */
export function activate(context: vscode.ExtensionContext): void {
  const review = new Review();
  const command = (name: string, run: (...args: never[]) => Promise<void>) =>
    vscode.commands.registerCommand(`applyPatch.${name}`, (...args: never[]) =>
      // What a message offers may fail, too.
      run(...args)
        .catch(report)
        .catch(report),
    );
  context.subscriptions.push(
    ...review.subscriptions,
    command("applySelection", async () => open(review, selection(), await folder())),
    command("applyClipboard", async () =>
      open(review, await vscode.env.clipboard.readText(), await folder()),
    ),
    command("applyFile", async (uri: vscode.Uri) =>
      open(review, (await vscode.workspace.openTextDocument(uri)).getText(), await folder(uri)),
    ),
    command("show", (item: FileChange) => review.show(item)),
    command("acceptHunk", () => review.decide(true)),
    command("rejectHunk", () => review.decide(false)),
    command("apply", () => apply(review)),
    command("discard", () => review.close()),
    command("undo", undo),
    command("chooseProgram", chooseProgram),
  );
}
