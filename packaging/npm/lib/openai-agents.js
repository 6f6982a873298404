// For the OpenAI Agents SDK: the editor of `applyPatchTool({ editor })`, and the file tools.
"use strict";

const { PatchError } = require("./index.js");
const { fileTools } = require("./tools.js");
const later = require("./later.js");

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

/** The file tools of a workspace; `sdk` is the module `@openai/agents-core` or `@openai/agents`. */
function tools(workspace, { tool }, options) {
  const { later: waits, only, brief, ...callbacks } = options ?? {};
  if (waits && callbacks.approve) throw new TypeError("with `later` a person is asked by an interruption: leave out `approve`");
  return fileTools({ only, brief }).map(({ name, description, input_schema: schema }) =>
    tool({
      name,
      description,
      parameters: { ...schema, additionalProperties: true },
      strict: false,
      ...(waits
        ? waiting(workspace, name, callbacks)
        : { execute: async (args) => JSON.stringify(await workspace.call(name, args, callbacks)) }),
    }),
  );
}

function waiting(workspace, name, callbacks) {
  return {
    needsApproval: async (_, args, callId) =>
      (await later.begin(workspace, name, args, callId, callbacks)).proposalId !== undefined,
    execute: async (args, _, details) => {
      const callId = details.toolCall.callId;
      const { answer, proposalId } = await later.begin(workspace, name, args, callId, callbacks);
      // Approved in the state of the run alone.
      const done = proposalId === undefined ? answer : ((await later.answered(workspace, proposalId)) ?? answer);
      return JSON.stringify(done);
    },
  };
}

const proposalOf = (workspace, interruption) => later.ofCall(workspace, interruption.rawItem.callId);

/** What a person has to see of an interruption. */
async function shown(workspace, interruption) {
  return later.shown(workspace, await proposalOf(workspace, interruption));
}

/** Makes the change, and approves it in the state of the run; false if the result has to be shown again. */
async function approve(workspace, state, interruption, options) {
  const done = await later.approve(workspace, await proposalOf(workspace, interruption), options?.digest);
  if (done) state.approve(interruption);
  return done !== undefined;
}

/** Declines the change, and rejects it in the state of the run. */
async function reject(workspace, state, interruption, why) {
  await later.decline(workspace, await proposalOf(workspace, interruption), why);
  state.reject(interruption, { message: later.declined(why) });
}

module.exports = { ApplyPatchEditor, approve, reject, shown, tools };
