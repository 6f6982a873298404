// The review of a patch, or of changes that were made: a list of files and hunks with check boxes,
// and VS Code's own view of the differences.
import * as vscode from "vscode";
import { type Aside, type ChangePart, type ChangedText, type Changes, isAside } from "./changes";
import { describePart, lineOf, nameOf, partAt } from "./parts";
import { type FileChange, type Part, type Plan, isAccepted, result, shown } from "./planning";

/** The scheme of the two sides of a file. */
const SCHEME = "apply-patch";
/** The scheme of the texts about a hunk that cannot be decided. */
const NOTES = "apply-patch-note";

type Side = "before" | "after";
/** A line of the list. */
export type Item = FileChange | Part | Aside;

const isFile = (item: Item): item is FileChange => "parts" in item;
/** What is listed beneath a file. */
const rowsOf = (file: FileChange): (Part | Aside)[] =>
  "rows" in file ? (file as ChangedText).rows : file.parts;

/** The patch or the changes under review, if there are any. */
export class Review implements vscode.TreeDataProvider<Item>, vscode.TextDocumentContentProvider {
  plan: Plan | undefined;
  changes: Changes | undefined;
  /** The proposal that the patch is. */
  proposal: string | undefined;
  /** The folder that it is for. */
  folder: vscode.Uri | undefined;
  #number = 0;
  readonly #listed = new vscode.EventEmitter<void>();
  readonly #edited = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChangeTreeData = this.#listed.event;
  readonly onDidChange = this.#edited.event;
  readonly #view: vscode.TreeView<Item>;
  readonly #rejected = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.inactiveSelectionBackground"),
    after: { margin: "0 0 0 3em", color: new vscode.ThemeColor("descriptionForeground") },
  });
  readonly subscriptions: vscode.Disposable[];

  constructor() {
    this.#view = vscode.window.createTreeView("applyPatch.review", {
      treeDataProvider: this,
      manageCheckboxStateManually: true,
    });
    this.subscriptions = [
      this.#view,
      this.#rejected,
      this.#view.onDidChangeCheckboxState(({ items }) => {
        for (const [item, state] of items) {
          if (isAside(item)) continue;
          const parts = isFile(item) ? item.parts : [item];
          this.#set(parts, state === vscode.TreeItemCheckboxState.Checked);
        }
      }),
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.registerTextDocumentContentProvider(NOTES, this),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#decorate()),
      vscode.workspace.onDidChangeTextDocument(
        ({ document }) => document.uri.scheme === SCHEME && this.#decorate(),
      ),
    ];
  }

  get #files(): FileChange[] {
    return this.plan?.files ?? this.changes?.files ?? [];
  }

  /** Shows a patch, in place of what is under review. */
  async open(plan: Plan, folder: vscode.Uri, message: string, proposal?: string): Promise<void> {
    await this.close();
    this.plan = plan;
    this.proposal = proposal;
    await this.#start(folder, proposal ? "Proposal" : "Patch", message);
  }

  /** Shows changes that were made, in place of what is under review; first the file at `path`. */
  async openChanges(
    changes: Changes,
    folder: vscode.Uri,
    message: string,
    path?: string,
  ): Promise<void> {
    await this.close();
    this.changes = changes;
    await this.#start(folder, "Changes", message, path);
  }

  async #start(folder: vscode.Uri, title: string, message: string, path?: string): Promise<void> {
    this.folder = folder;
    this.#number++;
    this.#view.title = title;
    this.#view.message = message;
    const of = this.plan ? "patch" : "changes";
    await vscode.commands.executeCommand("setContext", "applyPatch.reviewing", of);
    this.#listed.fire();
    const first = this.#files.find((file) => file.toPath === path || file.path === path);
    const file = first ?? this.#files.find(({ parts }) => parts.length > 0) ?? this.#files[0];
    if (!file) return;
    await this.#view.reveal(file, { focus: false, select: true });
    await this.show(file);
  }

  /** Opens the differences of a file, at a hunk; of a hunk that cannot be decided, its texts. */
  async show(item: Item): Promise<void> {
    if (isAside(item)) {
      const query = this.#query(item.file, `${rowsOf(item.file).indexOf(item)}`);
      const path = `/${item.file.place} ${item.label.toLowerCase()}.md`;
      const uri = vscode.Uri.from({ scheme: NOTES, path, query });
      await vscode.window.showTextDocument(uri, { preview: true });
      return;
    }
    const file = isFile(item) ? item : item.file;
    const line = lineOf(item, "after");
    const selection = new vscode.Range(line, 0, line, 0);
    await vscode.commands.executeCommand(
      "vscode.diff",
      this.#uri(file, "before"),
      this.#uri(file, "after"),
      `${this.plan ? "Patch" : "Changes"}: ${nameOf(file)}`,
      { selection },
    );
  }

  /** Ends the review, and closes its editors. */
  async close(): Promise<void> {
    this.plan = undefined;
    this.changes = undefined;
    this.proposal = undefined;
    await vscode.commands.executeCommand("setContext", "applyPatch.reviewing", false);
    this.#listed.fire();
    const tabs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
    const own = tabs.filter(
      ({ input }) =>
        (input instanceof vscode.TabInputTextDiff && input.modified.scheme === SCHEME) ||
        (input instanceof vscode.TabInputText && input.uri.scheme === NOTES),
    );
    if (own.length > 0) await vscode.window.tabGroups.close(own);
  }

  /**
   * Accepts or rejects the hunk at the cursor, and goes to the next one; of a file without hunks,
   * all of it.
   */
  async decide(accepted: boolean): Promise<void> {
    const part = this.partAtCursor();
    this.#set([part], accepted);
    const all = this.#files.flatMap(({ parts }) => parts);
    const next = all[all.indexOf(part) + 1];
    if (next) await this.show(next);
  }

  /** The part at the cursor. Throws an `Error` when no file under review has the cursor. */
  partAtCursor(): Part {
    const editor = vscode.window.activeTextEditor;
    const found = editor && this.#of(editor.document.uri);
    const side = found?.side === "before" ? "before" : "after";
    const part = found && partAt(found.file, side, editor.selection.active.line);
    if (!part) throw new Error("Open a file under review, and put the cursor into a hunk.");
    return part;
  }

  /** Makes the list again. */
  refresh(): void {
    this.#listed.fire();
  }

  #set(parts: Part[], accepted: boolean): void {
    for (const part of parts) {
      part.accepted = accepted;
      this.#edited.fire(this.#uri(part.file, "after"));
    }
    this.#listed.fire();
    this.#decorate();
  }

  // The documents: a path, and in the query which review and which side, or which text.

  #uri(file: FileChange, side: Side): vscode.Uri {
    const path = side === "before" ? file.path : (file.toPath ?? file.path);
    return vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query: this.#query(file, side) });
  }

  #query(file: FileChange, side: string): string {
    return [this.#number, this.#files.indexOf(file), side].join(".");
  }

  #of({ scheme, query }: vscode.Uri): { file: FileChange; side: string } | undefined {
    const [number, nth, side = ""] = query.split(".");
    const isOwn = [SCHEME, NOTES].includes(scheme) && Number(number) === this.#number;
    const file = isOwn ? this.#files[Number(nth)] : undefined;
    return file && { file, side };
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const found = this.#of(uri);
    if (!found) return "";
    const { file, side } = found;
    if (side === "before") return shown(file.before);
    if (side === "after") return shown(result(file));
    const row = rowsOf(file)[Number(side)];
    return row && isAside(row) ? row.about : "";
  }

  /** Says at each hunk that is rejected that it is: there is no difference to see. */
  #decorate(): void {
    const contentText = this.plan ? "rejected" : "to be reverted";
    for (const editor of vscode.window.visibleTextEditors) {
      const found = this.#of(editor.document.uri);
      if (found?.side !== "after") continue;
      const rejected = found.file.parts.filter(({ accepted }) => !accepted);
      const lines = [...new Set(rejected.map((part) => lineOf(part, "after")))];
      editor.setDecorations(
        this.#rejected,
        lines.map((line) => ({
          range: new vscode.Range(line, 0, line, 0),
          renderOptions: { after: { contentText } },
        })),
      );
    }
  }

  // The list.

  getChildren(item?: Item): Item[] {
    if (!item) return this.#files;
    if (!isFile(item)) return [];
    return rowsOf(item).filter(isListed);
  }

  getParent(item: Item): FileChange | undefined {
    return isFile(item) ? undefined : item.file;
  }

  getTreeItem(item: Item): vscode.TreeItem {
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    const node = isFile(item)
      ? new vscode.TreeItem(nameOf(item), this.getChildren(item).length > 0 ? Expanded : None)
      : new vscode.TreeItem(isAside(item) ? item.label : describePart(item).label, None);
    node.command = { command: "applyPatch.show", title: "Show", arguments: [item] };
    if (hunkOf(item)) node.contextValue = "hunk";
    if (isAside(item)) {
      node.description = withNotes(item.description, item.notes);
      node.tooltip = new vscode.MarkdownString(item.about);
      return node;
    }
    const description = isFile(item) ? item.operation : describePart(item).description;
    const notes = hunkOf(item)?.notes ?? [];
    node.description = withNotes(description, notes);
    // The line may be longer than the view.
    if (notes.length > 0) node.tooltip = node.description;
    if (isFile(item) && item.parts.length === 0) return node;
    node.checkboxState = (isFile(item) ? isAccepted(item) : item.accepted)
      ? vscode.TreeItemCheckboxState.Checked
      : vscode.TreeItemCheckboxState.Unchecked;
    return node;
  }
}

/**
 * The hunk of changes that a line of the list is about; undefined for a patch, and for a file that
 * has its hunks beneath it.
 */
export function hunkOf(item: Item): ChangePart | Aside | undefined {
  const [row] = isFile(item) ? rowsOf(item).filter((one) => !isListed(one)) : [item];
  return row && "id" in row ? (row as ChangePart | Aside) : undefined;
}

/** Whether a row has a line of its own: not if it is all that happens to a file. */
const isListed = (row: Part | Aside): boolean =>
  isAside(row) || row.hunk !== null || row.title !== undefined;

/** A description, and the comments of the person. */
function withNotes(description: string, notes: string[]): string {
  return [description, ...notes.map((note) => `“${note}”`)].filter(Boolean).join("  ");
}
