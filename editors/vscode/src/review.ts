// The review of a patch: a list of its files and hunks with check boxes, and VS Code's own view of
// the differences.
import * as vscode from "vscode";
import { type FileChange, type Part, type Plan, isAccepted, result, shown } from "./planning";
import { describePart, lineOf, nameOf, partAt } from "./parts";

export const SCHEME = "apply-patch";

type Side = "before" | "after";

/** The patch that is under review, if there is one. */
export class Review
  implements vscode.TreeDataProvider<FileChange | Part>, vscode.TextDocumentContentProvider
{
  plan: Plan | undefined;
  /** The folder that it is for. */
  folder: vscode.Uri | undefined;
  #number = 0;
  readonly #listed = new vscode.EventEmitter<void>();
  readonly #edited = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChangeTreeData = this.#listed.event;
  readonly onDidChange = this.#edited.event;
  readonly #view: vscode.TreeView<FileChange | Part>;
  readonly #rejected = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.inactiveSelectionBackground"),
    after: {
      contentText: "rejected",
      margin: "0 0 0 3em",
      color: new vscode.ThemeColor("descriptionForeground"),
    },
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
        for (const [item, state] of items)
          this.#set(
            "parts" in item ? item.parts : [item],
            state === vscode.TreeItemCheckboxState.Checked,
          );
      }),
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#decorate()),
      vscode.workspace.onDidChangeTextDocument(
        ({ document }) => document.uri.scheme === SCHEME && this.#decorate(),
      ),
    ];
  }

  /** Shows a plan, in place of the one before. */
  async open(plan: Plan, folder: vscode.Uri, message: string): Promise<void> {
    await this.close();
    this.plan = plan;
    this.folder = folder;
    this.#number++;
    this.#view.message = message;
    await vscode.commands.executeCommand("setContext", "applyPatch.reviewing", true);
    this.#listed.fire();
    const [first] = plan.files;
    if (!first) return;
    await this.#view.reveal(first, { focus: false, select: true });
    await this.show(first);
  }

  /** Opens the differences of a file, at a hunk. */
  async show(item: FileChange | Part): Promise<void> {
    const file = "parts" in item ? item : item.file;
    const line = lineOf(item, "after");
    const selection = new vscode.Range(line, 0, line, 0);
    await vscode.commands.executeCommand(
      "vscode.diff",
      this.#uri(file, "before"),
      this.#uri(file, "after"),
      `Patch: ${nameOf(file)}`,
      { selection },
    );
  }

  /** Ends the review, and closes its editors. */
  async close(): Promise<void> {
    this.plan = undefined;
    await vscode.commands.executeCommand("setContext", "applyPatch.reviewing", false);
    this.#listed.fire();
    const tabs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
    const own = tabs.filter(
      ({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === SCHEME,
    );
    if (own.length > 0) await vscode.window.tabGroups.close(own);
  }

  /**
   * Accepts or rejects the hunk at the cursor, and goes to the next one; of a file without hunks,
   * all of it.
   */
  async decide(accepted: boolean): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const found = editor && this.#of(editor.document.uri);
    const part = found && partAt(found.file, found.side, editor.selection.active.line);
    if (!part) throw new Error("Open a file of the patch, and put the cursor into a hunk.");
    this.#set([part], accepted);
    const all = this.plan?.files.flatMap(({ parts }) => parts) ?? [];
    const next = all[all.indexOf(part) + 1];
    if (next) await this.show(next);
  }

  #set(parts: Part[], accepted: boolean): void {
    for (const part of parts) {
      part.accepted = accepted;
      this.#edited.fire(this.#uri(part.file, "after"));
    }
    this.#listed.fire();
    this.#decorate();
  }

  // The documents: a path, and in the query which review and which side.

  #uri(file: FileChange, side: Side): vscode.Uri {
    const path = side === "after" ? (file.toPath ?? file.path) : file.path;
    const query = [this.#number, this.plan?.files.indexOf(file), side].join(".");
    return vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query });
  }

  #of({ scheme, query }: vscode.Uri): { file: FileChange; side: Side } | undefined {
    const [number, nth, side] = query.split(".");
    const file =
      scheme === SCHEME && Number(number) === this.#number
        ? this.plan?.files[Number(nth)]
        : undefined;
    return file && { file, side: side as Side };
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const found = this.#of(uri);
    if (!found) return "";
    return shown(found.side === "before" ? found.file.before : result(found.file));
  }

  /** Says at each hunk that is rejected that it is: there is no difference to see. */
  #decorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const found = this.#of(editor.document.uri);
      if (found?.side !== "after") continue;
      const rejected = found.file.parts.filter(({ accepted }) => !accepted);
      editor.setDecorations(
        this.#rejected,
        rejected.map((part) => {
          const line = lineOf(part, "after");
          return new vscode.Range(line, 0, line, 0);
        }),
      );
    }
  }

  // The list.

  getChildren(item?: FileChange | Part): (FileChange | Part)[] {
    if (!item) return this.plan?.files ?? [];
    return "parts" in item ? item.parts.filter(({ hunk }) => hunk) : [];
  }

  getParent(item: FileChange | Part): FileChange | undefined {
    return "parts" in item ? undefined : item.file;
  }

  getTreeItem(item: FileChange | Part): vscode.TreeItem {
    const isFile = "parts" in item;
    const hasParts = isFile && item.parts[0]?.hunk;
    const { label, description } = isFile
      ? { label: nameOf(item), description: item.operation }
      : describePart(item);
    const node = new vscode.TreeItem(
      label,
      hasParts ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None,
    );
    const accepted = isFile ? isAccepted(item) : item.accepted;
    node.description = description;
    node.checkboxState = accepted
      ? vscode.TreeItemCheckboxState.Checked
      : vscode.TreeItemCheckboxState.Unchecked;
    node.command = { command: "applyPatch.show", title: "Show", arguments: [item] };
    return node;
  }
}
