"""Turns: all changes of a workspace between a beginning and an end."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._calls import Callbacks
    from ._native import Approve, Detail, Workspace
    from .types import ChangedFile, TurnSummary, Undone

    class TurnUndoOptions(Callbacks, total=False):
        carry: bool
        diff: Detail


class Ended:
    """What a turn changed, once it has ended."""

    _summary: "TurnSummary | None" = None

    @property
    def summary(self) -> "TurnSummary":
        """All of it, as `end_turn` answers."""
        if self._summary is None:
            raise RuntimeError("the turn has not ended; `so_far()` tells what it has changed until now")
        return self._summary

    @property
    def diff(self) -> str:
        """All that it changed, as one git diff."""
        return self.summary["diff"]

    @property
    def transactions(self) -> "list[str]":
        """The ids of its transactions, the newest first."""
        return self.summary["transactions"]

    @property
    def changed_files(self) -> "list[ChangedFile]":
        """The files that are not what they were before it."""
        return self.summary["changedFiles"]


class Turn(Ended):
    """All changes of a workspace's session within a `with` block: one diff, one entry of the log, one undo."""

    def __init__(
        self, workspace: "Workspace", name: "str | None", undo_on_error: bool, approve: "Approve | None"
    ) -> None:
        self._workspace = workspace
        self._name = name
        self._undo_on_error = undo_on_error
        self._approve = approve

    def __enter__(self) -> "Turn":
        self.id: str = self._workspace.begin_turn(self._name)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._summary = self._workspace.end_turn()
        if error is not None and self._undo_on_error and self.transactions:
            self.undo(approve=self._approve)

    def so_far(self) -> "TurnSummary":
        """What it has changed until now."""
        return self._summary or self._workspace.turn_so_far() or self.summary

    def undo(self, **options: "Unpack[TurnUndoOptions]") -> "Undone":
        """Undoes all of it, as one."""
        return self._workspace.undo(turn=f"{self._workspace.session}/{self.id}", **options)
