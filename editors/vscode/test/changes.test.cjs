// What agents did: the history, the review of changes, and proposals, in an editor that is made up.
"use strict";

const assert = require("node:assert/strict");
const { chmodSync, existsSync, readFileSync, statSync, writeFileSync } = require("node:fs");
const { createHash } = require("node:crypto");
const { join } = require("node:path");
const { test } = require("node:test");

const { activate, editor } = require("./editor.cjs");
const { agent, change, extension, folder, load, long, patchOf, program, run, twoHunks } = require("./places.cjs");

const { changesOf, expectedReverts, revert } = load("./changes.js");
const { sessionsOf, timeOf } = load("./history.js");
const { Program } = load("./program.js");

const manifest = JSON.parse(readFileSync(join(extension, "package.json")));
const started = (...roots) => {
  const state = editor(...roots);
  state.settings.set("program", program);
  state.subscriptions = activate(join(extension, manifest.main), state);
  return state;
};
const read = (root, path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined);
const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");
const lines = (all) => all.map(({ line }) => line.replace(/\d\d:\d\d/g, "TIME"));
const node = async (state, label) => (await state.tree("history")).find(({ line }) => line.includes(label)).item;
const session = (name) => ({ args: [`--session=${name}`], title: name });

/** What an agent did, of all kinds, with a file that somebody changed since. */
const worked = () => {
  const root = folder({ a: long, gone: "g\n", old: long, "src/x": "x\n", bin: Buffer.from("b\0") });
  agent(
    root, {}, ...twoHunks("a"), "*** Delete File: gone", "*** Add File: n/new", "+n",
    "*** Update File: old", "*** Move to: moved", "@@", "-line 2", "+two", "@@", "-line 30", "+thirty",
  );
  agent(root, { turn: "t1" }, ...change("src/x", "x", "y"));
  agent(root, { turn: "t1" }, ...change("src/x", "y", "z"), "*** Add File: src/q", "+q");
  return root;
};

test("a log is a list of sessions, turns and transactions", () => {
  const entry = (id, session, turnId, files, more = {}) => ({
    id, shortId: id, timestamp: "2026-11-30T09:22:43Z", tool: "apply_patch", agent: "claude", session, turnId,
    files, undoOf: null, undoneBy: null, rolledBack: false, ...more,
  });
  const file = (operation, path, toPath) => ({ operation, path, ...(toPath && { toPath }) });
  const log = {
    transactions: [
      entry("9", "cli", null, [file("update", "z")], { undoOf: "8", tool: "undo" }),
      entry("8", "s", null, [file("update", "z")], { undoneBy: "9" }),
      entry("7", "s", "t", [file("move", "a", "b"), file("delete", "c"), file("create", "d")]),
      entry("6", "other", "t", [file("update", "o")], { agent: null }),
      entry("5", "s", "t", [file("create", "a"), file("create", "c"), file("delete", "d")], { undoneBy: "4" }),
      entry("3", "s", "u", [file("update", "f")], { undoneBy: "x" }),
      entry("2", "s", "u", [file("move", "e", "f")], { undoneBy: "x" }),
      entry("1", "s", "u", [file("update", "e")], { rolledBack: true }),
    ],
    turns: [],
    notVerified: [],
  };
  const all = sessionsOf(log).map(({ name, changes, span }) => [
    name,
    span.args,
    changes.map(({ span, undone, by, files }) => [span.args, undone, by, files.map(({ operation, path, toPath }) => [operation, path, toPath].join(" ").trim())]),
  ]);
  assert.deepEqual(all, [
    ["s", ["--session=s"], [
      [["8"], "yes", "claude", ["update z"]],
      [["--turn=s/t"], "partly", "claude", ["create b", "update d"]],
      [["--turn=s/u"], "yes", "claude", ["move e f"]],
    ]],
    ["other", ["--session=other"], [[["--turn=other/t"], "no", "apply_patch", ["update o"]]]],
  ]);
});

test("a time has its day unless that is today", () => {
  const now = new Date(2026, 10, 30, 12, 0);
  for (const [time, wanted] of [
    [new Date(2026, 10, 30, 9, 5), "09:05"],
    [new Date(2026, 10, 29, 23, 59), "Nov 29, 23:59"],
    [new Date(2025, 0, 1, 0, 0), "Jan 1 2025, 00:00"],
  ]) {
    assert.equal(timeOf(time, now), wanted);
  }
});

