"""The file tools for LangChain and LangGraph.

    from apply_patch import Workspace
    from apply_patch.langchain import tools

    agent = create_agent(model, tools=tools(Workspace(".")))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._tools import functions

if TYPE_CHECKING:
    from collections.abc import Collection

    from ._native import Approve, Observe, Workspace


def tools(
    workspace: Workspace,
    only: Collection[str] | None = None,
    *,
    brief: bool = False,
    approve: Approve | None = None,
    observe: Observe | None = None,
) -> list[Any]:
    """A `StructuredTool` for each file tool of the workspace; `only` names those that are wanted."""
    from langchain_core.tools import StructuredTool

    return [
        StructuredTool.from_function(function, name=name, description=description, args_schema=schema)
        for name, description, schema, function in functions(
            workspace, only, brief=brief, approve=approve, observe=observe
        )
    ]
