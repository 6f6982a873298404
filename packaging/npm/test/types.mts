// Compiled, not run: the types fit what programs do with them.
import {
  type AnyPatchError, applyInMemory, applyMany, type Applied, BoundFiles, GitTree, type Log, Matcher, MultipleMatches, parse, PatchError,
  PatchStream, planOver, StaleFile, type Undone, Vocabulary, Workspace,
} from "apply-patch-cli";
import { server } from "apply-patch-cli/claude-agent-sdk";
import { llamaEvaluate, transformersProcessor } from "apply-patch-cli/decoding";
import { approve as approveRequest, tools } from "apply-patch-cli/ai";
import { ApplyPatchEditor, approve, shown, tools as agentTools } from "apply-patch-cli/openai-agents";
import { Agent, applyPatchTool, type RunState, tool } from "@openai/agents-core";
import { createSdkMcpServer, type McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk";
import * as ai from "ai";
import { z } from "zod";

export const claude = (root: string): McpSdkServerConfigWithInstance =>
  server(new Workspace(root), { createSdkMcpServer, z }, { only: ["read_file"], approve: async ({ diff }) => diff.length < 9 });

export async function all(root: string, patch: string): Promise<Applied> {
  const workspace = new Workspace(root, { durability: "process", approve: "auto" });
  const signal = AbortSignal.timeout(9);
  const plan = await workspace.plan(patch, { profile: "codex", expectedSha256ByPath: { a: "" }, signal });
  const text: string | null | undefined = applyInMemory({ a: "x" }, patch).files["a"];
  const bytes: Buffer | null | undefined = applyInMemory({ a: new Uint8Array() }, patch).files["a"];
  const many = await applyMany([{ files: { a: "x" }, patch }], { workers: 2, signal, profile: "codex" });
  for (const one of many) console.log(one instanceof PatchError ? one.kind : one.files["a"]?.length);
  const edits = await planOver({ read: async (path) => (path === "a" ? { content: "x", version: 1 } : undefined) }, patch);
  const start: number = edits.edits[0]!.edits[0]!.range.start.line;
  const answer = await workspace.call("read_file", { path: "a" });
  if (!answer.ok) throw new Error(answer.error.kind satisfies string);
  const lines: number = answer.data.lineCount;
  const wrapped = workspace.callSync("edit.patch", { patch });
  if (!wrapped.ok) throw new Error(wrapped.error);
  const other = await workspace.call(`glo${"b"}`, { pattern: "*" });
  if (other.ok) console.log(other.data["matches"], lines);
  const commit: string | null = (await new GitTree(root, "main").apply(patch, { branch: "b", carry: true, signal })).commit;
  const undone: Undone = await workspace.undo(undefined, { since: "2h", approve: () => true });
  const redone: Undone = workspace.redoSync(undone.transactionId ?? undefined, { diff: "stat" });
  const log: Log = await workspace.log({ diff: true });
  console.log(redone.changedFiles[0]!.operation, log.transactions[0]!.files[0]!.trashedTo, log.notVerified[0]!.details.problem);
  for (const event of new PatchStream().push(patch)) if (event.type === "begun") console.log(event.operation, event.toPath);
  const turn = await workspace.turn(async (open) => [open.id, (await open.soFar()).diff], { undoOnError: true, approve: () => ({ patch }) });
  console.log(turn.value[0]!.length, turn.changedFiles[0]!.path, (await workspace.undo(undefined, { turn: turn.id })).turnId, log.turns[0]!.undone);
  console.log(parse(patch).sections[0]!.path.text);
  applyPatchTool({ editor: new ApplyPatchEditor(workspace) });
  ai.generateText({ model: "m", prompt: "p", tools: tools(workspace, ai) });
  const { content } = await ai.generateText({ model: "m", prompt: "p", tools: tools(workspace, ai, { later: true }) });
  for (const part of content) if (part.type === "tool-approval-request") console.log((await approveRequest(workspace, part))?.approved);
  new Agent({ name: "a", tools: agentTools(workspace, { tool }, { later: true }) });
  const decide = async (state: RunState<unknown, Agent>) => {
    for (const item of state.getInterruptions()) console.log(await approve(workspace, state, item), (await shown(workspace, item)).diff);
  };
  const waits = await workspace.callLater("apply_patch", { patch }, "call-1", { signal });
  if (!waits.ok) console.log(waits.error.details?.["proposalId"], decide);
  const [first] = (await workspace.proposals()).proposals;
  if (first) console.log(first.callId, (await workspace.decline(first.proposalId, "no")).state, (await workspace.propose(patch)).digestNow);
  // @ts-expect-error: there is no such option.
  workspace.applySync(patch, { frobnicate: 1 });
  // @ts-expect-error: a call that blocks takes no callbacks.
  workspace.applySync(patch, { approve: () => true });
  // @ts-expect-error: there is no such argument.
  workspace.callSync("read_file", { path: "a", startline: 1 });
  // @ts-expect-error: one argument has another name, and the one that is needed is missing.
  void workspace.call("read_file", { pth: "a" });
  // @ts-expect-error: a tool needs its arguments.
  void workspace.call("read_file");
  try {
    return await workspace.apply(plan, {
      approve: async ({ diff }) => !diff.includes("secret") && "session",
      observe: (event) => (event.type === "progress" ? console.log(event.done) : undefined),
      signal,
    });
  } catch (error) {
    if (error instanceof StaleFile) console.log(error.expected, error.actual, error.changedBy?.agent, error.kind satisfies "stale_file");
    if (error instanceof MultipleMatches) console.log(error.places[0]!.addHeader, text, bytes, start, commit);
    if (error instanceof PatchError) console.log(told(error as AnyPatchError), error.details.nearest?.region, error.hints[0]!.hint);
    throw error;
  }
}

/** The kind tells the class. */
function told(error: AnyPatchError): string | undefined {
  switch (error.kind) {
    case "not_found":
      return error.didYouMean;
    case "stale_file":
      return error.actual;
    case "multiple_matches":
      return `${error.places.length}`;
    default:
      return error.reason;
  }
}

export async function decoding(sequence: { evaluate(tokens: number[]): AsyncIterable<number>; model: object }): Promise<string> {
  const vocabulary = new Vocabulary([new Uint8Array([42]), "a", null], [2]);
  const files = new BoundFiles({ a: "x\n" }, { paths: ["b"], operations: ["update", "delete"] });
  const matcher = new Matcher(vocabulary, files);
  const mask: Int32Array = matcher.allowed(new Int32Array(vocabulary.maskLength));
  const share: number | undefined = matcher.copy().maskLogits(new Float32Array(3));
  const { denied } = transformersProcessor(vocabulary, files);
  for await (const token of llamaEvaluate({ TokenBias: Object }, sequence, [1], vocabulary, files, { temperature: 0 })) matcher.accept(token);
  return `${mask.length} ${share} ${denied[0]} ${matcher.text.toString()}`;
}
