// An agent, with a model that follows a script: it calls tools in a turn, a check and a person look at each change, and in the
// end the person undoes all of it.
//
//     node examples/agent.mjs
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolSpecs, Workspace } from "apply-patch-cli";

const FILES = { "add.sh": "echo $(($1 - $2))\n", "notes.txt": "to be kept\n" };
const CHECK = 'test "$(sh add.sh 1 2)" = 3 || { echo "1 and 2 are not 3"; exit 1; }';
// What the model does: a tool, its arguments, and why.
const SCRIPT = [
  ["looks at the file", "read_file", { path: "add.sh" }],
  ["multiplies", "edit_file", { path: "add.sh", edits: [{ oldText: "-", newText: "*" }] }],
  ["adds", "edit_file", { path: "add.sh", edits: [{ oldText: "-", newText: "+" }] }],
  ["tidies up", "delete_file", { path: "notes.txt" }],
  ["writes a comment", "edit_file", { path: "add.sh", edits: [{ oldText: "echo", newText: "# Adds.\necho" }] }],
];

const say = (who, what) => console.log(`${who.padStart(6)}  ${what.trim().replaceAll("\n", "\n        ")}`);

/** Stands for a provider's client: it is given the tools and all answers so far. */
class ScriptedModel {
  constructor(tools) {
    this.tools = new Set(tools.map((tool) => tool.name));
  }

  respond(answers) {
    if (answers.length === SCRIPT.length) return undefined;
    const [why, tool, args] = SCRIPT[answers.length];
    if (!this.tools.has(tool)) throw new Error(`no tool is called ${tool}`);
    say("model", why);
    return [tool, args];
  }
}

/** Minds deletions; other changes are fine, and again in this turn. */
async function person({ changes }) {
  const decision = changes.some(({ operation }) => operation === "delete") ? false : "turn";
  const files = changes.map(({ operation, path }) => `${operation} ${path}`).join(", ");
  say("person", `${files}: ${decision ? "yes, for this turn" : "no"}`);
  return decision;
}

async function work(workspace) {
  const model = new ScriptedModel(toolSpecs("anthropic", { brief: true }));
  const answers = [];
  for (let call; (call = model.respond(answers)); ) {
    const answer = await workspace.call(...call, { approve: person });
    if (answer.ok) say("answer", answer.output);
    else say("answer", `${answer.error.kind}: ${answer.error.message}\n${answer.error.details.output ?? ""}`);
    answers.push(answer);
  }
}

const root = mkdtempSync(join(tmpdir(), "agent-"));
try {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(root, name), text);
  const workspace = new Workspace(root, { agent: "example", approve: "ask", verify: CHECK });
  const turn = await workspace.turn(() => work(workspace));
  say("turn", `${turn.transactions.length} changes\n${turn.diff}`);
  say("person", "undo all of it");
  await workspace.undo(undefined, { turn: turn.id, approve: () => true });
  const same = Object.entries(FILES).every(([name, text]) => readFileSync(join(root, name), "utf8") === text);
  say("files", same ? "as before" : "not as before");
} finally {
  rmSync(root, { recursive: true });
}
