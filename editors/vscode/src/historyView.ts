// The view “What Agents Did”: sessions, their turns and transactions, and the files of each.
import * as vscode from "vscode";
import { type Change, type HistoryFile, type Session, described, sessionsOf } from "./history";
import { NoProgram, folders, program, real } from "./workspace";

/** How many transactions and turns are listed. */
const COUNT = 200;

/** A line of the view, in the folder that it is about. */
export interface Located {
  folder: vscode.Uri;
  node: Session | Change | HistoryFile | { kind: "folder"; sessions: Session[] };
}

/** The history of the open folders. */
export class HistoryView implements vscode.TreeDataProvider<Located> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<Located>;
  readonly #watchers = new Map<string, vscode.Disposable>();
  /** The newest change, which is opened. */
  #newest: Change | undefined;
  #isLoaded = false;
  #timer: NodeJS.Timeout | undefined;
  readonly subscriptions: vscode.Disposable[];

  /** `onRefresh` is called when the list is made, and when it is made again. */
  constructor(readonly onRefresh: () => void) {
    this.#view = vscode.window.createTreeView("applyPatch.history", {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    this.subscriptions = [
      this.#view,
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
      { dispose: () => this.#watchers.forEach((watcher) => watcher.dispose()) },
    ];
  }

  /** Makes the list again. */
  refresh(): void {
    this.#changed.fire();
    this.onRefresh();
  }

  /** Makes the list again soon: a transaction changes several files. */
  #refreshSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh(), 300);
    this.#timer.unref();
  }

  async #load(): Promise<Located[]> {
    if (!this.#isLoaded) this.onRefresh();
    this.#isLoaded = true;
    const found: Located[] = [];
    const notes: string[] = [];
    let state = "empty";
    for (const { uri } of folders()) {
      try {
        found.push(...(await this.#sessions(uri, notes)));
      } catch (error) {
        if (error instanceof NoProgram) state = "noProgram";
        else if (error instanceof Error) notes.push(error.message);
      }
    }
    const [first] = found;
    this.#newest = first && "changes" in first.node ? first.node.changes[0] : undefined;
    this.#view.message = notes.join(" ") || undefined;
    await vscode.commands.executeCommand("setContext", "applyPatch.history", state);
    const all = new Set(found.map(({ folder }) => folder));
    if (all.size < 2) return found;
    return [...all].map((folder) => {
      const own = found.filter((one) => one.folder === folder).map(({ node }) => node as Session);
      return { folder, node: { kind: "folder", sessions: own } };
    });
  }

  async #sessions(folder: vscode.Uri, notes: string[]): Promise<Located[]> {
    const maker = program(real(folder.fsPath));
    this.#watch((await maker.status()).state);
    const log = await maker.log(COUNT);
    const { length } = log.notVerified;
    if (length > 0) notes.push(`${length} not verified, and not listed: see apply-patch log.`);
    if (log.transactions.length >= COUNT) notes.push("Older changes are not listed.");
    return sessionsOf(log).map((node) => ({ folder, node }));
  }

  /** Makes the list again when something is written to a history. */
  #watch(state: string): void {
    if (this.#watchers.has(state)) return;
    const pattern = "{index,audit/*.jsonl,proposals/*}";
    const files = new vscode.RelativePattern(vscode.Uri.file(state), pattern);
    const watcher = vscode.workspace.createFileSystemWatcher(files);
    watcher.onDidChange(() => this.#refreshSoon());
    watcher.onDidCreate(() => this.#refreshSoon());
    watcher.onDidDelete(() => this.#refreshSoon());
    this.#watchers.set(state, watcher);
  }

  getChildren(item?: Located): Located[] | Promise<Located[]> {
    if (!item) return this.#load();
    const { folder, node } = item;
    const children = {
      folder: () => ("sessions" in node ? node.sessions : []),
      session: () => ("changes" in node ? node.changes : []),
      change: () => ("files" in node ? node.files : []),
      file: () => [],
    }[node.kind]();
    return children.map((child) => ({ folder, node: child }));
  }

  getTreeItem({ folder, node }: Located): vscode.TreeItem {
    const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
    if (node.kind === "folder") {
      const item = new vscode.TreeItem(folder.path.split("/").at(-1) ?? "", Expanded);
      item.iconPath = vscode.ThemeIcon.Folder;
      return item;
    }
    const { label, description, tooltip } = described(node, new Date());
    const change = this.#newest === node ? Expanded : Collapsed;
    const collapsed = { session: Expanded, change, file: None }[node.kind];
    const item = new vscode.TreeItem(label, collapsed);
    item.description = description;
    item.tooltip = tooltip;
    item.contextValue = contextOf(node);
    if (node.kind === "file") {
      item.resourceUri = vscode.Uri.joinPath(folder, node.toPath ?? node.path);
      item.iconPath = vscode.ThemeIcon.File;
      const show = { title: "Show Diff", arguments: [{ folder, node }] };
      item.command = { command: "applyPatch.showDiff", ...show };
    } else {
      item.iconPath = new vscode.ThemeIcon(iconOf(node));
    }
    // Opened and closed branches stay so when the list is made again.
    item.id = [folder.toString(), node.kind, idOf(node)].join("\n");
    return item;
  }
}

/** Which commands a line has: what is undone is not undone again, and no session has no name. */
function contextOf(node: Session | Change | HistoryFile): string {
  if (node.kind === "change" && node.undone === "yes") return "undone";
  return node.kind === "session" && node.name === "" ? "unnamed" : node.kind;
}

function iconOf(node: Session | Change): string {
  if (node.kind === "session") return node.name === "cli" ? "terminal" : "hubot";
  if (node.undone === "yes") return "discard";
  return node.turn === undefined ? "git-commit" : "comment-discussion";
}

function idOf(node: Session | Change | HistoryFile): string {
  if (node.kind === "session") return node.name;
  if (node.kind === "change") return node.span.args.join(" ");
  return [...node.change.span.args, node.toPath ?? node.path].join(" ");
}
