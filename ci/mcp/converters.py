"""Other people's converters over every tool that the server lists: what becomes of the schemas, strict or not, and one patch applied.

Each converter runs in a process of its own, in the environment that has it. Usage: converters.py PROGRAM PYTHON LANGCHAIN_PYTHON,
which prints one table; `converters.py PROGRAM NAME` is one of those processes.
"""

import asyncio
import contextlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PATIENCE = 60  # a hang guard, in seconds
PATCH = {"patch": "*** Begin Patch\n*** Update File: f\n@@\n-two\n+TWO\n*** End Patch\n"}
#: What a strict converter makes required has to be given, so a model gives what means nothing.
NOTHING = {"string": "", "integer": 0, "boolean": False, "array": []}


def command(root: pathlib.Path) -> tuple[str, list[str], dict[str, str]]:
    args = ["serve", "--mcp", "--root", str(root), "--durability", "process"]
    return sys.argv[1], args, {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}


def lost(wire: dict, got: dict, at: str, strict: bool) -> list[str]:
    """What of a schema a converter left out or changed; strict ones may only require more, and close objects."""
    found = [f"{at}: {key}" for key in ["description", "enum"] if wire.get(key) != got.get(key)]
    # A converter may leave the type of an enum to its values.
    if str(got.get("type", wire["type"] if "enum" in wire else None)).lower() != wire["type"]:
        found.append(f"{at}: type")
    properties, kept = wire.get("properties", {}), got.get("properties") or {}
    if wire["type"] == "object":
        if set(properties) != set(kept):
            found.append(f"{at}: properties {sorted(set(properties) ^ set(kept))}")
        required, left = set(wire.get("required", [])), set(got.get("required") or [])
        if not (required <= left if strict else required == left):
            found.append(f"{at}: required {sorted(left)}")
        if strict and got.get("additionalProperties") is not False:
            found.append(f"{at}: additionalProperties")
    for name in set(properties) & set(kept):
        found += lost(properties[name], kept[name], f"{at}.{name}", strict)
    if wire["type"] == "array":
        found += lost(wire["items"], got.get("items") or {}, f"{at}[]", strict)
    return found


def check(listed: list[dict], converted: dict[str, tuple[str, dict]], strict: bool = False) -> int:
    wrong = [f"{tool} is only there once" for tool in {tool["name"] for tool in listed} ^ set(converted)]
    for tool in listed:
        description, schema = converted.get(tool["name"], (None, None))
        if schema is not None:
            wrong += [] if description == tool["description"] else [f"{tool['name']}: its description"]
            wrong += lost(tool["inputSchema"], schema, tool["name"], strict)
    assert not wrong, wrong
    return len(converted)


def filled(schema: dict, arguments: dict) -> dict:
    """The arguments, and nothing for each other one that the schema requires."""
    more = {name: one for name, one in schema["properties"].items() if name in schema.get("required", [])}
    return {name: one["enum"][0] if "enum" in one else NOTHING[one["type"]] for name, one in more.items()} | arguments


