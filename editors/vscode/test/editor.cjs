// Stands in for the module `vscode`: documents over a real folder, and a person who answers as the test has it.
"use strict";

const { existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { dirname, join, posix } = require("node:path");

class Uri {
  constructor(parts) {
    Object.assign(this, { scheme: "file", path: "", query: "" }, parts);
  }
  static file(path) {
    return new Uri({ path: path.replaceAll("\\", "/") });
  }
  static from(parts) {
    return new Uri(parts);
  }
  static joinPath(uri, ...parts) {
    return new Uri({ ...uri, path: posix.join(uri.path, ...parts) });
  }
  get fsPath() {
    return this.path;
  }
  toString() {
    return `${this.scheme}:${this.path}${this.query && `?${this.query}`}`;
  }
}

class Range {
  constructor(startLine, startCharacter, endLine, endCharacter) {
    this.start = { line: startLine, character: startCharacter };
    this.end = { line: endLine, character: endCharacter };
    this.isEmpty = startLine === endLine && startCharacter === endCharacter;
  }
}

class WorkspaceEdit {
  entries = [];
  createFile(uri, options) {
    this.entries.push({ kind: "create", uri, options });
  }
  deleteFile(uri) {
    this.entries.push({ kind: "delete", uri });
  }
  renameFile(uri, to) {
    this.entries.push({ kind: "rename", uri, to });
  }
  replace(uri, range, text) {
    this.entries.push({ kind: "replace", uri, range, text });
  }
}

class Document {
  isDirty = false;
  version = 1;
  constructor(uri, text) {
    this.uri = uri;
    this.text = text;
  }
  offset({ line, character }) {
    const lines = this.text.split("\n");
    return lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, 0) + character;
  }
  getText(range) {
    return range ? this.text.slice(this.offset(range.start), this.offset(range.end)) : this.text;
  }
  type(text) {
    this.text = text;
    this.version++;
    this.isDirty = true;
  }
}