test("the history is listed by sessions, turns and files", async () => {
  const root = worked();
  const state = started(root);
  assert.deepEqual(lines(await state.tree("history")), [
    "refactor: 2 changes",
    "  TIME  2 files: claude",
    "    x: update, src",
    "    q: create, src",
    "  TIME  4 files: claude",
    "    a: update",
    "    new: create, n",
    "    gone: delete",
    "    moved: move",
  ]);
  assert.deepEqual(state.events.executed.at(-1), ["setContext", "applyPatch.history", "empty"]);
  run(root, ["undo", "--turn=refactor/t1", "--json"]);
  const all = await state.tree("history");
  assert.deepEqual(lines(all).slice(0, 2), ["refactor: 2 changes", "  TIME  2 files: claude, undone"]);
  assert.deepEqual(all.slice(0, 3).map(({ node }) => node.contextValue), ["session", "undone", "file"]);
  assert.deepEqual(all.filter(({ node }) => node.collapsibleState === 2).map(({ node }) => node.label.slice(-8)), ["refactor", " 2 files"], "the newest is open");
  const uri = all[2].node.resourceUri;
  assert.equal(uri.path, state.vscode.Uri.file(join(root, "src/x")).path);
});

test("the list is made again when the history changes", async () => {
  const root = folder({ a: "one\n" });
  const state = started(root);
  assert.deepEqual(await state.tree("history"), []);
  await state.tree("history");
  const [watcher, ...more] = state.watched;
  assert.deepEqual([watcher.place.endsWith("/.apply-patch/{index,audit/*.jsonl,proposals/*}"), more], [true, []]);
  let times = 0;
  state.views.get("applyPatch.history").provider.onDidChangeTreeData(() => times++);
  watcher.changed.fire();
  watcher.changed.fire();
  assert.equal(times, 0);
  await new Promise((done) => setTimeout(done, 400));
  assert.equal(times, 1, "once for all files of a transaction");
  await state.run("refresh");
  assert.equal(times, 2);
});

