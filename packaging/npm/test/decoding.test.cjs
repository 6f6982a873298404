// A matcher lets a model write nothing but patches that apply. usage: as library.test.cjs
"use strict";

const assert = require("node:assert/strict");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { test } = require("node:test");

const installed = createRequire(join(process.cwd(), "x.js"));
const { applyInMemory, BoundFiles, Matcher, Vocabulary } = installed("apply-patch-cli");
const { llamaEvaluate, llamaVocabulary, transformersProcessor, transformersVocabulary } = installed("apply-patch-cli/decoding");

const FILE = "def a():\n    return 1\n\n\ndef b():\n    return 1\n";
const BEGIN = "*** Begin Patch\n*** Update File: f.py\n@@\n";
const END = 256;
const BYTES = [...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), null];
const vocabulary = new Vocabulary(BYTES, [END]);
const files = new BoundFiles({ "f.py": FILE });

const after = (text, matcher = new Matcher(vocabulary, files)) => {
  for (const byte of Buffer.from(text)) matcher.accept(byte);
  return matcher;
};
const tokens = (mask) => [...Array(32 * mask.length).keys()].filter((id) => (mask[id >> 5] >>> (id & 31)) & 1);
const kept = (logits) => [...logits.keys()].filter((id) => logits[id] !== -Infinity);

test("random outputs apply", () => {
  let ended = 0;
  // The same numbers in every run.
  let state = 1;
  const random = () => ((state = (state * 48271) % 2147483647), state / 2147483647);
  for (let nth = 0; nth < 20; nth++) {
    const matcher = new Matcher(vocabulary, files);
    for (let at = 0; at < 1500 && !matcher.hasEnded; at++) {
      const allowed = tokens(matcher.allowed());
      const near = allowed.filter((id) => Buffer.from("\n* -").includes(id));
      const wanted = near.length > 0 && random() < 0.7 ? near : allowed;
      matcher.accept(allowed.includes(END) ? END : wanted[Math.floor(random() * wanted.length)]);
    }
    if (!matcher.hasEnded) continue;
    ended++;
    applyInMemory({ "f.py": FILE }, matcher.text);
  }
  assert.ok(ended > 10, `${ended}`);
});

test("a matcher follows an output", () => {
  const matcher = new Matcher(vocabulary, files);
  assert.equal(String(matcher.forced()), BEGIN.slice(0, -1));
  assert.deepEqual(tokens(matcher.allowed()), [42]);
  after(`${BEGIN}-`, matcher);
  assert.deepEqual([matcher.isInOldLine, matcher.isFinished, matcher.hasEnded], [true, false, false]);
  assert.throws(() => matcher.accept(Buffer.from("x")[0]), { name: "RangeError", message: /token 120 may not follow/ });
  assert.equal(String(matcher.text), `${BEGIN}-`);
  const other = matcher.copy();
  after("def", other);
  assert.deepEqual([other.rollback(1000), String(other.text)], [BEGIN.length + 4, ""]);
  assert.equal(String(matcher.text), `${BEGIN}-`);
  after("def a():\n*** End Patch", matcher);
  assert.equal(matcher.isFinished, true);
  matcher.accept(END);
  assert.deepEqual([matcher.hasEnded, tokens(matcher.allowed())], [true, []]);
  assert.throws(() => matcher.accept(END), RangeError);
});

