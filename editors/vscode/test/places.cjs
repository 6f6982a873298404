// The extension, and folders to try it in. EXTENSION is the folder of the unpacked package, unless
// it is this one as it was built; PROGRAM is the program, unless the extension finds it.
"use strict";

const { spawnSync } = require("node:child_process");
const { existsSync, mkdirSync, mkdtempSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { tmpdir } = require("node:os");
const { dirname, join, resolve } = require("node:path");

const extension = resolve(process.env.EXTENSION ?? join(__dirname, ".."));
const load = createRequire(join(extension, "out/x.js"));
const { find, here } = load("./program.js");
const program = process.env.PROGRAM ?? find(here(existsSync), []);

const folder = (files) => {
  const place = mkdtempSync(join(tmpdir(), "apply-patch-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), content);
  }
  return place;
};

const patchOf = (...lines) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const change = (path, from, to) => [`*** Update File: ${path}`, "@@", `-${from}`, `+${to}`];
/** A text of many lines, and a patch of two hunks of it. */
const long = Array.from({ length: 40 }, (_, nth) => `line ${nth + 1}\n`).join("");
const twoHunks = (path) => [`*** Update File: ${path}`, "@@", "-line 2", "+two", "+more", "@@", "-line 30", "+thirty"];

/** Runs the program in a folder; what it answers as JSON. */
const run = (root, args, input = "") => {
  const { stdout, stderr } = spawnSync(program, args, { cwd: root, input, encoding: "utf8" });
  const answer = JSON.parse(stdout || "{}");
  if (!answer.ok) throw new Error(`${args.join(" ")}: ${stdout}${stderr}`);
  return answer.data;
};
/** An agent applies a patch; in a turn, if there is one. */
const agent = (root, { session = "refactor", turn }, ...lines) => {
  const who = ["--agent", "claude", "--session", session, ...(turn ? ["--turn", turn] : [])];
  return run(root, ["tool", "apply_patch", ...who, "--args", "-"], JSON.stringify({ patch: patchOf(...lines) })).transactionId;
};

module.exports = { agent, change, extension, folder, load, long, patchOf, program, run, twoHunks };
