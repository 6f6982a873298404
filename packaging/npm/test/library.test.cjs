// The library as it is installed. usage: node --test, in a folder with node_modules/apply-patch-cli
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { test } = require("node:test");
const { Worker } = require("node:worker_threads");

const { dialects, filesOf, inMemory, scenarios } = require("./scenarios.cjs");

// The package under test is where the tests run, not where they are.
const library = createRequire(join(process.cwd(), "x.js"))("apply-patch-cli");
const { GitTree, PatchError, PatchStream, Plan, Workspace } = library;

const all = scenarios();
const cases = (kind) => all.filter((one) => (kind === "error" ? one.error : !one.error));

const folder = (files = {}) => {
  const place = mkdtempSync(join(tmpdir(), "apply-patch-"));
  for (const [path, content] of Object.entries(files)) writeFileSync(join(place, path), content);
  return place;
};
const patchOf = (...lines) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const EDIT = patchOf("*** Update File: a", "@@", "-one", "+two");
const ADD = (path) => patchOf(`*** Add File: ${path}`, "+x");

test("the scenarios are there", () => {
  assert.ok(cases("error").length > 50 && cases("fine").length > 50, `${all.length} scenarios`);
});

test("every scenario in a directory", async () => {
  for (const one of all) {
    const place = one.copy();
    const workspace = new Workspace(place, { durability: "none" });
    const outcome = await workspace.apply(one.patch, one.options).then(
      () => undefined,
      (error) => error,
    );
    assert.equal(outcome && (outcome.kind ?? outcome), one.error?.kind, `${one.name}: ${outcome?.stack}`);
    if (one.error?.reason) assert.equal(outcome.details.reason, one.error.reason, one.name);
    assert.equal(outcome instanceof PatchError, one.error !== undefined, one.name);
    assert.deepEqual(filesOf(place), one.after ?? one.before, one.name);
    rmSync(place, { recursive: true });
  }
});

test("every scenario in memory", () => inMemory(library.applyInMemory));

test("every dialect", () => dialects(library.applyInMemory));

test("a plan is what is applied, or nothing", async () => {
  const place = folder({ a: "one\n" });
  const workspace = new Workspace(place);
  const plan = await workspace.plan(EDIT);
  assert.ok(plan instanceof Plan && /^[0-9a-f]{64}$/.test(plan.digest));
  assert.match(plan.diff, /^-one\n\+two$/m);
  assert.deepEqual(plan.changes.map(({ path, operation }) => [path, operation]), [["a", "update"]]);
  assert.equal(workspace.planSync(EDIT).digest, plan.digest);
  writeFileSync(join(place, "a"), "one\nmore\n");
  await assert.rejects(workspace.apply(plan), { name: "StaleFile", kind: "stale_file" });
  assert.equal(readFileSync(join(place, "a"), "utf8"), "one\nmore\n");
  writeFileSync(join(place, "a"), "one\n");
  const { transactionId } = await workspace.apply(plan);
  assert.equal(readFileSync(join(place, "a"), "utf8"), "two\n");
  await workspace.undo(transactionId);
  assert.equal(readFileSync(join(place, "a"), "utf8"), "one\n");
  await workspace.redo();
  assert.equal(readFileSync(join(place, "a"), "utf8"), "two\n");
  workspace.undoSync();
  assert.equal(workspace.applySync(workspace.planSync(EDIT)).alreadyDone, undefined);
  assert.equal((await workspace.log({ maxCount: 2 })).transactions.length, 2);
  for (const maxCount of [-1, 1.5, NaN, "2"]) await assert.rejects(workspace.log({ maxCount }), TypeError);
});

