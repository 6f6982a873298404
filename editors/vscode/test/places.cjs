// The extension as it is installed, and folders to try it in. EXTENSION is the folder of the unpacked package.
"use strict";

const { mkdirSync, mkdtempSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { tmpdir } = require("node:os");
const { dirname, join, resolve } = require("node:path");

const extension = resolve(process.env.EXTENSION);
const load = createRequire(join(extension, "out/x.js"));

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

module.exports = { change, extension, folder, load, patchOf };
