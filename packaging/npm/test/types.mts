// Compiled, not run: the types fit what programs do with them.
import { applyInMemory, GitTree, PatchError, planOver, Workspace, type Applied } from "apply-patch-cli";
import { tools } from "apply-patch-cli/ai";
import { ApplyPatchEditor } from "apply-patch-cli/openai-agents";
import { applyPatchTool } from "@openai/agents-core";
import * as ai from "ai";

export async function all(root: string, patch: string): Promise<Applied> {
  const workspace = new Workspace(root, { durability: "process", approve: "auto" });
  const plan = await workspace.plan(patch, { profile: "codex", expectedSha256ByPath: { a: "" } });
  const text: string | null | undefined = applyInMemory({ a: "x" }, patch).files["a"];
  const bytes: Buffer | null | undefined = applyInMemory({ a: new Uint8Array() }, patch).files["a"];
  const edits = await planOver({ read: async (path) => (path === "a" ? { content: "x", version: 1 } : undefined) }, patch);
  const start: number = edits.edits[0]!.edits[0]!.range.start.line;
  const answer = await workspace.call("read_file", { path: "a" });
  if (!answer.ok) throw new Error(answer.error.kind satisfies string);
  const commit: string | null = (await new GitTree(root, "main").apply(patch, { branch: "b", carry: true })).commit;
  applyPatchTool({ editor: new ApplyPatchEditor(workspace) });
  ai.generateText({ model: "m", prompt: "p", tools: tools(workspace, ai) });
  // @ts-expect-error: there is no such option.
  workspace.applySync(patch, { frobnicate: 1 });
  // @ts-expect-error: a call that blocks takes no callbacks.
  workspace.applySync(patch, { approve: () => true });
  try {
    return await workspace.apply(plan, { approve: async ({ diff }) => diff !== null && "session", signal: AbortSignal.timeout(9) });
  } catch (error) {
    if (error instanceof PatchError && error.kind === "stale_file") console.log(error.hints, text, bytes, start, commit);
    throw error;
  }
}
