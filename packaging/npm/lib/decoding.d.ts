import type { BoundFiles, Vocabulary } from "./index.js";

/** How long an output may be. It is whole then: the matcher ends it in time. */
export interface OutputLimits {
  /** How many lines it may add. */
  maxAddedLines?: number;
  /** How many tokens it may have, with the one that ends it. */
  maxTokens?: number;
}

/**
 * The tokens of a tokenizer of transformers.js, without the special ones. `end` are the ids that end an output: that of the tokenizer, unless
 * given (a model may have several, in its `generation_config`).
 */
export function transformersVocabulary(
  tokenizer: {
    get_vocab(): Map<string, number | bigint>;
    all_special_ids: number[];
    eos_token_id?: number | null;
  },
  options?: { end?: Iterable<number> },
): Vocabulary;

/**
 * For `model.generate({ …, logits_processor: [transformersProcessor(vocabulary, files)] })` of transformers.js. The prompt is what the first
 * call has: make one for each `generate`.
 *
 * `denied` has for each row the largest share of the probability that the mask took in an old line.
 */
export function transformersProcessor(
  vocabulary: Vocabulary, files: BoundFiles, options?: OutputLimits,
): ((inputIds: (bigint | number)[][], logits: any) => any) & { readonly denied: number[] };

/** The tokens of a model of node-llama-cpp, without the special ones. */
export function llamaVocabulary(model: {
  fileInfo: { metadata: { tokenizer: any } };
  isEogToken(token: any): boolean;
}): Vocabulary;

/**
 * `sequence.evaluate(tokens, options)` of node-llama-cpp, whose tokens are a patch that applies; `sdk` is the module. What the mask takes
 * cannot be told there.
 */
export function llamaEvaluate<Token extends number>(
  sdk: { TokenBias: any },
  sequence: { evaluate(tokens: Token[], options?: any): AsyncIterable<Token>; model: any },
  tokens: Token[],
  vocabulary: Vocabulary,
  files: BoundFiles,
  options?: OutputLimits & { temperature?: number; minP?: number; topK?: number; topP?: number; seed?: number; [option: string]: unknown },
): AsyncGenerator<Token, void, void>;