test("masks are written into any memory", () => {
  const matcher = after(BEGIN);
  const wanted = tokens(matcher.allowed());
  assert.deepEqual([vocabulary.size, vocabulary.maskLength, matcher.allowed().length], [257, 9, 9]);
  const memory = new ArrayBuffer(60).slice(0);
  new Uint8Array(memory).fill(255);
  const masks = [new Uint32Array(memory, 8, 10), new Int32Array(9), Buffer.alloc(36), new DataView(new ArrayBuffer(36))];
  for (const mask of masks) {
    assert.equal(matcher.allowed(mask), mask);
    const bytes = Buffer.from(mask.buffer, mask.byteOffset, mask.byteLength);
    assert.deepEqual([...bytes.keys()].flatMap((at) => [...Array(8).keys()].filter((bit) => (bytes[at] >> bit) & 1).map((bit) => 8 * at + bit)), wanted);
  }
  assert.deepEqual([...new Uint8Array(memory)].map((byte, at) => byte === 255 && (at < 8 || at >= 48)).filter(Boolean).length, 20, "no more is written");
  for (const mask of [new Uint32Array(8), Buffer.alloc(38)]) assert.throws(() => matcher.allowed(mask), RangeError);
  for (const mask of [9, null, [0, 0]]) assert.throws(() => matcher.allowed(mask), TypeError);
});

test("logits are masked, and the share that is taken is told", () => {
  const wants = (byte, count = 257) => {
    const logits = new Float32Array(count);
    logits[Buffer.from(byte)[0]] = 50;
    return logits;
  };
  for (const count of [257, 400, 200]) {
    const logits = new Float32Array(count);
    assert.equal(after(BEGIN).maskLogits(logits), undefined, "no old line has begun");
    assert.deepEqual(kept(logits), tokens(after(BEGIN).allowed()).filter((id) => id < count));
  }
  assert.ok(after(`${BEGIN}-`).maskLogits(wants("d")) < 0.01);
  assert.ok(after(`${BEGIN}-def `).maskLogits(wants("x")) > 0.99);
  for (const logits of [[0], new Float64Array(9), undefined]) assert.throws(() => after("").maskLogits(logits), TypeError);
});

test("values that make no sense are refused", () => {
  for (const [call, error] of [
    [() => new Vocabulary(BYTES, [257]), { name: "RangeError", message: /end token 257/ }],
    [() => new Vocabulary(BYTES, [-1]), RangeError],
    [() => new Vocabulary(BYTES, [1.5]), RangeError],
    [() => new Vocabulary(BYTES, ["1"]), TypeError],
    [() => new Vocabulary([1], []), TypeError],
    [() => new Vocabulary(["\ud800"], []), TypeError],
    [() => new BoundFiles({ f: Buffer.from([255, 10]) }), { name: "RangeError", message: /not UTF-8/ }],
    [() => new BoundFiles({ f: "a\n" }, { operations: ["rename"] }), { name: "RangeError", message: /not one of/ }],
    [() => new BoundFiles({ f: "a\n" }, { operations: [] }), RangeError],
    [() => new BoundFiles({ f: "a\n" }, { path: ["g"] }), TypeError],
    [() => new BoundFiles(new Map([["f", "a\n"]])), TypeError],
    [() => new Matcher(files, vocabulary), TypeError],
    [() => new Matcher(vocabulary, files).accept(2 ** 32), RangeError],
    [() => new Matcher(vocabulary, files).accept(-1), RangeError],
    [() => new Matcher(vocabulary, files).accept("42"), TypeError],
    [() => new Matcher(vocabulary, files).rollback(-1), RangeError],
  ]) {
    assert.throws(call, error, `${call}`);
  }
  const bound = new BoundFiles({ f: "a\n" }, { paths: ["g"], operations: ["delete"] });
  assert.equal(String(new Matcher(vocabulary, bound).forced()), "*** Begin Patch\n*** Delete File: ");
});

const tensor = (rows, size) => ({ dims: [rows, size], data: new Float32Array(rows * size) });
const ids = (text) => [...Buffer.from(`?${text}`)].map(BigInt);

test("a processor of transformers.js follows the output", () => {
  const processor = transformersProcessor(vocabulary, files);
  const patch = `${BEGIN}-def a():\n*** End Patch`;
  for (let at = 0; at < patch.length; at++) {
    const logits = tensor(1, 300);
    assert.equal(processor([ids(patch.slice(0, at))], logits), logits);
    assert.deepEqual(kept(logits.data), tokens(after(patch.slice(0, at)).allowed()));
  }
  // After the end all is padding.
  const logits = tensor(1, 257);
  processor([[...ids(patch), BigInt(END), 7n]], logits);
  assert.equal(kept(logits.data).length, 257);
  assert.throws(() => transformersProcessor(vocabulary, files)([[1n]], tensor(1, 9)) && processor([ids("x")], tensor(1, 257)), RangeError);
});

