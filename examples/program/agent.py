import json
import os
import subprocess
import uuid

PROGRAM = os.environ.get("APPLY_PATCH", "apply-patch")
SESSION = "agent-" + uuid.uuid4().hex[:8]


def run(*args, text=""):
    """The program's answer; it is JSON also when a call fails."""
    return json.loads(subprocess.run([PROGRAM, *args], input=text, capture_output=True, text=True).stdout)


def call(name, arguments):
    return run("tool", name, "--session", SESSION, "--args", "-", text=json.dumps(arguments))


TOOLS = run("tool-spec", "--all-tools", "--brief", "--provider", "openai")


def turn(model, task, most=12):
    """Lets the model call tools until it has something to say."""
    messages = [{"role": "user", "content": task}]
    for _ in range(most):
        said, calls = model(messages, TOOLS)
        if not calls:
            return said
        for name, arguments in calls:
            answer = call(name, arguments)
            print(name, "ok" if answer["ok"] else answer["error"]["kind"])
            messages.append({"role": "tool", "name": name, "arguments": arguments, "content": answer})
    return "gave up"


def scripted(messages, tools):
    """Stands for a model: it edits a file, and does what a hint says when that fails."""
    assert any(tool["name"] == "edit_file" for tool in tools)
    edit = ("edit_file", {"path": "app.py", "edits": [{"oldText": "x = 1", "newText": "x = 2"}]})
    last = messages[-1]
    if last["role"] == "user":
        return "", [edit]
    if last["name"] == "edit_file" and last["content"]["ok"]:
        return "x is 2 now", []
    if last["name"] == "edit_file":
        hint = last["content"]["error"]["hints"][0]
        assert hint["hint"] in ("read_again", "use_tool"), hint
        return "", [("read_file", {"path": hint["path"]})]
    if sum(message.get("name") == "read_file" for message in messages) == 1:
        with open("app.py", "a") as file:  # somebody else is at work, too
            file.write("y = 3\n")
    return "", [edit]


if __name__ == "__main__":
    print(turn(scripted, "set x to 2 in app.py"))