test("a callback decides, watches, and may throw", async () => {
  const place = folder({ a: "one\n" });
  const workspace = new Workspace(place);
  let seen;
  const declined = await workspace.apply(EDIT, { approve: (proposal) => ((seen = proposal), false) }).catch((error) => error);
  assert.ok(declined instanceof library.Declined && declined instanceof library.PermissionDenied && declined instanceof library.Refused);
  assert.deepEqual([declined.kind, declined.reason], ["permission_denied", "declined"]);
  assert.ok(seen.diff.includes("+two") && seen.changes[0].path === "a");
  const mistake = new RangeError("a mistake");
  for (const approve of [() => { throw mistake; }, async () => { throw mistake; }]) {
    await assert.rejects(workspace.apply(EDIT, { approve }), (error) => error === mistake);
  }
  await assert.rejects(workspace.apply(EDIT, { observe: () => { throw mistake; } }), (error) => error === mistake);
  assert.equal(readFileSync(join(place, "a"), "utf8"), "one\n");
  await assert.rejects(workspace.apply(EDIT, { approve: () => undefined }), TypeError);
  assert.equal(readFileSync(join(place, "a"), "utf8"), "one\n");
  const events = [];
  await workspace.apply(EDIT, { approve: async () => true, observe: (event) => events.push(event.type) });
  assert.equal(readFileSync(join(place, "a"), "utf8"), "two\n");
  assert.ok(events.length >= 3, `${events}`);
  // What is thrown when the change is made comes out too, and the change stands.
  const late = ({ type }) => { if (type === "end") throw mistake; };
  await assert.rejects(workspace.apply(ADD("late"), { observe: late }), (error) => error === mistake);
  assert.equal(readFileSync(join(place, "late"), "utf8"), "x\n");
  const stopped = AbortSignal.abort(new Error("stopped"));
  await assert.rejects(workspace.apply(ADD("b"), { signal: stopped }), { message: "stopped" });
});

test("a person edits the proposal", async () => {
  const workspace = new Workspace(folder({ a: "one\n" }));
  const done = await workspace.apply(EDIT, { approve: async () => ({ patch: EDIT.replace("two", "2") }) });
  assert.equal(String(filesOf(workspace.root).a), "2\n");
  assert.ok(done.editedByPerson.diff.includes("-two\n+2\n"));
});

