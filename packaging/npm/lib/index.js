// The API: the native half (crates/node) takes and gives JSON texts, and this half makes a library of it.
"use strict";

const os = require("node:os");
const { inspect, types } = require("node:util");

/** Loads the native half of this platform. APPLY_PATCH_NATIVE names another file. */
function load() {
  const named = process.env.APPLY_PATCH_NATIVE;
  if (named) return require(named);
  const name = `apply-patch-cli-${process.platform}-${process.arch}`;
  try {
    return require(`${name}/apply-patch.node`);
  } catch (cause) {
    throw new Error(`apply-patch-cli: ${name} is missing, or does not fit this system: ${cause.message}`, { cause });
  }
}
const native = load();

/** Why a call failed. Unless `kind` and `details` say otherwise, nothing was changed. */
class PatchError extends Error {
  constructor(error) {
    super(error.message);
    this.name = new.target.name;
    this.kind = error.kind;
    this.path = error.path;
    this.details = error.details ?? {};
    this.hints = error.hints ?? [];
    this.recoverable = error.recoverable;
    this.suggestedNextAction = error.suggestedNextAction;
  }

  /** A finer word than the kind, if there is one. */
  get reason() {
    return this.details.reason;
  }
}

class ParseError extends PatchError {}
class DoesNotApply extends PatchError {}
class ApplyError extends DoesNotApply {}
class MultipleMatches extends DoesNotApply {
  get places() {
    return this.details.candidates ?? [];
  }
}
class NotFound extends DoesNotApply {
  get didYouMean() {
    return this.details.didYouMean;
  }
}
class AlreadyExists extends DoesNotApply {}
class BinaryFile extends DoesNotApply {}
class OldTextNotFound extends DoesNotApply {}
class OverlappingEdits extends DoesNotApply {}
class StaleFile extends PatchError {
  get expected() {
    return this.details.expectedSha256;
  }

  get actual() {
    return this.details.actualSha256;
  }

  get changedBy() {
    return this.details.changedBy;
  }
}
class Refused extends PatchError {}
class OutsideWorkspace extends Refused {}
class PermissionDenied extends Refused {}
class Declined extends PermissionDenied {}
class FileTooLarge extends PatchError {}
class CommandFailed extends PatchError {}
class Timeout extends PatchError {}
class Cancelled extends PatchError {}
class Unknown extends PatchError {}

const errors = {
  not_found: NotFound,
  already_exists: AlreadyExists,
  permission_denied: PermissionDenied,
  outside_workspace: OutsideWorkspace,
  binary_file: BinaryFile,
  file_too_large: FileTooLarge,
  stale_file: StaleFile,
  old_text_not_found: OldTextNotFound,
  multiple_matches: MultipleMatches,
  overlapping_edits: OverlappingEdits,
  patch_parse_error: ParseError,
  patch_apply_error: ApplyError,
  command_failed: CommandFailed,
  timeout: Timeout,
  cancelled: Cancelled,
  unknown: Unknown,
};

/** The error that a program gets for one of the native half. */
function adopted(error) {
  // An argument that is not what it should be.
  if (error?.code === "InvalidArg" || /Expected$/.test(error?.code)) return new TypeError(error.message);
  if (typeof error?.message === "string" && error.message.startsWith("{")) {
    try {
      const fields = JSON.parse(error.message);
      const kind = fields.details?.reason === "declined" ? Declined : (errors[fields.kind] ?? PatchError);
      return new kind(fields);
    } catch {
      // It is another error.
    }
  }
  return error;
}

function sync(call) {
  try {
    return call();
  } catch (error) {
    throw adopted(error);
  }
}

/** The error of an argument that is not what it should be, as Node words its own. */
function wrong(name, wanted, value) {
  const of = value?.constructor?.name;
  let received = inspect(value, { depth: -1, maxStringLength: 30 });
  if (typeof value === "function") received = `function ${value.name}`;
  else if (typeof value === "object" && value !== null) received = of ? `an instance of ${of}` : "an object";
  else if (value !== undefined && value !== null) received = `type ${typeof value} (${received})`;
  const error = new TypeError(`The "${name}" argument must be ${wanted}. Received ${received}`);
  return Object.assign(error, { code: "ERR_INVALID_ARG_TYPE" });
}

