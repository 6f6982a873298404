// The file tools for the Claude Agent SDK, as a server in the process of the program.
"use strict";

const { fileTools } = require("./tools.js");
const { toolSpecs } = require("./index.js");

/** The file tools of a workspace; `sdk` has `createSdkMcpServer` of the SDK and `z` of zod. */
function server(workspace, { createSdkMcpServer, z }, options) {
  const { name = "files", only, brief, ...callbacks } = options ?? {};
  const annotations = new Map(toolSpecs("mcp").map((spec) => [spec.name, spec.annotations]));
  const tools = fileTools({ only, brief }).map(({ input_schema: inputSchema, ...tool }) => ({
    ...tool,
    inputSchema,
    annotations: annotations.get(tool.name),
  }));
  const made = createSdkMcpServer({ name });
  // Tools that the SDK itself makes have zod's schemas: arguments that those do not know would be left out in silence.
  const { server } = made.instance;
  const request = (method) => z.looseObject({ method: z.literal(method) });
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler(request("tools/list"), () => ({ tools }));
  server.setRequestHandler(request("tools/call"), async ({ params }, { signal }) => {
    if (!tools.some((tool) => tool.name === params.name)) throw new Error(`there is no tool ${JSON.stringify(params.name)} here`);
    const answer = await workspace.call(params.name, params.arguments, { ...callbacks, signal });
    return { content: [{ type: "text", text: JSON.stringify(answer) }], isError: !answer.ok };
  });
  return made;
}

module.exports = { server };
