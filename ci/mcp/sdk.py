"""The Python SDK drives every tool in every mode; a person accepts and declines; progress; cancellation; resources."""

import json
import os
import pathlib
import sys
import tempfile
import warnings

import anyio
import jsonschema
import mcp.types as types
from mcp import Client, MCPError, StdioServerParameters

from script import FAILURES, TOOLS, prepare, script

program = sys.argv[1]
MODES = ["legacy", "auto", "2026-07-28"]
PATCH = "*** Begin Patch\n*** Update File: f\n@@\n-two\n+TWO\n*** End Patch\n"
warnings.simplefilter("ignore")


def server(root: pathlib.Path, *more: str) -> StdioServerParameters:
    args = ["serve", "--mcp", "--root", str(root), "--durability", "process", *more]
    return StdioServerParameters(command=program, args=args, env={"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]})


def plain(result) -> dict:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def every_tool(mode: str, root: pathlib.Path) -> None:
    prepare(root)
    async with Client(server(root), mode=mode) as client:
        listed = plain(await client.list_tools())["tools"]
        schemas = {tool["name"]: tool["outputSchema"] for tool in listed}
        assert list(schemas) == TOOLS, listed

        async def call(tool: str, arguments: dict) -> dict:
            result = plain(await client.call_tool(tool, arguments))
            jsonschema.validate(result["structuredContent"], schemas[tool])
            return result

        called, steps = set(), script(root)
        step = next(steps)
        while True:
            tool, arguments = step
            result = await call(tool, arguments)
            assert not result["isError"], (mode, tool, arguments, result)
            called.add(tool)
            try:
                step = steps.send(result["structuredContent"].get("data"))
            except StopIteration:
                break
        # The rest answer as their schemas say, too.
        for tool in set(TOOLS) - called:
            await call(tool, {})
        for tool, arguments, kind in FAILURES:
            result = await call(tool, arguments)
            assert result["isError"], (mode, tool, arguments, result)
            assert result["structuredContent"]["error"]["kind"] == kind, (mode, tool, arguments, result)
        try:
            await client.call_tool("no_such_tool", {})
        except MCPError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("an unknown tool was called")


async def approval(mode: str, root: pathlib.Path) -> None:
    prepare(root)
    for action, changed in [("decline", False), ("cancel", False), ("accept", True)]:
        shown = []

        async def person(_context, params):
            shown.append(params.message)
            return types.ElicitResult(action=action, content={"note": "use tabs"} if action == "accept" else None)

        async with Client(server(root, "--approve", "ask"), mode=mode, elicitation_callback=person) as client:
            result = plain(await client.call_tool("apply_patch", {"patch": PATCH, "profile": "codex"}))
        assert result["isError"] != changed, (mode, action, result)
        told = "the person who was asked says: use tabs" in result["content"][0]["text"]
        assert told == changed, (mode, action, result)
        assert len(shown) == 1 and "M f (+1 -1)" in shown[0] and "\n-two" in shown[0], (mode, shown)
        assert (b"TWO" in (root / "f").read_bytes()) == changed
    async with Client(server(root, "--approve", "ask"), mode=mode) as client:
        result = plain(await client.call_tool("create_file", {"path": "n", "content": ""}))
    error = result["structuredContent"]["error"]
    assert error["details"]["reason"] == "approval_required" and not (root / "n").exists(), (mode, result)


async def progress_and_cancellation(mode: str, root: pathlib.Path) -> None:
    prepare(root)
    for number in range(4000):
        folder = root / f"d{number % 40}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}").write_text("text to look through\n" * 50)
    steps = []

    async def told(progress, total, message):
        steps.append((progress, total, message))

    async with Client(server(root), mode=mode) as client:
        await client.call_tool("apply_patch", {"patch": PATCH, "profile": "codex"}, progress_callback=told)
        [(at, total)] = [(at, total) for at, total, message in steps if message == "planned: 1 updated"]
        # The file, and that it is written.
        assert total == at + 2, (mode, steps)
        finished = False
        with anyio.move_on_after(0.02):
            await client.call_tool("search_files", {"query": "absent", "mode": "text"})
            finished = True
        assert not finished, "the search is too short to be cancelled"
        result = plain(await client.call_tool("read_file", {"path": "f"}))
        assert not result["isError"], (mode, result)


async def resources(mode: str, root: pathlib.Path) -> None:
    prepare(root)
    updated = []

    async def heard(message) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            updated.append(str(message.params.uri))

    log = "apply-patch://log"
    async with Client(server(root, "--links"), mode=mode, message_handler=heard) as client:

        async def read(uri: str) -> dict:
            [contents] = plain(await client.read_resource(uri))["contents"]
            return json.loads(contents["text"])

        async def change() -> str:
            args = {"patch": PATCH, "profile": "codex"}
            result = plain(await client.call_tool("apply_patch", args, meta={"apply-patch/turn": "t1"}))
            uris = [block["uri"] for block in result["content"] if block["type"] == "resource_link"]
            assert uris[1] == (root / "f").as_uri(), (mode, result)
            return uris[0]

        assert [str(one.uri) for one in (await client.list_resources()).resources] == [log, "apply-patch://turn", "apply-patch://notes"]
        assert (await read(log))["transactions"] == []
        if mode == "legacy":
            await client.subscribe_resource(log)
            transaction = await change()
            with anyio.fail_after(30):
                while updated != [log]:
                    await anyio.sleep(0.01)
        else:
            async with client.listen(resource_subscriptions=[log]) as events:
                transaction = await change()
                with anyio.fail_after(30):
                    event = await anext(aiter(events))
                assert str(event.uri) == log, (mode, event)
        assert [one["tool"] for one in (await read(log))["transactions"]] == ["apply_patch"]
        assert "+TWO" in (await read(transaction))["diff"], (mode, transaction)
        turn = await read("apply-patch://turn")
        assert turn["id"] == "t1" and "+TWO" in turn["diff"], (mode, turn)
        prompt = plain(await client.get_prompt("write_patches", {"dialect": "whole"}))
        assert "*** Begin Patch" in prompt["messages"][0]["content"]["text"], (mode, prompt)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder).resolve()
        for mode in MODES:
            for check in [every_tool, approval, progress_and_cancellation, resources]:
                await check(mode, base / f"{mode}-{check.__name__}")
            print(f"{mode}: every tool, answers as their schemas say, asked and not asked, progress, cancelled, resources")


anyio.run(main)