const isText = (value) => typeof value === "string" || types.isUint8Array(value);

/** Refuses what is neither text nor bytes. */
function checkText(name, value) {
  if (!isText(value)) throw wrong(name, "a string or a Uint8Array", value);
  return value;
}

function checkString(name, value) {
  if (typeof value !== "string") throw wrong(name, "a string", value);
  return value;
}

/** Whether a value is an object with fields; what a Map has, for one, would not be seen. */
function isPlain(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  // The prototype of objects, also where it is that of another realm.
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The paths and contents of files in memory. */
function entries(files) {
  if (!isPlain(files)) throw wrong("files", "an object with a content for each path", files);
  const [paths, contents] = [Object.keys(files), Object.values(files)];
  contents.forEach((content, nth) => checkText(`files.${paths[nth]}`, content));
  return [paths, contents];
}

/** The options of a call, which may be left out. */
function optional(options, name = "options") {
  if (options === undefined || options === null) return {};
  if (!isPlain(options)) throw wrong(name, "an object", options);
  return options;
}

/** Refuses options that nothing reads. */
function only(options, names) {
  for (const name of Object.keys(optional(options))) {
    if (!names.includes(name)) throw new TypeError(`there is no option ${JSON.stringify(name)} here`);
  }
  return options ?? {};
}

/** Refuses what is no count of this many or more. */
function checkCount(name, value, least) {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
    throw wrong(name, `a whole number from ${least}`, value);
  }
}

/** Takes what the program decides and watches out of the options of a call. */
function split(options) {
  const { approve, observe, signal, ...rest } = optional(options);
  for (const [name, callback] of Object.entries({ approve, observe })) {
    if (callback !== undefined && callback !== null && typeof callback !== "function") throw wrong(name, "a function", callback);
  }
  return { callbacks: { approve, observe, signal }, rest };
}

/** The name of a transaction, which may be left out, with the options beside it. */
function named(id, options) {
  if (id !== undefined && id !== null) checkString("id", id);
  // It would be taken for the argument.
  if ("id" in optional(options)) throw new TypeError('there is no option "id" here: it is the first argument');
  return { ...options, id };
}

/** Options as JSON. What that has no word for, it would leave out or empty, such as an `approve` that is never asked. */
const json = (options, of) =>
  JSON.stringify(optional(options, of), (name, value) => {
    const fits = { object: value === null || Array.isArray(value) || isPlain(value), number: Number.isFinite(value) };
    if (!(fits[typeof value] ?? ["string", "boolean", "undefined"].includes(typeof value))) {
      throw wrong(name, "a value that JSON has", value);
    }
    return value;
  });
const text = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");

/**
 * Makes a call with what the program decides and watches meanwhile. What a callback throws is what the call throws; nothing is
 * changed then, unless the first file was in its place already.
 */
