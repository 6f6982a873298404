"""An agent, with a model that follows a script: it calls tools in a turn, a check and a person look at each change, and in the
end the person undoes all of it.

    python examples/agent.py
"""

import pathlib
import tempfile

from apply_patch import Workspace, tool_specs

FILES = {"add.sh": "echo $(($1 - $2))\n", "notes.txt": "to be kept\n"}
CHECK = 'test "$(sh add.sh 1 2)" = 3 || { echo "1 and 2 are not 3"; exit 1; }'
# What the model does: a tool, its arguments, and why.
SCRIPT = [
    ("looks at the file", "read_file", {"path": "add.sh"}),
    ("multiplies", "edit_file", {"path": "add.sh", "edits": [{"oldText": "-", "newText": "*"}]}),
    ("adds", "edit_file", {"path": "add.sh", "edits": [{"oldText": "-", "newText": "+"}]}),
    ("tidies up", "delete_file", {"path": "notes.txt"}),
    ("writes a comment", "edit_file", {"path": "add.sh", "edits": [{"oldText": "echo", "newText": "# Adds.\necho"}]}),
]


def say(who, what):
    print(f"{who:>6}  " + what.strip().replace("\n", "\n        "))


class ScriptedModel:
    """Stands for a provider's client: it is given the tools and all answers so far."""

    def __init__(self, tools):
        self.tools = {tool["name"] for tool in tools}

    def respond(self, answers):
        if len(answers) == len(SCRIPT):
            return None
        why, tool, arguments = SCRIPT[len(answers)]
        assert tool in self.tools
        say("model", why)
        return tool, arguments


def person(proposal):
    """Minds deletions; other changes are fine, and again in this turn."""
    decision = False if any(file["operation"] == "delete" for file in proposal.changes) else "turn"
    files = ", ".join(f"{file['operation']} {file['path']}" for file in proposal.changes)
    say("person", f"{files}: {'no' if decision is False else 'yes, for this turn'}")
    return decision


def work(workspace):
    model, answers = ScriptedModel(tool_specs("anthropic", brief=True)), []
    while call := model.respond(answers):
        answer = workspace.call(*call, approve=person)
        if answer["ok"]:
            say("answer", answer["output"])
        else:
            error = answer["error"]
            say("answer", f"{error['kind']}: {error['message']}\n{error['details'].get('output', '')}")
        answers.append(answer)


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in FILES.items():
            (root / name).write_text(text)
        workspace = Workspace(root, agent="example", approve="ask", verify=CHECK)
        with workspace.turn() as turn:
            work(workspace)
        say("turn", f"{len(turn.transactions)} changes\n{turn.diff}")
        say("person", "undo all of it")
        workspace.undo(turn=turn.id, approve=lambda proposal: True)
        say("files", "as before" if {name: (root / name).read_text() for name in FILES} == FILES else "not as before")


main()
