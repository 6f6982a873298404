// Reads the scenarios of the repository (tests/scenarios/README.md): those that patch a plain directory, with options that
// the library has too.
"use strict";

const assert = require("node:assert/strict");
const { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, readFileSync, readdirSync, statSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

const root = join(__dirname, "../../../tests/scenarios");

// The arguments that a call has as options; a scenario with others is about the command line.
const FLAGS = {
  "--profile": (options, value) => (options.profile = value),
  "--from": (options, value) => (options.from = value),
  "--fuzz": (options, value) => (options.fuzz = value),
  "--ambiguous": (options, value) => (options.ambiguous = value),
  "--environment": (options, value) => (options.environment = value),
  "--encoding": (options, value) => (options.encoding ??= []).push(value),
  "--expect": (options, value) => {
    const at = value.lastIndexOf("=");
    (options.expectedSha256ByPath ??= {})[value.slice(0, at)] = value.slice(at + 1);
  },
};
const SWITCHES = { "--create-parents": "createParents", "-R": "reverse" };

function optionsOf(folder) {
  const options = {};
  const file = join(folder, "args.txt");
  if (!existsSync(file)) return options;
  const args = readFileSync(file, "utf8").split("\n").filter(Boolean);
  while (args.length > 0) {
    const flag = args.shift();
    if (FLAGS[flag]) FLAGS[flag](options, args.shift());
    else if (SWITCHES[flag]) options[SWITCHES[flag]] = true;
    else return undefined;
  }
  return options;
}

/** The bytes of the files beneath a directory, by path. */
function filesOf(directory, beneath = "") {
  const files = {};
  if (!existsSync(directory)) return files;
  for (const name of readdirSync(directory).sort()) {
    if (name === ".apply-patch") continue;
    const place = join(directory, name);
    if (lstatSync(place).isDirectory()) Object.assign(files, filesOf(place, `${beneath}${name}/`));
    else files[beneath + name] = readFileSync(place);
  }
  return files;
}

function scenarios() {
  const found = [];
  for (const name of readdirSync(root).sort()) {
    const folder = join(root, name);
    const has = (file) => existsSync(join(folder, file));
    if (!statSync(folder).isDirectory() || ["setup.txt", "after.txt", "stdout.txt", "bug.txt"].some(has)) continue;
    const options = optionsOf(folder);
    if (!options) continue;
    const error = has("error.txt")
      ? Object.fromEntries(
          readFileSync(join(folder, "error.txt"), "utf8")
            .split("\n")
            .filter(Boolean)
            .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
        )
      : undefined;
    found.push({
      name,
      options,
      error,
      before: filesOf(join(folder, "before")),
      after: error && !has("after") ? undefined : filesOf(join(folder, "after")),
      patch: readFileSync(join(folder, "patch.txt")),
      /** A copy of the workspace. */
      copy() {
        const place = mkdtempSync(join(tmpdir(), "apply-patch-"));
        if (has("before")) cpSync(join(folder, "before"), place, { recursive: true });
        for (const path of Object.keys(filesOf(place))) {
          chmodSync(join(place, path), statSync(join(place, path)).mode & 0o100 ? 0o755 : 0o644);
        }
        return place;
      },
    });
  }
  return found;
}

/** Every scenario in memory, by the function of a package. */
function inMemory(applyInMemory) {
  const all = scenarios();
  assert.ok(all.length > 100, `${all.length} scenarios`);
  for (const one of all) {
    let done;
    let outcome;
    try {
      done = applyInMemory(one.before, one.patch, one.options);
    } catch (error) {
      outcome = error;
    }
    assert.equal(outcome && (outcome.kind ?? outcome), one.error?.kind, `${one.name}: ${outcome?.stack}`);
    const after = { ...one.before };
    for (const [path, content] of Object.entries(done?.files ?? {})) {
      if (content === null) delete after[path];
      else after[path] = Buffer.from(content);
    }
    assert.deepEqual(after, one.after ?? one.before, one.name);
  }
}

/** Every dialect (tests/dialects/README.md): the patch inside is taken, or the text is refused. */
function dialects(applyInMemory) {
  const folder = join(__dirname, "../../../tests/dialects");
  const before = filesOf(join(folder, "before"));
  const names = readdirSync(folder).filter((name) => /^[0-9].*\.txt$/.test(name)).sort();
  assert.ok(names.length > 200, `${names.length} dialects`);
  const attempt = (patch, options) => {
    try {
      return { files: applyInMemory(before, patch, options).files };
    } catch (error) {
      return { error };
    }
  };
  for (const name of names) {
    const whole = readFileSync(join(folder, name));
    const head = whole.indexOf("=====sent\n");
    const rest = whole.subarray(head + "=====sent\n".length);
    const at = rest.indexOf("\n=====is\n");
    const sent = at < 0 ? rest : rest.subarray(0, at);
    const outcome = whole.subarray(0, head).toString().split("\n")[0];
    const [verdict, ...words] = outcome.split(": ");
    const found = attempt(sent, {});
    if (verdict === "refused") {
      assert.ok(found.error?.message.includes(words.join(": ")), `${name}: ${found.error?.message}`);
      continue;
    }
    const inside = rest.subarray(at + "\n=====is\n".length);
    const wanted = attempt(inside, { from: words[0] === "diff" ? "unified" : "envelope" });
    assert.ok(wanted.files, `${name}: ${wanted.error?.message}`);
    assert.deepEqual(found.files, wanted.files, `${name}: ${found.error?.message}`);
  }
}

module.exports = { dialects, filesOf, inMemory, scenarios };
