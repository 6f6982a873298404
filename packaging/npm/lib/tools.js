// The file tools, as the SDKs of agents take them.
"use strict";

const { toolSpecs } = require("./index.js");

/** Name, description and schema of each tool; `only` names those that are wanted. */
function fileTools({ only, brief = true } = {}) {
  const specs = toolSpecs("anthropic", { brief });
  if (only === undefined) return specs;
  const wanted = new Set(only);
  const names = specs.map(({ name }) => name);
  const unknown = [...wanted].find((name) => !names.includes(name));
  if (unknown !== undefined) throw new RangeError(`there is no tool ${JSON.stringify(unknown)}; there are ${names.join(", ")}`);
  return specs.filter(({ name }) => wanted.has(name));
}

module.exports = { fileTools };
