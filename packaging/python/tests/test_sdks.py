"""The drop-ins, with the SDKs themselves; those that are not installed are skipped."""

import asyncio
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import REPOSITORY

import apply_patch
from apply_patch import Workspace, tool_specs


def test_langchain(root):
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from apply_patch.langchain import tools

    by_name = {tool.name: tool for tool in tools(Workspace(root))}
    assert len(by_name) == len(tool_specs("anthropic"))
    assert json.loads(by_name["read_file"].invoke({"path": "a.txt"}))["ok"]
    edit = {"path": "a.txt", "edits": [{"oldText": "two", "newText": "2"}]}
    assert json.loads(by_name["edit_file"].invoke(edit))["ok"]
    assert (root / "a.txt").read_text() == "one\n2\nthree\n"
    assert "suggestedNextAction" in by_name["read_file"].invoke({"path": "missing"})
    assert [tool.name for tool in tools(Workspace(root), ["read_file"])] == ["read_file"]
    with pytest.raises(ValueError, match="no tool 'telepathy'"):
        tools(Workspace(root), ["telepathy"])


def test_pydantic_ai(root):
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from apply_patch.pydantic_ai import toolset

    turns = iter([
        [ToolCallPart("read_file", {"path": "a.txt"})],
        [ToolCallPart("edit_file", {"path": "a.txt", "edits": [{"oldText": "two", "newText": "2"}]})],
        [TextPart("done")],
    ])
    offered = []

    def model(messages, info):
        offered[:] = [tool.name for tool in info.function_tools]
        return ModelResponse(parts=next(turns))

    agent = Agent(FunctionModel(model), toolsets=[toolset(Workspace(root))])
    assert agent.run_sync("set two to 2").output == "done"
    assert len(offered) == len(tool_specs("anthropic")) and (root / "a.txt").read_text() == "one\n2\nthree\n"


class ClaudeCode:
    """As much of Claude Code as the SDK needs: a model that lists the tools, makes these calls, and ends."""

    def __init__(self, *calls):
        import anyio

        self.calls, self.answers, self.tools = calls, [], []
        self._send, self._receive = anyio.create_memory_object_stream(100)
        self._waiting = iter([("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
                              ("notifications/initialized", None), ("tools/list", {}),
                              *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls)])

    async def connect(self):
        pass

    def is_ready(self):
        return True

    async def end_input(self):
        pass

    async def close(self):
        self._send.close()

    async def read_messages(self):
        async for message in self._receive:
            yield message

    async def _next(self):
        step = next(self._waiting, None)
        if step is None:
            ended = {"subtype": "success", "is_error": False, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "session_id": "s", "result": "done"}
            return await self._send.send({"type": "result", **ended})
        method, params = step
        message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params, "id": len(self.answers) + 1})}
        request = {"subtype": "mcp_message", "server_name": "files", "message": message}
        await self._send.send({"type": "control_request", "request_id": method, "request": request})

    async def write(self, data):
        message = json.loads(data)
        if message["type"] == "control_request":
            answer = {"subtype": "success", "request_id": message["request_id"], "response": {"commands": []}}
            await self._send.send({"type": "control_response", "response": answer})
        elif message["type"] == "user":
            await self._next()
        elif message["type"] == "control_response":
            self.answers.append(message["response"]["response"]["mcp_response"].get("result"))
            await self._next()


def test_claude_agent_sdk(root):
    sdk = pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed")
    from apply_patch.claude_agent_sdk import server

    def run(*calls, **options):
        claude = ClaudeCode(*calls)

        async def main():
            given = sdk.ClaudeAgentOptions(mcp_servers={"files": server(Workspace(root), **options)})
            async with sdk.ClaudeSDKClient(given, transport=claude) as client:
                await client.query("set two to 2")
                return [message async for message in client.receive_response()]

        assert asyncio.run(asyncio.wait_for(main(), 60))[-1].result == "done"
        listed = claude.answers[2]["tools"]
        return listed, [(answer.get("isError", False), json.loads(answer["content"][0]["text"])) for answer in claude.answers[3:]]

    edit = {"path": "a.txt", "edits": [{"oldText": "two", "newText": "2"}]}
    listed, answers = run(("read_file", {"path": "a.txt"}), ("edit_file", edit), ("read_file", {"path": "missing"}))
    assert [tool["name"] for tool in listed] == [spec["name"] for spec in tool_specs("anthropic")]
    assert listed[0]["inputSchema"] == tool_specs("anthropic")[0]["input_schema"]
    assert listed[0]["annotations"]["readOnlyHint"] is True
    assert [(is_error, answer["ok"]) for is_error, answer in answers] == [(False, True), (False, True), (True, False)]
    assert (root / "a.txt").read_text() == "one\n2\nthree\n" and "suggestedNextAction" in answers[2][1]["error"]
    # What no tool knows is refused, and not left out.
    listed, ((is_error, answer),) = run(("read_file", {"path": "a.txt", "line": 1}), only=["read_file"])
    assert [tool["name"] for tool in listed] == ["read_file"] and is_error and "line" in answer["error"]["message"]
    asked = []
    _, (_, (is_error, answer)) = run(
        ("read_file", {"path": "a.txt"}), ("edit_file", {**edit, "edits": [{"oldText": "2", "newText": "II"}]}),
        approve=lambda proposal: bool(asked.append(proposal.diff)),
    )
    assert is_error and answer["error"]["details"]["reason"] == "declined" and "+II" in asked[0]
    assert (root / "a.txt").read_text() == "one\n2\nthree\n"
    with pytest.raises(ValueError, match="no tool 'telepathy'"):
        server(Workspace(root), ["telepathy"])


@pytest.fixture
def agents():
    return pytest.importorskip("agents", reason="openai-agents is not installed")


def responses(agents, *turns):
    """A model that answers with these items, turn after turn."""
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Model(agents.Model):
        def __init__(self):
            self.turns = iter(turns)
            self.inputs = []

        async def get_response(self, system_instructions, input, *args, **kwargs):
            self.inputs.append(input)
            items = next(self.turns, None)
            if items is None:
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                items = [
                    ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
                ]
            return agents.ModelResponse(output=items, usage=agents.Usage(), response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    return Model()


def call(nth, **operation):
    return {"type": "apply_patch_call", "call_id": f"c{nth}", "status": "completed", "id": f"i{nth}", "operation": operation}


UPDATE = {"type": "update_file", "path": "a.txt", "diff": "@@\n one\n-two\n+TWO\n"}
CREATE = {"type": "create_file", "path": "b.txt", "diff": "+b\n+"}
WRONG = {"type": "update_file", "path": "a.txt", "diff": "@@\n-four\n+4\n"}


def run(agents, root, turns, hooks=True, **options):
    from apply_patch.openai_agents import ApplyPatchEditor

    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
    editor = ApplyPatchEditor(Workspace(root, durability="none"), **options)
    model = responses(agents, *turns)
    agent = agents.Agent(name="coder", model=model, tools=[agents.ApplyPatchTool(editor=editor)])
    asyncio.run(agents.Runner.run(agent, "do it", hooks=editor.hooks() if hooks else None))
    outputs = [item for item in model.inputs[-1] if item.get("type") == "apply_patch_call_output"]
    return [(item["status"], item["output"]) for item in outputs], editor


def test_a_turn_is_one_transaction(agents, root):
    answers, editor = run(agents, root, [[call(1, **UPDATE), call(2, **CREATE)]])
    assert [status for status, _ in answers] == ["completed", "completed"]
    assert answers[0] == answers[1] and "transaction" in answers[0][1]
    assert len(Workspace(root).log()["transactions"]) == 1 and (root / "b.txt").read_text() == "b\n"
    assert not editor._turns


def test_a_turn_that_fails_changes_nothing_and_no_answer_says_completed(agents, root):
    answers, _ = run(agents, root, [[call(1, **CREATE), call(2, **WRONG)]])
    assert [status for status, _ in answers] == ["failed", "failed"]
    assert "none of the 2 operations" in answers[0][1] and not (root / "b.txt").exists()


def test_the_next_turn_is_another_transaction(agents, root):
    answers, _ = run(agents, root, [[call(1, **WRONG)], [call(2, **UPDATE)], [call(3, **CREATE)]])
    assert [status for status, _ in answers] == ["failed", "completed", "completed"]
    assert len(Workspace(root).log()["transactions"]) == 2


def test_without_hooks_each_operation_is_a_transaction(agents, root):
    answers, _ = run(agents, root, [[call(1, **CREATE), call(2, **WRONG), call(3, **UPDATE)]], hooks=False)
    assert [status for status, _ in answers] == ["completed", "failed", "completed"]
    assert len(Workspace(root).log()["transactions"]) == 2


def test_the_editor_asks(agents, root):
    answers, _ = run(agents, root, [[call(1, **UPDATE)]], approve=lambda proposal: False)
    assert answers[0][0] == "failed" and "declined" in answers[0][1]
    from apply_patch.openai_agents import ApplyPatchEditor

    editor = ApplyPatchEditor(Workspace(root))
    tool = agents.ApplyPatchTool(editor=editor, needs_approval=True)
    agent = agents.Agent(name="coder", model=responses(agents, [call(1, **UPDATE)]), tools=[tool])
    with pytest.raises(ValueError, match="needs_approval"):
        asyncio.run(agents.Runner.run(agent, "do it", hooks=editor.hooks()))


# The tests of `apply_diff` in openai-agents that ours answers differently, each with the rule of ours that is behind it:
# docs/libraries.md has the same list.
DIFFERENT = {
    "test_apply_diff_rejects_partially_matched_stacked_anchors": "it is refused, in other words",
    "test_apply_diff_rejects_stacked_anchors_when_the_first_is_missing": "it is refused, in other words",
    "test_apply_diff_rejects_a_missing_anchor_followed_by_a_bare_marker": "the lines are in one place of the text only",
}


def test_the_sdks_own_tests_of_apply_diff(agents, tmp_path):
    """Unchanged but for the import."""
    version = __import__("importlib.metadata", fromlist=["version"]).version("openai-agents")
    source = os.environ.get("OPENAI_AGENTS_SDIST")
    if source is None:
        pytest.skip(f"the sources of openai-agents {version} are not here: OPENAI_AGENTS_SDIST names their folder")
    text = (pathlib.Path(source) / "tests" / "test_apply_diff.py").read_text()
    assert "from agents import apply_diff" in text
    test = tmp_path / "test_theirs.py"
    test.write_text(text.replace("from agents import apply_diff", "from apply_patch.openai_agents import apply_diff"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=line", "-p", "no:cacheprovider", str(test)],
        capture_output=True, text=True, cwd=tmp_path,
    )
    results = dict(reversed(line.split(" ")[:2]) for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED")))
    results = {name.partition("::")[2]: result for name, result in results.items()}
    assert len(results) >= 20, done.stdout
    assert {name for name, result in results.items() if result == "FAILED"} == set(DIFFERENT), done.stdout
    page = (REPOSITORY / "docs" / "libraries.md").read_text()
    assert all(f"`{name}`" in page for name in DIFFERENT)


def test_apply_diff_is_the_sdks_function(agents):
    from agents import apply_diff as theirs

    for text, diff, mode in [("one\ntwo\n", "@@\n one\n-two\n+2", "default"), ("", "+a\n+", "create")]:
        assert apply_patch.apply_diff(text, diff, mode) == theirs(text, diff, mode)
    with pytest.raises(ValueError):
        apply_patch.apply_diff("one\n", "@@\n-two\n+2")


def test_what_cannot_be_made_is_raised_to_who_decides_and_answered_to_a_model(root):
    from apply_patch import PatchError, _later

    workspace = Workspace(root)
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** End Patch\n"
    _, proposal = _later.begin(workspace, "apply_patch", {"patch": patch}, "c1")
    (root / "a.txt").write_text("none of it\n")
    with pytest.raises(PatchError):
        _later.approve(workspace, proposal)
    answer = json.loads(_later.answered(_later.approve, workspace, proposal))
    assert answer["ok"] is False and answer["error"]["kind"] == "stale_file"
    with pytest.raises(PatchError):
        _later.decline(workspace, "p-00000000")
    assert json.loads(_later.answered(_later.decline, workspace, "p-00000000"))["ok"] is False
    assert json.loads(_later.decline(workspace, proposal, "no"))["ok"]


def test_only_one_asks(root):
    for module, name in [("langchain_core", "langchain"), ("agents", "openai_agents"), ("pydantic_ai", "pydantic_ai")]:
        if importlib.util.find_spec(module):
            adapter = importlib.import_module(f"apply_patch.{name}")
            make = adapter.toolset if name == "pydantic_ai" else adapter.tools
            with pytest.raises(ValueError, match="leave out `approve`"):
                make(Workspace(root), later=True, approve=lambda _: True)
            with pytest.raises(TypeError):
                make(Workspace(root), aprove=lambda _: True)


LATER = [("openai_agents", "agents"), ("pydantic_ai", "pydantic_ai"), ("langgraph", "langgraph")]


@pytest.fixture(params=LATER, ids=[name for name, _ in LATER])
def later(request, tmp_path):
    """An agent whose change waits for a person. It was killed after that; what it showed, and what goes on in another process."""
    sdk, module = request.param
    pytest.importorskip(module, reason=f"{module} is not installed")
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    (root / "b.txt").write_text("b\n")
    program = pathlib.Path(__file__).with_name("later_program.py")

    def step(name, *decision):
        command = [sys.executable, program, sdk, name, root, *map(json.dumps, decision)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    begun = step("begin")
    assert begun.returncode == -9, begun.stderr
    (shown,) = json.loads(begun.stdout)
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"

    def go(decision):
        done = step("go", decision)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return root, shown, go


def test_a_change_waits_for_a_person_in_another_process(later):
    root, shown, go = later
    assert "-two\n+TWO\n" in shown["diff"] and shown["state"] == "proposed"
    # Another file was edited meanwhile.
    (root / "b.txt").write_text("B\n")
    assert shown["proposalId"] in go(True)
    assert (root / "a.txt").read_text() == "one\nTWO\nthree\n"
    assert [one["state"] for one in Workspace(root, session="agent").proposals()["proposals"]] == ["approved"]
    assert len(Workspace(root).log()["transactions"]) == 1


def test_a_declined_change_is_not_made_and_the_model_is_told_why(later):
    root, _, go = later
    assert "tabs, please" in go("tabs, please")
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"
    (proposal,) = Workspace(root, session="agent").proposals()["proposals"]
    assert (proposal["state"], proposal["decidedWhy"]) == ("declined", "tabs, please")


def test_another_result_is_shown_again_before_it_is_made(later):
    root, shown, go = later
    (root / "a.txt").write_text("zero\none\ntwo\nthree\n")
    waits = json.loads(go(True))["waits"]
    assert (root / "a.txt").read_text() == "zero\none\ntwo\nthree\n"
    assert waits["differs"] and waits["digest"] != shown["digest"] and " zero\n" in waits["diff"]
    assert waits["proposalId"] in go({"digest": waits["digest"]})
    assert (root / "a.txt").read_text() == "zero\none\nTWO\nthree\n"


def test_a_person_decides_at_a_terminal_meanwhile(later):
    root, shown, go = later
    Workspace(root, session="person").approve(shown["proposalId"])
    assert "approved" in go(True)
    assert len(Workspace(root).log()["transactions"]) == 1
