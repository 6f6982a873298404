// One run of an agent with a fake model, in a process of its own: `later.cjs SDK STEP ROOT [DECISION]`, as later_program.py.
"use strict";

const { readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname, join } = require("node:path");

const installed = createRequire(join(process.cwd(), "x.js"));
const { Workspace } = installed("apply-patch-cli");

const args = { patch: "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** End Patch\n" };

const [sdk, step, root, decision] = process.argv.slice(2);
const answer = decision === undefined ? undefined : JSON.parse(decision);
const state = join(dirname(root), "state");
const workspace = new Workspace(root, { session: "agent", durability: "none" });
const say = (value) => new Promise((done) => process.stdout.write(typeof value === "string" ? value : JSON.stringify(value), done));

async function killed(shown, text) {
  writeFileSync(state, text);
  await say(shown);
  process.kill(process.pid, "SIGKILL");
}

/** Approves or rejects as the decision says; false if the result has to be shown again. */
async function decide(module, ...where) {
  if (typeof answer === "string") return module.reject(workspace, ...where, answer);
  return module.approve(workspace, ...where, answer === true ? {} : { digest: answer.digest });
}

async function ai() {
  const sdk = installed("ai");
  const { MockLanguageModelV3 } = installed("ai/test");
  const module = installed("apply-patch-cli/ai");
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      if (last.role === "tool") {
        const text = JSON.stringify(last.content);
        return { content: [{ type: "text", text }], finishReason: { unified: "stop" }, usage, warnings: [] };
      }
      const call = { type: "tool-call", toolCallId: "c1", toolName: "apply_patch", input: JSON.stringify(args) };
      return { content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] };
    },
  });
  const tools = module.tools(workspace, sdk, { later: true });
  if (step === "begin") {
    const messages = [{ role: "user", content: "change it" }];
    const result = await sdk.generateText({ model, tools, messages });
    const [request] = result.content.filter((one) => one.type === "tool-approval-request");
    return killed([await module.shown(workspace, request)], JSON.stringify([[...messages, ...result.response.messages], request]));
  }
  const [messages, request] = JSON.parse(readFileSync(state, "utf8"));
  const response = await decide(module, request);
  if (!response) return say({ waits: await module.shown(workspace, request) });
  messages.push({ role: "tool", content: [response] });
  const { text } = await sdk.generateText({ model, tools, messages, stopWhen: sdk.stepCountIs(3) });
  return say(text);
}

async function openaiAgents() {
  const sdk = installed("@openai/agents-core");
  const module = installed("apply-patch-cli/openai-agents");
  const model = {
    async getResponse({ input }) {
      const told = Array.isArray(input) ? input.filter((one) => one.type === "function_call_result") : [];
      const output =
        told.length > 0
          ? [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: JSON.stringify(told.at(-1).output) }] }]
          : [{ type: "function_call", callId: "c1", name: "apply_patch", arguments: JSON.stringify(args), status: "completed" }];
      return { usage: new sdk.Usage(), output };
    },
    async *getStreamedResponse() {},
  };
  const agent = new sdk.Agent({ name: "coder", model, tools: module.tools(workspace, sdk, { later: true }) });
  const runner = new sdk.Runner({ tracingDisabled: true });
  if (step === "begin") {
    const { interruptions, state } = await runner.run(agent, "change it");
    return killed(await Promise.all(interruptions.map((one) => module.shown(workspace, one))), JSON.stringify(state));
  }
  const run = await sdk.RunState.fromString(agent, readFileSync(state, "utf8"));
  const [interruption] = run.getInterruptions();
  if ((await decide(module, run, interruption)) === false) return say({ waits: await module.shown(workspace, interruption) });
  return say((await runner.run(agent, run)).finalOutput);
}

(sdk === "ai" ? ai : openaiAgents)().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