test("without the program, and with one that fails, the view says so", async () => {
  const root = folder({});
  const state = started(root);
  state.settings.set("program", join(root, "none"));
  assert.deepEqual(await state.tree("history"), []);
  assert.match(state.views.get("applyPatch.history").message, /none cannot be run/);
  state.settings.delete("program");
  const before = { ...process.env };
  const nowhere = { HOME: root, USERPROFILE: root, PATH: "" };
  Object.assign(process.env, nowhere);
  try {
    assert.deepEqual(await state.tree("history"), []);
    assert.equal(state.views.get("applyPatch.history").message, undefined);
    assert.deepEqual(state.events.executed.at(-1), ["setContext", "applyPatch.history", "noProgram"]);
  } finally {
    for (const name of Object.keys(nowhere)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test("several folders have a line each", async () => {
  const [one, other] = [worked(), folder({ b: "b\n" })];
  agent(other, { session: "fix" }, ...change("b", "b", "B"));
  const state = started(one, other);
  const all = lines(await state.tree("history"));
  assert.deepEqual(all.filter((line) => !/^ {4}/.test(line)).map((line) => line.replace(/^\S+: undefined/, "folder")), [
    "folder", "  refactor: 2 changes", "folder", "  fix: 1 change",
  ]);
  await state.run("reviewChanges", await node(state, "fix:"));
  assert.deepEqual(state.list(), ["[x] b: update", "  [x] Hunk 1, line 1: - b"]);
});

test("changes are reviewed in the files as they are now, and reverted as one", async () => {
  const root = worked();
  writeFileSync(join(root, "a"), `top\n${read(root, "a").replace("thirty", "THIRTY")}`);
  writeFileSync(join(root, "src/q"), "mine\n");
  const state = started(root);
  await state.run("reviewChanges", await node(state, "refactor:"));
  assert.deepEqual(state.list(), [
    "[x] gone: delete",
    "[x] a: update",
    "  [x] Hunk 1, line 3: - line 2",
    "  - Line 32: changed since",
    "[x] old → moved: move",
    "  [x] moved: ",
    "  [x] Hunk 1, line 2: - line 2",
    "  [x] Hunk 2, line 30: - line 30",
    "[x] n/new: create",
    "- src/q: create",
    "  - created: changed since",
    "[x] src/x: update",
    "  [x] Hunk 1, line 1: - x",
  ]);
  assert.equal(state.view.message, "All changes of session refactor: 7 hunks to review. 2 changed since, and left alone. What is checked is kept.");
  assert.equal(state.view.title, "Changes");
  assert.deepEqual(state.diff(), ["g\n", ""]);
  await state.run("show", state.item("a"));
  const [before, after] = state.diff();
  assert.deepEqual([before, after], [read(root, "a").replace("two\nmore\n", "line 2\n"), read(root, "a")]);

  await state.run("show", state.item("Line 32"));
  assert.match(state.shown.at(-1)[1], /^a, Line 32: changed since\n\nBefore:\n\n```\nline 30\n```\n\nAs it was left:\n\n```\nthirty\n```\n\nNow:\n\n```\nTHIRTY\n```$/);

  state.check("n/new", false);
  await state.run("show", state.item("a"));
  await state.run("rejectHunk");
  assert.equal(state.diff()[1], read(root, "moved"), "the next file is shown");
  state.check("moved", false);
  await state.run("show", state.item("Hunk 2, line 30"));
  await state.run("rejectHunk");
  assert.deepEqual(state.list().slice(4, 8).map((line) => line.trim().slice(0, 3)), ["[x]", "[ ]", "[x]", "[ ]"]);
  const kept = read(root, "moved").replace("thirty", "line 30");
  assert.ok(existsSync(join(root, "moved")), "nothing is changed yet");
  await state.run("revertRejected");
  assert.deepEqual(state.said, ["info: Reverted: 4 hunks in 3 files."]);
  assert.equal(read(root, "a"), `top\n${long.replace("line 30\n", "THIRTY\n")}`);
  assert.deepEqual(
    ["old", "moved", "n/new", "gone", "src/q", "src/x"].map((path) => read(root, path)),
    [kept, undefined, undefined, undefined, "mine\n", "z\n"],
  );
  assert.deepEqual([state.list(), state.vscode.window.tabGroups.all[0].tabs], [[], []], "the review is over");
  const { transactions } = run(root, ["log", "--json", "-n", "1"]);
  assert.equal(transactions[0].tool, "review");
});

test("each kind of change is reverted exactly as it is shown", async () => {
  const files = { a: long, gone: "g\n", old: long, bin: Buffer.from("b\0"), "no-newline": "1\n2", crlf: "a\r\nb\r\n" };
  const place = () => {
    const root = folder(files);
    agent(
      root, {}, ...twoHunks("a"), "*** Delete File: gone", "*** Add File: n/new", "+n", "*** Delete File: bin",
      "*** Update File: old", "*** Move to: moved", "@@", "-line 2", "+two",
      ...change("no-newline", "2", "two"), ...change("crlf", "b", "B"),
    );
    return root;
  };
  const kinds = ["create", "delete", "lines", "move"];
  // Those that are rejected: by their kinds, or each second one.
  const choices = [[() => true], ...kinds.map((wanted) => [({ kind }) => kind === wanted]), [(_, nth) => nth % 2 === 0], [(_, nth) => nth % 2 === 1]];
  for (const [isRejected] of choices) {
    const root = place();
    const maker = new Program(program, root);
    const changes = await changesOf(maker, session("refactor"));
    const parts = changes.files.flatMap((file) => file.parts);
    assert.equal(parts.length, 9);
    parts.forEach((part, nth) => (part.accepted = !isRejected(part, nth)));
    const wanted = expectedReverts(changes);
    const id = await revert(maker, changes);
    for (const { path, toPath, operation, afterSha256 } of wanted) {
      const bytes = operation === "delete" ? undefined : readFileSync(join(root, toPath ?? path));
      assert.equal(bytes && hash(bytes), afterSha256, `${isRejected}: ${path}`);
    }
    await maker.undo(id);
    assert.deepEqual([read(root, "moved"), read(root, "n/new"), read(root, "gone")], [long.replace("line 2\n", "two\n"), "n\n", undefined]);
  }
  // All of it: as it was before.
  const root = place();
  const maker = new Program(program, root);
  const changes = await changesOf(maker, session("refactor"));
  for (const part of changes.files.flatMap((file) => file.parts)) part.accepted = false;
  await revert(maker, changes);
  for (const [path, content] of Object.entries(files)) assert.deepEqual(readFileSync(join(root, path)), Buffer.from(content), path);
});

test("permissions and bytes that are not text are reverted whole", { skip: process.platform === "win32" }, async () => {
  const root = folder({ a: "one\n", bin: Buffer.from("b\0\xff", "latin1"), latin: Buffer.from("\xe9\none\n", "latin1") });
  const diff = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n";
  const own = (patch) => run(root, ["--json", "-"], patch);
  own(diff);
  agent(root, {}, "*** Delete File: bin");
  agent(root, {}, "*** Add File: bin", "+text");
  own(patchOf(...change("latin", "one", "two")));
  const state = started(root);
  await state.run("reviewChanges", await node(state, "Command line"));
  assert.deepEqual(state.list(), [
    "[x] a: update",
    "  [x] permission to execute: ",
    "  [x] Hunk 1, line 1: - one",
    "- latin: update",
    "  - Line 2: not shown here: decide at a terminal",
  ]);
  state.check("permission to execute", false);
  await state.run("revertRejected");
  assert.deepEqual([state.said.at(-1), read(root, "a"), statSync(join(root, "a")).mode & 0o100], ["info: Reverted: 1 hunk in 1 file.", "two\n", 0]);

  await state.run("reviewChanges", await node(state, "refactor:"));
  assert.deepEqual(state.list(), ["[x] bin: update"]);
  assert.deepEqual(state.diff(), ["(not text, and not shown; the program has it)\n", "text\n"]);
  state.check("bin", false);
  await state.run("revertRejected");
  assert.deepEqual(readFileSync(join(root, "bin")), Buffer.from("b\0\xff", "latin1"));
});

test("a moved file that is not text goes back with its new bytes", async () => {
  const bytes = Buffer.from("text\n");
  const root = folder({ bin: bytes });
  const tool = (name, args) => run(root, ["tool", name, "--session", "s", "--args", JSON.stringify(args)]);
  tool("move_file", { fromPath: "bin", toPath: "moved", expectedSha256: hash(bytes) });
  tool("write_file", { path: "moved", content: "b\0", expectedSha256: hash(bytes) });
  const state = started(root);
  await state.run("reviewChanges", await node(state, "s:"));
  assert.deepEqual(state.list(), ["[x] bin → moved: move", "  [x] moved: ", "  [x] contents: "]);
  state.check("moved", false);
  await state.run("revertRejected");
  assert.deepEqual([state.said.at(-1), read(root, "bin"), read(root, "moved")], ["info: Reverted: 1 hunk in 1 file.", "b\0", undefined]);
});

test("a file that changed meanwhile is shown again, with what was decided", async () => {
  const root = worked();
  const state = started(root);
  await state.run("reviewChanges", await node(state, "4 files"));
  state.check("Hunk 2, line 30", false);
  state.check("gone", false);
  const mine = read(root, "a").replace("two\n", "mine\n");
  writeFileSync(join(root, "a"), mine);
  await state.run("revertRejected");
  assert.match(state.said.at(-1), /^warning: Nothing was reverted: files have changed\./);
  assert.match(state.view.message, /^The files have changed, and nothing was reverted\. This is the review as it is now\. Transaction /);
  assert.equal(read(root, "a"), mine);
  assert.deepEqual(state.list().slice(0, 4), ["[ ] gone: delete", "[ ] a: update", "  - Line 2: changed since", "  [ ] Hunk 1, line 31: - line 30"]);
  await state.run("revertRejected");
  assert.equal(state.said.at(-1), "info: Reverted: 2 hunks in 2 files.");
  assert.deepEqual([read(root, "a"), read(root, "gone")], [mine.replace("thirty", "line 30"), "g\n"]);
});

test("a hunk that changed or was reverted meanwhile is left alone", async () => {
  const cases = [
    ["thirty", "mine", "  - Line 31: changed since"],
    ["thirty", "line 30", "  - Line 31: reverted"],
  ];
  for (const [from, to, wanted] of cases) {
    const root = worked();
    const state = started(root);
    await state.run("reviewChanges", await node(state, "4 files"));
    state.check("Hunk 2, line 30", false);
    const mine = read(root, "a").replace(from, to);
    writeFileSync(join(root, "a"), mine);
    await state.run("revertRejected");
    assert.match(state.said.at(-1), /^warning: Nothing was reverted: files have changed\./);
    assert.deepEqual(state.list().slice(1, 4), ["[x] a: update", "  [x] Hunk 1, line 2: - line 2", wanted]);
    await state.run("revertRejected");
    assert.deepEqual([read(root, "a"), state.said.at(-1)], [mine, "info: All hunks are kept. Nothing was changed."]);
  }
});

// A script is run by itself on Unix.
const scripts = { skip: process.platform === "win32" };

/** The program, with a part of its answers replaced. Its calls are lines of the file `calls`. */
const altered = (root, when, from, to) => {
  const script = join(root, "altered.cjs");
  writeFileSync(script, `#!${process.execPath}
    const args = process.argv.slice(2);
    require("node:fs").appendFileSync(${JSON.stringify(join(root, "calls"))}, args.join(" ") + "\\n");
    const { stdout } = require("node:child_process").spawnSync(${JSON.stringify(program)}, args);
    process.stdout.write(args.includes(${JSON.stringify(when)}) ? String(stdout).replace(${from}, ${JSON.stringify(to)}) : stdout);`);
  chmodSync(script, 0o755);
  return script;
};

test("the program does what is shown, or nothing", scripts, async () => {
  const root = worked();
  const state = started(root);
  state.settings.set("program", altered(root, "--dry-run", /"afterSha256":"../, '"afterSha256":"00'));
  await state.run("reviewChanges", await node(state, "4 files"));
  state.check("Hunk 1, line 2", false);
  const before = read(root, "a");
  await state.run("revertRejected");
  assert.match(state.said.at(-1), /^error: Nothing was reverted: .*altered\.cjs would not do what is shown here/);
  assert.equal(read(root, "a"), before);
  const calls = read(root, "calls").split("\n").filter((line) => line.includes("--revert"));
  assert.deepEqual(calls.map((line) => line.includes("--dry-run")), [true]);
});

test("decisions and comments that were made at a terminal are shown", scripts, async () => {
  const root = worked();
  const state = started(root);
  state.settings.set("program", altered(root, "review", /"state":"standing"(?=,"diff":"@@ -0,0)/, '"state":"standing","decision":"revert"'));
  await state.run("reviewChanges");
  assert.deepEqual(state.list(), ["[ ] src/q: create", "[x] src/x: update", "  [x] Hunk 1, line 1: - x"]);
  state.settings.set("program", altered(root, "review", /"state":"standing"(?=,"diff":"@@ -1)/, '"state":"standing","notes":["Why?"]'));
  await state.run("reviewChanges");
  assert.equal(state.list().at(-1), "  [x] Hunk 1, line 1: - x  “Why?”");
});

test("a review that keeps everything ends without a change", async () => {
  const root = worked();
  const state = started(root);
  await state.run("revertRejected");
  assert.match(state.said.at(-1), /^error: No changes are under review/);
  await state.run("reviewChanges");
  assert.deepEqual(state.list().map((line) => line.trim()), ["[x] src/q: create", "[x] src/x: update", "[x] Hunk 1, line 1: - x"], "the newest turn");
  await state.run("apply");
  assert.match(state.said.at(-1), /^error: There is no patch under review/);
  await state.run("revertRejected");
  assert.equal(state.said.at(-1), "info: All hunks are kept. Nothing was changed.");
  await state.run("reviewChanges");
  await state.run("endReview");
  assert.deepEqual(state.list(), []);
  assert.equal(run(root, ["log", "--json"]).transactions.length, 3);
});

test("what was reverted is undone from its message", async () => {
  const root = worked();
  const state = started(root);
  await state.run("reviewChanges");
  state.check("src/x", false);
  state.answer = (text) => (/^Reverted/.test(text) ? "Undo" : undefined);
  await state.run("revertRejected");
  assert.deepEqual([read(root, "src/x"), state.said.at(-1)], ["z\n", "info: The patch is undone."]);
});

test("a hunk is commented on in the diff or in the list, for the agent", async () => {
  const root = worked();
  const state = started(root);
  await state.run("comment");
  assert.match(state.said.at(-1), /^error: Open a file under review/);
  await state.run("copyComments");
  assert.equal(state.said.at(-1), "info: There are no comments.");
  await state.run("reviewChanges");
  state.answer = () => " ";
  await state.run("comment", state.item("src/q"));
  state.answer = () => "Why = q?";
  await state.run("comment", state.item("src/q"));
  await state.run("show", state.item("src/x"));
  state.answer = () => "-n is better";
  await state.run("comment");
  const wanted = ["[x] src/q: create  “Why = q?”", "[x] src/x: update", "  [x] Hunk 1, line 1: - x  “-n is better”"];
  assert.deepEqual(state.list(), wanted);
  await state.run("reviewChanges");
  assert.deepEqual(state.list(), wanted, "they are kept");
  await state.run("copyComments");
  assert.equal(state.said.at(-1), "info: The comments are copied.");
  assert.match(state.copied(), /^## src\/q:1 \(h-[0-9a-f]+\)\n\nWhy = q\?\n\n[^]*\+q\n[^]*\n-n is better\n[^]*-x\n\+z\n/);
});

test("the time since when is asked for", async () => {
  const root = worked();
  const state = started(root);
  const cases = [
    [undefined, []],
    ["2h", ["[x] gone: delete"]],
    ["never", []],
  ];
  for (const [since, first] of cases) {
    await state.run("endReview");
    state.answer = (title) => (title === "Review the changes since" ? since : undefined);
    await state.run("reviewSince");
    assert.deepEqual(state.list().slice(0, 1), first, since);
  }
  assert.match(state.said.at(-1), /^error: .*"never" is not a time/);
});

test("unsaved changes are not written over", async () => {
  const root = worked();
  const state = started(root);
  state.document(root, "src/x").type("z\ntyped\n");
  await state.run("reviewChanges");
  assert.match(state.view.message, /shown as they are on the disk: src\/x has unsaved changes\.$/);
  state.check("src/x", false);
  await state.run("revertRejected");
  assert.equal(state.said.at(-1), "error: Nothing was reverted: src/x has unsaved changes. Save or revert first.");
  state.answer = () => "Undo";
  await state.run("undoChanges", await node(state, "2 files"));
  assert.equal(state.said.at(-1), "error: Nothing was undone: src/x has unsaved changes. Save or revert first.");
  assert.equal(read(root, "src/x"), "z\n");
  // A file that is not text in its editor, as a notebook is.
  state.tab(root, "a", true);
  await state.run("undoChanges", await node(state, "4 files"));
  assert.equal(state.said.at(-1), "error: Nothing was undone: a has unsaved changes. Save or revert first.");
});

test("a session, a turn and a transaction are undone after a question", async () => {
  const cases = [
    ["2 files", "Undo turn t1 of session refactor?", { "src/x": "x\n", "src/q": undefined, gone: undefined }],
    ["4 files", /^Undo transaction [0-9a-f]{8}\?$/, { a: long, gone: "g\n", "src/x": "z\n" }],
    ["refactor:", "Undo all changes of session refactor?", { a: long, gone: "g\n", old: long, moved: undefined, "src/x": "x\n" }],
  ];
  for (const [label, question, wanted] of cases) {
    const root = worked();
    const state = started(root);
    const item = await node(state, label);
    const before = read(root, "src/x");
    state.answer = () => "Cancel";
    await state.run("undoChanges", item);
    assert.equal(read(root, "src/x"), before);
    state.answer = () => "Undo";
    await state.run("undoChanges", item);
    if (question instanceof RegExp) assert.match(state.asked.at(-1), question);
    else assert.equal(state.asked.at(-1), question);
    for (const [path, text] of Object.entries(wanted)) assert.equal(read(root, path), text, `${label}: ${path}`);
    assert.match(state.said.at(-1), /^info: Undone: /);
  }
});

test("what cannot be undone as a whole can be reviewed", async () => {
  const root = worked();
  writeFileSync(join(root, "src/q"), "mine\n");
  const state = started(root);
  state.answer = (text, choices) => choices.find((choice) => choice === "Undo" || choice === "Review Instead");
  await state.run("undoChanges", await node(state, "2 files"));
  assert.match(state.said[0], /^error: Nothing was undone: .*src\/q/);
  assert.deepEqual(state.list(), ["- src/q: create", "  - created: changed since", "[x] src/x: update", "  [x] Hunk 1, line 1: - x"]);
});

test("a diff is shown as the change was made, or the part of one file", async () => {
  const root = worked();
  writeFileSync(join(root, "src/q"), "mine\n");
  const state = started(root);
  await state.run("showDiff", await node(state, "2 files"));
  const whole = state.shown.at(-1)[1];
  assert.match(whole, /^diff --git a\/src\/q b\/src\/q\n[^]*\+q\ndiff --git a\/src\/x b\/src\/x\n[^]*-x\n\+z\n$/);
  await state.run("showDiff", await node(state, "q: create"));
  assert.deepEqual(state.shown.at(-1), ["/q.diff", whole.slice(0, whole.indexOf("diff --git a/src/x"))]);
});

test("a folder within a project has the project's history, by its own paths", async () => {
  const root = folder({ top: "t\n", "app/n\u00e4h": "n\n", "app/a": "one\n", ".git/HEAD": "ref: refs/heads/main\n" });
  agent(root, {}, ...change("top", "t", "T"), ...change("app/a", "one", "two"), ...change("app/n\u00e4h", "n", "N"));
  const state = started(join(root, "app"));
  assert.deepEqual(lines(await state.tree("history")).slice(2), ["    top: update, ..", "    a: update", "    n\u00e4h: update"]);
  await state.run("showDiff", await node(state, "n\u00e4h: update"));
  assert.match(state.shown.at(-1)[1], /^diff --git [^]*-n\n\+N\n$/);
  await state.run("showDiff", await node(state, "a: update"));
  assert.match(state.shown.at(-1)[1], /^diff --git a\/app\/a b\/app\/a\n[^]*\+two\n$/);
  await state.run("reviewChanges", await node(state, "a: update"));
  assert.deepEqual(state.diff(), ["one\n", "two\n"], "the file that was chosen");
  state.check("top", false);
  await state.run("revertRejected");
  assert.deepEqual([read(root, "top"), read(root, "app/a")], ["t\n", "two\n"]);
});

test("a history in the user's directory is that of the project", async () => {
  const root = folder({ "a": "one\n", "sub/b": "b\n", ".git/HEAD": "ref: refs/heads/main\n" });
  const before = process.env.XDG_CONFIG_HOME;
  process.env.XDG_CONFIG_HOME = folder({ "apply-patch/config.toml": 'state = "user"\n' });
  try {
    agent(root, {}, ...change("a", "one", "two"), ...change("sub/b", "b", "B"));
    assert.ok(!existsSync(join(root, ".apply-patch")));
    const state = started(join(root, "sub"));
    await state.run("reviewChanges", await node(state, "2 files"));
    assert.deepEqual(state.list().filter((line) => !line.startsWith(" ")), ["[x] a: update", "[x] sub/b: update"]);
    assert.deepEqual(state.diff(), ["one\n", "two\n"]);
    state.check("sub/b", false);
    await state.run("revertRejected");
    assert.deepEqual([read(root, "a"), read(root, "sub/b")], ["two\n", "b\n"]);
  } finally {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  }
});

const proposed = (root, why, ...more) => run(root, ["propose", "--json", "--why", why, "-"], patchOf(...more)).proposalId;

test("a proposal is shown as it would be now, and approved", async () => {
  const root = folder({ a: long, gone: "g\n" });
  const id = proposed(root, "two is better", ...twoHunks("a"), "*** Add File: n", "+n", "*** Delete File: gone");
  const state = started(root);
  const view = state.views.get("applyPatch.proposals");
  const listed = new Promise((done) => view.provider.onDidChangeTreeData(done));
  await state.tree("history");
  await listed;
  assert.deepEqual(lines(await state.tree("proposals")), ["two is better: TIME, 3 files, cli"]);
  assert.deepEqual(view.badge, { value: 1, tooltip: "1 proposal to decide" });
  const [{ item }] = await state.tree("proposals");
  await state.run("showProposal", item);
  const all = (text) => text.replace("line 2\n", "two\nmore\n").replace("line 30\n", "thirty\n");
  const [title, texts] = state.changes();
  assert.equal(title, `Proposal ${id}`);
  assert.deepEqual(texts.map(([, ...sides]) => sides), [[long, all(long)], ["", "n\n"], ["g\n", ""]]);

  // The files change: another result is shown before it is approved.
  const mine = `top\n${long}`;
  writeFileSync(join(root, "a"), mine);
  state.answer = (title, choices) => choices.find((choice) => choice === "Cancel");
  await state.run("approve", item);
  assert.deepEqual([state.changes()[1][0][2], read(root, "a")], [all(mine), mine]);
  assert.equal(state.asked.at(-1), `Approve ${id}, 3 files?`);
  state.answer = (title, choices) => choices.find((choice) => choice === "Approve");
  await state.run("approve", item);
  assert.deepEqual([read(root, "a"), read(root, "n"), read(root, "gone")], [all(mine), "n\n", undefined]);
  assert.equal(state.said.at(-1), `info: Approved: ${id}.`);
  assert.deepEqual([await state.tree("proposals"), view.badge], [[], undefined]);
  await state.run("approve", item);
  assert.equal(state.said.at(-1), `error: Proposal ${id} is decided already.`);
});

test("a result that nobody saw is not approved, but shown", async () => {
  const root = folder({ a: long });
  const id = proposed(root, "why", ...twoHunks("a"));
  const state = started(root);
  let times = 0;
  state.answer = (title, choices) => {
    // Somebody writes while the person reads.
    if (times++ === 0) writeFileSync(join(root, "a"), `top\n${long}`);
    return choices.find((choice) => choice === (times < 2 ? "Approve" : "Cancel"));
  };
  await state.run("approve", { folder: state.vscode.Uri.file(root), proposal: { proposalId: id } });
  assert.deepEqual([times, read(root, "a")], [2, `top\n${long}`]);
  assert.match(state.changes()[1][0][1], /^top\n/);
});

test("a proposal is declined with a reason for the agent", async () => {
  const root = folder({ a: "one\n" });
  const id = proposed(root, "why", ...change("a", "one", "two"));
  const state = started(root);
  const waiting = { folder: state.vscode.Uri.file(root), proposal: { proposalId: id } };
  await state.run("decline", waiting);
  assert.deepEqual([state.said, run(root, ["proposals", "--json"]).proposals[0].state], [[], "proposed"], "not without an answer");
  state.answer = () => "-n is not wanted";
  await state.run("decline", waiting);
  assert.equal(state.said.at(-1), `info: Declined: ${id}. Nothing was changed.`);
  assert.equal(run(root, ["proposals", "--json"]).proposals[0].decidedWhy, "-n is not wanted");
  assert.equal(read(root, "a"), "one\n");
});

test("a proposal that was altered is shown as such, and can only be removed", async () => {
  const root = folder({ a: "one\n" });
  const id = proposed(root, "why", ...change("a", "one", "two"));
  const kept = join(root, ".apply-patch/proposals", id);
  writeFileSync(kept, readFileSync(kept, "utf8").replace("+two", "+TWO"));
  const state = started(root);
  const { provider } = state.views.get("applyPatch.proposals");
  const listed = new Promise((done) => provider.onDidChangeTreeData(done));
  await state.tree("history");
  await listed;
  const [{ item, line }, ...more] = await state.tree("proposals");
  assert.deepEqual([line, item.proposal, more], [`${id}: not verified`, { proposalId: id, state: "not_verified" }, []]);
  state.answer = () => "";
  await state.run("decline", item);
  assert.deepEqual([await state.tree("proposals"), existsSync(kept), read(root, "a")], [[], false, "one\n"]);
});

test("the hunks of a proposal that are accepted are approved, and the others stay proposed", async () => {
  const root = folder({ a: long });
  const id = proposed(root, "two is better", ...twoHunks("a"), "*** Add File: n", "+n");
  const state = started(root);
  const item = { folder: state.vscode.Uri.file(root), proposal: { proposalId: id, why: "two is better" } };
  await state.run("reviewProposal", item);
  assert.deepEqual(state.list(), [
    "[x] a: update",
    "  [x] Hunk 1, line 2: - line 2",
    "  [x] Hunk 2, line 30: - line 30",
    "[x] n: create",
  ]);
  state.check("Hunk 1, line 2", false);
  state.check("n", false);
  await state.run("apply");
  const part = long.replace("line 30\n", "thirty\n");
  assert.deepEqual([read(root, "a"), read(root, "n")], [part, undefined]);
  const [rest] = run(root, ["proposals", "--json"]).proposals;
  assert.deepEqual([rest.state, rest.transactionIds.length], ["proposed", 1]);

  // A file changes after it was shown: nothing is done.
  await state.run("reviewProposal", item);
  writeFileSync(join(root, "a"), `top\n${part}`);
  await state.run("apply");
  assert.deepEqual([read(root, "a"), read(root, "n")], [`top\n${part}`, undefined]);
  assert.match(state.said.at(-1), /^error: The files have changed since the patch was shown/);

  // The rest, all of it.
  await state.run("reviewProposal", item);
  await state.run("apply");
  assert.equal(read(root, "a"), `top\n${part.replace("line 2\n", "two\nmore\n")}`);
  assert.equal(read(root, "n"), "n\n");
  assert.deepEqual(run(root, ["proposals", "--json"]).proposals.map(({ state }) => state), ["approved"]);
});