async function hosted({ approve, observe, signal }, call) {
  let thrown;
  const cancellation = new native.Cancellation();
  const failed = (error) => {
    thrown ??= { error };
    cancellation.cancel();
  };
  // An abort ends a question that is open: nobody has to answer it any more.
  const open = new Set();
  const cancel = () => {
    cancellation.cancel();
    for (const reply of open) reply.end();
  };
  if (signal?.aborted) throw signal.reason;
  signal?.addEventListener("abort", cancel, { once: true });
  const ask =
    approve &&
    ((question, reply) => {
      open.add(reply);
      if (signal?.aborted) reply.end();
      new Promise((resolve) => {
        const { error, ...proposal } = JSON.parse(question);
        if (error) throw adopted({ message: JSON.stringify(error) });
        resolve(approve(proposal));
      }).then(
        (answer) => {
          if (answer?.patch !== undefined) return reply.edit(answer.patch);
          if (![true, false, "turn", "session"].includes(answer)) {
            throw new TypeError('approve has to return true, false, "turn", "session", or an object with a patch');
          }
          reply.decide(answer);
        },
      ).catch((error) => {
        failed(error);
        reply.end();
      }).finally(() => open.delete(reply));
    });
  const watch =
    observe &&
    ((event, reply) => {
      try {
        observe(JSON.parse(event));
      } catch (error) {
        failed(error);
      } finally {
        reply.end();
      }
    });
  try {
    const done = await call(ask, watch, cancellation);
    if (thrown) throw thrown.error;
    // The answer of a tool.
    if (signal?.aborted && done.error?.kind === "cancelled") throw signal.reason;
    return done;
  } catch (error) {
    if (thrown) throw thrown.error;
    const failed = adopted(error);
    throw signal?.aborted && failed instanceof Cancelled ? signal.reason : failed;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

const own = Symbol("native");

/** What a patch would do. */
class Plan {
  constructor(plan) {
    Object.defineProperty(this, own, { value: plan });
    Object.assign(this, JSON.parse(plan.facts));
  }

  get diff() {
    return sync(() => text(this[own].diff()));
  }
}

/** The changes of a workspace between the beginning and the end of a piece of work. */
class Turn {
  #workspace;
  #ended;

  constructor(workspace, id) {
    this.#workspace = workspace;
    this.id = id;
  }

  async soFar() {
    return this.#ended ?? this.#workspace.turnSoFar();
  }

  async undo(options) {
    return this.#workspace.undo(undefined, { ...optional(options), turn: `${this.#workspace.session}/${this.id}` });
  }

  /** Makes `work`, ends the turn, and tells what it changed. */
  async run(work, { undoOnError = false, approve }) {
    let value, failed;
    try {
      value = await work(this);
    } catch (error) {
      failed = { error };
    }
    this.#ended = await this.#workspace.endTurn();
    if (!failed) return { value, ...this.#ended };
    if (undoOnError && this.#ended.transactions.length > 0) await this.undo({ approve });
    throw failed.error;
  }
}

/** Refuses what cannot be applied. */
function checkPatch(patch) {
  if (!isText(patch)) throw wrong("patch", "a string, a Uint8Array or a Plan", patch);
}

class Workspace {
  #native;

  constructor(root, options) {
    this.#native = sync(() => new native.Workspace(checkString("root", root), json(options)));
  }

  get root() {
    return this.#native.root;
  }

  get session() {
    return this.#native.session;
  }

  async plan(patch, options) {
    const { signal, ...rest } = optional(options);
    checkText("patch", patch);
    return hosted({ signal }, async (_ask, _watch, cancellation) =>
      new Plan(await this.#native.plan(patch, json(rest), cancellation)),
    );
  }

  planSync(patch, options) {
    return sync(() => new Plan(this.#native.planSync(checkText("patch", patch), json(options))));
  }

  async apply(patch, options) {
    const { callbacks, rest } = split(options);
    if (patch instanceof Plan) only(rest, []);
    else checkPatch(patch);
    return hosted(callbacks, async (...host) =>
      JSON.parse(
        await (patch instanceof Plan
          ? this.#native.applyPlan(patch[own], ...host)
          : this.#native.apply(patch, json(rest), ...host)),
      ),
    );
  }

  applySync(patch, options) {
    if (patch instanceof Plan) only(options, []);
    else checkPatch(patch);
    return sync(() =>
      JSON.parse(
        patch instanceof Plan ? this.#native.applyPlanSync(patch[own]) : this.#native.applySync(patch, json(options)),
      ),
    );
  }

  async undo(id, options) {
    const { callbacks, rest } = split(options);
    return hosted(callbacks, async (...host) => JSON.parse(await this.#native.undo(json(named(id, rest)), ...host)));
  }

  undoSync(id, options) {
    return sync(() => JSON.parse(this.#native.undoSync(json(named(id, options)))));
  }

  async redo(id, options) {
    const { callbacks, rest } = split(options);
    return hosted(callbacks, async (...host) => JSON.parse(await this.#native.redo(json(named(id, rest)), ...host)));
  }

  redoSync(id, options) {
    return sync(() => JSON.parse(this.#native.redoSync(json(named(id, options)))));
  }

  async turn(work, options) {
    const { name, ...rest } = only(options, ["name", "undoOnError", "approve"]);
    return new Turn(this, this.beginTurn(name)).run(work, rest);
  }

  beginTurn(name) {
    if (name !== undefined && name !== null) checkString("name", name);
    return sync(() => this.#native.beginTurn(name));
  }

  async turnSoFar() {
    return hosted({}, async () => JSON.parse(await this.#native.turnSoFar()));
  }

  async endTurn() {
    return hosted({}, async () => JSON.parse(await this.#native.endTurn()));
  }

  async log(options) {
    const { maxCount, diff, session } = only(options, ["maxCount", "diff", "session"]);
    checkCount("maxCount", maxCount, 0);
    return hosted({}, async () =>
      JSON.parse(await this.#native.log(maxCount, diff ?? false, session)),
    );
  }

  async netChanges(options) {
    return hosted({}, async () => JSON.parse(await this.#native.netChanges(json(optional(options)))));
  }

  async propose(patch, options) {
    const { why, ...rest } = optional(options);
    if (why !== undefined && why !== null) checkString("why", why);
    return hosted({}, async () => JSON.parse(await this.#native.propose(patch, json(rest), why)));
  }

  async proposals() {
    return hosted({}, async () => JSON.parse(await this.#native.proposals()));
  }

  async proposal(id) {
    checkString("id", id);
    return hosted({}, async () => JSON.parse(await this.#native.proposal(id)));
  }

  async approve(id, options) {
    const { digest, observe, signal } = only(options, ["digest", "observe", "signal"]);
    checkString("id", id);
    if (digest !== undefined && digest !== null) checkString("digest", digest);
    return hosted({ observe, signal }, async (_, ...host) => JSON.parse(await this.#native.approve(id, digest, ...host)));
  }

  async decline(id, why) {
    checkString("id", id);
    if (why !== undefined && why !== null) checkString("why", why);
    return hosted({}, async () => JSON.parse(await this.#native.decline(id, why)));
  }

  async call(tool, args, options) {
    const { callbacks, rest } = split(options);
    only(rest, []);
    checkString("tool", tool);
    return hosted(callbacks, async (...host) => JSON.parse(await this.#native.call(tool, json(args, "args"), ...host)));
  }

  async callLater(tool, args, callId, options) {
    const { observe, signal } = only(options, ["observe", "signal"]);
    checkString("tool", tool);
    checkString("callId", callId);
    return hosted({ observe, signal }, async (_, ...host) =>
      JSON.parse(await this.#native.callLater(tool, json(args, "args"), callId, ...host)),
    );
  }

  callSync(tool, args) {
    return sync(() => JSON.parse(this.#native.callSync(checkString("tool", tool), json(args, "args"))));
  }
}

class GitTree {
  #native;

  constructor(repository, revision, options) {
    if (repository === own) {
      this.#native = revision;
      return;
    }
    checkString("repository", repository);
    checkString("revision", revision);
    this.#native = sync(() => new native.GitTree(repository, revision, json(options)));
  }

  at(revision) {
    checkString("revision", revision);
    return new GitTree(own, sync(() => this.#native.at(revision)));
  }

  get commit() {
    return this.#native.commit;
  }

  get tree() {
    return this.#native.tree;
  }

  read(path) {
    const bytes = sync(() => this.#native.read(checkString("path", path)));
    return bytes && Buffer.from(bytes);
  }

  list() {
    return sync(() => this.#native.list());
  }

  async plan(patch, options) {
    checkText("patch", patch);
    return hosted({}, async () => new Plan(await this.#native.plan(patch, json(options))));
  }

  treeOf(plan) {
    return sync(() => this.#native.treeOf(plan[own]));
  }

  async apply(patch, options) {
    const { callbacks, rest } = split(options);
    const { branch, message, author, carry, allowCheckedOut, ...rules } = rest;
    const git = json({ branch, message, author, carry, allowCheckedOut });
    checkText("patch", patch);
    return hosted(callbacks, async (...host) =>
      JSON.parse(await this.#native.apply(patch, json(rules), git, ...host)),
    );
  }
}

/** A text, or a copy of bytes: the program may change them later. */
const kept = (content) => (typeof content === "string" ? content : new Uint8Array(content));

/** The files, patch and options of a call in memory, as the native half takes them. */
function inMemory(files, patch, options) {
  const [paths, contents] = entries(files);
  checkText("patch", patch);
  // Text for text, bytes for bytes and for what is not UTF-8.
  const texts = contents.every((content) => typeof content === "string");
  return { paths, contents: texts ? contents : contents.map(kept), patch: kept(patch), options, texts };
}

/** The answer of a call in memory. What describes the change is made when it is first read: it takes longer than the change. */
function answer({ paths, contents }, call) {
  const read = (name) => {
    const facts = JSON.parse(sync(() => native.factsInMemory(call.paths, call.contents, call.patch, call.options)));
    for (const [name, value] of Object.entries(facts)) {
      Object.defineProperty(result, name, { value, writable: true, enumerable: true, configurable: true });
    }
    return facts[name];
  };
  const result = {
    files: Object.fromEntries(paths.map((path, nth) => [path, contents[nth] ?? null])),
    get digest() {
      return read("digest");
    },
    get changes() {
      return read("changes");
    },
    get notes() {
      return read("notes");
    },
    get summary() {
      return read("summary");
    },
    get diff() {
      return read("diff");
    },
  };
  return result;
}

function applyInMemory(files, patch, options) {
  const call = inMemory(files, patch, json(options));
  const { paths, contents, texts } = call;
  return answer(sync(() => native.applyInMemory(paths, contents, call.patch, call.options, texts)), call);
}

/** How many items are handed over together. */
const ITEMS_AT_ONCE = 256;

async function applyMany(items, options) {
  const { workers, signal, ...rest } = optional(options);
  checkCount("workers", workers, 1);
  const all = [...items];
  const threads = workers ?? os.availableParallelism?.() ?? os.cpus().length;
  // While one batch is worked at, this thread copies the next one, and makes the results of the one before.
  const batches = Math.min(threads, 2);
  return hosted({ signal }, async (_ask, _watch, cancellation) => {
    const asked = json(rest);
    const begin = (at) => {
      const calls = all.slice(at, at + ITEMS_AT_ONCE).map(({ files, patch }) => inMemory(files, patch, asked));
      const done = native.applyMany(
        calls.map(({ paths }) => paths),
        calls.map(({ contents }) => contents),
        calls.map(({ patch }) => patch),
        Math.floor((threads + ((at / ITEMS_AT_ONCE) % batches)) / batches),
        asked,
        calls.map(({ texts }) => texts),
        cancellation,
      );
      // One that fails is told when it is its turn, or not at all after another one.
      done.catch(() => {});
      return { calls, done };
    };
    const [results, running] = [[], []];
    for (let at = 0; results.length < all.length || at === 0; ) {
      for (; running.length < batches && (at < all.length || at === 0); at += ITEMS_AT_ONCE) running.push(begin(at));
      const { calls, done } = running.shift();
      for (const [nth, one] of (await done).entries()) {
        results.push(one.error ? adopted({ message: one.error }) : answer(one, calls[nth]));
      }
    }
    return results;
  });
}

async function planOver(tree, patch, options) {
  let thrown;
  if (typeof tree?.read !== "function") throw wrong("tree", "an object with a function read", tree);
  checkText("patch", patch);
  const read = (path, reply) => {
    new Promise((resolve) => resolve(tree.read(path))).then(
      (file) => {
        if (file === undefined || file === null) return reply.missing();
        const { content, mode, version } =
          typeof file === "string" || file instanceof Uint8Array ? { content: file } : file;
        return reply.file(checkText(path, content), mode, version);
      },
    ).catch((error) => {
      thrown ??= { error };
      reply.end();
    });
  };
  try {
    return JSON.parse(await native.planOver(read, patch, json(options)));
  } catch (error) {
    throw thrown ? thrown.error : adopted(error);
  }
}

function applyDiff(input, diff, mode = "default") {
  checkText("input", input);
  checkString("diff", diff);
  checkString("mode", mode);
  const bytes = sync(() => native.applyDiff(input, diff, mode));
  return typeof input === "string" ? text(bytes) : bytes;
}

function parse(patch, options) {
  return sync(() => JSON.parse(native.parse(checkText("patch", patch), json(options))));
}

function convert(patch, to, options) {
  const { files, ...rest } = optional(options);
  const given = files ? entries(files) : [];
  checkText("patch", patch);
  checkString("to", to);
  return sync(() => JSON.parse(native.convert(patch, to, json(rest), ...given)));
}

function toolSpecs(provider, options) {
  return sync(() => JSON.parse(native.toolSpecs(checkString("provider", provider), json(options)))).value;
}

function prompt(options) {
  const { dialect = "whole", channel = "tool" } = only(options, ["dialect", "channel"]);
  return sync(() => native.prompt(checkString("dialect", dialect), checkString("channel", channel)));
}

function grammar(format = "lark", options) {
  const { dialect = "whole" } = only(options, ["dialect"]);
  return sync(() => native.grammar(checkString("format", format), checkString("dialect", dialect)));
}

class FittedGrammar {
  #native;

  constructor(files, options) {
    const given = entries(files);
    this.#native = sync(() => new native.FittedGrammar(...given, json(options)));
    Object.assign(this, JSON.parse(this.#native.about()));
  }

  lark() {
    return sync(() => this.#native.text("lark"));
  }

  ebnf() {
    return sync(() => this.#native.text("ebnf"));
  }

  gbnf() {
    return sync(() => this.#native.text("gbnf"));
  }
}

function fit(files, options) {
  return new FittedGrammar(files, options);
}

/** Makes a call whose errors say that a value is not one of the possible ones. */
function ranged(call) {
  try {
    return call();
  } catch (error) {
    throw error?.code === "GenericFailure" ? new RangeError(error.message) : adopted(error);
  }
}

/** The memory of an array, for the native half to write to. */
const memory = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/** A limit in 32 bits: no output has as many. */
const capped = (limit) => (limit === undefined ? undefined : Math.min(limit, 2 ** 32 - 1));

/** A number of 32 bits, which the native half would otherwise cut off. */
function checkToken(name, value) {
  if (typeof value !== "number") throw wrong(name, "a number", value);
  if (!(Number.isInteger(value) && value >= 0 && value < 2 ** 32)) throw new RangeError(`${value} is not a token`);
  return value;
}

/** The bytes of a token, or none. */
function bytesOf(token, id) {
  if (token === null || token === undefined) return Buffer.alloc(0);
  const bytes = Buffer.from(checkText(`tokens[${id}]`, token));
  // Half a character becomes this one.
  if (typeof token === "string" && bytes.includes("\ufffd") && !token.includes("\ufffd")) {
    throw new TypeError(`tokens[${id}] has half a character (a lone surrogate) in it: give its bytes`);
  }
  return bytes;
}

class Vocabulary {
  constructor(tokens, end) {
    const bytes = [...tokens].map(bytesOf);
    const ends = [...end].map((id) => checkToken("end", id));
    const lengths = Uint32Array.from(bytes, ({ length }) => length);
    Object.defineProperty(this, own, { value: ranged(() => new native.Vocabulary(Buffer.concat(bytes), lengths, Uint32Array.from(ends))) });
  }

  get size() {
    return this[own].size;
  }

  get maskLength() {
    return this[own].maskLength;
  }
}

const OPERATIONS = ["update", "add", "delete", "move"];

class BoundFiles {
  constructor(files, options) {
    const { paths = [], operations = ["update"] } = only(options, ["paths", "operations"]);
    const given = entries(files);
    const others = [...paths].map((path) => checkString("paths", path));
    for (const operation of operations) {
      if (!OPERATIONS.includes(operation)) throw new RangeError(`${inspect(operation)} is not one of ${OPERATIONS.join(", ")}`);
    }
    Object.defineProperty(this, own, { value: ranged(() => new native.BoundFiles(...given, others, [...operations])) });
  }
}

class Matcher {
  #native;
  #vocabulary;

  constructor(vocabulary, files, options) {
    // A copy has the matcher already.
    if (vocabulary instanceof Matcher) {
      this.#native = vocabulary.#native.copy();
      this.#vocabulary = vocabulary.#vocabulary;
      return;
    }
    if (!(vocabulary instanceof Vocabulary)) throw wrong("vocabulary", "a Vocabulary", vocabulary);
    if (!(files instanceof BoundFiles)) throw wrong("files", "a BoundFiles", files);
    const { maxAddedLines } = only(options, ["maxAddedLines"]);
    checkCount("maxAddedLines", maxAddedLines, 0);
    this.#native = ranged(() => new native.Matcher(vocabulary[own], files[own], capped(maxAddedLines)));
    this.#vocabulary = vocabulary;
  }

  allowed(mask = new Uint32Array(this.#vocabulary.maskLength), options) {
    const { maxTokensLeft } = only(options, ["maxTokensLeft"]);
    checkCount("maxTokensLeft", maxTokensLeft, 0);
    if (!ArrayBuffer.isView(mask)) throw wrong("mask", "an array of words", mask);
    const length = 4 * this.#vocabulary.maskLength;
    if (mask.byteLength < length || mask.byteLength % 4 !== 0) {
      throw new RangeError(`a mask of this vocabulary has ${length} bytes, in words of 4, and there is room for ${mask.byteLength}`);
    }
    ranged(() => this.#native.allowed(memory(mask), capped(maxTokensLeft)));
    return mask;
  }

  maskLogits(logits, options) {
    const { maxTokensLeft } = only(options, ["maxTokensLeft"]);
    checkCount("maxTokensLeft", maxTokensLeft, 0);
    if (!(logits instanceof Float32Array)) throw wrong("logits", "a Float32Array", logits);
    return ranged(() => this.#native.maskLogits(memory(logits), capped(maxTokensLeft))) ?? undefined;
  }

  accept(token) {
    ranged(() => this.#native.accept(checkToken("token", token)));
  }

  forced() {
    return this.#native.forced();
  }

  rollback(tokens) {
    return this.#native.rollback(checkToken("tokens", tokens));
  }

  copy() {
    return new Matcher(this);
  }

  get isFinished() {
    return this.#native.isFinished;
  }

  get isInOldLine() {
    return this.#native.isInOldLine;
  }

  get hasEnded() {
    return this.#native.hasEnded;
  }

  get text() {
    return this.#native.text;
  }
}

class PatchStream {
  #native;

  constructor(options) {
    this.#native = sync(() => new native.Stream(json(options)));
  }

  push(chunk) {
    return sync(() => JSON.parse(this.#native.push(checkText("chunk", chunk))));
  }

  end() {
    return sync(() => JSON.parse(this.#native.end()));
  }
}

module.exports = {
  AlreadyExists,
  ApplyError,
  BinaryFile,
  BoundFiles,
  Cancelled,
  CommandFailed,
  Declined,
  DoesNotApply,
  FileTooLarge,
  GitTree,
  Matcher,
  MultipleMatches,
  NotFound,
  OldTextNotFound,
  OutsideWorkspace,
  OverlappingEdits,
  ParseError,
  PatchError,
  PatchStream,
  PermissionDenied,
  Plan,
  Refused,
  StaleFile,
  Timeout,
  Unknown,
  Vocabulary,
  Workspace,
  applyDiff,
  applyInMemory,
  applyMany,
  convert,
  fit,
  grammar,
  parse,
  planOver,
  prompt,
  toolSpecs,
};
