// The package for browsers, in Node. usage: node --test, in a folder with node_modules/apply-patch-wasm
"use strict";

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { test } = require("node:test");

const { inMemory } = require("../npm/test/scenarios.cjs");

const library = createRequire(join(process.cwd(), "x.js"))("apply-patch-wasm");
const EDIT = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n";

test("every scenario in memory", () => inMemory(library.applyInMemory));

test("text for text, errors with their fields", () => {
  const { files, diff, changes, digest } = library.applyInMemory({ a: "one\n" }, EDIT);
  assert.deepEqual([files, changes[0].operation, digest.length], [{ a: "two\n" }, "update", 64]);
  assert.match(diff, /^\+two$/m);
  assert.throws(() => library.applyInMemory({}, EDIT), { name: "PatchError", kind: "not_found", path: "a", recoverable: true });
  assert.throws(() => library.applyInMemory({}, EDIT, { createParent: true }), { name: "TypeError", message: /createParents/ });
  assert.throws(() => library.applyInMemory(new Map([["a", "one\n"]]), EDIT), TypeError);
  assert.throws(() => library.applyInMemory({}, 7), TypeError);
  assert.throws(() => library.applyInMemory({ a: "one\n" }, EDIT.replace("two", "\ud83d")), TypeError);
  assert.throws(() => library.applyInMemory({ a: "one\n", "\ud83d": "" }, EDIT), TypeError);
  assert.deepEqual(library.applyInMemory({ a: "\u{1f600}\none\n" }, EDIT).files, { a: "\u{1f600}\ntwo\n" });
});

test("the rest of it", () => {
  assert.equal(library.applyDiff("one\n", "@@\n-one\n+two\n"), "two\n");
  assert.equal(library.parse(EDIT).sections.length, 1);
  assert.match(library.convert(EDIT, "git", undefined, { a: "one\n" }).text, /^diff --git a\/a b\/a$/m);
  assert.ok(library.grammar().includes("start") && library.prompt().length > 100);
  const stream = new library.PatchStream();
  const events = [...stream.push(EDIT), ...stream.end()];
  assert.deepEqual([events[0].type, events.at(-1).type], ["begun", "ended"]);
});

test("as a browser loads it", async () => {
  const web = join(process.cwd(), "node_modules/apply-patch-wasm/web");
  const module = await import(pathToFileURL(join(web, "apply_patch.js")));
  await module.default({ module_or_path: readFileSync(join(web, "apply_patch_bg.wasm")) });
  assert.deepEqual(module.applyInMemory({ a: "one\n" }, EDIT).files, { a: "two\n" });
});
