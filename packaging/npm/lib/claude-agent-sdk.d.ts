import type { Callbacks, ChosenTools, Workspace } from "./index.js";

/**
 * The file tools of a workspace, as a server for `mcpServers` of the Claude Agent SDK: `mcpServers: { files: server(workspace, sdk) }`, with
 * `allowedTools: ["mcp__files"]`, and `tools: []`, which leaves out the tools of Claude Code itself. `sdk` has `createSdkMcpServer` of the
 * SDK, and `z` of zod. To ask a person, give `approve`, or answer the SDK's `canUseTool`.
 */
export function server<Made extends { instance: any }>(
  workspace: Workspace,
  sdk: { createSdkMcpServer: (options: { name: string }) => Made; z: any },
  /** The name of the server is `files`, unless given. */
  options?: Omit<Callbacks, "signal"> & { name?: string } & ChosenTools,
): Made;