test("a signal gives a call up", async () => {
  const place = folder({ a: "one\n" });
  const workspace = new Workspace(place);
  await workspace.apply(EDIT);
  await workspace.undo();
  const calls = {
    apply: (options) => workspace.apply(EDIT, options),
    redo: (options) => workspace.redo(undefined, options),
    call: (options) => workspace.call("create_file", { path: "b", content: "" }, options),
  };
  const reason = new Error("enough");
  const late = async (call) => {
    const controller = new AbortController();
    const approve = () => (controller.abort(reason), true);
    await assert.rejects(call({ approve, signal: controller.signal }), (error) => error === reason);
  };
  for (const call of Object.values(calls)) await late(call);
  assert.deepEqual(String(filesOf(place).a), "one\n");
  assert.deepEqual(Object.keys(filesOf(place)), ["a"]);
  await calls.redo({ diff: "stat" });
  await late((options) => workspace.undo(undefined, options));
  assert.deepEqual(String(filesOf(place).a), "two\n");
  await assert.rejects(workspace.plan(EDIT, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
});

test("calls that ask leave the threads of the pool to the program", async () => {
  const { readFile } = require("node:fs/promises");
  const add = (options) => new Workspace(folder()).apply(ADD("b"), options);
  // As many as the pool has threads, and again.
  const approve = async () => (await readFile(__filename), true);
  await Promise.all(Array.from({ length: 8 }, () => add({ approve })));
  // Questions that nobody answers.
  const controllers = Array.from({ length: 8 }, () => new AbortController());
  let asked;
  const all = new Promise((resolve) => (asked = resolve));
  let open = 0;
  const never = () => ((open += 1) === controllers.length && asked(), new Promise(() => {}));
  const calls = controllers.map(({ signal }) => add({ approve: never, signal }));
  const ends = Promise.allSettled(calls);
  await all;
  await readFile(__filename);
  const reason = new Error("enough");
  for (const controller of controllers) controller.abort(reason);
  for (const end of await ends) assert.equal(end.reason, reason);
  // So do the files of an editor.
  const patch = patchOf("*** Update File: a", "@@", "-one", "+two");
  const read = async (path) => (await readFile(__filename), path === "a" ? "one\n" : undefined);
  await Promise.all(Array.from({ length: 8 }, () => library.planOver({ read }, patch)));
});

test("what is changed in a turn is one", async () => {
  const place = folder({ a: "one\n" });
  const workspace = new Workspace(place, { approve: "ask" });
  let asked = 0;
  const approve = () => ((asked += 1), "turn");
  const done = await workspace.turn(async (turn) => {
    await workspace.apply(EDIT, { approve });
    await workspace.apply(EDIT.replace("one", "two").replace("+two", "+three"), { approve });
    await workspace.call("create_file", { path: "b", content: "b\n" }, { approve: () => true });
    assert.equal((await turn.soFar()).transactions.length, 3);
    assert.throws(() => workspace.beginTurn(), library.CommandFailed);
    return turn;
  });
  assert.deepEqual([asked, done.id, done.transactions.length, done.value.id], [1, done.value.id, 3, done.id]);
  assert.ok(done.diff.includes("-one\n+three\n") && done.changedFiles.length === 2);
  assert.equal((await workspace.log()).turns[0].id, done.id);
  assert.equal((await done.value.undo({ approve: () => true, diff: "stat" })).turnId, done.id);
  assert.deepEqual([String(filesOf(place).a), "b" in filesOf(place)], ["one\n", false]);
  const mistake = new RangeError("a mistake");
  for (const undoOnError of [false, true]) {
    const work = async () => {
      await workspace.apply(ADD(`c${undoOnError}`), { approve: () => true });
      throw mistake;
    };
    await assert.rejects(workspace.turn(work, { name: "t", undoOnError, approve: () => true }), (error) => error === mistake);
    assert.equal(`c${undoOnError}` in filesOf(place), !undoOnError);
  }
  assert.equal(workspace.beginTurn("own"), "own");
  assert.deepEqual([(await workspace.endTurn()).transactions, await workspace.turnSoFar()], [[], null]);
});

test("a proposal waits for a person", async () => {
  const place = folder({ a: "one\n2\n3\n" });
  const [agent, person] = [new Workspace(place), new Workspace(place)];
  const made = await agent.propose(EDIT, { why: "more" });
  assert.equal(made.state, "proposed");
  assert.equal(String(filesOf(place).a), "one\n2\n3\n");
  const id = made.proposalId;
  assert.equal((await person.proposals()).proposals[0].why, "more");
  assert.equal((await person.proposal(id.slice(0, 8))).changedFiles[0].path, "a");
  writeFileSync(join(place, "a"), "one\n2\n3\n4\n");
  const error = await person.approve(id).catch((error) => error);
  assert.deepEqual([error.kind, error.reason], ["stale_file", "plan_differs"]);
  const events = [];
  const done = await person.approve(id, { digest: error.details.digest, observe: (event) => events.push(event) });
  assert.equal(String(filesOf(place).a), "two\n2\n3\n4\n");
  assert.ok(events.length > 3);
  assert.deepEqual((await agent.proposal(id)).transactionIds, [done.transactionId]);
  const other = await agent.propose(ADD("b"));
  assert.equal((await person.decline(other.proposalId, "no")).state, "declined");
  assert.equal((await agent.proposal(other.proposalId)).decidedWhy, "no");
  await assert.rejects(person.approve(other.proposalId), { kind: "permission_denied" });
  for (const call of [() => agent.propose(EDIT, { reason: "x" }), () => person.approve(id, { approve: () => true }), () => agent.proposal(1)]) {
    await assert.rejects(async () => call(), TypeError);
  }
});

test("several changes are shown as one diff, without what others changed between", async () => {
  const place = folder({ a: "1\n2\n3\n4\n5\n6\n7\n8\n" });
  const workspace = new Workspace(place, { durability: "none" });
  const update = (from, to) => `*** Begin Patch\n*** Update File: a\n@@\n-${from}\n+${to}\n*** End Patch\n`;
  const first = await workspace.apply(update("1", "one"));
  require("node:fs").writeFileSync(`${place}/a`, String(filesOf(place).a).replace("4", "four"));
  const last = await workspace.apply(update("8", "eight"));
  for (const options of [
    { session: workspace.session },
    { since: "1h" },
    { range: `${first.transactionId}..${last.transactionId}` },
  ]) {
    const net = await workspace.netChanges(options);
    assert.equal(net.diff.includes("+four"), false);
    assert.ok(net.diff.includes("+one\n") && net.diff.includes("+eight\n"));
    assert.deepEqual(net.changedBetween.map(({ path, leftOut }) => [path, leftOut]), [["a", true]]);
  }
  for (const options of [undefined, {}, { since: "1h", turn: "t" }, { turn: "none" }, { range: "x" }, { id: "x" }]) {
    await assert.rejects(workspace.netChanges(options));
  }
});

test("tools share a session: what was not read is not overwritten", async () => {
  const place = folder({ a: "one\n" });
  const workspace = new Workspace(place);
  const edit = { path: "a", edits: [{ oldText: "one", newText: "two" }] };
  assert.equal((await workspace.call("edit_file", edit)).ok, false);
  assert.equal(workspace.callSync("read_file", { path: "a" }).data.content, "one\n");
  assert.equal((await workspace.call("edit_file", edit)).ok, true);
  assert.equal((await workspace.call("no_such_tool")).error.details.reason, "unknown_tool");
});

test("errors have their fields", async () => {
  const workspace = new Workspace(folder());
  const error = await workspace.apply(patchOf("*** Delete File: nope")).catch((error) => error);
  assert.ok(error instanceof PatchError && error instanceof Error);
  assert.deepEqual([error.kind, error.path, error.name], ["not_found", "nope", "NotFound"]);
  assert.ok(error instanceof library.NotFound && error instanceof library.DoesNotApply && !(error instanceof library.StaleFile));
  assert.ok(error.suggestedNextAction.length > 0 && error.hints.length > 0 && error.recoverable);
  await assert.rejects(workspace.apply(EDIT, { frobnicate: 1 }), /frobnicate/);
  await assert.rejects(workspace.apply(await workspace.plan(ADD("b")), { overwrite: true }), TypeError);
  assert.throws(() => new Workspace(join(workspace.root, "nowhere")), { name: "NotFound" });
});

test("each kind has its class, with its fields", () => {
  const files = { a: "one\n", b: "one\n", twice: "x\nx\n", binary: "\0" };
  const update = (path, ...lines) => patchOf(`*** Update File: ${path}`, ...lines);
  for (const [name, patch, fields, options] of [
    ["ParseError", "nonsense", { kind: "patch_parse_error", reason: "no_patch" }],
    ["ApplyError", update("a", "@@", "-tow", "+2"), { kind: "patch_apply_error" }],
    ["MultipleMatches", update("twice", "@@", "-x", "+y"), { places: [{ startLine: 1, endLine: 1, addContextAfter: ["x"] }, { startLine: 2, endLine: 2, addContextBefore: ["x"] }] }],
    ["NotFound", patchOf("*** Delete File: binaryy"), { path: "binaryy", didYouMean: "binary" }],
    ["AlreadyExists", patchOf("*** Add File: a", "+x"), { path: "a" }],
    ["BinaryFile", update("binary", "@@", "-x", "+y"), {}],
    ["StaleFile", EDIT, { path: "a", expected: "0".repeat(64), actual: "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806" }, { expectedSha256ByPath: { a: "0".repeat(64) } }],
    ["OutsideWorkspace", patchOf("*** Delete File: ../x"), { kind: "outside_workspace" }],
    ["PermissionDenied", patchOf("*** Delete File: .env"), { reason: "forbidden" }],
    ["FileTooLarge", EDIT, { kind: "file_too_large" }, { maxFileSize: 1 }],
    ["CommandFailed", EDIT, { kind: "command_failed" }, { profile: "lax" }],
  ]) {
    let error;
    try {
      library.applyInMemory(files, patch, options);
    } catch (thrown) {
      error = thrown;
    }
    assert.ok(error instanceof library[name] && error.name === name, `${name}: ${error}`);
    for (const [field, value] of Object.entries(fields)) assert.deepEqual(error[field], value, `${name}.${field}`);
  }
});

test("the files of a program, with the edits for its buffers", async () => {
  const buffers = { a: { content: "one\nß one\n", version: 7 } };
  const patch = patchOf("*** Update File: a", "@@", "-ß one", "+ß two", "*** Add File: b", "+x");
  const planned = await library.planOver({ read: async (path) => buffers[path] }, patch);
  const [edit, added] = planned.edits;
  assert.deepEqual([edit.path, edit.version, edit.text], ["a", 7, "one\nß two\n"]);
  assert.deepEqual(edit.edits[0].range.start.line, 1);
  assert.deepEqual([added.operation, added.text, added.version], ["create", "x\n", null]);
  const mistake = new RangeError("a mistake");
  await assert.rejects(library.planOver({ read: () => { throw mistake; } }, patch), (error) => error === mistake);
});

test("a commit without a checkout", async () => {
  const place = folder({ a: "one\n" });
  const git = (...args) => execFileSync("git", ["-C", place, "-c", "user.name=n", "-c", "user.email=e@e", ...args], { encoding: "utf8" }).trim();
  git("init", "-q", "-b", "main");
  git("add", "a");
  git("commit", "-qm", "first");
  const tree = new GitTree(place, "main");
  assert.deepEqual([tree.list(), tree.read("a").toString(), tree.read("b")], [["a"], "one\n", null]);
  assert.equal(tree.commit, git("rev-parse", "main"));
  const plan = await tree.plan(EDIT);
  assert.ok(plan.diff.includes("+two"));
  const done = await tree.apply(EDIT, { branch: "topic", message: "second", author: "n <e@e>" });
  assert.equal(git("rev-parse", "topic"), done.commit);
  assert.deepEqual([tree.treeOf(plan), done.tree], [done.tree, git("rev-parse", "topic^{tree}")]);
  assert.equal(git("show", "topic:a"), "two");
  assert.equal(tree.at("topic").read("a").toString(), "two\n");
  assert.equal(tree.read("a").toString(), "one\n");
  assert.throws(() => tree.at("nowhere"), PatchError);
});

test("text, patches and what models need", () => {
  assert.equal(library.applyDiff("one\n", "@@\n-one\n+two\n"), "two\n");
  assert.equal(library.applyDiff("", "+a\n+b\n", "create").startsWith("a\nb"), true);
  assert.throws(() => library.applyDiff("one\n", "@@\n-three\n+two\n"), PatchError);
  assert.equal(library.parse(EDIT).sections.length, 1);
  assert.match(library.convert(EDIT, "git", { files: { a: "one\n" } }).text, /^diff --git a\/a b\/a$/m);
  assert.ok(library.toolSpecs("anthropic").length >= 13 && library.grammar().includes("start") && library.prompt().length > 100);
  const fitted = library.fit({ "a.txt": "one\ntwo\n", b: Buffer.from([0]) }, { lines: { "a.txt": [[2, 2]] } });
  assert.ok(fitted.lark().includes("two") && !fitted.ebnf().includes("one"));
  assert.deepEqual(Object.keys(fitted.stub.expectedSha256ByPath), ["a.txt", "b"]);
  assert.deepEqual(fitted.notes, ["b: left out of updates: it is binary"]);
  const stream = new PatchStream();
  const events = [...EDIT].flatMap((character) => stream.push(character)).concat(stream.end());
  assert.deepEqual([events[0].type, events[0].path, events.at(-1).type], ["begun", "a", "ended"]);
  const { files } = library.applyInMemory({ a: "one\n", b: Buffer.from("x") }, EDIT);
  assert.ok(Buffer.isBuffer(files.a) && files.a.toString() === "two\n");
});

test("an option that cannot be followed is refused", () => {
  const place = folder({ a: "one\n" });
  const workspace = new Workspace(place);
  const approve = () => false;
  for (const call of [
    () => workspace.applySync(EDIT, { approve }),
    () => workspace.applySync(EDIT, { expectedSha256ByPath: new Map([["a", ""]]) }),
    () => workspace.applySync(EDIT, { maxOperations: NaN }),
    () => new Workspace(place, { approve }),
    () => new Workspace(place, { lockTimeout: Infinity }),
  ]) {
    assert.throws(call, TypeError);
    assert.equal(readFileSync(join(place, "a"), "utf8"), "one\n");
  }
  rmSync(place, { recursive: true });
});

test("an argument that is not what it should be is a TypeError", async () => {
  const place = folder({ a: "one\n" });
  const workspace = new Workspace(place);
  const files = { a: "one\n" };
  const received = (name, value) => new RegExp(`^The "${name}" argument must be .*\\. Received ${value}$`);
  for (const [call, message] of [
    [() => workspace.apply(), received("patch", "undefined")],
    [() => workspace.plan(null), received("patch", "null")],
    [async () => workspace.applySync(5), received("patch", "type number \\(5\\)")],
    [() => workspace.apply(EDIT, new Map([["reverse", true]])), received("options", "an instance of Map")],
    [() => workspace.apply(EDIT, { approve: true }), received("approve", "type boolean \\(true\\)")],
    [() => workspace.undo({ since: "2h" }), received("id", "an instance of Object")],
    [() => workspace.undo(undefined, { id: "x" }), /no option "id"/],
    [() => workspace.call("read_file", new Map([["path", "a"]])), received("args", "an instance of Map")],
    [async () => new Workspace(), received("root", "undefined")],
    [async () => library.applyInMemory(new Map([["a", "one\n"]]), EDIT), received("files", "an instance of Map")],
    [async () => library.applyInMemory([["a", "one\n"]], EDIT), received("files", "an instance of Array")],
    [async () => library.applyInMemory(new (class Files { a = "one\n"; })(), EDIT), received("files", "an instance of Files")],
    [async () => library.applyInMemory({ a: 1 }, EDIT), received("files.a", "type number \\(1\\)")],
    [() => library.applyMany([{ files: new Map(), patch: EDIT }]), received("files", "an instance of Map")],
    [() => library.applyMany([{ files, patch: undefined }]), received("patch", "undefined")],
    [async () => library.convert(EDIT, "git", { files: new Map() }), received("files", "an instance of Map")],
    [async () => library.fit(new Map()), received("files", "an instance of Map")],
    [async () => library.parse(), received("patch", "undefined")],
    [() => workspace.apply(EDIT, { createParent: true }), /^there is no option "createParent" here; did you mean "createParents"\?$/],
    [async () => library.applyInMemory(files, EDIT, { frobnicate: 1 }), /^there is no option "frobnicate" here$/],
  ]) {
    await assert.rejects(call(), (error) => error instanceof TypeError && message.test(error.message), String(call));
  }
  assert.equal(library.applyInMemory(Object.assign(Object.create(null), files), EDIT).files.a, "two\n");
  assert.equal(readFileSync(join(place, "a"), "utf8"), "one\n");
});

test("a hint names options that work", async () => {
  const workspace = new Workspace(folder());
  const error = await workspace.apply(ADD("d/x"), { profile: "strict" }).catch((error) => error);
  assert.match(error.suggestedNextAction, /^use `createParents: true`; or /);
  const [{ argument, value }] = error.hints;
  await workspace.apply(ADD("d/x"), { profile: "strict", [argument]: value });
  assert.equal(String(filesOf(workspace.root)["d/x"]), "x\n");
});

test("nothing else is written for what is not Unicode", async () => {
  const half = EDIT.replace("two", "\ud83d");
  assert.throws(() => library.applyInMemory({ a: "one\n" }, half), /half a character/);
  assert.throws(() => library.applyInMemory({ a: "one\n", b: "\ude00" }, EDIT), /half a character/);
  await assert.rejects(library.applyMany([{ files: { a: "one\n" }, patch: half }]), /half a character/);
  const binary = [
    "diff --git a/b b/b",
    "new file mode 100644",
    "index 0000000000000000000000000000000000000000..90db00e1d6cf116716ba949a1cca330ac8c63634",
    "GIT binary patch",
    "literal 3",
    "Kcmey*@DBh3{sH~~",
    "",
    "literal 0",
    "HcmV?d00001",
    "",
    "",
  ].join("\n");
  assert.deepEqual(library.applyInMemory({ a: "one\n" }, binary).files, { b: Buffer.from([0xff, 0, 0xfe]) });
  const latin = Buffer.from("\xe9\none\n", "latin1");
  assert.throws(() => library.convert(EDIT, "unified", { files: { a: latin } }), PatchError);
  await assert.rejects(library.planOver({ read: () => latin }, EDIT), PatchError);
  assert.equal(library.applyInMemory({ a: "\ufeffx\none\n" }, EDIT).files.a, "\ufeffx\ntwo\n");
  const stream = new PatchStream();
  const split = ADD("\u{1f600}").split("").flatMap((half) => stream.push(half));
  assert.deepEqual([split[0].type, split[0].path], ["begun", "\u{1f600}"]);
  assert.throws(() => new PatchStream().push("\ude00"), /half a character/);
  const cut = new PatchStream();
  cut.push("\ud83d");
  assert.throws(() => cut.end(), /half a character/);
  // Nor are settings left out, or another path taken.
  const place = folder({ a: "one\n" });
  const workspace = new Workspace(place);
  for (const call of [
    () => workspace.applySync(EDIT, { dryRun: true, allow: ["\ud83d"] }),
    () => workspace.applySync(EDIT, { expectedSha256ByPath: { "\ud83d": "" } }),
    () => workspace.callSync("create_file", { path: "\ud83d", content: "" }),
    () => workspace.beginTurn("\ud83d"),
    () => new Workspace(`${place}\ud83d`),
    () => new Workspace(place, { allow: ["\ud83d"] }),
    () => library.applyInMemory({ a: "one\n", "\ud83d": "" }, EDIT),
    () => library.convert(EDIT, "unified", { files: { a: "one\n", "\ud83d": "" } }),
    () => library.fit({ "\ud83d": "" }),
  ]) {
    assert.throws(call, /half a character|surrogate|hex escape/, String(call));
    assert.equal(readFileSync(join(place, "a"), "utf8"), "one\n");
  }
  rmSync(place, { recursive: true });
});

test("an operation is not answered by what became of one before it", async () => {
  const { ApplyPatchEditor } = createRequire(join(process.cwd(), "x.js"))("apply-patch-cli/openai-agents");
  const place = folder({ a: "one\n", b: "one\n" });
  const workspace = new Workspace(place);
  const editor = new ApplyPatchEditor(workspace);
  const operation = (path) => ({ type: "update_file", path, diff: "@@\n-one\n+two\n" });
  let output;
  const model = editor.watch({ getResponse: async () => ({ output }) });
  const answered = async (...paths) => {
    output = paths.map((path) => ({ type: "apply_patch_call", callId: path, operation: operation(path) }));
    await model.getResponse();
    return editor.updateFile(operation(paths[0]));
  };
  // The run ends before the second is asked for.
  assert.equal((await answered("a", "b")).status, "completed");
  await workspace.undo();
  assert.equal((await answered("b")).status, "completed");
  assert.equal(readFileSync(join(place, "b"), "utf8"), "two\n");
  rmSync(place, { recursive: true });
});

test("many are applied as one is", async () => {
  const items = [
    { files: { a: "one\n" }, patch: EDIT },
    { files: { a: "one\n", b: Buffer.from("x") }, patch: Buffer.from(EDIT) },
    { files: { a: "three\n" }, patch: EDIT },
    { files: {}, patch: "no patch" },
    { files: { a: "one\n" }, patch: "*** Begin Patch\n*** Delete File: a\n*** Add File: n\n+é\n*** End Patch\n" },
  ];
  const shown = (result) => (result instanceof Error ? { ...result, name: result.name, message: result.message } : result);
  const wanted = items.map(({ files, patch }) => {
    try {
      return library.applyInMemory(files, patch, { profile: "codex" });
    } catch (error) {
      return shown(error);
    }
  });
  assert.deepEqual(wanted.map(({ kind }) => kind), [undefined, undefined, "patch_apply_error", "patch_parse_error", undefined]);
  for (const workers of [undefined, 1, 2, 64]) {
    const all = Array(50).fill(items).flat();
    const many = await library.applyMany(all, { workers, profile: "codex" });
    assert.deepEqual(many.map(shown), Array(50).fill(wanted).flat());
  }
  assert.deepEqual(await library.applyMany([]), []);
  for (const workers of [0, -1, 1.5, "2"]) await assert.rejects(library.applyMany(items, { workers }), TypeError);
  await assert.rejects(library.applyMany(items, { profile: "lax" }), library.CommandFailed);
  const gone = AbortSignal.abort(new Error("enough"));
  await assert.rejects(library.applyMany(items, { signal: gone }), { message: "enough" });
  const controller = new AbortController();
  const running = library.applyMany(Array(20_000).fill(items[0]), { workers: 1, signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(running, { message: "enough" });
});

test("what describes a change in memory is made when it is read", async () => {
  const names = ["files", "digest", "changes", "notes", "summary", "diff"];
  const bytes = Buffer.from("one\n");
  const patch = Buffer.from(EDIT);
  const all = async () => [
    library.applyInMemory({ a: "one\n" }, EDIT, { overwrite: true }),
    library.applyInMemory({ a: bytes }, patch),
    ...(await library.applyMany([{ files: { a: "one\n" }, patch: EDIT }, { files: { a: bytes }, patch }])),
  ];
  const wanted = library.applyInMemory({ a: "one\n" }, EDIT);
  assert.match(wanted.diff, /^-one\n\+two$/m);
  assert.deepEqual([wanted.changes.length, wanted.digest.length, wanted.notes], [1, 64, []]);
  for (const result of await all()) {
    assert.deepEqual(Object.keys(result), names);
    assert.equal(Object.getOwnPropertyDescriptor(result, "diff").value, undefined, "nothing is made yet");
    // The program has its bytes back, and does with them what it wants.
    bytes.fill("x");
    patch.fill("x");
    assert.equal(result.diff, wanted.diff);
    bytes.write("one\n");
    patch.write(EDIT);
    assert.deepEqual({ ...result, files: undefined }, { ...wanted, files: undefined });
    assert.equal(Object.getOwnPropertyDescriptor(result, "digest").value, wanted.digest, "it is made once");
    assert.deepEqual(Object.keys(result).sort(), [...names].sort());
    assert.equal(result.changes, result.changes);
  }
  for (const copied of [structuredClone, (result) => ({ ...result }), (result) => JSON.parse(JSON.stringify(result))]) {
    const [result] = await all();
    assert.deepEqual(copied(result), { ...wanted });
    assert.deepEqual(result, wanted);
  }
});

test("diffs of the Responses API, by the cases that its SDKs test", () => {
  const twice = "A\n  f\n    x\nB\n  f\n    x\n";
  for (const [input, diff, output, mode] of [
    ["", "@@\n+a\n+b", "a\nb\n"],
    ["", "+a\n+b\n+", "a\nb\n", "create"],
    ["", "a", undefined, "create"],
    ["a\nb\nc\n", "@@ a\n-b\n+B\n c", "a\nB\nc\n"],
    ["a\nb\nc\n", "@@ a\n-b\n c", "a\nc\n"],
    ["a\nb", " a\n-b\n+B", "a\nB"],
    ["a\nb", "-a\n+A", "A\nb"],
    ["a\n\nb", " a\n+new\n\n b", "a\nnew\n\nb"],
    ["a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B", "a\nB\n"],
    ["a\nb\n", "@@\n x\n-b\n+B", undefined],
    [twice, "@@ B\n@@   f\n-    x\n+    y", "A\n  f\n    x\nB\n  f\n    y\n"],
    [twice, "@@ A\n@@   f\n-    x\n+    y\n@@ B\n@@   f\n-    x\n+    z", "A\n  f\n    y\nB\n  f\n    z\n"],
    [twice, "@@ B\n@@   g\n-    x\n+    y", undefined],
    [twice, "@@ C\n@@   f\n-    x\n+    y", undefined],
    ["a\r\nb\r\n", "@@\n-b\n+B", "a\r\nB\r\n"],
    ["a\n", "", "a\n"],
    // Where the lines fit in two places, the SDKs take the first; here it is refused.
    ["x\nx\n", "@@\n-x\n+y", undefined],
  ]) {
    let done;
    try {
      done = library.applyDiff(input, diff, mode);
    } catch (error) {
      assert.ok(error instanceof PatchError, error);
    }
    assert.equal(done, output, `${JSON.stringify(input)} ${JSON.stringify(diff)}`);
  }
});

test("calls come from many threads", async () => {
  const place = folder();
  const code = `
    const { workerData, parentPort } = require("node:worker_threads");
    const { createRequire } = require("node:module");
    const { Workspace } = createRequire(workerData.from)("apply-patch-cli");
    const workspace = new Workspace(workerData.place, { durability: "none" });
    (async () => {
      for (let nth = 0; nth < 10; nth++) {
        await workspace.apply(\`*** Begin Patch\\n*** Add File: f\${workerData.worker}-\${nth}\\n+x\\n*** End Patch\\n\`);
      }
      parentPort.postMessage("done");
    })();`;
  const from = join(process.cwd(), "x.js");
  const run = (worker) =>
    new Promise((resolve, reject) => {
      const thread = new Worker(code, { eval: true, workerData: { worker, place, from } });
      thread.on("error", reject);
      thread.on("exit", resolve);
    });
  assert.deepEqual(await Promise.all([0, 1, 2, 3].map(run)), [0, 0, 0, 0]);
  const workspace = new Workspace(place);
  await Promise.all([...Array(16).keys()].map((nth) => workspace.apply(ADD(`g${nth}`))));
  assert.equal(Object.keys(filesOf(place)).length, 56);
});

test("memory does not grow with the calls", () => {
  const files = { a: `${"line\n".repeat(400)}one\n` };
  const used = () => (globalThis.gc?.(), process.memoryUsage().rss);
  const calls = (count) => {
    for (let nth = 0; nth < count; nth++) library.applyInMemory(files, EDIT);
  };
  const count = process.env.APPLY_PATCH_LONG_TESTS ? 20_000 : 8_000;
  // Until the heap has the size that it keeps.
  calls(10_000);
  const before = used();
  calls(count);
  const grown = used() - before;
  assert.ok(grown < 2_500 * count, `${grown} bytes more after ${count} calls`);
});
