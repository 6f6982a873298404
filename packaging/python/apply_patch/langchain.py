"""The file tools for LangChain and LangGraph.

    from apply_patch import Workspace
    from apply_patch.langchain import tools

    agent = create_agent(model, tools=tools(Workspace(".")))

With `later=True` a change stops the graph with LangGraph's `interrupt`, and needs a checkpointer. The value of the interrupt is what a
person has to see: `proposalId`, `files`, `diff`, `digest`, `why`. The run goes on, also in another process and on another day, with
`Command(resume={"approve": True})` or `Command(resume={"approve": False, "why": "…"})`. If the files have changed meanwhile so that the
result differs, the graph stops again with the new diff: approve that one with `{"approve": True, "digest": …}`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from . import _later
from ._tools import functions

if TYPE_CHECKING:
    from collections.abc import Collection

    from typing_extensions import Unpack

    from ._native import Workspace
    from ._tools import ToolOptions

_CALL: ContextVar[str | None] = ContextVar("apply_patch_call", default=None)


def tools(
    workspace: Workspace,
    only: Collection[str] | None = None,
    *,
    later: bool = False,
    **options: Unpack[ToolOptions],
) -> list[Any]:
    """A `StructuredTool` for each file tool of the workspace; `only` names those that are wanted.

    `brief` makes descriptions short, `approve` and `observe` are those of every call.
    """
    from langchain_core.tools import StructuredTool

    _later.only_one_asks(later, options.get("approve"))
    made = functions(workspace, only, **options)
    if not later:
        return [
            StructuredTool.from_function(function, name=name, description=description, args_schema=schema)
            for name, description, schema, function in made
        ]
    stopping = _stopping_tool()
    return [
        stopping.from_function(_stopping(workspace, name), name=name, description=description, args_schema=schema)
        for name, description, schema, _ in made
    ]


def _stopping_tool() -> Any:
    from langchain_core.tools import StructuredTool

    class StoppingTool(StructuredTool):  # type: ignore[misc, unused-ignore]
        """A tool that knows the id of its call."""

        def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            token = _CALL.set(_id(input))
            try:
                return super().invoke(input, config, **kwargs)
            finally:
                _CALL.reset(token)

        async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            token = _CALL.set(_id(input))
            try:
                return await super().ainvoke(input, config, **kwargs)
            finally:
                _CALL.reset(token)

    return StoppingTool


def _id(given: Any) -> str | None:
    is_call = isinstance(given, dict) and given.get("type") == "tool_call"
    return given.get("id") if is_call else None


def _stopping(workspace: Workspace, name: str) -> Any:
    def call(**arguments: Any) -> str:
        from langgraph.types import interrupt

        call_id = _CALL.get()
        if not call_id:
            raise ValueError(f"with `later`, {name} is called by a graph, as a tool call with an id")
        # A graph that goes on runs all of this again: the same call has the same proposal.
        answer, proposal = _later.begin(workspace, name, arguments, call_id)
        while proposal is not None:
            decision = interrupt(_later.shown(workspace, proposal))
            if isinstance(decision, bool):
                decision = {"approve": decision}
            if not decision.get("approve"):
                return _later.answered(_later.decline, workspace, proposal, decision.get("why")) or answer
            done = _later.answered(_later.approve, workspace, proposal, decision.get("digest"))
            if done is not None:
                return done
        return answer

    call.__name__ = name
    return call