class EventEmitter {
  #handlers = [];
  event = (handler) => (this.#handlers.push(handler), { dispose() {} });
  fire(value) {
    for (const handler of this.#handlers) handler(value);
  }
}

class TreeItem {
  constructor(label, collapsibleState) {
    Object.assign(this, { label, collapsibleState });
  }
}

class ThemeIcon {
  static File = new ThemeIcon("file");
  static Folder = new ThemeIcon("folder");
  constructor(id) {
    this.id = id;
  }
}

class TabInputText {
  constructor(uri) {
    this.uri = uri;
  }
}

class TabInputTextDiff {
  constructor(original, modified) {
    Object.assign(this, { original, modified });
  }
}

/** An editor over folders. `answer` gets every question, and gives the label of what is chosen. */
function editor(...roots) {
  const documents = new Map();
  const commands = new Map();
  const settings = new Map();
  const events = { said: [], asked: [], executed: [], shown: [], marked: [], refuseEdits: false };
  const checked = new EventEmitter();
  const view = { onDidChangeCheckboxState: checked.event, reveal: async () => {}, dispose() {} };
  const views = new Map();
  const providers = new Map();
  const watched = [];
  let items;

  const open = (uri) => {
    const name = uri.toString();
    if (!documents.has(name)) {
      if (uri.scheme !== "file") documents.set(name, new Document(uri, providers.get(uri.scheme).provideTextDocumentContent(uri)));
      else {
        const bytes = readFileSync(uri.path);
        if (bytes.includes(0)) throw new Error(`${uri.path} seems to be binary`);
        documents.set(name, new Document(uri, bytes.toString()));
      }
    }
    return documents.get(name);
  };
  const say = async (kind, text, ...actions) => {
    events.said.push(`${kind}: ${text}`);
    return state.answer?.(text, actions);
  };
  const ask = async (items, { title, placeHolder }) => {
    events.asked.push(title ?? placeHolder);
    const labels = items.map(({ label }) => label);
    const chosen = await state.answer?.(title ?? placeHolder, labels);
    return items.find(({ label }) => label === chosen);
  };
  const folders = roots.map((root) => ({ uri: Uri.file(root), label: root }));
  let clipboard = "";

  const vscode = {
    Uri,
    Range,
    WorkspaceEdit,
    EventEmitter,
    TreeItem,
    TabInputText,
    TabInputTextDiff,
    ThemeColor: class {},
    ThemeIcon,
    MarkdownString: class {
      constructor(value) {
        this.value = value;
      }
    },
    RelativePattern: class {
      constructor(base, pattern) {
        Object.assign(this, { base, pattern });
      }
    },
    ConfigurationTarget: { Global: 1 },
    TreeItemCheckboxState: { Unchecked: 0, Checked: 1 },
    TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
    env: {
      clipboard: {
        readText: async () => clipboard,
        writeText: async (text) => {
          clipboard = text;
        },
      },
    },
    commands: {
      registerCommand: (name, run) => (commands.set(name, run), { dispose() {} }),
      async executeCommand(...call) {
        events.executed.push(call);
        const [name, before, after, , { selection } = {}] = call;
        if (name !== "vscode.diff") return;
        const tabs = vscode.window.tabGroups.all[0].tabs;
        if (!tabs.some(({ input }) => input?.modified?.query === after.query)) tabs.push({ isDirty: false, input: new TabInputTextDiff(before, after) });
        state.look(after, selection.start.line);
      },
    },
    window: {
      activeTextEditor: undefined,
      visibleTextEditors: [],
      tabGroups: {
        all: [{ tabs: [] }],
        async close(tabs) {
          vscode.window.tabGroups.all[0].tabs = vscode.window.tabGroups.all[0].tabs.filter((tab) => !tabs.includes(tab));
        },
      },
      createTreeView(id, { treeDataProvider }) {
        if (id === "applyPatch.review") {
          items = treeDataProvider;
          return view;
        }
        views.set(id, { provider: treeDataProvider, dispose() {} });
        return views.get(id);
      },
      createTextEditorDecorationType: () => ({ dispose() {} }),
      onDidChangeVisibleTextEditors: () => ({ dispose() {} }),
      showInformationMessage: (...message) => say("info", ...message),
      showErrorMessage: (...message) => say("error", ...message),
      showWarningMessage: (...message) => say("warning", ...message),
      showOpenDialog: async () => events.chosen && [Uri.file(events.chosen)],
      showQuickPick: ask,
      showInputBox: async ({ title }) => (events.asked.push(title), state.answer?.(title, [])),
      showWorkspaceFolderPick: (options) => ask(folders, options),
      showTextDocument: async (uri, { selection }) => {
        events.shown.push([uri.path, selection?.start.line ?? open(uri).text]);
        if (uri.scheme !== "file") vscode.window.tabGroups.all[0].tabs.push({ isDirty: false, input: new TabInputText(uri) });
      },
    },
    workspace: {
      workspaceFolders: folders,
      get textDocuments() {
        return [...documents.values()];
      },
      getConfiguration: () => ({
        get: (name, otherwise) => settings.get(name) ?? otherwise,
        update: async (name, value) => void settings.set(name, value),
      }),
      getWorkspaceFolder: (uri) => folders.find((one) => uri.path.startsWith(`${one.uri.path}/`)),
      openTextDocument: async (uri) => open(uri),
      onDidChangeTextDocument: () => ({ dispose() {} }),
      onDidChangeWorkspaceFolders: () => ({ dispose() {} }),
      createFileSystemWatcher({ base, pattern }) {
        const changed = new EventEmitter();
        watched.push({ place: `${base.path}/${pattern}`, changed });
        return { onDidChange: changed.event, onDidCreate() {}, onDidDelete() {}, dispose() {} };
      },
      registerTextDocumentContentProvider(scheme, one) {
        providers.set(scheme, one);
        one.onDidChange?.((uri) => documents.has(uri.toString()) && (open(uri).text = one.provideTextDocumentContent(uri)));
        return { dispose() {} };
      },
      async applyEdit({ entries }) {
        if (events.refuseEdits) return false;
        // Positions are those before the edit: from the end on.
        const replacements = entries.filter(({ kind }) => kind === "replace");
        replacements.sort((one, other) => other.range.start.line - one.range.start.line);
        for (const { uri, range, text } of replacements) {
          const document = open(uri);
          const [from, to] = [document.offset(range.start), document.offset(range.end)];
          document.type(document.text.slice(0, from) + text + document.text.slice(to));
        }
        for (const { kind, uri, to, options } of entries) {
          if (kind === "create") writeFileSync(uri.path, options.contents, { flag: "wx" });
          if (kind === "delete") rmSync(uri.path);
          if (kind === "rename") {
            renameSync(uri.path, to.path);
            const document = documents.get(uri.toString());
            documents.delete(uri.toString());
            if (document) documents.set(to.toString(), Object.assign(document, { uri: to }));
          }
        }
        return true;
      },
    },
  };

  const state = {
    ...events,
    events,
    vscode,
    commands,
    settings,
    answer: undefined,
    document: (root, path) => open(Uri.file(join(root, path))),
    on: (root, path, text) => {
      if (text !== undefined && !existsSync(join(root, path))) writeFileSync(join(root, path), text);
      const document = open(Uri.file(join(root, path)));
      vscode.window.activeTextEditor = { document, selection: new Range(0, 0, 0, 0) };
      return vscode.window.activeTextEditor;
    },
    tab: (root, path, isDirty) => {
      vscode.window.tabGroups.all[0].tabs.push({ isDirty, input: { uri: Uri.file(join(root, path)) } });
    },
    copy: (text) => {
      clipboard = text;
    },
    copied: () => clipboard,
    /** Puts the cursor into a document. */
    look: (uri, line) => {
      const setDecorations = (_, ranges) => (events.marked = ranges.map(({ range }) => range.start.line));
      const selection = Object.assign(new Range(line, 0, line, 0), { active: { line } });
      vscode.window.activeTextEditor = { document: open(uri), selection, setDecorations };
      vscode.window.visibleTextEditors = [vscode.window.activeTextEditor];
    },
    /** The two texts of the diff that was opened last. */
    diff: () => {
      const [, before, after] = events.executed.findLast(([name]) => name === "vscode.diff") ?? [];
      return [before && open(before).text, after && open(after).text];
    },
    /** The view of the patch: its message, and each line with its depth and whether it is checked. */
    list: () => {
      const lines = (item, depth) =>
        items.getChildren(item).flatMap((one) => {
          const { label, description, checkboxState } = items.getTreeItem(one);
          const box = checkboxState === undefined ? "-" : checkboxState === 1 ? "[x]" : "[ ]";
          return [`${"  ".repeat(depth)}${box} ${label}: ${description}`, ...lines(one, depth + 1)];
        });
      return lines(undefined, 0);
    },
    /** Another view: each of its items with its line, its depth and what its menu is about. */
    tree: async (id) => {
      const { provider } = views.get(`applyPatch.${id}`);
      const all = async (item, depth) => {
        const found = [];
        for (const one of await provider.getChildren(item)) {
          const node = provider.getTreeItem(one);
          found.push({ line: `${"  ".repeat(depth)}${node.label}: ${node.description}`, item: one, node });
          found.push(...(await all(one, depth + 1)));
        }
        return found;
      };
      return all(undefined, 0);
    },
    views,
    watched,
    /** The texts of the documents that were opened together. */
    changes: () => {
      const [, title, resources] = events.executed.findLast(([name]) => name === "vscode.changes") ?? [];
      return [title, resources?.map(([label, before, after]) => [label.path, open(before).text, open(after).text])];
    },
    text: (uri) => open(uri).text,
    view,
    /** An item of the list, by its label. */
    item: (label) => {
      const all = items.getChildren().flatMap((file) => [file, ...items.getChildren(file)]);
      return all.find((one) => items.getTreeItem(one).label === label);
    },
    /** Checks a line of the list, or removes the check. */
    check: (label, yes) => checked.fire({ items: [[state.item(label), yes ? 1 : 0]] }),
    run: (name, ...args) => commands.get(`applyPatch.${name}`)(...args),
  };
  return state;
}

/** Loads the extension into an editor. Whatever it requires as `vscode` is that editor. */
function activate(main, state) {
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? state.vscode : load(name, ...rest));
  try {
    // Each of its modules has the editor of its own run.
    const out = dirname(require.resolve(main));
    for (const file of Object.keys(require.cache)) if (dirname(file) === out) delete require.cache[file];
    const subscriptions = [];
    require(main).activate({ subscriptions });
    return subscriptions;
  } finally {
    Module._load = load;
  }
}

module.exports = { Range, activate, editor };
