// Reads a GBNF file with llama.cpp and asks it about every text of a dialect, or until one differs; prints what differs.
// node llama.mjs GRAMMAR.gbnf SENTENCES.jsonl DIALECT [until-wrong]

import fs from "node:fs";
import {getLlama} from "node-llama-cpp";

const [grammarFile, sentences, dialect, untilWrong] = process.argv.slice(2);
const llama = await getLlama({build: "never", gpu: false, skipDownload: true, logLevel: "error"});
const grammar = await llama.createGrammar({grammar: fs.readFileSync(grammarFile, "utf8")});

let tried = 0;
const wrong = [];
// Not by the readline module, which takes U+2028 for the end of a line.
for (const line of fs.readFileSync(sentences, "utf8").trimEnd().split("\n")) {
    const entry = JSON.parse(line);
    if (entry.dialect !== dialect) continue;
    tried += 1;
    if (grammar._testText(entry.text) !== entry.accepted) wrong.push(entry);
    if (untilWrong && wrong.length) break;
}
// The engine's threads would keep the process alive.
process.stdout.write(JSON.stringify({tried, wrong}), () => process.exit(0));
