"""The file tools for Pydantic AI.

    from apply_patch import Workspace
    from apply_patch.pydantic_ai import toolset

    agent = Agent(model, toolsets=[toolset(Workspace("."))])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._tools import functions

if TYPE_CHECKING:
    from collections.abc import Collection

    from ._native import Approve, Observe, Workspace


def toolset(
    workspace: Workspace,
    only: Collection[str] | None = None,
    *,
    brief: bool = False,
    approve: Approve | None = None,
    observe: Observe | None = None,
    **options: Any,
) -> Any:
    """A `FunctionToolset` with the file tools of the workspace; `only` names those that are wanted.

    They are called one after the other. What else a toolset takes is passed on.
    """
    from pydantic_ai import Tool
    from pydantic_ai.toolsets import FunctionToolset

    tools = [
        Tool.from_schema(function, name=name, description=description, json_schema=schema, sequential=True)
        for name, description, schema, function in functions(
            workspace, only, brief=brief, approve=approve, observe=observe
        )
    ]
    return FunctionToolset(tools, **options)