test("rows may be exchanged, and a row without a way on is dead", () => {
  const processor = transformersProcessor(vocabulary, files);
  processor([ids(""), ids("")], tensor(2, 257));
  for (const rows of [[" ", "+"], ["+", " "], [" def", "+xyz"], [" def", "x"]]) {
    const logits = tensor(2, 257);
    processor(rows.map((row) => ids(row === "x" ? row : BEGIN + row)), logits);
    rows.forEach((row, nth) => {
      const wanted = row === "x" ? [] : tokens(after(BEGIN + row).allowed());
      assert.deepEqual(kept(logits.data.subarray(257 * nth, 257 * (nth + 1))), wanted);
    });
  }
  const denied = transformersProcessor(vocabulary, files);
  const logits = tensor(2, 257);
  logits.data[Buffer.from("x")[0]] = 50;
  denied([ids(""), ids("")], tensor(2, 257));
  denied([ids(`${BEGIN}-`), ids(BEGIN)], logits);
  assert.ok(denied.denied[0] > 0.99 && denied.denied[1] === 0, `${denied.denied}`);
});

test("the tokens of tokenizers are read as they are written", () => {
  const tokenizer = (tokens, added = []) => ({
    get_vocab: () => new Map(tokens.map((token, id) => [token, id])),
    all_special_ids: added.filter(({ special }) => special).map(({ id }) => id),
    eos_token_id: tokens.length - 1,
    _tokenizer: { added_tokens: added },
  });
  const gpt = transformersVocabulary(tokenizer(["Ċ", "***ĠBegin", "ĠPatch", "é", "<|x|>", "<think>", "<|end|>"], [
    { id: 4, content: "<|x|>", special: true },
    { id: 5, content: "<think>", special: false },
    { id: 6, content: "<|end|>", special: true },
  ]));
  const matcher = new Matcher(gpt, files);
  for (const token of [1, 2, 0]) matcher.accept(token);
  assert.equal(String(matcher.text), "*** Begin Patch\n");
  const piece = new Matcher(transformersVocabulary(tokenizer(["<0x0A>", "***", "▁Begin▁Patch", "</s>"], [])), files);
  for (const token of [1, 2, 0]) piece.accept(token);
  assert.equal(String(piece.text), "*** Begin Patch\n");
  assert.throws(() => transformersVocabulary(tokenizer(["a", "b"])), { name: "TypeError", message: /of the bytes of each/ });
  const ggml = { tokens: ["Ċ", "***", "ĠBegin", "ĠPatch", "<|im_end|>", " Patch"], token_type: [1, 1, 1, 1, 3, 4] };
  const model = { fileInfo: { metadata: { tokenizer: { ggml } } }, isEogToken: (id) => id === 4 };
  const llama = new Matcher(llamaVocabulary(model), files);
  for (const token of [1, 2, 5, 0]) llama.accept(token);
  assert.equal(String(llama.text), "*** Begin Patch\n");
  assert.throws(() => llama.accept(4), RangeError);
});

