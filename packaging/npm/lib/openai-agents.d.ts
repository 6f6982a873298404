import type { Callbacks, PatchOptions, Workspace } from "./index.js";

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
