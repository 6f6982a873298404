import type { Callbacks, ChosenTools, PatchOptions, ShownProposal, Workspace } from "./index.js";

/**
 * The file tools of a workspace for the AI SDK; `sdk` is the module `ai`. Every tool answers with its envelope, also when it failed:
 * the model reads what to do next there.
 *
 * With `later`, a change needs an approval (`needsApproval`): the run ends with a `tool-approval-request`, and goes on when the messages
 * have the answer, also in another process and on another day.
 */
export function tools(
  workspace: Workspace,
  sdk: { tool: (definition: any) => any; jsonSchema: (schema: any) => any },
  options?: Omit<Callbacks, "signal"> & { later?: boolean } & ChosenTools,
): Record<string, any>;

/**
 * The tool `apply_patch` that models of OpenAI know; `openai` is the provider of `@ai-sdk/openai`: `tools: { apply_patch: applyPatch(…) }`.
 * Each operation is a transaction.
 */
export function applyPatch<Tool>(
  workspace: Workspace, openai: { tools: { applyPatch(options: any): Tool } }, options?: Omit<PatchOptions, "from"> & Callbacks,
): Tool;

/** A tool whose whole input is a patch, which OpenAI's API holds to the grammar: `tools: { apply_patch: patch(…) }`. */
export function patch<Tool>(
  workspace: Workspace, openai: { tools: { customTool(options: any): Tool } }, options?: Omit<Callbacks, "signal">,
): Tool;

/** A `tool-approval-request` of the AI SDK. */
export type ApprovalRequest = { approvalId: string; toolCall: { toolCallId: string } };

/** The answer to it, a part of a message whose role is `tool`. */
export type ApprovalResponse = { type: "tool-approval-response"; approvalId: string; approved: boolean; reason?: string };

/** What a person has to see of a request. */
export function shown(workspace: Workspace, request: ApprovalRequest): Promise<ShownProposal>;

/**
 * Makes the change of a request, and returns the answer for the messages. Undefined if the result is not the one that was shown when it
 * was proposed, or has this digest: show it again.
 */
export function approve(
  workspace: Workspace, request: ApprovalRequest, options?: { digest?: string },
): Promise<ApprovalResponse | undefined>;

/** Declines the change of a request, and returns the answer for the messages. */
export function reject(workspace: Workspace, request: ApprovalRequest, why?: string): Promise<ApprovalResponse>;
