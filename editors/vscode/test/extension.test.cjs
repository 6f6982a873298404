// The commands, in an editor that is made up.
"use strict";

const assert = require("node:assert/strict");
const { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");

const { Range, activate, editor } = require("./editor.cjs");
const { change, extension, folder, long, patchOf, program, twoHunks } = require("./places.cjs");

const manifest = JSON.parse(readFileSync(join(extension, "package.json")));

const started = (...roots) => {
  const state = editor(...roots);
  state.settings.set("program", program);
  state.subscriptions = activate(join(extension, manifest.main), state);
  return state;
};
const read = (root, path) => readFileSync(join(root, path), "utf8");
const copied = (root, ...lines) => {
  const state = started(root);
  state.copy(patchOf(...lines));
  return state;
};
/** Shows what was copied, and applies it. */
const applied = async (state) => {
  await state.run("applyClipboard");
  await state.run("apply");
};

test("every command is declared, and every declared one is there", () => {
  const state = started(folder({}));
  const { commands, menus, walkthroughs } = manifest.contributes;
  const declared = commands.map(({ command }) => command);
  assert.deepEqual([...state.commands.keys()].sort(), [...declared].sort());
  const inMenus = Object.values(menus).flat().map(({ command }) => command);
  const inSteps = [...JSON.stringify(walkthroughs).matchAll(/ommand:(applyPatch\.\w+)/g)].map(([, command]) => command);
  assert.deepEqual([...inMenus, ...inSteps].filter((command) => !declared.includes(command)), []);
  for (const { media } of walkthroughs[0].steps) assert.ok(existsSync(join(extension, media.markdown)), media.markdown);
  assert.ok(existsSync(join(extension, manifest.icon)));
});

test("the menus are those of patches", () => {
  const { menus } = manifest.contributes;
  const [pattern] = menus["explorer/context"].map(({ when }) => new RegExp(/\/(.*)\/i/.exec(when)[1], "i"));
  for (const [name, yes] of [[".patch", true], [".diff", true], [".DIFF", true], [".txt", false], [".patches", false]]) {
    assert.equal(pattern.test(name), yes, name);
  }
});

test("the settings are those that the extension reads", async () => {
  const read = new Set();
  const state = copied(folder({ a: "one\n" }), ...change("a", "one", "two"));
  state.vscode.workspace.getConfiguration = (section) => ({
    get: (name, otherwise) => (read.add(`${section}.${name}`), otherwise),
  });
  await applied(state);
  assert.deepEqual([...read].sort(), Object.keys(manifest.contributes.configuration.properties).sort());
});

test("a patch is listed by files and hunks, and each file is shown as a diff", async () => {
  const root = folder({ "src/a": long, gone: "g\n", "src/old": "o\n" });
  const state = copied(
    root, ...twoHunks("src/a"), "*** Delete File: gone", "*** Add File: new", "+n", "*** Move File: src/old -> moved",
  );
  await state.run("applyClipboard");
  assert.deepEqual(state.list(), [
    "[x] src/a: update",
    "  [x] Hunk 1, line 2: - line 2",
    "  [x] Hunk 2, line 30: - line 30",
    "[x] new: create",
    "[x] src/old → moved: move",
    "[x] gone: delete",
  ]);
  assert.equal(state.view.message, "1 created, 1 updated, 1 moved, 1 deleted. Will be written to the disk. Undo Last Patch undoes it.");
  assert.deepEqual(state.diff(), [long, long.replace("line 2\n", "two\nmore\n").replace("line 30\n", "thirty\n")]);
  assert.deepEqual([state.said, state.asked], [[], []]);
  assert.ok(!existsSync(join(root, ".apply-patch")), "nothing is written");

  await state.run("discard");
  assert.deepEqual([state.list(), state.vscode.window.tabGroups.all[0].tabs], [[], []]);
  await state.run("apply");
  assert.match(state.said.at(-1), /^error: There is no patch under review/);
  assert.equal(read(root, "src/a"), long);
});

test("what was left out of a text is noted", async () => {
  const state = started(folder({ a: "one\n" }));
  state.copy(`Here it is:\n${patchOf(...change("a", "one", "two"))}`);
  await state.run("applyClipboard");
  assert.match(state.view.message, /^1 updated\. .* undoes it\. Note: .*left out line 1\.$/);
});

test("a hunk is rejected at the cursor or in the list, and accepted again", async () => {
  const root = folder({ a: long, b: "b\n" });
  const state = copied(root, ...twoHunks("a"), ...change("b", "b", "B"));
  const checks = () => state.list().map((line) => line.trim().slice(0, 3)).join("");
  const all = long.replace("line 2\n", "two\nmore\n").replace("line 30\n", "thirty\n");
  await state.run("applyClipboard");
  assert.equal(checks(), "[x][x][x][x][x]");
  await state.run("rejectHunk");
  assert.deepEqual([checks(), state.diff()[1], state.events.marked], ["[x][ ][x][x][x]", long.replace("line 30\n", "thirty\n"), [1]]);
  assert.equal(state.vscode.window.activeTextEditor.selection.active.line, 29, "the next hunk");
  await state.run("rejectHunk");
  assert.deepEqual([checks(), state.diff()], ["[ ][ ][ ][x][x]", ["b\n", "B\n"]], "the next file");
  await state.run("show", state.item("a"));
  assert.deepEqual([state.diff()[1], state.events.marked], [long, [1, 29]]);
  state.check("a", true);
  assert.deepEqual([checks(), state.diff()[1], state.events.marked], ["[x][x][x][x][x]", all, []]);
  state.check("Hunk 2, line 30", false);
  state.check("b", false);
  assert.equal(checks(), "[x][x][ ][ ][ ]");
  state.look(state.vscode.window.activeTextEditor.document.uri, 35);
  await state.run("acceptHunk");
  assert.equal(checks(), "[x][x][x][ ][ ]");
  state.check("Hunk 1, line 2", false);
  await state.run("apply");
  assert.deepEqual([read(root, "a"), read(root, "b")], [long.replace("line 30\n", "thirty\n"), "b\n"]);
  assert.deepEqual(state.said, ["info: Applied to the disk: 1 updated."]);
  assert.deepEqual(state.vscode.window.tabGroups.all[0].tabs, [], "the review is over");
});

test("a hunk is decided about in its diff alone", async () => {
  const root = folder({ a: "one\n" });
  const state = copied(root, ...change("a", "one", "two"));
  await state.run("applyClipboard");
  state.on(root, "a");
  await state.run("rejectHunk");
  assert.match(state.said.at(-1), /^error: Open a file under review/);
  assert.deepEqual(state.list().map((line) => line.trim().slice(0, 3)), ["[x]", "[x]"]);
});

test("all of it rejected is not applied", async () => {
  const root = folder({ a: "one\n" });
  const state = copied(root, ...change("a", "one", "two"));
  await state.run("applyClipboard");
  await state.run("rejectHunk");
  await state.run("apply");
  assert.deepEqual([read(root, "a"), state.said], ["one\n", ["error: Nothing was applied: all of the patch is rejected."]]);
});

test("a selected patch is shown, written to the disk and undone", async () => {
  const root = folder({ a: "one\n", "notes.txt": `See:\n${patchOf(...change("a", "one", "two"))}Thanks\n` });
  const state = started(root);
  state.on(root, "notes.txt").selection = new Range(1, 0, 7, 0);
  await state.run("applySelection");
  assert.equal(read(root, "a"), "one\n");
  await state.run("apply");
  assert.equal(read(root, "a"), "two\n");
  assert.deepEqual([state.said, state.asked], [["info: Applied to the disk: 1 updated."], []]);

  state.answer = () => "Cancel";
  await state.run("undo");
  assert.equal(read(root, "a"), "two\n");
  state.answer = (title, choices) => (title === "Undo the last patch? a, changed by vscode" ? choices[0] : undefined);
  await state.run("undo");
  assert.equal(read(root, "a"), "one\n");
  await state.run("undo");
  assert.equal(state.said.at(-1), "info: No patch to undo in this folder.");
});

test("a file is applied to its own folder", async () => {
  const [one, other] = [folder({ a: "one\n" }), folder({ a: "one\n", "fix.patch": patchOf(...change("a", "one", "two")) })];
  const state = started(one, other);
  state.on(one, "a");
  await state.run("applyFile", state.vscode.Uri.file(join(other, "fix.patch")));
  await state.run("apply");
  assert.deepEqual([read(one, "a"), read(other, "a")], ["one\n", "two\n"]);
});

test("the message after applying undoes it too", async () => {
  const root = folder({ a: "one\n" });
  const state = copied(root, ...change("a", "one", "two"));
  state.answer = (_, choices) => choices[0];
  await applied(state);
  assert.equal(read(root, "a"), "one\n");
  assert.deepEqual(state.said, ["info: Applied to the disk: 1 updated.", "info: The patch is undone."]);
});

test("with an unsaved file all of it goes to the editor, and nothing is logged", async () => {
  const root = folder({ a: "one\ntwo\nthree\n", b: "x\n", gone: "g\n", old: "o\n" });
  const state = copied(
    root,
    "*** Update File: a", "@@", " ONE", "-two", "+2", " three", "-four", "+4",
    ...change("b", "x", "y"), "*** Delete File: gone", "*** Add File: new", "+n", "*** Add File: not", "+n",
    "*** Update File: old", "*** Move to: moved", "@@", "-o", "+O",
  );
  const a = state.document(root, "a");
  a.type("ONE\ntwo\nthree\nfour\n");
  await state.run("applyClipboard");
  assert.match(state.view.message, /^2 created, 2 updated, 1 moved, 1 deleted\. Will be made in the editor and not saved, because a has unsaved changes. The editor's Undo undoes it\.$/);
  state.check("not", false);
  await state.run("apply");
  assert.equal(state.said.at(-1), "info: Applied in the editor, not saved: 1 created, 2 updated, 1 moved, 1 deleted.");
  assert.equal(a.text, "ONE\n2\nthree\n4\n");
  assert.equal(state.document(root, "b").text, "y\n");
  assert.equal(state.document(root, "moved").text, "O\n");
  assert.deepEqual([read(root, "a"), read(root, "b"), read(root, "new")], ["one\ntwo\nthree\n", "x\n", "n\n"]);
  assert.deepEqual(["gone", "old", "not", ".apply-patch"].map((path) => existsSync(join(root, path))), [false, false, false, false]);
});

test("what changes while the person reads is not overwritten", async () => {
  for (const dirty of [false, true]) {
    for (const meanwhile of ["type", "disk"]) {
      const root = folder({ a: "one\n", b: "x\n" });
      const state = copied(root, ...change("a", "one", "two"), "*** Delete File: b");
      if (dirty) state.document(root, "a").type("typed\none\n");
      await state.run("applyClipboard");
      if (meanwhile === "type") state.document(root, "a").type("one\nmore\n");
      else writeFileSync(join(root, "b"), "other\n");
      await state.run("apply");
      assert.match(state.said.at(-1), /^error: The files have changed since the patch was shown/, `${dirty} ${meanwhile}`);
      assert.equal(read(root, "a"), "one\n");
      assert.ok(existsSync(join(root, "b")));
    }
  }
});

test("an edit that the editor refuses is said", async () => {
  const root = folder({ a: "one\n" });
  const state = copied(root, ...change("a", "one", "two"));
  state.document(root, "a").type("one\nmore\n");
  state.events.refuseEdits = true;
  await applied(state);
  assert.match(state.said.at(-1), /^error: VS Code refused the edit/);
});

test("without the program a patch is shown, and can be applied in the editor", async () => {
  const root = folder({ a: long });
  const state = copied(root, ...twoHunks("a"));
  state.settings.delete("program");
  const before = { ...process.env };
  const nowhere = { HOME: root, USERPROFILE: root, PATH: "" };
  Object.assign(process.env, nowhere);
  try {
    await state.run("applyClipboard");
    await state.run("rejectHunk");
    const offers = [];
    state.answer = (title, choices) => (offers.push(choices), "How to Install");
    await state.run("apply");
    assert.deepEqual(state.executed.at(-1).slice(0, 2), ["workbench.action.openWalkthrough", "apply-patch.apply-patch#start"]);
    assert.equal(`${manifest.publisher}.${manifest.name}#${manifest.contributes.walkthroughs[0].id}`, state.executed.at(-1)[1]);
    state.answer = () => "Apply in the Editor";
    await state.run("apply");
    assert.equal(state.document(root, "a").text, long.replace("line 30\n", "thirty\n"));
    assert.equal(read(root, "a"), long);
    state.answer = (title, choices) => (offers.push(choices), "Choose the Program");
    state.events.chosen = join(root, "none", "apply-patch");
    await state.run("undo");
    assert.deepEqual(offers, [
      ["How to Install", "Choose the Program", "Apply in the Editor"],
      ["How to Install", "Choose the Program"],
    ]);
    assert.equal(state.settings.get("program"), state.vscode.Uri.file(state.events.chosen).fsPath);
    await state.run("undo");
    assert.match(state.said.at(-1), /^error: .*apply-patch cannot be run/);
  } finally {
    for (const name of Object.keys(nowhere)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test("a notebook with unsaved changes is left alone", async () => {
  const root = folder({ "a.ipynb": "{}\n", b: "x\n" });
  const state = copied(root, ...change("a.ipynb", "{}", "[]"));
  state.tab(root, "b", false);
  state.vscode.window.tabGroups.all[0].tabs.push({ isDirty: true, input: undefined });
  state.tab(root, "a.ipynb", true);
  await state.run("applyClipboard");
  assert.equal(state.said.at(-1), "error: Nothing was changed: a.ipynb has unsaved changes. Save or revert first.");
  assert.equal(read(root, "a.ipynb"), "{}\n");
  state.copy(patchOf(...change("b", "x", "y")));
  await applied(state);
  assert.equal(read(root, "b"), "y\n");
});

// On Windows not everybody may make a link.
const links = { skip: process.platform === "win32" };

test("a folder and its documents are found over symbolic links, also documents whose files are gone", links, async () => {
  const root = folder({ a: "one\n", "sub/gone": "x\n" });
  const link = `${root}-link`;
  symlinkSync(root, link);
  const state = copied(link, ...change("a", "one", "two"), ...change("sub/gone", "y", "Y"));
  state.document(root, "a").type("typed\none\n");
  state.document(link, "sub/gone").type("x\ny\n");
  rmSync(join(root, "sub/gone"));
  await applied(state);
  assert.deepEqual(
    [state.document(root, "a").text, state.document(link, "sub/gone").text, read(root, "a")],
    ["typed\ntwo\n", "x\nY\n", "one\n"],
  );
});

test("a transaction is not undone beneath unsaved changes", async () => {
  const root = folder({ a: "one\n" });
  const state = copied(root, ...change("a", "one", "two"));
  await applied(state);
  state.document(root, "a").type("two\nmore\n");
  state.answer = (_, choices) => choices[0];
  await state.run("undo");
  assert.match(state.said.at(-1), /^error: Nothing was undone: a has unsaved changes/);
  assert.equal(read(root, "a"), "two\n");
});

test("a refusal leads to its lines, and can be copied", async () => {
  const root = folder({ a: "one\nx\none\n" });
  const state = copied(root, ...change("a", "one", "two"));
  const asked = [];
  state.answer = (title, choices) => (asked.push(choices), choices.find((choice) => choice === "Show" || choice === "a:3"));
  await state.run("applyClipboard");
  assert.deepEqual(state.shown, [[state.document(root, "a").uri.path, 2]]);
  assert.deepEqual(asked, [["Show", "Copy for the Model"], ["a:1", "a:3"]]);
  assert.match(state.said[0], /^error: a: hunk 1 .*more than one place/);
  state.answer = () => "Copy for the Model";
  await state.run("applyClipboard");
  assert.match(state.copied(), /\nnext: /);
  assert.deepEqual(state.executed, [], "there is nothing to show");
});

test("the folder is that of the active editor, else the only one, else the one that is picked", async () => {
  const [one, other] = [folder({ a: "one\n" }), folder({ a: "one\n", b: "b\n" })];
  const state = started(one, other);
  state.copy(patchOf(...change("a", "one", "two")));
  state.answer = (title) => (title === "The folder that the patch is for" ? other : undefined);
  await applied(state);
  assert.deepEqual([read(one, "a"), read(other, "a")], ["one\n", "two\n"]);
  state.on(one, "a");
  await applied(state);
  assert.deepEqual([read(one, "a"), state.asked.length], ["two\n", 1]);
  state.vscode.workspace.workspaceFolders = undefined;
  await state.run("undo");
  assert.equal(state.said.at(-1), "error: Open the folder that the patch is for.");
});

test("what is missing is said in a sentence", async () => {
  const state = started(folder({ a: "one\n" }));
  await state.run("applySelection");
  assert.equal(state.said.at(-1), "error: Open an editor and select a patch.");
  state.settings.set("program", "bin/apply-patch");
  await state.run("undo");
  assert.equal(state.said.at(-1), "error: The setting applyPatch.program is not an absolute path: bin/apply-patch");
});
