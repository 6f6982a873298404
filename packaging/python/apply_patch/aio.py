"""The same for asyncio: calls that can be cancelled, with callbacks that may be coroutines.

    >>> from apply_patch.aio import Workspace
    >>> workspace = Workspace("project")
    >>> done = await workspace.apply(patch)

A call runs in a thread. When the task that waits for it is cancelled, the call is given up, and the task waits until it has
ended. Up to the commit point nothing is changed then, and the task gets an `asyncio.CancelledError`. Later the change is made
all the same: the task gets `CancelledLate`, whose `result` is the answer.
"""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from concurrent import futures
from typing import TYPE_CHECKING, Any

from ._native import Cancellation
from ._native import Workspace as _Workspace
from ._turn import Ended

if TYPE_CHECKING:
    from os import PathLike

    from typing_extensions import TypedDict, Unpack

    from ._calls import AsyncApprove, AsyncCallbacks, AsyncCalls
    from ._native import Detail, NetOptions, PatchOptions, Path, Plan, RedoOptions, Text, UndoOptions, WorkspaceOptions
    from .types import Applied, Event, KeptProposal, KeptProposals, Log, NetChanges, PlannedProposal, TurnSummary, Undone

    class _ApplyOptions(PatchOptions, AsyncCallbacks, total=False): ...

    class _AsyncUndoOptions(UndoOptions, AsyncCallbacks, total=False): ...

    class _AsyncRedoOptions(RedoOptions, AsyncCallbacks, total=False): ...

    class _ApproveOptions(TypedDict, total=False):
        digest: "str | None"
        observe: "Callable[[Event], object] | None"

    class _ObserveOptions(TypedDict, total=False):
        observe: "Callable[[Event], object] | None"

    class _TurnUndoOptions(AsyncCallbacks, total=False):
        carry: bool
        diff: Detail
else:
    AsyncCalls = object

__all__ = ["CancelledLate", "Turn", "Workspace"]

# Threads of their own: a call may wait for a person, and those of the loop are few.
_THREADS = futures.ThreadPoolExecutor(max_workers=64, thread_name_prefix="apply_patch")


class CancelledLate(asyncio.CancelledError):
    """The call was cancelled when it could not be given up any more: `result` is what it answered."""

    def __init__(self, result: Any) -> None:
        super().__init__("cancelled too late: the call was made")
        self.result = result


