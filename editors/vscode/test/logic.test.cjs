// What the extension decides, without an editor.
"use strict";

const assert = require("node:assert/strict");
const { existsSync, readFileSync, symlinkSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");

const { change, folder, load, patchOf } = require("./places.cjs");

const library = load("apply-patch-cli");
const { commit, open, prepare } = load("./planning.js");
const { describe } = load("./refusal.js");
const { last } = load("./history.js");

const strict = { profile: "strict" };
/** An editor with these documents; `saved` are open without changes. */
const editor = (dirty = {}, saved = {}) => {
  const documents = (texts) => new Map(Object.entries(texts).map(([path, content]) => [path, { content, version: 7 }]));
  const opened = [];
  return {
    opened,
    dirty: documents(dirty),
    async open(path) {
      opened.push(path);
      if (saved[path] === undefined) throw new Error(`${path} is not text`);
      return { content: saved[path], version: 1 };
    },
  };
};
const thrown = (promise) => promise.then(assert.fail, (error) => error);

test("a patch for saved files is a transaction on the disk", async () => {
  const root = folder({ "src/a.txt": "one\ntwo\n", "gone.txt": "x\n" });
  const patch = patchOf(...change("src/a.txt", "two", "TWO"), "*** Delete File: gone.txt", "*** Add File: new.txt", "+n");
  const plan = await prepare(library, root, editor(), patch, strict);
  assert.equal(plan.where, "disk");
  assert.deepEqual(plan.previews, [
    { path: "src/a.txt", toPath: null, before: "one\ntwo\n", after: "one\nTWO\n" },
    { path: "new.txt", toPath: null, before: null, after: "n\n" },
    { path: "gone.txt", toPath: null, before: "x\n", after: null },
  ]);
  assert.equal(plan.summary, "1 created, 1 updated, 1 deleted");
  assert.equal(readFileSync(join(root, "src/a.txt"), "utf8"), "one\ntwo\n");
  assert.ok(!existsSync(join(root, ".apply-patch")), "a plan writes nothing");

  const { transactionId } = await commit(library, root, plan.plan);
  assert.equal(readFileSync(join(root, "src/a.txt"), "utf8"), "one\nTWO\n");
  const transaction = await last(open(library, root));
  assert.deepEqual([transaction.id, transaction.title], [transactionId, "src/a.txt and 2 more, changed by vscode"]);
  assert.deepEqual(transaction.paths, ["src/a.txt", "new.txt", "gone.txt"]);

  const again = await prepare(library, root, editor(), patch, strict);
  assert.deepEqual([again.where, again.summary], ["nowhere", "done already; nothing was changed"]);
  const beside = await prepare(library, root, editor({ "other.txt": "typed\n" }), patch, strict);
  assert.equal(beside.where, "nowhere", "unsaved changes elsewhere make no difference");

  await open(library, root).undo(transactionId);
  assert.equal(readFileSync(join(root, "src/a.txt"), "utf8"), "one\ntwo\n");
  assert.equal(await last(open(library, root)), undefined);
});

test("what changed since the preview is not applied", async () => {
  const root = folder({ a: "one\n" });
  const plan = await prepare(library, root, editor(), patchOf(...change("a", "one", "two")), strict);
  writeFileSync(join(root, "a"), "one\nmore\n");
  const error = await thrown(commit(library, root, plan.plan));
  assert.equal(error.kind, "stale_file");
  assert.equal(readFileSync(join(root, "a"), "utf8"), "one\nmore\n");
});

test("one file with unsaved changes makes all of it an edit in the editor", async () => {
  const root = folder({ a: "one\n", b: "x\r\ny\r\n", c: "z\n" });
  const patch = patchOf(...change("a", "typed", "TYPED"), ...change("b", "y", "Y"), "*** Delete File: c", "*** Add File: d", "+n");
  const state = editor({ a: "one\ntyped\n" }, { b: "x\ny\n" });
  const plan = await prepare(library, root, state, patch, strict);
  assert.deepEqual([plan.where, plan.unsaved, state.opened], ["editor", ["a"], ["b"]]);
  assert.deepEqual(
    plan.edits.map(({ path, operation, text, version }) => [path, operation, text, version]),
    [
      ["a", "update", "one\nTYPED\n", 7],
      ["b", "update", "x\nY\n", 1],
      ["d", "create", "n\n", null],
      ["c", "delete", null, null],
    ],
  );
  assert.equal(plan.previews[0].before, "one\ntyped\n");
  const same = await prepare(library, root, state, patch, strict);
  assert.equal(same.digest, plan.digest);
  const typed = await prepare(library, root, editor({ a: "one\ntyped\nmore\n" }, { b: "x\ny\n" }), patch, strict);
  assert.notEqual(typed.digest, plan.digest);
  writeFileSync(join(root, "c"), "other\n");
  const other = await prepare(library, root, state, patch, strict);
  assert.notEqual(other.digest, plan.digest, "a file that goes is part of what was shown");
  assert.ok(!existsSync(join(root, ".apply-patch")));
});

test("an unsaved text that the patch does not fit refuses it, although the file would fit", async () => {
  const root = folder({ a: "one\n" });
  const error = await thrown(prepare(library, root, editor({ a: "won\n" }), patchOf(...change("a", "one", "two")), strict));
  assert.equal(error.kind, "patch_apply_error");
  const found = await prepare(library, root, editor({ z: "typed\n" }), patchOf(...change("a", "one", "two")), strict);
  assert.equal(found.where, "disk", "unsaved changes elsewhere make no difference");
});

test("a move out of an unsaved file keeps its text", async () => {
  const root = folder({ "old.txt": "z\n" });
  const patch = patchOf("*** Update File: old.txt", "*** Move to: new.txt", "@@", " typed", "-z", "+Z");
  const plan = await prepare(library, root, editor({ "old.txt": "typed\nz\n" }), patch, strict);
  const [{ path, toPath, text }] = plan.edits;
  assert.deepEqual([path, toPath, text], ["old.txt", "new.txt", "typed\nZ\n"]);
  assert.deepEqual(plan.previews, [{ path: "old.txt", toPath: "new.txt", before: "typed\nz\n", after: "typed\nZ\n" }]);
});

test("files beside an unsaved one have to be text in the workspace", async () => {
  const root = folder({ a: "one\n", b: Buffer.from("x\n\xff\n", "latin1") });
  const patch = patchOf(...change("a", "one", "two"), ...change("b", "x", "X"));
  assert.match((await thrown(prepare(library, root, editor({ a: "one\n" }), patch, strict))).message, /b is not text/);
  // Where the editor knows the charset, nothing is lost.
  const [lossy, latin] = [{ b: "x\n\uFFFD\n" }, { b: "x\n\xff\n" }];
  assert.match((await thrown(prepare(library, root, editor({ a: "one\n" }, lossy), patch, strict))).message, /b has bytes/);
  assert.equal((await prepare(library, root, editor({ a: "one\n" }, latin), patch, strict)).edits[1].text, "X\n\xff\n");
  symlinkSync(folder({ secret: "s\n" }), join(root, "link"));
  const through = patchOf(...change("a", "one", "two"), ...change("link/secret", "s", "S"));
  assert.match((await thrown(prepare(library, root, editor({ a: "one\n" }), through, strict))).message, /symbolic link/);
  // The engine says the same of the disk.
  assert.equal((await thrown(prepare(library, root, editor(), through, strict))).kind, "outside_workspace");
});

test("a patch is found in what people copy, with a note of what was left out", async () => {
  const root = folder({ a: "one\n" });
  const answer = ["Here it is:", "```", patchOf(...change("a", "one", "two")) + "```", "Anything else?"].join("\n");
  const plan = await prepare(library, root, editor(), answer, strict);
  assert.equal(plan.previews[0].after, "two\n");
  assert.equal(plan.notes.length, 1);
  const diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n";
  assert.equal((await prepare(library, root, editor({ a: "one\n" }), diff, strict)).where, "editor");
});

test("the profile is heeded in both ways", async () => {
  const root = folder({ a: "  one\n" });
  const patch = patchOf(...change("a", "one", "two"));
  for (const state of [editor(), editor({ a: "  one\n" })]) {
    assert.equal((await thrown(prepare(library, root, state, patch, strict))).kind, "patch_apply_error");
    assert.equal((await prepare(library, root, state, patch, { profile: "codex" })).previews.length, 1);
  }
});

test("a binary file is not shown as text", async () => {
  const root = folder({ a: Buffer.from([0, 1, 2]) });
  const plan = await prepare(library, root, editor(), patchOf("*** Delete File: a"), strict);
  assert.equal(plan.previews[0].before, "(binary, 3 bytes)\n");
});

test("a refusal says all that is wrong, and where", async () => {
  const root = folder({ a: "two\none\ntwo\n", b: "x\ny\n" });
  const patch = patchOf(...change("a", "two", "T"), "*** Update File: b", "@@", " x", "-z", "+Z");
  const refusal = describe(library, await thrown(prepare(library, root, editor(), patch, strict)));
  assert.deepEqual(refusal.places, [{ path: "a", line: 1 }, { path: "a", line: 3 }, { path: "b", line: 2 }]);
  assert.match(refusal.message, /a: hunk 1 .*more than one place.*; b: hunk 1 .*not in the file/s);
  assert.equal(refusal.full.match(/^next: /gm).length, 2);
  const none = describe(library, await thrown(prepare(library, root, editor(), "no patch", strict)));
  assert.deepEqual(none.places, []);
  assert.deepEqual(describe(undefined, new Error("x")), { message: "x", full: "x", places: [] });
});
