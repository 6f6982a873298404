import type { Callbacks, ChosenTools, PatchOptions, ShownProposal, Workspace } from "./index.js";

type Operation = { type: string; path: string; diff?: string };
type Result = { status: "completed" | "failed"; output: string };

/**
 * For `applyPatchTool({ editor })` of the OpenAI Agents SDK. With a model from `watch`, all operations of a response are one
 * transaction: each is answered with what became of all. Without, each is a transaction of its own.
 */
export class ApplyPatchEditor {
  constructor(workspace: Workspace, options?: Omit<PatchOptions, "from"> & Callbacks);
  /** The same model, whose responses this editor sees before their operations are carried out. */
  watch<Model extends object>(model: Model): Model;
  createFile(operation: Operation): Promise<Result>;
  updateFile(operation: Operation): Promise<Result>;
  deleteFile(operation: Operation): Promise<Result>;
}

/**
 * The file tools of a workspace; `sdk` is the module `@openai/agents-core` or `@openai/agents`. With `later`, a change interrupts the
 * run, which goes on from its state, also in another process and on another day.
 */
export function tools(
  workspace: Workspace,
  sdk: { tool: (definition: any) => any },
  options?: Omit<Callbacks, "signal"> & { later?: boolean } & ChosenTools,
): any[];

type Interruption = { rawItem: any };
type State = { approve(interruption: any): void; reject(interruption: any, options?: any): void };

/** What a person has to see of an interruption. */
export function shown(workspace: Workspace, interruption: Interruption): Promise<ShownProposal>;

/**
 * Makes the change of an interruption, and approves it in the state of the run. False if the result is not the one that was shown when
 * it was proposed, or has this digest: show it again.
 */
export function approve(
  workspace: Workspace, state: State, interruption: Interruption, options?: { digest?: string },
): Promise<boolean>;

/** Declines the change of an interruption, and rejects it in the state of the run. */
export function reject(workspace: Workspace, state: State, interruption: Interruption, why?: string): Promise<void>;
