import type { Callbacks, Workspace } from "./index.js";

/**
 * The file tools of a workspace for the AI SDK; `sdk` is the module `ai`. Every tool answers with its envelope, also when it failed:
 * the model reads what to do next there.
 */
export function tools(
  workspace: Workspace,
  sdk: { tool: (definition: any) => any; jsonSchema: (schema: any) => any },
  callbacks?: Omit<Callbacks, "signal">,
): Record<string, any>;
