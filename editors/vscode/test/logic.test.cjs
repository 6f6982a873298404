// What the extension decides, without an editor.
"use strict";

const assert = require("node:assert/strict");
const { existsSync, readFileSync, symlinkSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");

const { change, folder, load, long, patchOf, program, twoHunks } = require("./places.cjs");

const { accepted, chosenAs, edits, expected, prepare, result, shown } = load("./planning.js");
const { isBeneath } = load("./files.js");
const { applied, joined, reverted, split } = load("./hunks.js");
const { lineOf, partAt, placeOf } = load("./parts.js");
const { Program, find } = load("./program.js");
const { describe } = load("./refusal.js");

const standard = { profile: "standard" };
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
const sides = ({ path, toPath, operation, before, after }) => [path, toPath, operation, before && shown(before), after && shown(after)];

test("a git diff is split into its hunks, and joined of some of them", () => {
  const cases = [
    // Before, the diff's hunks, what all make of it.
    ["a\nb\nc\n", ["@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"], "a\nB\nc\n"],
    ["", ["@@ -0,0 +1 @@\n+x\n"], "x\n"],
    ["x\n", ["@@ -1 +0,0 @@\n-x\n"], ""],
    ["a\nb", ["@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n"], "a\nB"],
    ["a\nb", ["@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"], "a\nb\n"],
    ["a\nb\n", ["@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"], "a\nb"],
    ["a\nb\n", ["@@ -1,2 +1,4 @@\n+0\n a\n-b\n+diff --git a/x b/x\n+@@ -1 +1 @@\n"], "0\na\ndiff --git a/x b/x\n@@ -1 +1 @@\n"],
    ["--- a\n++ b\n", ["@@ -1,2 +1 @@\n---- a\n-++ b\n+++ c\n"], "++ c\n"],
    ["a\r\nb\r\n", ["@@ -1,2 +1,2 @@\n-a\r\n+A\r\n b\r\n"], "A\r\nb\r\n"],
    ["1\n2\n3\n4\n", ["@@ -1,1 +1,3 @@\n+x\n+y\n 1\n", "@@ -4,1 +6,1 @@\n-4\n+four\n"], "x\ny\n1\n2\n3\nfour\n"],
  ];
  for (const [before, hunks, after] of cases) {
    const header = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n";
    const files = split(header + hunks.join("") + "diff --git a/g b/g\nold mode 100644\nnew mode 100755\n");
    assert.deepEqual(files.map(({ hunks }) => hunks.length), [hunks.length, 0]);
    assert.equal(applied(before, files[0].hunks), after);
    assert.equal(applied(before, []), before);
    assert.equal(reverted(after, files[0].hunks), before);
    const again = split(joined(files));
    assert.deepEqual(again[0].hunks, files[0].hunks);
    assert.deepEqual(again[0].header, ["diff --git a/f b/f", "--- a/f", "+++ b/f"]);
  }
  const [{ hunks }] = split("diff --git a/f b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n");
  assert.deepEqual(["a\nB\n", "a\nb\n", "B\n", ""].map((after) => reverted(after, hunks)), ["a\nb\n", undefined, undefined, undefined]);
  assert.throws(() => split("no diff\n"), /not a git diff: no diff/);
});

test("a patch for saved files is a transaction on the disk", async () => {
  const root = folder({ "src/a.txt": "one\ntwo\n", "gone.txt": "x\n" });
  const patch = patchOf(...change("src/a.txt", "two", "TWO"), "*** Delete File: gone.txt", "*** Add File: src/new.txt", "+n");
  const plan = await prepare(root, editor(), patch, standard);
  assert.deepEqual([plan.where, plan.summary, plan.unsaved], ["disk", "1 created, 1 updated, 1 deleted", []]);
  assert.deepEqual(plan.files.map(sides), [
    ["src/a.txt", null, "update", "one\ntwo\n", "one\nTWO\n"],
    ["src/new.txt", null, "create", null, "n\n"],
    ["gone.txt", null, "delete", "x\n", null],
  ]);
  assert.equal(readFileSync(join(root, "src/a.txt"), "utf8"), "one\ntwo\n");
  assert.ok(!existsSync(join(root, ".apply-patch")), "a plan writes nothing");
  const beside = await prepare(root, editor({ "other.txt": "typed\n" }), patch, standard);
  assert.equal(beside.where, "disk", "unsaved changes elsewhere make no difference");

  const maker = new Program(program, root);
  const id = await maker.commit(plan);
  assert.equal(readFileSync(join(root, "src/a.txt"), "utf8"), "one\nTWO\n");
  const transaction = await maker.last();
  assert.deepEqual([transaction.id, transaction.title], [id, "src/a.txt and 2 more, changed by vscode"]);
  assert.deepEqual(transaction.paths, ["src/a.txt", "src/new.txt", "gone.txt"]);
  await maker.undo(id);
  assert.equal(readFileSync(join(root, "src/a.txt"), "utf8"), "one\ntwo\n");
  assert.equal(await maker.last(), undefined);
});

test("what is accepted is applied, byte for byte as it is shown", async () => {
  const files = { a: long, b: long, "old name": long, gone: "g\n", "src/keep": "k\n" };
  const patch = patchOf(
    ...twoHunks("a"), ...twoHunks("b"), "*** Delete File: gone", "*** Add File: src/n\u00e4w", "+n",
    "*** Update File: old name", "*** Move to: moved", "@@", "-line 2", "+two", "@@", "-line 30", "+thirty",
  );
  const one = (text, line, to) => text.replace(`${line}\n`, `${to}\n`);
  // What is rejected, and what becomes of the files.
  const cases = [
    [[], { a: one(one(long, "line 2", "two\nmore"), "line 30", "thirty"), gone: undefined, "src/n\u00e4w": "n\n", moved: one(one(long, "line 2", "two"), "line 30", "thirty") }],
    [["a:0"], { a: one(long, "line 30", "thirty"), gone: undefined, "old name": undefined }],
    [["a:1", "b:0", "b:1", "gone:0"], { a: one(long, "line 2", "two\nmore"), b: long, gone: "g\n", "src/n\u00e4w": "n\n" }],
    [["old name:1"], { "old name": undefined, moved: one(long, "line 2", "two") }],
    [["old name:0", "old name:1", "src/n\u00e4w:0"], { "old name": long, moved: undefined, "src/n\u00e4w": undefined }],
  ];
  for (const [rejected, after] of cases) {
    const root = folder(files);
    const plan = await prepare(root, editor(), patch, standard);
    for (const file of plan.files) {
      file.parts.forEach((part, nth) => (part.accepted = !rejected.includes(`${file.path}:${nth}`)));
    }
    const shows = new Map(plan.files.map((file) => [file.toPath ?? file.path, result(file)]));
    await new Program(program, root).commit(plan);
    for (const [path, text] of Object.entries(after)) {
      assert.equal(existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined, text, `${rejected}: ${path}`);
      if (text !== undefined && shows.has(path)) assert.equal(shown(shows.get(path)), text, `${rejected}: ${path} is shown`);
    }
  }
});

test("a part is found at its lines, on both sides", async () => {
  const root = folder({ a: long });
  const { files } = await prepare(root, editor(), patchOf(...twoHunks("a")), standard);
  const [file] = files;
  const [first, second] = file.parts;
  assert.deepEqual([placeOf(second, "before"), placeOf(second, "after")], [{ from: 26, to: 33 }, { from: 27, to: 34 }]);
  assert.deepEqual([lineOf(first, "after"), lineOf(second, "after")], [1, 30]);
  first.accepted = false;
  assert.deepEqual([lineOf(first, "after"), lineOf(second, "after")], [1, 29]);
  // Line, and the number of the part.
  for (const [line, nth] of [[0, 0], [4, 0], [5, 1], [20, 1], [29, 1], [39, 1]]) {
    assert.equal(file.parts.indexOf(partAt(file, "after", line)), nth, `line ${line}`);
  }
});

test("what is not text is taken whole", async () => {
  const root = folder({ a: long, latin: Buffer.from("x\n\xff\n", "latin1"), binary: Buffer.from([0, 1, 2]) });
  const patch = patchOf(...twoHunks("a"), ...change("latin", "x", "X"), "*** Delete File: binary");
  const plan = await prepare(root, editor(), patch, standard);
  assert.deepEqual(plan.files.map(({ parts }) => parts.map(({ hunk }) => hunk !== null)), [[true, true], [false], [false]]);
  assert.equal(shown(plan.files[2].before), "(binary, 3 bytes)\n");
  plan.files[0].parts[0].accepted = false;
  assert.throws(() => accepted(plan), /latin is not UTF-8: accept all of the patch, or reject this file/);
  for (const { parts } of plan.files.slice(1)) parts[0].accepted = false;
  assert.match(accepted(plan), /^diff --git a\/a b\/a\n/);
  for (const { parts } of plan.files) for (const part of parts) part.accepted = true;
  await new Program(program, root).commit(plan);
  assert.deepEqual(readFileSync(join(root, "latin")), Buffer.from("X\n\xff\n", "latin1"));
});

test("what changed since the preview is not applied", async () => {
  const root = folder({ a: "one\n" });
  const plan = await prepare(root, editor(), patchOf(...change("a", "one", "two"), "*** Add File: b", "+b"), standard);
  const maker = new Program(program, root);
  writeFileSync(join(root, "a"), "one\nmore\n");
  assert.equal((await thrown(maker.commit(plan))).kind, "stale_file");
  writeFileSync(join(root, "a"), "one\n");
  writeFileSync(join(root, "b"), "b\n");
  assert.notEqual((await thrown(maker.commit(plan))).kind, undefined);
  assert.equal(readFileSync(join(root, "a"), "utf8"), "one\n");
});

test("a program that would do something else is not run", async () => {
  const root = folder({ a: "one\n" });
  const plan = await prepare(root, editor(), patchOf(...change("a", "one", "two")), standard);
  plan.files[0].after = Buffer.from("other\n");
  assert.match((await thrown(new Program(program, root).commit(plan))).message, /would not do what is shown here/);
  assert.equal(readFileSync(join(root, "a"), "utf8"), "one\n");
  assert.equal(expected(plan)[0].beforeSha256.length, 64);
  assert.match((await thrown(new Program(join(root, "none"), root).commit(plan))).message, /none cannot be run: .*ENOENT/);
  assert.match((await thrown(new Program(process.execPath, root).last())).message, /did not answer/);
});

test("the program is found where it may be run from", () => {
  const machine = (platform, path, ...files) => ({ platform, arch: "x64", path, home: platform === "win32" ? "C:\\me" : "/me", exists: (file) => files.includes(file) });
  const npm = "C:\\npm\\node_modules\\apply-patch-cli\\node_modules\\apply-patch-cli-win32-x64\\apply-patch.exe";
  const cases = [
    [machine("linux", "/bin:/opt/x", "/opt/x/apply-patch"), "/opt/x/apply-patch"],
    [machine("linux", "/bin", "/me/.cargo/bin/apply-patch"), "/me/.cargo/bin/apply-patch"],
    [machine("darwin", "/bin", "/me/.local/bin/apply-patch"), "/me/.local/bin/apply-patch"],
    [machine("linux", "/bin"), undefined],
    // What a project brings, or is relative to one.
    [machine("linux", "/work/project/node_modules/.bin:/bin", "/work/project/node_modules/.bin/apply-patch"), undefined],
    [machine("linux", "/work/project2", "/work/project2/apply-patch"), "/work/project2/apply-patch"],
    [machine("linux", ".:bin::/bin", "apply-patch", "bin/apply-patch", "./apply-patch"), undefined],
    [machine("win32", "C:\\bin;C:\\py", "C:\\py\\apply-patch.exe"), "C:\\py\\apply-patch.exe"],
    [machine("win32", "C:\\npm", "C:\\npm\\apply-patch.cmd", "C:\\npm\\apply-patch", npm), npm],
    [machine("win32", "D:\\work\\bin", "D:\\work\\bin\\apply-patch.exe"), undefined],
  ];
  for (const [where, file] of cases) assert.equal(find(where, where.platform === "win32" ? ["d:\\Work"] : ["/work/project"]), file);
});

test("one file with unsaved changes makes all of it an edit in the editor", async () => {
  const root = folder({ a: "one\n", b: "x\r\ny\r\n", c: "z\n" });
  const patch = patchOf(...change("a", "typed", "TYPED"), ...change("b", "y", "Y"), "*** Delete File: c", "*** Add File: d", "+n");
  const state = editor({ a: "one\ntyped\n" }, { b: "x\ny\n" });
  const plan = await prepare(root, state, patch, standard);
  assert.deepEqual([plan.where, plan.unsaved, state.opened], ["editor", ["a"], ["b"]]);
  assert.deepEqual(plan.files.map(sides), [
    ["a", null, "update", "one\ntyped\n", "one\nTYPED\n"],
    ["b", null, "update", "x\ny\n", "x\nY\n"],
    ["d", null, "create", null, "n\n"],
    ["c", null, "delete", "z\n", null],
  ]);
  assert.deepEqual(edits(plan.files[0]), [{ start: 1, count: 1, text: "TYPED\n" }]);
  const same = await prepare(root, state, patch, standard);
  assert.equal(same.digest, plan.digest);
  const typed = await prepare(root, editor({ a: "one\ntyped\nmore\n" }, { b: "x\ny\n" }), patch, standard);
  assert.notEqual(typed.digest, plan.digest);
  writeFileSync(join(root, "c"), "other\n");
  const other = await prepare(root, state, patch, standard);
  assert.notEqual(other.digest, plan.digest, "a file that goes is part of what was shown");
  assert.ok(!existsSync(join(root, ".apply-patch")));
});

test("a change for the disk can be made in the editor, with what was chosen", async () => {
  const root = folder({ a: long.replaceAll("\n", "\r\n") });
  const patch = patchOf(...twoHunks("a"));
  const plan = await prepare(root, editor(), patch, standard);
  plan.files[0].parts[0].accepted = false;
  const documents = chosenAs(plan, await prepare(root, editor({}, { a: long }), patch, standard, true));
  assert.deepEqual([documents.where, documents.unsaved], ["editor", []]);
  assert.deepEqual(edits(documents.files[0]), [{ start: 29, count: 1, text: "thirty\n" }]);
  assert.throws(() => chosenAs({ files: [] }, documents), /the editor does not show these files/);
});

test("an unsaved text that the patch does not fit refuses it, although the file would fit", async () => {
  const root = folder({ a: "one\n" });
  const error = await thrown(prepare(root, editor({ a: "won\n" }), patchOf(...change("a", "one", "two")), standard));
  assert.equal(error.kind, "patch_apply_error");
});

test("a move out of an unsaved file keeps its text", async () => {
  const root = folder({ "old.txt": "z\n" });
  const patch = patchOf("*** Update File: old.txt", "*** Move to: new.txt", "@@", " typed", "-z", "+Z");
  const plan = await prepare(root, editor({ "old.txt": "typed\nz\n" }), patch, standard);
  assert.deepEqual(plan.files.map(sides), [["old.txt", "new.txt", "move", "typed\nz\n", "typed\nZ\n"]]);
});

test("files beside an unsaved one have to be text in the workspace", async () => {
  const root = folder({ a: "one\n", b: Buffer.from("x\n\xff\n", "latin1") });
  const patch = patchOf(...change("a", "one", "two"), ...change("b", "x", "X"));
  assert.match((await thrown(prepare(root, editor({ a: "one\n" }), patch, standard))).message, /b is not text/);
  // Where the editor knows the charset, nothing is lost.
  const [lossy, latin] = [{ b: "x\n\uFFFD\n" }, { b: "x\n\xff\n" }];
  assert.match((await thrown(prepare(root, editor({ a: "one\n" }, lossy), patch, standard))).message, /b has bytes .*; save a and/);
  assert.equal(shown((await prepare(root, editor({ a: "one\n" }, latin), patch, standard)).files[1].after), "X\n\xff\n");
});

// On Windows not everybody may make a link.
test("symbolic links are not followed", { skip: process.platform === "win32" }, async () => {
  const root = folder({});
  symlinkSync(folder({ secret: "s\n" }), join(root, "link"));
  const through = patchOf(...change("link/secret", "s", "S"));
  assert.match((await thrown(prepare(root, editor(), through, standard))).message, /symbolic link/);
});

test("a patch is found in what people copy, in any of its forms", async () => {
  const root = folder({ "a.txt": "one\n", "src/b": "b\n" });
  const answer = ["Here it is:", "```", patchOf(...change("a.txt", "one", "two")) + "```", "Anything else?"].join("\n");
  const plan = await prepare(root, editor(), answer, standard);
  assert.deepEqual([plan.files.map(sides)[0][4], plan.notes.length], ["two\n", 1]);
  const texts = [
    "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n",
    "--- a.txt.orig\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n",
    JSON.stringify([{ type: "update_file", path: "a.txt", diff: "@@\n-one\n+two\n" }]),
    "a.txt\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n",
    "diff --git a/src/b b/src/c\ncopy from src/b\ncopy to src/c\n",
  ];
  for (const text of texts) assert.equal((await prepare(root, editor(), text, standard)).files.length, 1, text);
});

test("directories and names beside a file count", async () => {
  const root = folder({ "src/main.rs": "fn main() {}\n", "docs/x": "x\n" });
  // The patch, and the kind of the refusal by the strict rules.
  const cases = [
    [["*** Add File: docs/new", "+n"], undefined],
    [["*** Add File: lib/new", "+n"], "not_found"],
    [["*** Add File: docs/x/y", "+n"], "command_failed"],
    [["*** Add File: docs/x", "+n"], "already_exists"],
    [change("src/man.rs", "fn", "x"), "not_found"],
    [["*** Add File: .vscode/tasks.json", "+{}"], "permission_denied"],
  ];
  for (const [lines, kind] of cases) {
    const got = await prepare(root, editor(), patchOf(...lines), { profile: "strict" }).then(() => undefined, (error) => error);
    assert.equal(got?.kind, kind, `${lines[0]}: ${got?.message}`);
  }
  const plan = await prepare(root, editor(), patchOf("*** Add File: lib/new", "+n"), standard);
  assert.equal(plan.files.length, 1, "a directory is made");
  const error = await thrown(prepare(root, editor(), patchOf(...change("src/man.rs", "fn", "x")), standard));
  assert.match(describe(error).full, /did you mean src\/main\.rs/);
});

test("what is not beneath the folder is not looked at", async () => {
  // The path, and whether it is looked at on Linux and on Windows.
  const cases = [
    ["a/b", true, true],
    ["..a", true, true],
    ["../b", false, false],
    ["a/../b", false, false],
    ["/a", false, false],
    ["a//b", false, false],
    ["./a", false, false],
    ["..\\a", true, false],
    ["C:\\a", true, false],
    ["a:b", true, false],
  ];
  for (const [path, linux, windows] of cases) {
    assert.equal(isBeneath(path, "linux"), linux, path);
    assert.equal(isBeneath(path, "win32"), windows, path);
  }
  const error = await thrown(prepare(folder({}), editor(), patchOf(...change("../a", "one", "two")), standard));
  assert.equal(error.kind, "outside_workspace");
});

test("the profile is heeded in both ways", async () => {
  const root = folder({ a: "  one\n" });
  const patch = patchOf(...change("a", "one", "two"));
  for (const state of [editor(), editor({ a: "  one\n" })]) {
    assert.equal((await thrown(prepare(root, state, patch, standard))).kind, "patch_apply_error");
    assert.equal((await prepare(root, state, patch, { profile: "codex" })).files.length, 1);
  }
});

test("a refusal says all that is wrong, and where", async () => {
  const root = folder({ a: "two\none\ntwo\n", b: "x\ny\n" });
  const patch = patchOf(...change("a", "two", "T"), "*** Update File: b", "@@", " x", "-z", "+Z");
  const refusal = describe(await thrown(prepare(root, editor(), patch, standard)));
  assert.deepEqual(refusal.places, [{ path: "a", line: 1 }, { path: "a", line: 3 }, { path: "b", line: 2 }]);
  assert.match(refusal.message, /a: hunk 1 .*more than one place.*; b: hunk 1 .*not in the file/s);
  assert.equal(refusal.full.match(/^next: /gm).length, 2);
  assert.deepEqual(describe(await thrown(prepare(root, editor(), "no patch", standard))).places, []);
  assert.deepEqual(describe(new Error("x")), { message: "x", full: "x", places: [] });
});
