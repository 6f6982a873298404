// The commands: what VS Code asks for, in terms of the modules beside this one.
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import type * as Library from "apply-patch-cli";
import * as vscode from "vscode";
import { last } from "./history";
import { type DocumentText, type Editor, type Plan, type Preview, type Rules, commit, open, prepare } from "./planning";
import { type Place, describe } from "./refusal";

const SCHEME = "apply-patch";

/** The files of a preview, as documents that nobody can change. */
class Previews implements vscode.TextDocumentContentProvider {
  #count = 0;
  #texts = new Map<string, string>();

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  forget(uri: vscode.Uri): void {
    this.#texts.delete(uri.toString());
  }

  #add(path: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query: String(++this.#count) });
    this.#texts.set(uri.toString(), text);
    return uri;
  }

  /** Opens VS Code's own view of the differences. */
  async show(summary: string, files: Preview[]): Promise<void> {
    const title = `Patch: ${summary}`;
    const [file, ...more] = files;
    if (file && more.length === 0) {
      const sides = [this.#add(file.path, file.before ?? ""), this.#add(file.toPath ?? file.path, file.after ?? "")];
      await vscode.commands.executeCommand("vscode.diff", ...sides, title);
      return;
    }
    const resources = files.map(({ path, toPath, before, after }) => [
      vscode.Uri.from({ scheme: SCHEME, path: `/${toPath ?? path}` }),
      before === null ? undefined : this.#add(path, before),
      after === null ? undefined : this.#add(toPath ?? path, after),
    ]);
    await vscode.commands.executeCommand("vscode.changes", title, resources);
  }
}

/** What is wrong with the request, in words for the person who made it. */
class Complaint extends Error {}

let loaded: typeof Library | undefined;

function library(): typeof Library {
  const folder = vscode.workspace.getConfiguration("applyPatch").get<string>("library");
  try {
    return (loaded = require(folder || "apply-patch-cli"));
  } catch (cause) {
    const [why] = (cause as Error).message.split("\n");
    throw new Complaint(`Install the npm package apply-patch-cli and name its folder in the setting applyPatch.library (${why}).`);
  }
}

function rules(): Rules {
  return { profile: vscode.workspace.getConfiguration("applyPatch").get<Rules["profile"]>("profile", "strict") };
}

/** The folder of the active editor; else the only one, or the one that the person picks. */
async function folder(): Promise<vscode.Uri | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  if (folders.length === 0) throw new Complaint("Open the folder that the patch is for.");
  const active = vscode.window.activeTextEditor?.document.uri;
  const own = active && vscode.workspace.getWorkspaceFolder(active);
  if (own && own.uri.scheme === "file") return own.uri;
  if (folders.length === 1) return folders[0]?.uri;
  return (await vscode.window.showWorkspaceFolderPick({ placeHolder: "The folder that the patch is for" }))?.uri;
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

/** A folder with its documents, as they are at this moment. */
class Files {
  readonly root: string;
  /** Those with unsaved changes, by path. */
  readonly documents = new Map<string, vscode.TextDocument>();
  /** Files with unsaved changes that are not text here: notebooks, and what has an editor of its own. */
  readonly locked = new Set<string>();

  constructor(readonly folder: vscode.Uri) {
    this.root = real(folder.fsPath);
    for (const document of vscode.workspace.textDocuments) {
      const path = document.isDirty && beneath(this.root, document.uri);
      if (path) this.documents.set(path, document);
    }
    for (const tab of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
      const path = tab.isDirty && tab.input instanceof Object && "uri" in tab.input && beneath(this.root, tab.input.uri as vscode.Uri);
      if (path && !this.documents.has(path)) this.locked.add(path);
    }
  }

  /** Refuses to touch files whose unsaved changes nobody but their editor knows. */
  check(paths: string[]): void {
    const locked = paths.filter((path) => this.locked.has(path));
    if (locked.length > 0) throw new Complaint(`Nothing was changed: ${unsavedIn(locked)}. Save or revert first.`);
  }

  uri(path: string): vscode.Uri {
    return this.documents.get(path)?.uri ?? vscode.Uri.joinPath(this.folder, path);
  }

  editor(): Editor {
    return {
      dirty: new Map([...this.documents].map(([path, document]) => [path, textOf(document)])),
      open: async (path) => textOf(await vscode.workspace.openTextDocument(this.uri(path))),
    };
  }

  /** One edit for all files: VS Code makes all of it or nothing. */
  edit(edits: Library.FileEdit[]): vscode.WorkspaceEdit {
    const all = new vscode.WorkspaceEdit();
    for (const { path, toPath, operation, text, edits: replacements } of edits) {
      const uri = this.uri(path);
      if (operation === "create") {
        all.createFile(uri, { contents: Buffer.from(text ?? ""), overwrite: false });
        continue;
      }
      if (operation === "delete") {
        all.deleteFile(uri);
        continue;
      }
      for (const { range, newText } of replacements) {
        const { start, end } = range;
        all.replace(uri, new vscode.Range(start.line, start.character, end.line, end.character), newText);
      }
      if (toPath !== null) all.renameFile(uri, this.uri(toPath), { overwrite: true });
    }
    return all;
  }
}

function selection(): string {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Complaint("Open an editor and select a patch.");
  return editor.document.getText(editor.selection.isEmpty ? undefined : editor.selection);
}

