import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";

type Hint = { hint: string; path?: string };
type Failure = { kind: string; message: string; suggestedNextAction?: string; hints?: Hint[] };
type Answer = { ok: boolean; output?: string; data?: unknown; error?: Failure };
type Tool = { name: string; description: string; input_schema: object };
type Call = { name: string; arguments: object };
type Message = { role: "user"; content: string } | { role: "tool"; name: string; content: Answer };
type Step = { text: string; calls: Call[] };
type Model = (messages: Message[], tools: Tool[]) => Step;

const PROGRAM: string = process.env.APPLY_PATCH ?? "apply-patch";
const SESSION: string = `agent-${process.pid}`;

/** The program's answer; it is JSON also when a call fails. */
function run(args: string[], input: string): string {
  return spawnSync(PROGRAM, args, { input, encoding: "utf8" }).stdout;
}

function answerTo(call: Call): Answer {
  return JSON.parse(run(["tool", call.name, "--session", SESSION, "--args", "-"], JSON.stringify(call.arguments)));
}

const TOOLS: Tool[] = JSON.parse(run(["tool-spec", "--all-tools", "--brief", "--provider", "anthropic"], ""));

/** Lets the model call tools until it has something to say. */
function turn(model: Model, task: string, most: number): string {
  const messages: Message[] = [{ role: "user", content: task }];
  for (let step = 0; step < most; step += 1) {
    const { text, calls } = model(messages, TOOLS);
    if (calls.length === 0) return text;
    for (const call of calls) {
      const answer: Answer = answerTo(call);
      console.log(call.name, answer.ok ? "ok" : answer.error?.kind);
      messages.push({ role: "tool", name: call.name, content: answer });
    }
  }
  return "gave up";
}

/** Stands for a model: it edits a file, and does what a hint says when that fails. */
function scripted(messages: Message[], tools: Tool[]): Step {
  if (!tools.some((tool) => tool.name === "edit_file")) throw new Error("no edit_file");
  const edits: object[] = [{ oldText: "x = 1", newText: "x = 2" }];
  const edit: Call = { name: "edit_file", arguments: { path: "app.py", edits } };
  const last: Message | undefined = messages.at(-1);
  if (last === undefined || last.role === "user") return { text: "", calls: [edit] };
  if (last.name === "edit_file" && last.content.ok) return { text: "x is 2 now", calls: [] };
  if (last.name === "edit_file") {
    const path: string | undefined = last.content.error?.hints?.[0]?.path;
    return { text: "", calls: [{ name: "read_file", arguments: { path } }] };
  }
  // Another program is at work, too.
  if (messages.length === 3) appendFileSync("app.py", "y = 3\n");
  return { text: "", calls: [edit] };
}

console.log(turn(scripted, "set x to 2 in app.py", 12));
