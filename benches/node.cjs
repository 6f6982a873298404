// Microseconds for a patch in memory, from Node: alone, and one of many with 1 worker and with as many as there are processors. As a table,
// below the median of a call as benches/python.py has it.
//
//     APPLY_PATCH_NATIVE=…/apply-patch.node node benches/node.cjs DIR
//
// DIR is that of benches/python.py, and the module is the library that `cargo build -p apply-patch-node` makes, under this name.
// The processor time by the wall time is how many processors it had: other programs take some away.
"use strict";

const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { applyInMemory, applyMany } = require("../packaging/npm/lib/index.js");

const ITEMS = 20_000;
const ROUNDS = 5;

async function main(folder) {
  const name = "src/main.rs";
  const files = { [name]: readFileSync(path.join(folder, "before", name), "utf8") };
  const patch = readFileSync(path.join(folder, "patch.txt"), "utf8");
  const wanted = readFileSync(path.join(folder, "after", name), "utf8");
  const items = Array(ITEMS).fill({ files, patch });
  const one = () => {
    for (let nth = 0; nth < ITEMS; nth++) assert.equal(applyInMemory(files, patch).files[name], wanted);
  };
  const many = (workers) => async () => {
    const done = await applyMany(items, { workers });
    assert.ok(done.length === ITEMS && done.every((item) => item.files[name] === wanted));
  };
  const cases = [["`applyInMemory`", one]];
  for (const workers of new Set([1, os.cpus().length])) cases.push([`\`applyMany\`, ${workers} at a time`, many(workers)]);
  const times = Float64Array.from({ length: ITEMS }, () => {
    const start = performance.now();
    assert.equal(applyInMemory(files, patch).files[name], wanted);
    return (performance.now() - start) * 1e3;
  }).sort();
  console.log(`Node ${process.version}, ${os.cpus().length} processors`);
  console.log(`\`applyInMemory\`, the median of a call: ${times[ITEMS / 2].toFixed(1)} µs\n\nThe best of ${ROUNDS}:\n`);
  console.log("| what | wall µs | CPU µs | CPU by wall |\n|---|---:|---:|---:|");
  for (const [what, call] of cases) {
    let best = { wall: Infinity };
    for (let round = 0; round < ROUNDS; round++) {
      const [start, cpu] = [process.hrtime.bigint(), process.cpuUsage()];
      await call();
      const { user, system } = process.cpuUsage(cpu);
      const wall = Number(process.hrtime.bigint() - start) / 1e3;
      if (wall < best.wall) best = { wall, cpu: user + system };
    }
    const each = (time) => (time / ITEMS).toFixed(1);
    console.log(`| ${what} | ${each(best.wall)} | ${each(best.cpu)} | ${(best.cpu / best.wall).toFixed(2)} |`);
  }
}

main(path.join(process.argv[2], "W1"));