/** Asks in a list that stays open while the person reads the preview. */
async function asks(title: string, yes: string, detail: string): Promise<boolean> {
  const items = [{ label: yes, detail }, { label: "Cancel" }];
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.label === yes;
}

const unsavedIn = (paths: string[]) => `${paths.join(", ")} ${paths.length === 1 ? "has" : "have"} unsaved changes`;

async function preview(previews: Previews, patch: string): Promise<void> {
  const where = await folder();
  if (!where) return;
  const files = new Files(where);
  const plan = await prepared(files, patch);
  if (plan.where === "nowhere") {
    void vscode.window.showInformationMessage(`Nothing to do: ${plan.summary}.`);
  } else {
    await previews.show(plan.summary, plan.previews);
  }
}

async function prepared(files: Files, patch: string): Promise<Plan> {
  const plan = await attempt(files, () => prepare(library(), files.root, files.editor(), patch, rules()));
  if (plan.where !== "nowhere") files.check(plan.previews.flatMap(pathsOf));
  return plan;
}

async function apply(previews: Previews, patch: string): Promise<void> {
  const where = await folder();
  if (!where) return;
  const plan = await prepared(new Files(where), patch);
  if (plan.where === "nowhere") {
    void vscode.window.showInformationMessage(`Nothing to do: ${plan.summary}.`);
    return;
  }
  await previews.show(plan.summary, plan.previews);
  const why =
    plan.where === "disk"
      ? "Written to the disk. Undo Last Patch undoes it."
      : `Made in the editor and not saved, because ${unsavedIn(plan.unsaved)}. The editor's Undo undoes it.`;
  if (!(await asks(`Apply this patch? ${plan.summary}`, "Apply", [why, ...plan.notes].join(" ")))) return;

  // The person may have typed, saved or switched branches meanwhile: what was shown is applied, or nothing is.
  const files = new Files(where);
  const now = await prepared(files, patch);
  if (now.where !== plan.where || now.digest !== plan.digest) {
    throw new Complaint("The files have changed since the preview, and nothing was applied. Apply the patch again.");
  }
  if (now.where === "editor") {
    if (!(await vscode.workspace.applyEdit(files.edit(now.edits)))) {
      throw new Complaint("VS Code refused the edit. Look at the files before trying again.");
    }
    void vscode.window.showInformationMessage(`Applied in the editor, not saved: ${plan.summary}.`);
    return;
  }
  const { transactionId } = await attempt(files, () => commit(library(), files.root, now.plan));
  const answer = await vscode.window.showInformationMessage(`Applied to the disk: ${plan.summary}.`, "Undo");
  if (answer === "Undo" && transactionId) await takeBack(where, transactionId, now.previews.flatMap(pathsOf));
}

const pathsOf = ({ path, toPath }: Preview) => (toPath === null ? [path] : [path, toPath]);

async function undo(): Promise<void> {
  const where = await folder();
  if (!where) return;
  const files = new Files(where);
  const transaction = await attempt(files, () => last(open(library(), files.root)));
  if (!transaction) {
    void vscode.window.showInformationMessage("No patch to undo in this folder.");
    return;
  }
  if (!(await asks(`Undo the last patch? ${transaction.title}`, "Undo", transaction.paths.join(", ")))) return;
  await takeBack(where, transaction.id, transaction.paths);
}

async function takeBack(where: vscode.Uri, id: string, paths: string[]): Promise<void> {
  const files = new Files(where);
  const dirty = paths.filter((path) => files.documents.has(path) || files.locked.has(path));
  if (dirty.length > 0) throw new Complaint(`Nothing was undone: ${unsavedIn(dirty)}. Save or revert first.`);
  await attempt(files, () => open(library(), files.root).undo(id));
  void vscode.window.showInformationMessage("The patch is undone.");
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
    throw error instanceof Complaint ? error : new Refused(files, error);
  }
}

/** Shows why a command failed; refusals can be copied for the model, and lead to the lines that they are about. */
async function report(error: unknown): Promise<void> {
  if (!(error instanceof Refused)) {
    void vscode.window.showErrorMessage(describe(undefined, error).message);
    return;
  }
  const { message, full, places } = describe(loaded, error.reason);
  const actions = places.length > 0 ? ["Show", "Copy for the Model"] : ["Copy for the Model"];
  const action = await vscode.window.showErrorMessage(message, ...actions);
  if (action === "Copy for the Model") await vscode.env.clipboard.writeText(full);
  if (action === "Show") await reveal(error.files, places);
}

async function reveal(files: Files, places: Place[]): Promise<void> {
  const items = places.map((place) => ({ label: `${place.path}:${place.line}`, place }));
  const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: "Show which place?" });
  if (!chosen) return;
  const { path, line } = chosen.place;
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.window.showTextDocument(files.uri(path), { selection: at });
}

/** Called by VS Code when a command is used for the first time. */
export function activate(context: vscode.ExtensionContext): void {
  const previews = new Previews();
  const command = (name: string, run: () => Promise<void>) =>
    vscode.commands.registerCommand(`applyPatch.${name}`, () => run().catch(report));
  const clipboard = async () => vscode.env.clipboard.readText();
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, previews),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => previews.forget(uri)),
    command("applySelection", async () => apply(previews, selection())),
    command("applyClipboard", async () => apply(previews, await clipboard())),
    command("previewSelection", async () => preview(previews, selection())),
    command("previewClipboard", async () => preview(previews, await clipboard())),
    command("undo", undo),
  );
}