async def _run(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Makes a call in a thread, and its callbacks in the loop."""
    loop = asyncio.get_running_loop()
    cancellation = Cancellation()
    asked: set[futures.Future[Any]] = set()

    def in_loop(callback: Callable[[Any], Any]) -> Callable[[Any], Any]:
        async def answer(value: Any) -> Any:
            answered = callback(value)
            return await answered if inspect.isawaitable(answered) else answered

        def ask(value: Any) -> Any:
            if cancellation.is_cancelled:
                return False
            future = asyncio.run_coroutine_threadsafe(answer(value), loop)
            asked.add(future)
            # In this order nothing is missed: the loop cancels first, and looks afterwards.
            if cancellation.is_cancelled:
                future.cancel()
            try:
                return future.result()
            except futures.CancelledError:
                if cancellation.is_cancelled:
                    return False
                raise
            finally:
                asked.discard(future)

        return ask

    for name in ("approve", "observe"):
        if options.get(name) is not None:
            options[name] = in_loop(options[name])
    work = loop.run_in_executor(_THREADS, lambda: call(*args, cancellation=cancellation, **options))
    cancelled = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
            cancellation.cancel()
            for future in list(asked):
                future.cancel()
    if cancelled is None:
        return work.result()
    try:
        result = work.result()
    except BaseException as error:
        raise cancelled from error
    # The answer of a tool.
    if isinstance(result, dict) and not result.get("ok", True):  # pyright: ignore
        raise cancelled
    raise CancelledLate(result) from cancelled


async def _read(call: Callable[[], Any]) -> Any:
    """Makes a call that takes no callbacks, and is soon over."""

    def read(cancellation: Cancellation) -> Any:
        return call()

    return await _run(read)


class Turn(Ended):
    """All changes of a workspace's session within an `async with` block: one diff, one entry of the log, one undo."""

    def __init__(
        self, workspace: "Workspace", name: "str | None", undo_on_error: bool, approve: "AsyncApprove | None"
    ) -> None:
        self._workspace = workspace
        self._name = name
        self._undo_on_error = undo_on_error
        self._approve = approve

    async def __aenter__(self) -> "Turn":
        self.id: str = self._workspace.begin_turn(self._name)
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self._summary = await self._workspace.end_turn()
        except CancelledLate as late:
            self._summary = late.result
            raise
        finally:
            if error is not None and self._undo_on_error and self._summary and self.transactions:
                await self.undo(approve=self._approve)

    async def so_far(self) -> "TurnSummary":
        """What it has changed until now."""
        return self._summary or await self._workspace.turn_so_far() or self.summary

    async def undo(self, **options: "Unpack[_TurnUndoOptions]") -> "Undone":
        """Undoes all of it, as one."""
        return await self._workspace.undo(turn=f"{self._workspace.session}/{self.id}", **options)


class Workspace(AsyncCalls):
    """A directory whose files are changed, all or nothing, by one session; several tasks may use it."""

    def __init__(self, root: "Path", /, **options: "Unpack[WorkspaceOptions]") -> None:
        self._sync = _Workspace(root, **options)

    @property
    def root(self) -> "PathLike[str]":
        """The directory."""
        return self._sync.root

    @property
    def session(self) -> str:
        """The name of the session."""
        return self._sync.session

    async def plan(self, patch: "Text", /, **options: "Unpack[PatchOptions]") -> "Plan":
        """Plans a patch; nothing is written."""
        plan: Plan = await _run(self._sync.plan, patch, **options)
        return plan

    async def apply(self, patch: "Text | Plan", /, **options: "Unpack[_ApplyOptions]") -> "Applied":
        """Applies a patch, or exactly the plan of one; all of it or nothing."""
        done: Applied = await _run(self._sync.apply, patch, **options)
        return done

    async def undo(self, id: "str | None" = None, **options: "Unpack[_AsyncUndoOptions]") -> "Undone":
        """Undoes a transaction: the last one that is not undone, unless one is named."""
        done: Undone = await _run(self._sync.undo, id, **options)
        return done

    async def redo(self, id: "str | None" = None, **options: "Unpack[_AsyncRedoOptions]") -> "Undone":
        """Reverses an undo: the last one, unless one is named."""
        done: Undone = await _run(self._sync.redo, id, **options)
        return done

    async def log(
        self, max_count: "int | None" = None, /, *, diff: bool = False, session: "str | None" = None
    ) -> "Log":
        """The newest transactions, of one session or of all, and those whose journals are not trusted."""
        read: Log = await _read(lambda: self._sync.log(max_count, diff=diff, session=session))
        return read

    async def net_changes(self, **options: "Unpack[NetOptions]") -> "NetChanges":
        """What several transactions changed, as one diff, without what others changed between them."""
        read: NetChanges = await _read(lambda: self._sync.net_changes(**options))
        return read

    async def propose(
        self, patch: "Text", /, *, why: "str | None" = None, **options: "Unpack[PatchOptions]"
    ) -> "PlannedProposal":
        """Keeps a patch for a person to decide about later; nothing is changed."""
        made: PlannedProposal = await _read(lambda: self._sync.propose(patch, why=why, **options))
        return made

    async def proposals(self) -> "KeptProposals":
        """The proposals of the project, the newest first."""
        read: KeptProposals = await _read(self._sync.proposals)
        return read

    async def proposal(self, id: str, /) -> "PlannedProposal":
        """A proposal, and what it would do now; any beginning of its id names it."""
        read: PlannedProposal = await _read(lambda: self._sync.proposal(id))
        return read

    async def approve(self, id: str, /, **options: "Unpack[_ApproveOptions]") -> "Applied":
        """Commits what was shown when it was proposed, or the plan with this digest."""
        done: Applied = await _run(self._sync.approve, id, **options)
        return done

    async def call_later(
        self, tool: str, arguments: "Mapping[str, Any]", call_id: str, /, **callbacks: "Unpack[_ObserveOptions]"
    ) -> "dict[str, Any]":
        """Calls a file tool, and keeps a change as a proposal; the same `call_id` is answered with the same proposal."""
        answer: dict[str, Any] = await _run(self._sync.call_later, tool, arguments, call_id, **callbacks)
        return answer

    async def decline(self, id: str, why: "str | None" = None, /) -> "KeptProposal":
        """Declines a proposal: a person decides."""
        declined: KeptProposal = await _read(lambda: self._sync.decline(id, why))
        return declined

    def turn(
        self, name: "str | None" = None, /, *, undo_on_error: bool = False, approve: "AsyncApprove | None" = None
    ) -> Turn:
        """A turn, for `async with`."""
        return Turn(self, name, undo_on_error, approve)

    def begin_turn(self, name: "str | None" = None, /) -> str:
        """Begins a turn, and returns its name. One of a session is open at a time."""
        return self._sync.begin_turn(name)

    async def turn_so_far(self) -> "TurnSummary | None":
        """What the open turn has changed so far."""
        read: TurnSummary | None = await _read(self._sync.turn_so_far)
        return read

    async def end_turn(self) -> "TurnSummary":
        """Ends the turn, and returns what it changed."""
        read: TurnSummary = await _read(self._sync.end_turn)
        return read

    if not TYPE_CHECKING:

        async def call(self, tool, arguments=None, /, **callbacks):
            """Calls a file tool by its name: its answer, also when it failed."""
            return await _run(self._sync.call, tool, arguments, **callbacks)

    async def __aenter__(self) -> "Workspace":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass
