"""The MCP Inspector drives every tool in every era, and reads resources and the prompt, each with a server of its own."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from script import FAILURES, TOOLS, prepare, script

program, *inspector = sys.argv[1:]
# Clients hand on little of the environment.
ENV = {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}


def inspect(config: pathlib.Path, era: str, *args: str) -> tuple[int, dict, str]:
    command = [*inspector, "--cli", "--config", str(config), "--server", "ours", "--protocol-era", era, "--format", "json", *args]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    answer = json.loads(ran.stdout)["result"] if ran.stdout.strip() else {}
    return ran.returncode, answer, ran.stderr


def check(era: str, folder: pathlib.Path) -> int:
    root, config = folder / era, folder / f"{era}.json"
    prepare(root)
    args = ["serve", "--mcp", "--root", str(root), "--durability", "process", "--all-proposals"]
    # It starts a server for each call. The Inspector says in the legacy era that it has roots, so it has to name one.
    server = {"command": program, "args": args, "env": ENV, "roots": [{"uri": root.as_uri(), "name": "workspace"}]}
    config.write_text(json.dumps({"mcpServers": {"ours": server}}))

    code, listed, complaints = inspect(config, era, "--method", "tools/list", "--strict")
    assert code == 0, (era, code, complaints)
    assert "schema" not in complaints.lower() and "warning" not in complaints.lower(), complaints
    assert [tool["name"] for tool in listed["tools"]] == TOOLS, listed

    def call(tool: str, arguments: dict) -> tuple[int, dict]:
        code, answer, complaints = inspect(
            config, era, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)
        )
        assert answer, (era, tool, arguments, code, complaints)
        return code, answer

    called, steps = set(), script(root, one_session=False)
    step = next(steps)
    while True:
        tool, arguments = step
        code, answer = call(tool, arguments)
        assert code == 0 and answer["structuredContent"]["ok"], (era, tool, arguments, code, answer)
        called.add(tool)
        try:
            step = steps.send(answer["structuredContent"].get("data"))
        except StopIteration:
            break
    # The rest answer in band.
    for tool in set(TOOLS) - called:
        call(tool, {})
    for tool, arguments, kind in FAILURES:
        code, answer = call(tool, arguments)
        assert code == 5 and answer["isError"], (era, tool, arguments, code, answer)
        assert answer["structuredContent"]["error"]["kind"] == kind, (era, tool, arguments, answer)

    def ask(method: str, *args: str) -> dict:
        code, answer, complaints = inspect(config, era, "--method", method, *args)
        assert code == 0, (era, method, args, code, complaints)
        return answer

    def read(uri: str) -> dict:
        [contents] = ask("resources/read", "--uri", uri)["contents"]
        assert contents["uri"] == uri and contents["mimeType"] == "application/json", contents
        return json.loads(contents["text"])

    assert [one["uri"] for one in ask("resources/list")["resources"]] == ["apply-patch://log", "apply-patch://turn", "apply-patch://notes"]
    templates = [one["uriTemplate"] for one in ask("resources/templates/list")["resourceTemplates"]]
    assert templates == [
        f"apply-patch://{one}" for one in ("transaction/{id}", "session/{name}", "turn/{name}", "since/{start}", "proposal/{id}")
    ], templates
    newest = read("apply-patch://log")["transactions"][0]
    assert newest["tool"] == "undo", newest
    assert read(f"apply-patch://transaction/{newest['id']}")["diff"].startswith("diff --git a/f b/f"), newest
    assert read(f"apply-patch://since/{newest['id']}")["transactions"] == [newest["id"]], newest
    assert [one["name"] for one in ask("prompts/list")["prompts"]] == ["write_patches"]
    prompt = ask("prompts/get", "--prompt-name", "write_patches", "--prompt-args", "dialect=codex")
    assert "*** Begin Patch" in prompt["messages"][0]["content"]["text"], prompt
    return len(called)


with tempfile.TemporaryDirectory() as folder:
    for era in ["legacy", "auto", "modern"]:
        count = check(era, pathlib.Path(folder).resolve())
        print(f"{era}: strict listing, {count} tools, {len(FAILURES)} failures in band, resources, the prompt")
