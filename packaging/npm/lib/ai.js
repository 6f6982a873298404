// The file tools for the AI SDK.
"use strict";

const { toolSpecs } = require("./index.js");

/** The file tools of a workspace; `sdk` is the module `ai`. */
function tools(workspace, { tool, jsonSchema }, callbacks) {
  const made = toolSpecs("anthropic", { brief: true }).map(({ name, description, input_schema: schema }) => [
    // Providers take no dots in names.
    name.replaceAll(".", "_"),
    tool({
      description,
      inputSchema: jsonSchema(schema),
      execute: (args, { abortSignal: signal } = {}) => workspace.call(name, args, { ...callbacks, signal }),
    }),
  ]);
  return Object.fromEntries(made);
}

module.exports = { tools };
