// Applies a diff from standard input in the current directory with jsdiff, which knows texts and no files.
// The files are written after all texts are made, as the README of jsdiff advises.
const fs = require("fs");
const path = require("path");
const { applyPatch, parsePatch, reversePatch } = require(path.join(process.argv[2], "node_modules/diff"));

const [, strip, reverse] = process.argv.slice(2);
const bare = (name) => (name === "/dev/null" ? name : name.split("/").slice(Number(strip)).join("/"));
const inside = (name) => {
  if (name === "/dev/null") return name;
  const found = path.resolve(name);
  if (!found.startsWith(process.cwd() + path.sep)) throw new Error(`${name} is outside`);
  return found;
};
let patches = parsePatch(fs.readFileSync(0, "utf8")).filter((patch) => patch.newFileName || patch.oldFileName);
if (patches.length === 0) throw new Error("no diff");
if (reverse) patches = reversePatch(patches);
const writes = new Map();
for (const patch of patches) {
  const from = bare(patch.oldFileName);
  const to = bare(patch.newFileName);
  if (patch.isBinary) throw new Error(`${to} is binary`);
  // What a diff makes may be told by its first hunk alone.
  const made = !fs.existsSync(inside(from)) && patch.hunks.length === 1 && patch.hunks[0].oldLines === 0;
  const isNew = from === "/dev/null" || patch.isCreate || made;
  const gone = to === "/dev/null" || patch.isDelete;
  const before = isNew ? "" : fs.readFileSync(inside(from), "utf8");
  const after = applyPatch(before, patch);
  if (after === false) throw new Error(`${to}: a hunk does not fit`);
  if (isNew && fs.existsSync(inside(to))) throw new Error(`${to} is there already`);
  if (gone && after !== "") throw new Error(`${from} has other lines than the diff deletes`);
  if (!isNew && from !== to && !patch.isCopy && !writes.has(from)) writes.set(from, null);
  const mode = patch.newMode ? parseInt(patch.newMode.slice(-3), 8) : isNew ? null : fs.statSync(inside(from)).mode;
  writes.set(gone ? from : to, gone ? null : [after, mode]);
}
for (const [file, write] of [...writes].map(([name, write]) => [inside(name), write])) {
  if (write === null) {
    fs.unlinkSync(file);
    continue;
  }
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, write[0]);
  if (write[1]) fs.chmodSync(file, write[1]);
}
