"""The editor of `ApplyPatchTool` in the OpenAI Agents SDK, its `apply_diff`, and the file tools for it.

    from agents import Agent, ApplyPatchTool, Runner
    from apply_patch import Workspace
    from apply_patch.openai_agents import ApplyPatchEditor

    editor = ApplyPatchEditor(Workspace("."))
    agent = Agent(name="coder", tools=[ApplyPatchTool(editor=editor)])
    await Runner.run(agent, task, hooks=editor.hooks())

The SDK gives an editor one operation after the other, and wants each answered before the next. With the hooks, the editor sees the
whole response of the model first: when the first operation of a turn arrives, all of them are applied as one transaction, and each
is answered by what became of that. Without the hooks each operation is a transaction of its own.

`tools(workspace)` are the file tools as function tools. With `later=True` a change interrupts the run. `shown` is what a person has to see
of an interruption; `approve` and `reject` decide in the state, also in another process and on another day:

    result = await Runner.run(agent, task)
    state = await RunState.from_string(agent, result.to_state().to_string())
    for item in state.get_interruptions():
        print(shown(workspace, item)["diff"])
        approve(workspace, state, item)                              # or reject(workspace, state, item, "why")
    result = await Runner.run(agent, state)

If the files have changed since it was shown so that the result differs, nothing is changed, and the model is told.
"""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

from . import _later
from ._errors import PatchError
from ._native import apply_diff
from ._tools import functions

if TYPE_CHECKING:
    from collections.abc import Collection

    from typing_extensions import Unpack

    from ._native import Approve, Observe, Workspace
    from ._tools import ToolOptions

__all__ = ["ApplyPatchEditor", "apply_diff", "approve", "reject", "shown", "tools"]


def tools(
    workspace: Workspace,
    only: Collection[str] | None = None,
    *,
    later: bool = False,
    **options: Unpack[ToolOptions],
) -> list[Any]:
    """A `FunctionTool` for each file tool of the workspace; `only` names those that are wanted.

    `brief` makes descriptions short, `approve` and `observe` are those of every call.
    """
    from agents import FunctionTool

    _later.only_one_asks(later, options.get("approve"))
    made = []
    for name, description, schema, function in functions(workspace, only, **options):
        invoke = _invoked_later(workspace, name) if later else _invoked(function)
        approval = {"needs_approval": _needs_approval(workspace, name)} if later else {}
        made.append(
            FunctionTool(
                name=name,
                description=description,
                params_json_schema=schema,
                on_invoke_tool=invoke,
                strict_json_schema=False,
                **approval,
            )
        )
    return made


def shown(workspace: Workspace, interruption: Any) -> dict[str, Any]:
    """What a person has to see of an interruption: `proposalId`, `files`, `diff` as it would be now, `digest`, `why`."""
    return _later.shown(workspace, _proposal(workspace, interruption))


def approve(workspace: Workspace, state: Any, interruption: Any, *, digest: str | None = None) -> bool:
    """Approves an interruption in the state of the run: the change is made now, and the run is told of it when it goes on.

    False if the result is not the one that was shown when it was proposed, or has this `digest`: show it again. Raises `PatchError`
    where the change cannot be made; the interruption stays.
    """
    done = _later.approve(workspace, _proposal(workspace, interruption), digest)
    if done is not None:
        state.approve(interruption)
    return done is not None


def reject(workspace: Workspace, state: Any, interruption: Any, why: str | None = None) -> None:
    """Declines the change of an interruption, and rejects it in the state of the run."""
    _later.decline(workspace, _proposal(workspace, interruption), why)
    state.reject(interruption, rejection_message=_later.declined(why))


def _proposal(workspace, interruption):
    call_id = interruption.call_id
    proposal = _later.of_call(workspace, call_id)
    if proposal is None:
        raise ValueError(f"the call {call_id} made no proposal in this session")
    return proposal


def _needs_approval(workspace, name):
    async def ask(ctx, arguments, call_id):
        _, proposal = await asyncio.to_thread(_later.begin, workspace, name, arguments, call_id)
        return proposal is not None

    return ask


def _invoked_later(workspace, name):
    async def call(ctx, arguments):
        def decided():
            answer, proposal = _later.begin(workspace, name, json.loads(arguments or "{}"), ctx.tool_call_id)
            return answer if proposal is None else _later.outcome(workspace, proposal)

        return await asyncio.to_thread(decided)

    return call


def _invoked(function):
    async def call(ctx, arguments):
        return await asyncio.to_thread(lambda: function(**json.loads(arguments or "{}")))

    return call


