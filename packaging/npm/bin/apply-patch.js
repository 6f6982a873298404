#!/usr/bin/env node
// Runs the program of the package that npm chose for this machine, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { basename } = require("node:path");
const { constants } = require("node:os");

// Ends as a shell does when a program cannot be run.
const give_up = (message) => {
  process.stderr.write(`apply-patch: ${message}\n`);
  process.exit(127);
};

const name = `apply-patch-cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/apply-patch${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  give_up(`there is no program for ${process.platform} on ${process.arch} here: the package ${name} is missing ` +
    "(was it installed with --omit=optional, or on another machine?)");
}

// The program looks at the name it is called by; a link to this file may be called `apply_patch`.
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", argv0: basename(process.argv[1]) });
child.on("error", (error) => give_up(`cannot run ${program}: ${error.message}`));

// A signal to this process is meant for the program, which rolls back and chooses how to end.
const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of forwarded) process.on(signal, () => child.kill(signal));

child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const one of forwarded) process.removeAllListeners(one);
  // If the signal does not end this process, the code says what a shell would.
  process.exitCode = 128 + constants.signals[signal];
  process.kill(process.pid, signal);
});