test("an engine with biases of tokens writes a patch", async () => {
  class TokenBias {
    _biases = new Map();
    static for() {
      return new TokenBias();
    }
  }
  const best = (scores, biases) => [...scores.keys()].reduce((one, other) => (scores[other] + (biases.get(other) ?? 0) > scores[one] + (biases.get(one) ?? 0) ? other : one));
  const wish = Buffer.from(`${BEGIN}-def a():\n+def c():\n*** End Patch`);
  const sequence = {
    model: {},
    async *evaluate(prompt, { tokenBias, temperature }) {
      assert.deepEqual([prompt, temperature], [[7], 0]);
      for (let at = 0; at < 1000; at++) {
        // It would rather end than go on.
        const scores = new Float32Array(257).map((_, id) => (id === END ? 9 : id === wish[at] ? 5 : 0));
        const token = best(scores, tokenBias()._biases);
        if (token === END) return;
        yield token;
      }
    },
  };
  const output = [];
  for await (const token of llamaEvaluate({ TokenBias }, sequence, [7], vocabulary, files, { temperature: 0 })) output.push(token);
  assert.equal(applyInMemory({ "f.py": FILE }, Buffer.from(output)).files["f.py"].startsWith("def"), true);
  const none = (options, given = sequence) => llamaEvaluate({ TokenBias }, given, [7], vocabulary, files, options).next();
  await assert.rejects(none({ tokenBias: () => {} }), TypeError);
  await assert.rejects(none({}, { ...sequence, tokenPredictor: {} }), TypeError);
  await assert.rejects(llamaEvaluate({ TokenBias: { for: () => ({}) } }, sequence, [7], vocabulary, files, { temperature: 0 }).next(), /keeps the biases/);
});

test("an output is finished within its limits", () => {
  const looping = (limits) => {
    const processor = transformersProcessor(vocabulary, files, limits);
    const output = [];
    while (output.length < 300) {
      const logits = tensor(1, 257);
      for (const byte of Buffer.from("+\n")) logits.data[byte] = 9;
      processor([[1n, ...output.map(BigInt)]], logits);
      const token = logits.data.indexOf(Math.max(...logits.data));
      output.push(token);
      if (token === END) return String(Buffer.from(output.slice(0, -1)));
    }
  };
  assert.equal(looping(), undefined);
  for (const limits of [{ maxTokens: 120 }, { maxTokens: 90 }, { maxAddedLines: 3 }, { maxAddedLines: 1, maxTokens: 200 }]) {
    const text = looping(limits);
    assert.ok(text.length < (limits.maxTokens ?? 300) && text.split("\n+").length - 1 <= (limits.maxAddedLines ?? 300), text);
    assert.notEqual(applyInMemory({ "f.py": FILE }, text).files["f.py"], FILE);
  }
  assert.throws(() => looping({ maxTokens: 20 }), { name: "RangeError", message: /maxTokensLeft: too few/ });
  assert.throws(() => new Matcher(vocabulary, files).allowed(undefined, { maxTokensLeft: 3 }), RangeError);
  assert.throws(() => new Matcher(vocabulary, files, { maxAddedLines: -1 }), TypeError);
  assert.throws(() => new Matcher(vocabulary, files, { maxLines: 1 }), TypeError);
  assert.throws(() => new Matcher(vocabulary, files, { maxAddedLines: 0 }), { name: "RangeError", message: /maxAddedLines: too few/ });
  assert.ok(!tokens(after(`${BEGIN}+# a\n`, new Matcher(vocabulary, files, { maxAddedLines: 1 })).allowed()).includes(43));
});

test("memory does not grow with the calls", async () => {
  const used = () => (globalThis.gc?.(), process.memoryUsage().rss);
  const large = new Vocabulary(Array.from({ length: 50_000 }, (_, id) => (id < 256 ? Uint8Array.of(id) : `q${id}`)), []);
  const matcher = after(BEGIN, new Matcher(large, files));
  const mask = new Uint32Array(large.maskLength);
  const logits = new Float32Array(large.size);
  const calls = async (count) => {
    for (let nth = 0; nth < count; nth++) {
      // Node frees what the native half has made when the program waits, as it does for its model.
      if (nth % 100 === 0) await new Promise(setImmediate);
      const other = matcher.copy();
      other.accept(43);
      other.allowed(mask);
      other.maskLogits(logits);
      assert.ok(other.text.length > other.forced().length);
      other.rollback(1);
    }
  };
  const count = 10_000;
  await calls(count);
  const before = used();
  await calls(count);
  const grown = used() - before;
  assert.ok(grown < 1_000 * count, `${grown} bytes more after ${count} calls`);
});