class ApplyPatchEditor:
    """Applies the operations of the model to a workspace.

    `approve` and `observe` are those of `Workspace.apply`. Ask by `approve`, and not by the tool's `needs_approval`: that is asked
    for one operation at a time, when the turn may have been applied already. A tool that has it is refused by the hooks.
    """

    def __init__(self, workspace: Workspace, *, approve: Approve | None = None, observe: Observe | None = None) -> None:
        self._workspace = workspace
        self._callbacks = {"approve": approve, "observe": observe}
        self._lock = threading.Lock()
        # For each run, by its context: the operations of the turn that are still to be answered, and what became of them.
        self._turns = {}

    def hooks(self, inner: Any = None) -> Any:
        """Hooks for `Runner.run`, which make a transaction of each turn; `inner` are other hooks that are called too."""
        return _hooks(self, inner)

    async def create_file(self, operation: Any) -> Any:
        return await asyncio.to_thread(self._answer, operation)

    async def update_file(self, operation: Any) -> Any:
        return await asyncio.to_thread(self._answer, operation)

    async def delete_file(self, operation: Any) -> Any:
        return await asyncio.to_thread(self._answer, operation)

    def _begin(self, context, operations):
        """A model has answered with these operations."""
        with self._lock:
            self._turns.pop(id(context), None)
            if operations:
                # The context is kept, so that no other object gets its id.
                self._turns[id(context)] = _Turn(context, operations)

    def _answer(self, operation):
        own = _fields(operation)
        with self._lock:
            turn = self._turns.get(id(operation.ctx_wrapper))
            if turn is None or own not in turn.waiting:
                turn = _Turn(operation.ctx_wrapper, [own])
            turn.waiting.remove(own)
            if not turn.waiting:
                self._turns.pop(id(turn.context), None)
        with turn.lock:
            if turn.result is None:
                turn.result = self._apply(turn.operations)
        completed, output = turn.result
        from agents.editor import ApplyPatchResult

        return ApplyPatchResult(status="completed" if completed else "failed", output=output)

    def _apply(self, operations):
        calls = [
            {"type": "apply_patch_call", "call_id": f"call_{nth}", "operation": operation}
            for nth, operation in enumerate(operations, 1)
        ]
        try:
            done = self._workspace.apply(json.dumps(calls), form="openai", profile="codex", **self._callbacks)
        except PatchError as error:
            output = error.message
            if len(operations) > 1:
                output += f"\nnone of the {len(operations)} operations of this turn was applied"
            if error.suggested_next_action:
                output += f"\nnext: {error.suggested_next_action}"
            return False, output
        transaction = done.get("transactionId")
        return True, f"done (transaction {transaction})" if transaction else "done; nothing changed"


class _Turn:
    def __init__(self, context, operations):
        self.context = context
        self.operations = list(operations)
        self.waiting = list(operations)
        self.lock = threading.Lock()
        self.result = None


def _fields(operation):
    """An operation of the SDK, or of a response, as the API writes it."""

    def field(name):
        value = operation.get(name) if isinstance(operation, dict) else getattr(operation, name, None)
        return value if isinstance(value, str) else None

    return {name: field(name) for name in ("type", "path", "diff", "move_to") if field(name) is not None}


def _operations(response):
    """The operations of a response, in their order."""

    def field(of, name):
        return of.get(name) if isinstance(of, dict) else getattr(of, name, None)

    operations = []
    for item in response.output:
        if field(item, "type") == "apply_patch_call":
            several = field(item, "operations")
            operations += several if isinstance(several, list) else [field(item, "operation")]
    return [_fields(operation) for operation in operations if operation is not None]


def _hooks(editor, inner):
    from agents import RunHooks

    inner = inner or RunHooks()

    class Hooks(RunHooks):
        async def on_llm_start(self, *args, **kwargs):
            await inner.on_llm_start(*args, **kwargs)

        async def on_llm_end(self, context, agent, response):
            for tool in agent.tools:
                if getattr(tool, "editor", None) is editor and getattr(tool, "needs_approval", False) is not False:
                    raise ValueError("ask by the editor's `approve`: `needs_approval` is for operations one by one")
            editor._begin(context, _operations(response))
            await inner.on_llm_end(context, agent, response)

        async def on_agent_start(self, *args, **kwargs):
            await inner.on_agent_start(*args, **kwargs)

        async def on_agent_end(self, *args, **kwargs):
            await inner.on_agent_end(*args, **kwargs)

        async def on_handoff(self, *args, **kwargs):
            await inner.on_handoff(*args, **kwargs)

        async def on_tool_start(self, *args, **kwargs):
            await inner.on_tool_start(*args, **kwargs)

        async def on_tool_end(self, *args, **kwargs):
            await inner.on_tool_end(*args, **kwargs)

    return Hooks()
