// The seams of other people's SDKs, as they are on npm. usage: as library.test.cjs, with @openai/agents-core and ai installed
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } = require("node:fs");
const { EventEmitter } = require("node:events");
const { createRequire } = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { createInterface } = require("node:readline");
const { PassThrough } = require("node:stream");
const { test } = require("node:test");
const { pathToFileURL } = require("node:url");

const installed = createRequire(join(process.cwd(), "x.js"));
const { Workspace, toolSpecs } = installed("apply-patch-cli");

const folder = (files) => {
  const place = mkdtempSync(join(tmpdir(), "apply-patch-"));
  for (const [path, content] of Object.entries(files)) writeFileSync(join(place, path), content);
  return place;
};

/** The module, or nothing, with a message. */
function sdk(t, name) {
  try {
    return installed(name);
  } catch (error) {
    t.skip(`${name} is not installed: ${error.code}`);
  }
}

const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
const call = (callId, operation) => ({ type: "apply_patch_call", callId, status: "completed", operation });
const said = (text) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] });

test("all operations of a response are one transaction", async (t) => {
  const agents = sdk(t, "@openai/agents-core");
  if (!agents) return;
  const { ApplyPatchEditor } = installed("apply-patch-cli/openai-agents");
  agents.setTracingDisabled?.(true);
  const run = async (watched, responses) => {
    const place = folder({ a: "one\n", b: "x\n" });
    const workspace = new Workspace(place);
    const editor = new ApplyPatchEditor(workspace);
    const requests = [];
    const model = {
      async getResponse(request) {
        requests.push(request);
        const output = responses[requests.length - 1];
        return { output, usage: new agents.Usage(usage), responseId: `r${requests.length}` };
      },
      async *getStreamedResponse() {},
    };
    const agent = new agents.Agent({
      name: "a",
      model: watched ? editor.watch(model) : model,
      tools: [agents.applyPatchTool({ editor })],
    });
    const result = await new agents.Runner({ tracingDisabled: true }).run(agent, "do it");
    assert.equal(result.finalOutput, "done");
    const answers = requests.at(-1).input.filter((one) => one.type === "apply_patch_call_output");
    const { transactions } = await workspace.log();
    return { answers, transactions: transactions.length, read: (path) => readFileSync(join(place, path), "utf8"), place };
  };
  const update = call("c1", { type: "update_file", path: "a", diff: "@@\n-one\n+two\n" });
  const create = call("c2", { type: "create_file", path: "d", diff: "+new\n" });
  const remove = call("c3", { type: "delete_file", path: "b" });
  const wrong = call("c4", { type: "update_file", path: "b", diff: "@@\n-nothing\n+two\n" });

  const done = await run(true, [[update, create, remove], [said("done")]]);
  assert.deepEqual([done.answers.map((one) => one.status), done.transactions], [["completed", "completed", "completed"], 1]);
  assert.deepEqual([done.read("a"), done.read("d").startsWith("new"), existsSync(join(done.place, "b"))], ["two\n", true, false]);

  const failed = await run(true, [[update, wrong], [said("done")]]);
  assert.deepEqual([failed.answers.map((one) => one.status), failed.transactions], [["failed", "failed"], 0]);
  assert.match(failed.answers[0].output, /none of the 2 operations of this turn was applied/);
  assert.equal(failed.read("a"), "one\n");

  const single = await run(false, [[update, wrong], [said("done")]]);
  assert.deepEqual([single.answers.map((one) => one.status), single.transactions], [["completed", "failed"], 1]);
});

/** A model of the AI SDK that calls a tool and then is done. */
function modelOf(name, input) {
  const { MockLanguageModelV3 } = installed("ai/test");
  const zero = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };
  const steps = [
    ["tool-calls", { type: "tool-call", toolCallId: "1", toolName: name, input: JSON.stringify(input) }],
    ["stop", { type: "text", text: "done" }],
  ];
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const [reason, content] = steps.shift();
      const usage = { inputTokens: zero, outputTokens: zero };
      return { content: [content], finishReason: { unified: reason, raw: reason }, usage, warnings: [] };
    },
  });
}

const TWO = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n";

test("the file tools in the AI SDK", async (t) => {
  const ai = sdk(t, "ai");
  if (!ai) return;
  const workspace = new Workspace(folder({ a: "one\n" }));
  const tools = installed("apply-patch-cli/ai").tools(workspace, ai);
  assert.deepEqual(Object.keys(installed("apply-patch-cli/ai").tools(workspace, ai, { only: ["read_file"] })), ["read_file"]);
  assert.equal(Object.keys(tools).length, toolSpecs("anthropic").length);
  assert.ok(Object.keys(tools).every((name) => /^\w+$/.test(name)));
  const model = modelOf("apply_patch", { patch: TWO });
  const result = await ai.generateText({ model, tools, prompt: "do it", stopWhen: ai.stepCountIs(3) });
  assert.equal(result.text, "done");
  assert.equal(readFileSync(join(workspace.root, "a"), "utf8"), "two\n");
  assert.equal(result.steps[0].toolResults[0].output.ok, true);
});

