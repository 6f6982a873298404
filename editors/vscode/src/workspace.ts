// The folders that are open, the program that changes them, and the documents that are not saved.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import * as vscode from "vscode";
import {
  type DocumentText,
  type Editor,
  type FileChange,
  type Plan,
  type Rules,
  edits,
  pathsOf,
  prepare,
  result,
} from "./planning";
import { Program, find, here } from "./program";

/** What is wrong with the request, in words for the person who made it. */
export class Complaint extends Error {}

/** There is no program to make the changes; `instead` is what can be done without it. */
export class NoProgram extends Error {
  constructor(readonly instead?: () => Promise<void>) {
    super("there is no program");
  }
}

export const settings = () => vscode.workspace.getConfiguration("applyPatch");
export const rules = (): Rules => ({
  profile: settings().get<Rules["profile"]>("profile", "standard"),
});

export const folders = () =>
  (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");

/**
 * The folder of a file, or of the active editor; else the only one, or the one that the person
 * picks.
 */
export async function folder(
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
export function program(root: string, instead?: () => Promise<void>): Program {
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
export function real(path: string): string {
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

export const unsavedIn = (paths: string[]) =>
  `${paths.join(", ")} ${paths.length === 1 ? "has" : "have"} unsaved changes`;

/** Those of some paths in a directory whose files have unsaved changes in an editor. */
export function unsavedOf(directory: string, paths: string[]): string[] {
  const documents = vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty);
  const uris = documents.map(({ uri }) => uri);
  for (const { isDirty, input } of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
    if (isDirty && input instanceof Object && "uri" in input) uris.push(input.uri as vscode.Uri);
  }
  const files = uris.filter(({ scheme }) => scheme === "file").map(({ fsPath }) => real(fsPath));
  return paths.filter((path) => files.includes(real(join(directory, path))));
}

/** A folder with its documents, as they are at this moment. */
export class Files {
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

/** A refusal, with the folder that its paths are in. */
export class Refused extends Error {
  constructor(
    readonly files: Files,
    readonly reason: unknown,
  ) {
    super("refused");
  }
}

export async function attempt<T>(files: Files, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new Refused(files, error);
  }
}
