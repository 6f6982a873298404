"""The file tools for Pydantic AI.

    from apply_patch import Workspace
    from apply_patch.pydantic_ai import toolset

    agent = Agent(model, toolsets=[toolset(Workspace("."))])

With `later=True` a change ends the run with `DeferredToolRequests`, which the agent needs among its output types. Their `metadata` has,
for each call, what a person has to see: `proposalId`, `files`, `diff`, `digest`, `why`. `decided` makes of the answers what the next run
takes, also in another process and on another day:

    result = agent.run_sync("…")
    answers = decided(workspace, result.output, {call_id: True})        # or "why not"
    agent.run_sync(message_history=result.all_messages(), deferred_tool_results=answers)

If the files have changed meanwhile so that the result differs, the run ends with a request for the new diff.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _later
from ._tools import functions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ._native import Approve, Observe, Workspace


def toolset(
    workspace: Workspace,
    only: Collection[str] | None = None,
    *,
    brief: bool = False,
    approve: Approve | None = None,
    observe: Observe | None = None,
    later: bool = False,
    **options: Any,
) -> Any:
    """A `FunctionToolset` with the file tools of the workspace; `only` names those that are wanted.

    They are called one after the other. What else a toolset takes is passed on.
    """
    from pydantic_ai import Tool
    from pydantic_ai.toolsets import FunctionToolset

    _later.only_one_asks(later, approve)
    tools = [
        Tool.from_schema(
            _deferred(workspace, name) if later else function,
            name=name,
            description=description,
            json_schema=schema,
            sequential=True,
            takes_ctx=later,
        )
        for name, description, schema, function in functions(
            workspace, only, brief=brief, approve=approve, observe=observe
        )
    ]
    return FunctionToolset(tools, **options)


def decided(workspace: Workspace, requests: Any, answers: Mapping[str, bool | str]) -> Any:
    """The `DeferredToolResults` of what a person decided, by the id of the call: True approves what was shown, False or a text, why
    not, declines. Calls without an answer, and of other tools, are left to the caller."""
    from pydantic_ai import DeferredToolResults, ToolDenied

    results = DeferredToolResults()
    for call_id, answer in answers.items():
        metadata = dict(requests.metadata.get(call_id) or {})
        if answer is True:
            results.approvals[call_id] = True
            results.metadata[call_id] = metadata
            continue
        why = answer if isinstance(answer, str) else None
        if "proposalId" in metadata:
            _later.decline(workspace, metadata["proposalId"], why)
        results.approvals[call_id] = ToolDenied(_later.declined(why))
    return results


def _deferred(workspace: Workspace, name: str) -> Any:
    def call(ctx: Any, **arguments: Any) -> str:
        from pydantic_ai import ApprovalRequired

        answer, proposal = _later.begin(workspace, name, arguments, ctx.tool_call_id)
        if proposal is None:
            return answer
        if ctx.tool_call_approved:
            shown = ctx.tool_call_metadata or {}
            done = _later.answered(_later.approve, workspace, proposal, shown.get("digest"))
            if done is not None:
                return done
        raise ApprovalRequired(metadata=_later.shown(workspace, proposal))

    call.__name__ = name
    return call
