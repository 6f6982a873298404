// The seams of other people's SDKs, as they are on npm. usage: as library.test.cjs, with @openai/agents-core and ai installed
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { test } = require("node:test");

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

test("the file tools in the AI SDK", async (t) => {
  const ai = sdk(t, "ai");
  if (!ai) return;
  const workspace = new Workspace(folder({ a: "one\n" }));
  const tools = installed("apply-patch-cli/ai").tools(workspace, ai);
  assert.equal(Object.keys(tools).length, toolSpecs("anthropic").length);
  assert.ok(Object.keys(tools).every((name) => /^\w+$/.test(name)));
  const { MockLanguageModelV3, MockLanguageModelV2 } = installed("ai/test");
  const Mock = MockLanguageModelV3 ?? MockLanguageModelV2;
  const steps = [
    { type: "tool-call", toolCallId: "1", toolName: "apply_patch", input: JSON.stringify({ patch: "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n" }) },
    { type: "text", text: "done" },
  ];
  let nth = 0;
  const zero = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };
  const model = new Mock({
    doGenerate: async () => {
      const content = [steps[nth++]];
      const reason = nth === 1 ? "tool-calls" : "stop";
      const v3 = Mock === MockLanguageModelV3;
      return {
        content,
        finishReason: v3 ? { unified: reason, raw: reason } : reason,
        usage: v3 ? { inputTokens: zero, outputTokens: zero } : usage,
        warnings: [],
      };
    },
  });
  const result = await ai.generateText({ model, tools, prompt: "do it", stopWhen: ai.stepCountIs(3) });
  assert.equal(result.text, "done");
  assert.equal(readFileSync(join(workspace.root, "a"), "utf8"), "two\n");
  assert.equal(result.steps[0].toolResults[0].output.ok, true);
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
