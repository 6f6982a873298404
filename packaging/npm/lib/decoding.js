// Decoding under which a model writes nothing but patches that apply: for transformers.js and node-llama-cpp.
"use strict";

const { Matcher, Vocabulary } = require("./index.js");

/** The bytes of the characters by which tokenizers of the GPT-2 family write bytes. */
const BYTES = (() => {
  const bytes = new Map();
  let others = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isShown = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    bytes.set(String.fromCharCode(isShown ? byte : others++), byte);
  }
  return bytes;
})();

function byteLevel(token) {
  const bytes = Array.from(token, (character) => BYTES.get(character));
  // One that is written otherwise is special.
  return bytes.includes(undefined) ? null : Uint8Array.from(bytes);
}

/** As SentencePiece writes them: a mark for a blank, and bytes that are no character by their number. */
function sentencePiece(token) {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(token);
  return byte ? Uint8Array.of(Number.parseInt(byte[1], 16)) : Buffer.from(token.replaceAll("\u2581", " "));
}

/** How the tokens of a vocabulary are written; `has` says whether there is a token. */
function writing(has) {
  if (has("<0x0A>")) return sentencePiece;
  if (has("\u010a")) return byteLevel;
  throw new TypeError("the tokens are written neither as those of GPT-2 nor of SentencePiece: make a Vocabulary of the bytes of each");
}

function transformersVocabulary(tokenizer, options) {
  const vocabulary = tokenizer.get_vocab();
  const tokens = [];
  const written = writing((token) => vocabulary.has(token));
  for (const [token, id] of vocabulary) tokens[Number(id)] = written(token);
  // Those are written as they are, and special ones are not for the output.
  const added = tokenizer._tokenizer?.added_tokens ?? tokenizer.added_tokens;
  for (const { id, content, special } of added) tokens[id] = special ? null : Buffer.from(content);
  for (const id of tokenizer.all_special_ids) tokens[id] = null;
  return new Vocabulary(tokens, options?.end ?? [tokenizer.eos_token_id]);
}

/** The kinds of tokens in a GGUF file that add something to the output. */
const [NORMAL, USER_DEFINED, BYTE] = [1, 4, 6];

function llamaVocabulary(model) {
  const { tokens, token_type: kinds = [] } = model.fileInfo.metadata.tokenizer.ggml;
  const known = new Set(tokens);
  const written = writing((token) => known.has(token));
  const bytes = tokens.map((token, id) => {
    const kind = kinds[id] ?? NORMAL;
    if (kind === USER_DEFINED) return Buffer.from(token);
    return kind === NORMAL || kind === BYTE ? written(token) : null;
  });
  return new Vocabulary(bytes, [...bytes.keys()].filter((id) => model.isEogToken(id)));
}

/** How many tokens an output may still have. */
const left = (maxTokens, tokens) => (maxTokens === undefined ? undefined : Math.max(maxTokens - tokens, 0));

/** A matcher that follows one output, also when it goes back. */
class Follower {
  #tokens = [];
  #shares = [];

  constructor(matcher, maxTokens) {
    this.matcher = matcher;
    this.maxTokens = maxTokens;
  }

  get denied() {
    return Math.max(0, ...this.#shares.map(({ share }) => share));
  }

  /** Goes where the output is; false once the output has ended. `first` is the index of its first token. */
  follow(ids, first) {
    let shared = 0;
    const length = Math.min(this.#tokens.length, ids.length - first);
    while (shared < length && this.#tokens[shared] === Number(ids[first + shared])) shared++;
    if (shared < this.#tokens.length) {
      this.matcher.rollback(this.#tokens.length - shared);
      this.#tokens.length = shared;
      this.#shares = this.#shares.filter(({ at }) => at <= shared);
    }
    for (let at = first + shared; at < ids.length; at++) {
      if (this.matcher.hasEnded) return false; // The rest is padding.
      this.matcher.accept(Number(ids[at]));
      this.#tokens.push(Number(ids[at]));
    }
    return !this.matcher.hasEnded;
  }

  /** Masks the logits that follow the output. */
  mask(ids, first, logits) {
    if (!this.follow(ids, first)) return;
    const maxTokensLeft = left(this.maxTokens, this.#tokens.length);
    const share = this.matcher.maskLogits(logits, { maxTokensLeft });
    if (share !== undefined) this.#shares.push({ at: this.#tokens.length, share });
  }
}

function transformersProcessor(vocabulary, files, options) {
  const { maxTokens, ...limits } = options ?? {};
  const first = new Matcher(vocabulary, files, limits);
  const rows = [];
  let prompt;
  const processor = (inputIds, logits) => {
    prompt ??= inputIds[0].length;
    const size = logits.dims.at(-1);
    for (const [nth, ids] of inputIds.entries()) {
      rows[nth] ??= new Follower(first.copy(), maxTokens);
      const row = logits.data.subarray(nth * size, (nth + 1) * size);
      try {
        rows[nth].mask(ids, prompt, row);
      } catch (error) {
        if (inputIds.length === 1 || !(error instanceof RangeError)) throw error;
        // Where too few tokens may follow, beam search goes on with some that may not.
        row.fill(-Infinity);
      }
    }
    return logits;
  };
  return Object.defineProperty(processor, "denied", { get: () => rows.map(({ denied }) => denied) });
}

/** So much more is as good as certain, and small enough for the others to differ as before. */
const CERTAIN = 1000;

async function* llamaEvaluate({ TokenBias }, sequence, tokens, vocabulary, files, options) {
  const { tokenBias, maxAddedLines, maxTokens, ...others } = options ?? {};
  if (tokenBias !== undefined) throw new TypeError("the tokens have their biases from the matcher: leave out `tokenBias`");
  if (sequence.tokenPredictor) throw new TypeError("a sequence with a `tokenPredictor` samples before it tells its tokens");
  const matcher = new Matcher(vocabulary, files, { maxAddedLines });
  let count = 0;
  const mask = new Uint32Array(vocabulary.maskLength);
  const biased = () => {
    const bias = TokenBias.for(sequence.model);
    // Its own method leaves out the tokens that end an output.
    const { _biases: biases } = bias;
    if (typeof biases?.set !== "function") throw new Error("this version of node-llama-cpp keeps the biases of tokens elsewhere");
    matcher.allowed(mask, { maxTokensLeft: left(maxTokens, count) });
    const sorted = [[], []];
    for (let id = 0; id < vocabulary.size; id++) sorted[(mask[id >> 5] >>> (id & 31)) & 1].push(id);
    const [not, may] = sorted;
    if (may.length <= not.length) for (const id of may) biases.set(id, CERTAIN);
    else for (const id of not) biases.set(id, -Infinity);
    return bias;
  };
  for await (const token of sequence.evaluate(tokens, { ...others, tokenBias: biased })) {
    matcher.accept(token);
    count++;
    yield token;
  }
}

module.exports = { llamaEvaluate, llamaVocabulary, transformersProcessor, transformersVocabulary };