test("OpenAI's own tools in the AI SDK", async (t) => {
  const ai = sdk(t, "ai");
  const provider = ai && sdk(t, "@ai-sdk/openai");
  if (!provider) return;
  const { openai } = provider;
  const { applyPatch, patch } = installed("apply-patch-cli/ai");
  const operation = (diff) => ({ callId: "c1", operation: { type: "update_file", path: "a", diff } });
  for (const [make, input, ended] of [
    [applyPatch, operation("@@\n-one\n+two\n"), { status: "completed" }],
    [applyPatch, operation("@@\n-none\n+two\n"), { status: "failed" }],
    [patch, TWO, { ok: true }],
    [patch, TWO.replace("-one", "-none"), { ok: false }],
  ]) {
    const workspace = new Workspace(folder({ a: "one\n" }));
    const tools = { apply_patch: make(workspace, openai) };
    assert.equal(tools.apply_patch.args.name ?? "apply_patch", "apply_patch");
    const model = modelOf("apply_patch", input);
    const result = await ai.generateText({ model, tools, prompt: "do it", stopWhen: ai.stepCountIs(3) });
    const [{ output }] = result.steps[0].toolResults;
    assert.deepEqual({ ...output, ...ended }, output);
    assert.equal(readFileSync(join(workspace.root, "a"), "utf8"), ended.ok || ended.status === "completed" ? "two\n" : "one\n");
  }
});

test("what cannot be made is thrown to who decides, and answered to a model", async (t) => {
  const ai = sdk(t, "ai");
  if (!ai) return;
  const module = installed("apply-patch-cli/ai");
  const workspace = new Workspace(folder({ a: "one\n" }));
  const { apply_patch: tool } = module.tools(workspace, ai, { later: true });
  const args = { patch: "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n" };
  assert.equal(await tool.needsApproval(args, { toolCallId: "c1" }), true);
  writeFileSync(join(workspace.root, "a"), "none of it\n");
  await assert.rejects(module.approve(workspace, { approvalId: "a1", toolCall: { toolCallId: "c1" } }), { kind: "stale_file" });
  const { ok, error } = await tool.execute(args, { toolCallId: "c1" });
  assert.deepEqual([ok, error.kind], [false, "stale_file"]);
  assert.ok(error.message.length > 0 && error.suggestedNextAction.length > 0);
});

/** The requests that Claude Code makes of a server in the program, and its answers. */
async function claudeCode(t, make, calls) {
  const { query } = await import(pathToFileURL(installed.resolve("@anthropic-ai/claude-agent-sdk")));
  const answers = [];
  const steps = [
    ["initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } }],
    ["notifications/initialized"],
    ["tools/list", {}],
    ...calls.map(([name, args]) => ["tools/call", { name, arguments: args }]),
  ];
  const spawnClaudeCodeProcess = () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const child = Object.assign(new EventEmitter(), { stdin, stdout, killed: false, exitCode: null, kill: () => true });
    const say = (message) => stdout.write(`${JSON.stringify(message)}\n`);
    const next = () => {
      const step = steps.shift();
      if (!step) {
        return say({ type: "result", subtype: "success", is_error: false, duration_ms: 1, duration_api_ms: 1, num_turns: 1, session_id: "s", result: "done", total_cost_usd: 0, usage: {}, permission_denials: [], uuid: "u" });
      }
      const [method, params] = step;
      const message = { jsonrpc: "2.0", method, ...(params && { params, id: answers.length + 1 }) };
      return say({ type: "control_request", request_id: `r${answers.length}`, request: { subtype: "mcp_message", server_name: "files", message } });
    };
    createInterface({ input: stdin }).on("line", (line) => {
      const message = JSON.parse(line);
      if (message.type === "control_request") {
        say({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response: { commands: [] } } });
      } else if (message.type === "user") next();
      else if (message.type === "control_response") {
        answers.push(message.response.response?.mcp_response);
        next();
      }
    }).on("close", () => {
      child.exitCode = 0;
      stdout.end();
      child.emit("exit", 0, null);
    });
    return child;
  };
  let result;
  const options = { spawnClaudeCodeProcess, pathToClaudeCodeExecutable: process.execPath, mcpServers: { files: make() }, tools: [] };
  for await (const message of query({ prompt: "do it", options })) result = message;
  assert.equal(result.result, "done");
  return answers.slice(2).map((answer) => answer.result ?? answer.error);
}

