// The blocks of docs/libraries.md that are marked `js`, in order, as one module; and the example of an agent. usage: as library.test.cjs
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { copyFileSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");

test("docs/libraries.md", () => {
  const page = readFileSync(join(__dirname, "../../../docs/libraries.md"), "utf8");
  const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((found) => found[1]);
  assert.ok(blocks.length >= 6, `${blocks.length} blocks`);
  // An assertion that fails only prints, unless it is made to throw.
  const strict = 'import assert from "node:assert/strict";\nconsole.assert = assert.ok;\n';
  const file = join(process.cwd(), "page.mjs");
  writeFileSync(file, strict + blocks.join("\n"));
  // It ends by itself: nothing is left that keeps the program waiting.
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8", timeout: 120_000 });
  assert.equal(status, 0, stderr);
});

test("examples/agent.mjs", () => {
  const examples = join(__dirname, "../../../examples");
  // It finds the package where it lies.
  const file = join(process.cwd(), "agent.mjs");
  copyFileSync(join(examples, "agent.mjs"), file);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8", timeout: 120_000 });
  assert.equal(status, 0, stderr);
  assert.equal(stdout, readFileSync(join(examples, "agent.txt"), "utf8"));
});
