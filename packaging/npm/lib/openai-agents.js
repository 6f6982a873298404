// For `applyPatchTool({ editor })` of the OpenAI Agents SDK.
"use strict";

const { PatchError } = require("./index.js");

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** What the API calls an operation's fields. */
function item({ callId, operation }, nth) {
  const { type, path, diff } = operation;
  const to = operation.moveTo ?? operation.move_to;
  return {
    type: "apply_patch_call",
    call_id: callId ?? `call-${nth}`,
    operation: { type, path, ...(diff === undefined ? {} : { diff }), ...(to ? { move_to: to } : {}) },
  };
}

/**
 * Changes the files of a workspace. With a model from `watch`, all operations of a response are one transaction; without, each
 * is one.
 */
class ApplyPatchEditor {
  #workspace;
  #options;
  #turns = [];

  constructor(workspace, options) {
    this.#workspace = workspace;
    this.#options = options ?? {};
  }

  /** The same model, whose responses this editor sees before their operations are carried out. */
  watch(model) {
    const seen = (response) => {
      const calls = response.output.filter((one) => one.type === "apply_patch_call");
      if (calls.length > 0) this.#turns.push({ calls, open: calls.map((call) => call.operation) });
    };
    return new Proxy(model, {
      get(target, name) {
        const member = Reflect.get(target, name, target);
        if (name === "getResponse") {
          return async (request) => {
            const response = await target.getResponse(request);
            seen(response);
            return response;
          };
        }
        if (name === "getStreamedResponse") {
          return async function* (request) {
            for await (const event of target.getStreamedResponse(request)) {
              if (event.type === "response_done") seen(event.response);
              yield event;
            }
          };
        }
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  createFile(operation) {
    return this.#answer(operation);
  }

  updateFile(operation) {
    return this.#answer(operation);
  }

  deleteFile(operation) {
    return this.#answer(operation);
  }

  async #answer(operation) {
    // The newest: of a run that was left, operations stay open, and what became of them is no answer to another one's.
    const known = this.#turns.findLast((turn) => turn.open.some((one) => same(one, operation)));
    const turn = known ?? { calls: [{ operation }], open: [operation] };
    turn.open.splice(turn.open.findIndex((one) => same(one, operation)), 1);
    if (turn.open.length === 0) this.#turns = this.#turns.filter((one) => one !== turn);
    turn.answer ??= this.#apply(turn.calls.map(item));
    return turn.answer;
  }

  /** Applies all or nothing; every operation gets the answer. */
  async #apply(items) {
    try {
      // The rules of that API are those of the profile.
      const options = { profile: "codex", ...this.#options, from: "openai" };
      const { transactionId } = await this.#workspace.apply(JSON.stringify(items), options);
      return { status: "completed", output: transactionId ? `done (transaction ${transactionId})` : "done; nothing changed" };
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      const others = items.length > 1 ? `\nnone of the ${items.length} operations of this turn was applied` : "";
      const next = error.suggestedNextAction ? `\nnext: ${error.suggestedNextAction}` : "";
      return { status: "failed", output: `${error.message}${others}${next}` };
    }
  }
}

module.exports = { ApplyPatchEditor };
