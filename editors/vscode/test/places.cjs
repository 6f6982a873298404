// The extension, and folders to try it in. EXTENSION is the folder of the unpacked package, unless
// it is this one as it was built; PROGRAM is the program, unless the extension finds it.
"use strict";

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

module.exports = { change, extension, folder, load, long, patchOf, program, twoHunks };
