// The commands, in an editor that is made up.
"use strict";

const assert = require("node:assert/strict");
const { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");

const { Range, activate, editor } = require("./editor.cjs");
const { change, extension, folder, patchOf } = require("./places.cjs");

const manifest = JSON.parse(readFileSync(join(extension, "package.json")));

const started = (...roots) => {
  const state = editor(...roots);
  state.subscriptions = activate(join(extension, manifest.main), state);
  return state;
};
const read = (root, path) => readFileSync(join(root, path), "utf8");
const yes = (_, choices) => choices.find((choice) => choice === "Apply");

test("every command is declared, and every declared one is there", () => {
  const state = started(folder({}));
  const declared = manifest.contributes.commands.map(({ command }) => command);
  assert.deepEqual([...state.commands.keys()].sort(), [...declared].sort());
  const inMenus = Object.values(manifest.contributes.menus).flat().map(({ command }) => command);
  assert.deepEqual(inMenus.filter((command) => !declared.includes(command)), []);
  assert.ok(state.subscriptions.length >= declared.length);
});

test("the settings are those that the extension reads", () => {
  const read = new Set();
  const state = started(folder({ a: "one\n" }));
  state.vscode.workspace.getConfiguration = (section) => ({
    get: (name, otherwise) => (read.add(`${section}.${name}`), otherwise),
  });
  state.copy(patchOf(...change("a", "one", "two")));
  return state.run("previewClipboard").then(() => {
    assert.deepEqual([...read].sort(), Object.keys(manifest.contributes.configuration.properties).sort());
  });
});

test("one file is previewed as a diff, several as changes", async () => {
  const root = folder({ a: "one\n", b: "x\n", gone: "g\n" });
  const state = started(root);
  state.copy(patchOf(...change("a", "one", "two")));
  await state.run("previewClipboard");
  const [name, before, after, title] = state.executed.pop();
  assert.deepEqual([name, title], ["vscode.diff", "Patch: 1 updated"]);
  assert.deepEqual([state.preview(before), state.preview(after), before.path], ["one\n", "two\n", "/a"]);
  state.close(before);
  assert.equal(state.preview(before), "", "what is closed is forgotten");

  state.copy(patchOf(...change("a", "one", "two"), "*** Delete File: gone", "*** Add File: new", "+n"));
  await state.run("previewClipboard");
  const [command, , resources] = state.executed.pop();
  assert.equal(command, "vscode.changes");
  assert.deepEqual(
    resources.map(([label, ...sides]) => [label.path, ...sides.map(state.preview)]),
    [
      ["/a", "one\n", "two\n"],
      ["/new", undefined, "n\n"],
      ["/gone", "g\n", undefined],
    ],
  );
  assert.equal(read(root, "a"), "one\n");
  assert.deepEqual([state.asked, state.said], [[], []]);
});

test("a selected patch is shown, asked about, written to the disk and undone", async () => {
  const root = folder({ a: "one\n", "notes.txt": `See:\n${patchOf(...change("a", "one", "two"))}Thanks\n` });
  const state = started(root);
  const active = state.on(root, "notes.txt");
  active.selection = new Range(1, 0, 7, 0);
  state.answer = (title, choices) => {
    // What is asked after the preview was shown, and before anything is written.
    const before = state.executed.length === 1 && read(root, "a") === "one\n";
    return before ? yes(title, choices) : undefined;
  };
  await state.run("applySelection");
  assert.equal(read(root, "a"), "two\n");
  assert.deepEqual(state.said, ["info: Applied to the disk: 1 updated."]);
  assert.equal(state.asked.length, 1);

  state.answer = (title, choices) => {
    return title === "Undo the last patch? a, changed by vscode" ? choices[0] : undefined;
  };
  await state.run("undo");
  assert.equal(read(root, "a"), "one\n");
  await state.run("undo");
  assert.equal(state.said.at(-1), "info: No patch to undo in this folder.");
});

test("the message after applying undoes it too", async () => {
  const root = folder({ a: "one\n" });
  const state = started(root);
  state.copy(patchOf(...change("a", "one", "two")));
  state.answer = (_, choices) => choices[0];
  await state.run("applyClipboard");
  assert.equal(read(root, "a"), "one\n");
  assert.deepEqual(state.said, ["info: Applied to the disk: 1 updated.", "info: The patch is undone."]);
});

test("without a yes nothing is changed", async () => {
  const root = folder({ a: "one\n" });
  const state = started(root);
  state.copy(patchOf(...change("a", "one", "two")));
  for (const answer of [() => "Cancel", () => undefined]) {
    state.answer = answer;
    await state.run("applyClipboard");
  }
  assert.equal(read(root, "a"), "one\n");
  assert.deepEqual([state.asked.length, state.said], [2, []]);
});

test("with an unsaved file all of it goes to the editor, and nothing is logged", async () => {
  const root = folder({ a: "one\ntwo\nthree\n", b: "x\n", gone: "g\n", old: "o\n" });
  const state = started(root);
  const a = state.document(root, "a");
  a.type("ONE\ntwo\nthree\nfour\n");
  const patch = patchOf(
    "*** Update File: a", "@@", " ONE", "-two", "+2", " three", "-four", "+4",
    ...change("b", "x", "y"), "*** Delete File: gone", "*** Add File: new", "+n",
    "*** Update File: old", "*** Move to: moved", "@@", "-o", "+O",
  );
  state.copy(patch);
  state.answer = yes;
  await state.run("applyClipboard");
  assert.equal(state.said.at(-1), "info: Applied in the editor, not saved: 1 created, 2 updated, 1 moved, 1 deleted.");
  assert.equal(a.text, "ONE\n2\nthree\n4\n");
  assert.equal(state.document(root, "b").text, "y\n");
  assert.equal(state.document(root, "moved").text, "O\n");
  assert.deepEqual([read(root, "a"), read(root, "b"), read(root, "new")], ["one\ntwo\nthree\n", "x\n", "n\n"]);
  assert.deepEqual([existsSync(join(root, "gone")), existsSync(join(root, "old"))], [false, false]);
  assert.ok(!existsSync(join(root, ".apply-patch")));
});

test("what changes while the person reads is not overwritten", async () => {
  for (const dirty of [false, true]) {
    for (const meanwhile of ["type", "disk"]) {
      const root = folder({ a: "one\n", b: "x\n" });
      const state = started(root);
      if (dirty) state.document(root, "a").type("typed\none\n");
      state.copy(patchOf(...change("a", "one", "two"), "*** Delete File: b"));
      state.answer = (title, choices) => {
        if (meanwhile === "type") state.document(root, "a").type("one\nmore\n");
        else writeFileSync(join(root, "b"), "other\n");
        return yes(title, choices);
      };
      await state.run("applyClipboard");
      assert.match(state.said.at(-1), /^error: The files have changed since the preview/, `${dirty} ${meanwhile}`);
      assert.equal(read(root, "a"), "one\n");
      assert.ok(existsSync(join(root, "b")));
    }
  }
});

test("an edit that the editor refuses is said", async () => {
  const root = folder({ a: "one\n" });
  const state = started(root);
  state.document(root, "a").type("one\nmore\n");
  state.copy(patchOf(...change("a", "one", "two")));
  state.events.refuseEdits = true;
  state.answer = yes;
  await state.run("applyClipboard");
  assert.match(state.said.at(-1), /^error: VS Code refused the edit/);
});

test("a notebook with unsaved changes is left alone", async () => {
  const root = folder({ "a.ipynb": "{}\n", b: "x\n" });
  const state = started(root);
  state.answer = yes;
  state.tab(root, "b", false);
  state.vscode.window.tabGroups.all[0].tabs.push({ isDirty: true, input: undefined });
  state.copy(patchOf(...change("a.ipynb", "{}", "[]")));
  state.tab(root, "a.ipynb", true);
  await state.run("applyClipboard");
  assert.equal(state.said.at(-1), "error: Nothing was changed: a.ipynb has unsaved changes. Save or revert first.");
  assert.equal(read(root, "a.ipynb"), "{}\n");
  state.copy(patchOf(...change("b", "x", "y")));
  await state.run("applyClipboard");
  assert.equal(read(root, "b"), "y\n");
});

test("a folder and its documents are found over symbolic links, also documents whose files are gone", async () => {
  const root = folder({ a: "one\n", "sub/gone": "x\n" });
  const link = `${root}-link`;
  symlinkSync(root, link);
  const state = started(link);
  state.document(root, "a").type("typed\none\n");
  state.document(link, "sub/gone").type("x\ny\n");
  rmSync(join(root, "sub/gone"));
  state.copy(patchOf(...change("a", "one", "two"), ...change("sub/gone", "y", "Y")));
  state.answer = yes;
  await state.run("applyClipboard");
  assert.deepEqual(
    [state.document(root, "a").text, state.document(link, "sub/gone").text, read(root, "a")],
    ["typed\ntwo\n", "x\nY\n", "one\n"],
  );
});

test("a transaction is not undone beneath unsaved changes", async () => {
  const root = folder({ a: "one\n" });
  const state = started(root);
  state.copy(patchOf(...change("a", "one", "two")));
  state.answer = yes;
  await state.run("applyClipboard");
  state.document(root, "a").type("two\nmore\n");
  state.answer = (_, choices) => choices[0];
  await state.run("undo");
  assert.match(state.said.at(-1), /^error: Nothing was undone: a has unsaved changes/);
  assert.equal(read(root, "a"), "two\n");
});

test("a refusal leads to its lines, and can be copied", async () => {
  const root = folder({ a: "one\nx\none\n" });
  const state = started(root);
  const patch = patchOf(...change("a", "one", "two"));
  state.copy(patch);
  const asked = [];
  state.answer = (title, choices) => (asked.push(choices), choices.find((choice) => choice === "Show" || choice === "a:3"));
  await state.run("applyClipboard");
  assert.deepEqual(state.shown, [[join(root, "a"), 2]]);
  assert.deepEqual(asked, [["Show", "Copy for the Model"], ["a:1", "a:3"]]);
  assert.match(state.said[0], /^error: a: hunk 1 .*more than one place/);
  state.answer = () => "Copy for the Model";
  await state.run("applyClipboard");
  assert.match(state.copied(), /\nnext: /);
  assert.deepEqual(state.executed, [], "there is nothing to preview");
});

test("the folder is that of the active editor, else the only one, else the one that is picked", async () => {
  const [one, other] = [folder({ a: "one\n" }), folder({ a: "one\n", b: "b\n" })];
  const state = started(one, other);
  state.copy(patchOf(...change("a", "one", "two")));
  state.answer = (title, choices) => (title === "The folder that the patch is for" ? other : yes(title, choices));
  await state.run("applyClipboard");
  assert.deepEqual([read(one, "a"), read(other, "a")], ["one\n", "two\n"]);
  state.on(one, "a");
  await state.run("applyClipboard");
  assert.deepEqual([read(one, "a"), state.asked.length], ["two\n", 3]);
  state.vscode.workspace.workspaceFolders = undefined;
  await state.run("undo");
  assert.equal(state.said.at(-1), "error: Open the folder that the patch is for.");
});

test("what is missing is said in a sentence", async () => {
  const state = started(folder({ a: "one\n" }));
  await state.run("applySelection");
  assert.equal(state.said.at(-1), "error: Open an editor and select a patch.");
  state.settings.set("library", join(extension, "nowhere"));
  state.copy(patchOf(...change("a", "one", "two")));
  await state.run("previewClipboard");
  assert.match(state.said.at(-1), /^error: Install the npm package apply-patch-cli and name its folder in the setting applyPatch.library \(Cannot find/);
});
