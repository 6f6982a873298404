// The file tools for the AI SDK.
"use strict";

const { toolSpecs } = require("./index.js");
const { ApplyPatchEditor } = require("./openai-agents.js");
const { fileTools } = require("./tools.js");
const later = require("./later.js");

/** The file tools of a workspace; `sdk` is the module `ai`. */
function tools(workspace, { tool, jsonSchema }, options) {
  const { later: waits, only, brief, ...callbacks } = options ?? {};
  if (waits && callbacks.approve) throw new TypeError("with `later` a person is asked between two runs: leave out `approve`");
  const made = fileTools({ only, brief }).map(({ name, description, input_schema: schema }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema(schema),
      ...(waits
        ? waiting(workspace, name, callbacks)
        : { execute: (args, { abortSignal: signal } = {}) => workspace.call(name, args, { ...callbacks, signal }) }),
    }),
  ]);
  return Object.fromEntries(made);
}

function waiting(workspace, name, callbacks) {
  return {
    needsApproval: async (args, { toolCallId }) => {
      const { proposalId, isDecided } = await later.begin(workspace, name, args, toolCallId, callbacks);
      // The SDK asks again when the run goes on.
      return proposalId !== undefined || isDecided;
    },
    execute: async (args, { toolCallId, abortSignal: signal }) => {
      const { answer, proposalId } = await later.begin(workspace, name, args, toolCallId, { ...callbacks, signal });
      // Approved in the messages alone.
      return proposalId === undefined ? answer : ((await later.answered(workspace, proposalId)) ?? answer);
    },
  };
}

/** The tool `apply_patch` that models of OpenAI know; `openai` is the provider of `@ai-sdk/openai`. */
function applyPatch(workspace, openai, options) {
  const editor = new ApplyPatchEditor(workspace, options);
  return openai.tools.applyPatch({ execute: ({ operation }) => editor.updateFile(operation) });
}

/** A tool whose input is a patch, which the API holds to the grammar. */
function patch(workspace, openai, options) {
  const { name, description, format } = toolSpecs("openai", { patchOnly: true });
  return {
    ...openai.tools.customTool({ name, description, format }),
    execute: (patch, { abortSignal: signal } = {}) => workspace.call("apply_patch", { patch }, { ...options, signal }),
  };
}

/** What a person has to see of a `tool-approval-request`. */
async function shown(workspace, request) {
  return later.shown(workspace, await later.ofCall(workspace, request.toolCall.toolCallId));
}

/** Makes the change, and returns the part of a message that says so; undefined if the result has to be shown again. */
async function approve(workspace, request, options) {
  const proposalId = await later.ofCall(workspace, request.toolCall.toolCallId);
  const done = await later.approve(workspace, proposalId, options?.digest);
  return done && { type: "tool-approval-response", approvalId: request.approvalId, approved: true };
}

/** Declines the change, and returns the part of a message that says so. */
async function reject(workspace, request, why) {
  await later.decline(workspace, await later.ofCall(workspace, request.toolCall.toolCallId), why);
  return { type: "tool-approval-response", approvalId: request.approvalId, approved: false, reason: later.declined(why) };
}

module.exports = { applyPatch, approve, patch, reject, shown, tools };