@contextlib.asynccontextmanager
async def session(root: pathlib.Path):
    """A session of the protocol's own SDK, for what converts its types."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    program, args, env = command(root)
    async with stdio_client(StdioServerParameters(command=program, args=args, env=env)) as streams:
        async with ClientSession(*streams) as client:
            await client.initialize()
            yield client


def plain(tools) -> list[dict]:
    return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools]


async def openai(root: pathlib.Path):
    import pydantic
    from openai import pydantic_function_tool
    from openai.types.chat import ChatCompletionFunctionToolParam
    async with session(root) as client:
        listed = plain((await client.list_tools()).tools)

        def strictly(tool: dict) -> dict:
            # The package converts models: this one has the schema of the tool.
            schema = classmethod(lambda *_: json.loads(json.dumps(tool["inputSchema"])))
            model = type("Model", (pydantic.BaseModel,), {"__get_pydantic_json_schema__": schema})
            made = pydantic_function_tool(model, name=tool["name"], description=tool["description"])
            return pydantic.TypeAdapter(ChatCompletionFunctionToolParam).validate_python(made)["function"]

        made = [strictly(tool) for tool in listed]
        assert all(tool["strict"] for tool in made), made
        count = check(listed, {tool["name"]: (tool["description"], tool["parameters"]) for tool in made}, strict=True)
        schema = next(tool["parameters"] for tool in made if tool["name"] == "apply_patch")
        result = plain([await client.call_tool("apply_patch", filled(schema, PATCH))])[0]
    return count, f"{count} of {len(listed)}", not result["isError"] or result


async def openai_agents(root: pathlib.Path):
    from agents import Agent, RunContextWrapper
    from agents.mcp import MCPServerStdio, MCPUtil
    from agents.tool_context import ToolContext
    program, args, env = command(root)
    async with MCPServerStdio({"command": program, "args": args, "env": env}) as server:
        listed = plain(await server.list_tools())

        async def convert(strict: bool):
            return await MCPUtil.get_function_tools(server, strict, RunContextWrapper(None), Agent("a", mcp_servers=[server]))

        count = 0
        for strict in [False, True]:
            tools = await convert(strict)
            assert all(tool.strict_json_schema == strict for tool in tools)
            count = check(listed, {tool.name: (tool.description, tool.params_json_schema) for tool in tools}, strict)
        tool = next(tool for tool in tools if tool.name == "apply_patch")
        given = json.dumps(filled(tool.params_json_schema, PATCH))
        context = ToolContext(None, tool_name=tool.name, tool_call_id="call", tool_arguments=given)
        result = await tool.on_invoke_tool(context, given)
    return count, f"{count} of {len(listed)}", "transactionId" in str(result) or result


async def anthropic(root: pathlib.Path):
    from anthropic import transform_schema
    from anthropic.lib.tools.mcp import async_mcp_tool
    async with session(root) as client:
        tools = (await client.list_tools()).tools
        listed = plain(tools)
        made = {tool.name: async_mcp_tool(tool, client, strict=True) for tool in tools}
        shown = {name: tool.to_dict() for name, tool in made.items()}
        assert all(tool["strict"] for tool in shown.values()), shown
        count = check(listed, {name: (tool["description"], tool["input_schema"]) for name, tool in shown.items()})
        strictly = {tool["name"]: (tool["description"], transform_schema(tool["inputSchema"])) for tool in listed}
        strict = check(listed, strictly, strict=True)
        result = await made["apply_patch"].call(PATCH)
    return count, f"{strict} of {len(listed)}", "transactionId" in str(result) or result


async def google_genai(root: pathlib.Path):
    from google.genai import types
    from google.genai._adapters import McpToGenAiToolAdapter
    async with session(root) as client:
        tools = await client.list_tools()
        adapter = McpToGenAiToolAdapter(client, tools)
        made = [one for tool in adapter.tools for one in tool.model_dump(mode="json", exclude_none=True)["function_declarations"]]
        count = check(plain(tools.tools), {one["name"]: (one["description"], one["parameters"]) for one in made})
        result = await adapter.call_tool(types.FunctionCall(name="apply_patch", args=PATCH))
        result = plain([result])[0]
    return count, "has none", not result["isError"] or result


async def pydantic_ai(root: pathlib.Path):
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.profiles.google import GoogleOpenAPISchemaTransformer
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
    program, args, env = command(root)
    toolset = MCPToolset(StdioTransport(program, args, env=env))
    offered, results = [], []

    async def model(messages, info) -> ModelResponse:
        offered[:] = info.function_tools
        results.extend(part.content for part in messages[-1].parts if part.part_kind == "tool-return")
        return ModelResponse([TextPart("done") if results else ToolCallPart("apply_patch", PATCH)])

    async with toolset:
        listed = plain(await toolset.list_tools())
        await Agent(FunctionModel(model), toolsets=[toolset]).run("change f")
    schemas = {tool.name: (tool.description, tool.parameters_json_schema) for tool in offered}
    count = check(listed, schemas)

    def transformed(transformer, **options) -> dict:
        return {name: (text, transformer(schema, **options).walk()) for name, (text, schema) in schemas.items()}

    check(listed, transformed(GoogleOpenAPISchemaTransformer))
    strict = check(listed, transformed(OpenAIJsonSchemaTransformer, strict=True), strict=True)
    return count, f"{strict} of {len(listed)}", "transactionId" in str(results) or results


async def langchain(root: pathlib.Path):
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_openai import ChatOpenAI
    program, args, env = command(root)
    server = {"transport": "stdio", "command": program, "args": args, "env": env}
    client = MultiServerMCPClient({"apply-patch": server})
    async with client.session("apply-patch") as own:
        listed = plain((await own.list_tools()).tools)
    count = 0
    for strict in [False, True]:
        # The strict converter writes into the schemas that it is given.
        tools = await client.get_tools()
        made = [convert_to_openai_tool(tool, strict=strict)["function"] for tool in tools]
        assert all(tool["strict"] == strict for tool in made)
        count = check(listed, {tool["name"]: (tool["description"], tool["parameters"]) for tool in made}, strict)
    bound = ChatOpenAI(model="none", api_key="none").bind_tools(tools, strict=True).kwargs["tools"]
    assert [tool["function"] for tool in bound] == made, bound
    result = await next(tool for tool in tools if tool.name == "apply_patch").ainvoke(PATCH)
    return count, f"{count} of {len(listed)}", "transactionId" in str(result) or result


#: Each converter with the package that has it.
CONVERTERS = {
    "openai": openai,
    "openai-agents": openai_agents,
    "anthropic": anthropic,
    "google-genai": google_genai,
    "pydantic-ai-slim": pydantic_ai,
    "langchain-mcp-adapters": langchain,
}


def one(package: str) -> list[str]:
    version = importlib.metadata.version(package)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root = pathlib.Path(folder).resolve()
        (root / "f").write_text("one\ntwo\n")
        converted, strict, called = asyncio.run(asyncio.wait_for(CONVERTERS[package](root), PATIENCE))
        assert called is True, called
        assert (root / "f").read_text() == "one\nTWO\n", "the patch has not landed"
    return [package, version, str(converted), strict, "apply_patch"]


def main() -> None:
    program, python, with_langchain = sys.argv[1:]
    rows, failed = [], 0
    for package in CONVERTERS:
        where = with_langchain if package.startswith("langchain") else python
        # Pip installs all of a list or nothing.
        has = f"import importlib.metadata as m; m.version({package!r})"
        if subprocess.run([where, "-c", has], capture_output=True).returncode:
            print(f"skipped in part: {package} cannot be installed")
            continue
        done = subprocess.run([where, "-W", "ignore", __file__, program, package], capture_output=True, text=True)
        if done.returncode:
            failed += 1
            print(f"FAILED: {package}: {done.stderr[-3000:]}")
        else:
            rows.append(json.loads(done.stdout.splitlines()[-1]))
    head = ["converter", "version", "tools converted", "strict", "called"]
    for row in [head, ["---"] * len(head), *rows]:
        print("| " + " | ".join(row) + " |")
    print(f"{len(rows)} passed, {failed} failed")
    sys.exit(failed > 0)


if len(sys.argv) == 3:
    print(json.dumps(one(sys.argv[2])))
else:
    main()