test("the file tools in the Claude Agent SDK", async (t) => {
  let sdk;
  try {
    sdk = await import(pathToFileURL(installed.resolve("@anthropic-ai/claude-agent-sdk")));
  } catch (error) {
    return t.skip(`the Claude Agent SDK is not installed: ${error.code}`);
  }
  const { z } = installed("zod");
  const { server } = installed("apply-patch-cli/claude-agent-sdk");
  const workspace = new Workspace(folder({ a: "one\n" }));
  const run = (options, ...calls) => claudeCode(t, () => server(workspace, { ...sdk, z }, options), calls);
  const edit = (oldText, newText) => ["edit_file", { path: "a", edits: [{ oldText, newText }] }];
  const [{ tools }, ...answers] = await run({}, ["read_file", { path: "a" }], edit("one", "two"), ["read_file", { path: "b" }], ["telepathy", {}]);
  const specs = toolSpecs("anthropic", { brief: true });
  assert.deepEqual(tools.map(({ name, inputSchema }) => [name, inputSchema]), specs.map(({ name, input_schema }) => [name, input_schema]));
  assert.equal(tools[0].annotations.readOnlyHint, true);
  assert.deepEqual(answers.slice(0, 3).map(({ isError, content }) => [isError, JSON.parse(content[0].text).ok]), [[false, true], [false, true], [true, false]]);
  assert.match(answers[3].message, /telepathy/);
  assert.equal(readFileSync(join(workspace.root, "a"), "utf8"), "two\n");
  // What no tool knows is refused, and not left out.
  const [listed, refused] = await run({ only: ["read_file"], brief: false }, ["read_file", { path: "a", line: 1 }]);
  assert.deepEqual(listed.tools.map(({ name, description }) => [name, description]), [["read_file", toolSpecs("anthropic")[0].description]]);
  assert.match(JSON.parse(refused.content[0].text).error.message, /line/);
  const asked = [];
  const [, , declined] = await run({ approve: ({ diff }) => (asked.push(diff), false) }, ["read_file", { path: "a" }], edit("two", "2"));
  assert.equal(JSON.parse(declined.content[0].text).error.details.reason, "declined");
  assert.match(asked[0], /^\+2$/m);
  assert.equal(readFileSync(join(workspace.root, "a"), "utf8"), "two\n");
  assert.throws(() => server(workspace, { ...sdk, z }, { only: ["telepathy"] }), { name: "RangeError", message: /no tool "telepathy"/ });
});

for (const [name, module] of [["ai", "ai"], ["openai-agents", "@openai/agents-core"]]) {
  test(`a change waits for a person in another process: ${module}`, async (t) => {
    if (!sdk(t, module)) return;
    const begin = () => {
      const root = join(folder({}), "project");
      mkdirSync(root);
      writeFileSync(join(root, "a.txt"), "one\ntwo\nthree\n");
      const run = (...args) => spawnSync(process.execPath, [join(__dirname, "later.cjs"), name, ...args], { encoding: "utf8" });
      const begun = run("begin", root);
      assert.equal(begun.signal, "SIGKILL", begun.stderr);
      const [shown] = JSON.parse(begun.stdout);
      const go = (decision) => {
        const done = run("go", root, JSON.stringify(decision));
        assert.equal(done.status, 0, done.stderr);
        return done.stdout;
      };
      return { root, shown, go, read: () => readFileSync(join(root, "a.txt"), "utf8") };
    };
    const states = async ({ root }) => (await new Workspace(root, { session: "agent" }).proposals()).proposals.map((one) => one.state);

    const approved = begin();
    assert.match(approved.shown.diff, /-two\n\+TWO\n/);
    assert.equal(approved.read(), "one\ntwo\nthree\n");
    // Another file was edited meanwhile.
    writeFileSync(join(approved.root, "b.txt"), "b\n");
    assert.match(approved.go(true), new RegExp(approved.shown.proposalId));
    assert.deepEqual([approved.read(), await states(approved)], ["one\nTWO\nthree\n", ["approved"]]);

    const declined = begin();
    assert.match(declined.go("tabs, please"), /tabs, please/);
    assert.deepEqual([declined.read(), await states(declined)], ["one\ntwo\nthree\n", ["declined"]]);

    const differs = begin();
    writeFileSync(join(differs.root, "a.txt"), "zero\none\ntwo\nthree\n");
    const { waits } = JSON.parse(differs.go(true));
    assert.deepEqual([differs.read(), waits.differs], ["zero\none\ntwo\nthree\n", true]);
    assert.match(waits.diff, / zero\n/);
    assert.match(differs.go({ digest: waits.digest }), new RegExp(waits.proposalId));
    assert.equal(differs.read(), "zero\none\nTWO\nthree\n");

    const elsewhere = begin();
    await new Workspace(elsewhere.root, { session: "person" }).approve(elsewhere.shown.proposalId);
    assert.match(elsewhere.go(true), /approved/);
    assert.equal((await new Workspace(elsewhere.root).log()).transactions.length, 1);
  });
}
