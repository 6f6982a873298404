// Applies a diff from standard input in the current directory with jsdiff, which knows texts and no files.
// The files are written after all texts are made, as the README of jsdiff advises.
const fs = require("fs");
const path = require("path");
const { applyPatch, parsePatch } = require(path.join(process.argv[2], "node_modules/diff"));

const strip = Number(process.env.STRIP);
const bare = (name) => (name === "/dev/null" ? name : name.split("/").slice(strip).join("/"));
const inside = (name) => {
  const found = path.resolve(name);
  if (!found.startsWith(process.cwd() + path.sep)) throw new Error(`${name} is outside`);
  return found;
};
const patches = parsePatch(fs.readFileSync(0, "utf8")).filter((patch) => patch.newFileName || patch.oldFileName);
if (patches.length === 0) throw new Error("no diff");
const writes = new Map();
for (const patch of patches) {
  const from = bare(patch.oldFileName);
  const to = bare(patch.newFileName);
  if (patch.isBinary) throw new Error(`${to} is binary`);
  const isNew = from === "/dev/null" || patch.isCreate;
  const before = isNew ? "" : fs.readFileSync(inside(from), "utf8");
  const after = applyPatch(before, patch);
  if (after === false) throw new Error(`${to}: a hunk does not fit`);
  if (!isNew && from !== to && !patch.isCopy && !writes.has(from)) writes.set(from, null);
  if (to !== "/dev/null" && !patch.isDelete) writes.set(to, [after, patch.newMode]);
  else writes.set(from, null);
}
for (const [file, write] of [...writes].map(([name, write]) => [inside(name), write])) {
  if (write === null) {
    fs.unlinkSync(file);
    continue;
  }
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, write[0]);
  if (write[1]) fs.chmodSync(file, parseInt(write[1].slice(-3), 8));
}
