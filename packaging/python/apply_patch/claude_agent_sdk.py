"""The file tools for the Claude Agent SDK, as a server in the process of the program.

    from apply_patch import Workspace
    from apply_patch.claude_agent_sdk import server

    files = server(Workspace("."))
    options = ClaudeAgentOptions(mcp_servers={"files": files}, allowed_tools=["mcp__files"], tools=[])

`tools=[]` leaves out the tools of Claude Code itself, which write files by other rules. To ask a person, give `approve`, or leave the
tools out of `allowed_tools` and answer the SDK's `can_use_tool`.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from ._native import Cancellation, tool_specs
from ._tools import functions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from typing_extensions import Unpack

    from ._native import Workspace
    from ._tools import ToolOptions


def server(
    workspace: Workspace,
    only: Collection[str] | None = None,
    *,
    name: str = "files",
    **options: Unpack[ToolOptions],
) -> Any:
    """A server for `mcp_servers` with the file tools of the workspace; `only` names those that are wanted.

    `brief` makes descriptions short, `approve` and `observe` are those of every call.

    A call runs in a thread, and so do the callbacks. One that is cancelled changes nothing, or is made already.
    """
    from claude_agent_sdk import SdkMcpTool, ToolAnnotations, create_sdk_mcp_server

    hints = {spec["name"]: ToolAnnotations(**spec["annotations"]) for spec in tool_specs("mcp")}
    tools = [
        SdkMcpTool(tool, description, schema, _handler(workspace, tool, options), annotations=hints[tool])
        for tool, description, schema, _ in functions(workspace, only, **options)
    ]
    return create_sdk_mcp_server(name, tools=tools)


def _handler(workspace: Workspace, tool: str, options: ToolOptions) -> Callable[[dict[str, Any]], Any]:
    callbacks: dict[str, Any] = {name: options.get(name) for name in ("approve", "observe")}

    async def call(arguments: dict[str, Any]) -> dict[str, Any]:
        cancellation = Cancellation()
        try:
            answer = await asyncio.to_thread(workspace.call, tool, arguments, cancellation=cancellation, **callbacks)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise
        text = json.dumps(answer, ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}], "is_error": not answer["ok"]}

    return call
