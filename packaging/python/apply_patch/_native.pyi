import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Final, Literal, TypedDict, final, overload

from typing_extensions import Self, Unpack

from ._calls import Calls, Decision
from ._turn import Turn
from .types import (
    Applied,
    ChangedFile,
    Committed,
    Event,
    KeptProposal,
    KeptProposals,
    Log,
    NetChanges,
    ParsedPatch,
    PlannedProposal,
    StreamEvent,
    TurnSummary,
    Undone,
)

# What has bytes, or text; and what the system takes for a path.
Bytes = bytes | bytearray | memoryview
Text = str | Bytes
Path = str | bytes | PathLike[str] | PathLike[bytes]
Approve = Callable[["Proposal"], Decision]
Observe = Callable[[Event], object]
Detail = Literal["none", "stat", "full"]
Profile = Literal["strict", "standard", "codex"]

__version__: Final[str]

# The settings are made of their table by crates/api/tests/types.rs.
class PatchSettings(TypedDict, total=False):
    profile: Literal["strict", "standard", "codex"] | None
    fuzz: Literal["none", "trailing", "blanks", "unicode"] | None
    ambiguous: Literal["reject", "first"] | None
    skip_applied: bool | None
    unidiff_zero: bool | None
    create_parents: bool | None
    overwrite: bool | None
    allow_delete: bool | None
    allow_move: bool | None
    allow_placeholders: bool | None
    whitespace: Literal["error", "fix", "warn", "nowarn"] | None
    whitespace_rules: str | None
    syntax: Literal["refuse", "warn", "off"] | None
    encoding: Sequence[str] | None
    max_file_size: int | None
    max_operations: int | None

class WorkspaceSettings(PatchSettings, total=False):
    durability: Literal["full", "process", "none"] | None
    approve: Literal["ask", "auto", "never"] | None
    forbidden: Sequence[str] | None
    allow_forbidden: Sequence[str] | None
    guarded: Sequence[str] | None
    allow: Sequence[str] | None
    names: Literal["portable", "native"] | None
    hard_links: Literal["refuse", "break"] | None
    lock_timeout: float | None
    accept_open_state: bool | None
    max_snapshots: int | None
    state: Literal["project", "user"] | None
    verify: str | Mapping[str, str] | None
    format_with: str | Mapping[str, str] | None
    verify_timeout: float | None
    trash_keep: str | None
    proposal_keep: str | None

class PatchOptions(PatchSettings, total=False):
    form: Literal["envelope", "unified", "openai", "blocks", "edits", "files", "auto"]
    part: int | Literal["all"] | None
    strip: int | None
    skip_binary: bool
    recount: bool
    reverse: bool
    directory: str | None
    include: Sequence[str]
    exclude: Sequence[str]
    environment: str | None
    expected: Mapping[str, str]
    base: Mapping[str, str] | None
    amend: str | None
    atomic: bool | None
    partial: bool
    diff: Detail

class WorkspaceOptions(WorkspaceSettings, total=False):
    session: str | None
    agent: str | None
    max_output: int | None
    undo_turn: bool

class UndoOptions(TypedDict, total=False):
    paths: Sequence[Path]
    session: str | None
    since: str | None
    turn: str | None
    carry: bool
    diff: Detail

class RedoOptions(TypedDict, total=False):
    carry: bool
    diff: Detail

class NetOptions(TypedDict, total=False):
    session: str | None
    since: str | None
    turn: str | None
    range: str | None

class SpecOptions(TypedDict, total=False):
    patch_only: bool
    brief: bool
    dialect: Literal["whole", "codex", "tight"] | None
    grammar: Literal["pest", "lark", "gbnf", "ebnf", "regex"] | None
    client: Literal["raw", "python"] | None
    max_characters: int | None
    free_text: bool
    allowed_callers: list[Literal["direct", "programmatic"]]

class FitOptions(TypedDict, total=False):
    lines: Mapping[str, Sequence[tuple[int, int]]]
    paths: Sequence[str]
    operations: Sequence[Literal["update", "add", "delete", "move"]]
    profile: Profile | None
    format: Literal["lark", "ebnf", "gbnf"] | None

class FitStub(TypedDict):
    profile: Profile
    expectedSha256ByPath: dict[str, str]

class Position(TypedDict):
    line: int
    character: int

class TextEdit(TypedDict):
    bytes: tuple[int, int]
    start: Position
    end: Position
    text: str | builtins.bytes

class FileEdit(TypedDict):
    operation: Literal["create", "update", "delete", "move"]
    path: str
    toPath: str | None
    version: int | None
    text: str | bytes | None
    edits: list[TextEdit]

@final
class Cancellation:
    """Gives calls up, from any thread, until the commit point."""

    def __new__(cls) -> Self: ...
    def cancel(self) -> None:
        """Gives up the calls that it was given to, and those to come."""

    @property
    def is_cancelled(self) -> bool: ...

@final
class FittedGrammar:
    """A grammar for some files as they are: every patch of it applies to them.

    The exception is a patch with a hunk that is applied already.
    """

    def lark(self) -> str: ...
    def ebnf(self) -> str: ...
    def gbnf(self) -> str: ...
    @property
    def stub(self) -> FitStub: ...
    @property
    def notes(self) -> list[str]: ...

@final
class Plan:
    """What a patch would do. Nothing is written, and what happens to the files since does not change it."""

    @property
    def changes(self) -> list[ChangedFile]: ...
    @property
    def diff(self) -> str: ...
    @property
    def diff_bytes(self) -> bytes: ...
    @property
    def digest(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def summary(self) -> str: ...

@final
class Proposal:
    """A plan that waits for approval, as `approve` gets it."""

    @property
    def changes(self) -> list[ChangedFile]: ...
    @property
    def diff(self) -> str: ...
    @property
    def diff_bytes(self) -> bytes: ...
    @property
    def digest(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def reasons(self) -> list[str]: ...

@final
class HostPlan:
    """A plan for files that the caller changes itself."""

    @property
    def changes(self) -> list[ChangedFile]: ...
    @property
    def diff(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def edits(self) -> list[FileEdit]: ...

@final
class Workspace(Calls):
    """A directory whose files are changed, all or nothing, by one session. Calls may come from many threads."""

    def __new__(cls, root: Path, /, **options: Unpack[WorkspaceOptions]) -> Self: ...
    @property
    def root(self) -> PathLike[str]: ...
    @property
    def session(self) -> str: ...
    def plan(
        self, patch: Text, /, *, cancellation: Cancellation | None = None, **options: Unpack[PatchOptions]
    ) -> Plan: ...
    def apply(
        self,
        patch: Text | Plan,
        /,
        *,
        approve: Approve | None = None,
        observe: Observe | None = None,
        cancellation: Cancellation | None = None,
        **options: Unpack[PatchOptions],
    ) -> Applied: ...
    def undo(
        self,
        id: str | None = None,
        *,
        approve: Approve | None = None,
        observe: Observe | None = None,
        cancellation: Cancellation | None = None,
        **options: Unpack[UndoOptions],
    ) -> Undone: ...
    def redo(
        self,
        id: str | None = None,
        *,
        approve: Approve | None = None,
        observe: Observe | None = None,
        cancellation: Cancellation | None = None,
        **options: Unpack[RedoOptions],
    ) -> Undone: ...
    def log(
        self, max_count: int | None = None, /, *, diff: bool = False, session: str | None = None
    ) -> Log: ...
    def net_changes(self, **options: Unpack[NetOptions]) -> NetChanges:
        """What several transactions changed, as one diff, without what others changed between them."""

    def propose(self, patch: Text, /, *, why: str | None = None, **options: Unpack[PatchOptions]) -> PlannedProposal:
        """Keeps a patch for a person to decide about later; nothing is changed."""

    def proposals(self) -> KeptProposals:
        """The proposals of the project, the newest first."""

    def proposal(self, id: str, /) -> PlannedProposal:
        """A proposal, and what it would do now; any beginning of its id names it."""

    def approve(
        self,
        id: str,
        /,
        *,
        digest: str | None = None,
        observe: Observe | None = None,
        cancellation: Cancellation | None = None,
    ) -> Applied:
        """Commits what was shown when it was proposed, or the plan with this digest."""

    def call_later(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        call_id: str,
        /,
        *,
        observe: Observe | None = None,
        cancellation: Cancellation | None = None,
    ) -> dict[str, Any]:
        """Calls a file tool, and keeps a change as a proposal; the same `call_id` is answered with the same proposal."""

    def decline(self, id: str, why: str | None = None, /) -> KeptProposal:
        """Declines a proposal: a person decides."""

    def turn(
        self, name: str | None = None, /, *, undo_on_error: bool = False, approve: Approve | None = None
    ) -> Turn:
        """A turn, for `with`."""

    def begin_turn(self, name: str | None = None, /) -> str:
        """Begins a turn, and returns its name. One of a session is open at a time."""

    def turn_so_far(self) -> TurnSummary | None:
        """What the open turn has changed so far."""

    def end_turn(self) -> TurnSummary:
        """Ends the turn, and returns what it changed."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]: ...

@final
class GitTree:
    """The files of a commit in a git repository, without a checkout."""

    def __new__(
        cls, repository: Path, revision: str = "HEAD", /, **options: Unpack[WorkspaceOptions]
    ) -> Self: ...
    def at(self, revision: str, /) -> GitTree:
        """Another commit of the same repository, which shares what was read of it."""
    @property
    def commit(self) -> str: ...
    @property
    def tree(self) -> str: ...
    def read(self, path: Path, /) -> bytes | None: ...
    def list(self) -> builtins.list[str]: ...
    def plan(self, patch: Text, /, **options: Unpack[PatchOptions]) -> Plan: ...
    def tree_of(self, plan: Plan, /) -> str:
        """The id of the tree that a plan of this object makes; nothing is written."""
    def apply(
        self,
        patch: Text,
        /,
        *,
        branch: str | None = None,
        message: str | None = None,
        author: str | None = None,
        carry: bool = False,
        allow_checked_out: bool = False,
        approve: Approve | None = None,
        observe: Observe | None = None,
        cancellation: Cancellation | None = None,
        **options: Unpack[PatchOptions],
    ) -> Committed: ...

@final
class Vocabulary:
    """The tokens of a model: the bytes that each id adds to the output, and the ids that end one.

    Made once for a model. Special tokens are `None`.
    """

    def __new__(cls, tokens: Iterable[bytes | None], end: Iterable[int]) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def mask_len(self) -> int:
        """How many bytes a mask has: a multiple of 4."""

@final
class BoundFiles:
    """Files as they are now, with all that a patch may say of them. Made once for a set of files."""

    def __new__(
        cls,
        files: Mapping[Any, Text],
        *,
        paths: Iterable[str] = (),
        operations: Iterable[Literal["update", "add", "delete", "move"]] = ("update",),
    ) -> Self:
        """`paths` are other files of the workspace, which new ones must not collide with."""

@final
class Matcher:
    """Follows one output, and says which tokens may come next. What it lets end applies."""

    def __new__(cls, vocabulary: Vocabulary, files: BoundFiles, *, max_added_lines: int | None = None) -> Self:
        """`max_added_lines` is how many lines the whole output may add."""

    @overload
    def allowed(self, mask: None = None, *, max_tokens_left: int | None = None) -> bytes: ...
    @overload
    def allowed(self, mask: Any, *, max_tokens_left: int | None = None) -> None:
        """Writes the mask into a writable buffer (a NumPy array, a bytearray), or returns it.

        The bit of token `id` is bit `id % 32` of the 32-bit word `id // 32`. What the buffer has beyond the mask is
        cleared. With `max_tokens_left`, only tokens after which the patch can be finished in time are in it;
        `ValueError` if there are too few.
        """

    def accept(self, token: int) -> None:
        """Takes the next token; `ValueError` if it may not follow."""

    def forced(self) -> bytes:
        """The bytes that can only follow."""

    def rollback(self, tokens: int) -> int:
        """Takes back the last tokens; how many there were."""

    def copy(self) -> Matcher: ...
    def __copy__(self) -> Matcher: ...
    def __deepcopy__(self, memo: Any, /) -> Matcher: ...
    @property
    def is_finished(self) -> bool: ...
    @property
    def is_in_old_line(self) -> bool:
        """Whether the next byte is one of an old line's text."""

    @property
    def has_ended(self) -> bool: ...
    @property
    def text(self) -> bytes: ...

def few_tokens(mask: bytes, at_most: int, /) -> list[int] | None:
    """The tokens of a mask, unless there are more."""

def fill_masks(
    matchers: list[Matcher | None], view: memoryview, row: int, max_tokens_left: int | None = None
) -> None:
    """Writes masks into rows of `row` bytes; `apply_patch.decoding` has it for the masks of engines."""

@final
class PatchStream:
    """Takes the text of a patch in chunks of any size, and says what is known of it so far."""

    def __new__(cls, **options: Unpack[PatchOptions]) -> Self: ...
    def push(self, chunk: Text) -> list[StreamEvent]: ...
    def end(self) -> list[StreamEvent]: ...
    @property
    def text(self) -> str: ...

@overload
def apply_in_memory(
    files: Mapping[Any, str], patch: str, /, **options: Unpack[PatchOptions]
) -> dict[str, str | None]: ...
@overload
def apply_in_memory(
    files: Mapping[Any, Bytes], patch: Text, /, **options: Unpack[PatchOptions]
) -> dict[str, bytes | None]: ...
@overload
def apply_in_memory(
    files: Mapping[Any, Text], patch: Text, /, **options: Unpack[PatchOptions]
) -> dict[str, str | bytes | None]: ...
@overload
def apply_many(
    items: Iterable[tuple[Mapping[Any, str], str]],
    /,
    workers: int | None = None,
    *,
    cancellation: Cancellation | None = None,
    **options: Unpack[PatchOptions],
) -> list[dict[str, str | None] | Exception]:
    """Applies each patch to its own files, on all processors or as many `workers`: what `apply_in_memory` returns, or
    the exception that it raises, for each."""

@overload
def apply_many(
    items: Iterable[tuple[Mapping[Any, Text], Text]],
    /,
    workers: int | None = None,
    *,
    cancellation: Cancellation | None = None,
    **options: Unpack[PatchOptions],
) -> list[dict[str, str | bytes | None] | Exception]: ...
def apply_diff(input: str, diff: str, mode: Literal["default", "create"] = "default") -> str: ...
def plan_over(
    read: Callable[[str], Text | tuple[Text, int | None] | None],
    patch: Text,
    /,
    *,
    list: Callable[[str], Iterable[tuple[str, str]] | None] | None = None,
    **options: Unpack[PatchOptions],
) -> HostPlan: ...
def parse(patch: Text, /, **options: Unpack[PatchOptions]) -> ParsedPatch: ...
@overload
def convert(
    patch: str,
    to: Literal["envelope", "openai", "unified", "git"],
    /,
    *,
    files: Mapping[Any, str] | None = None,
    **options: Unpack[PatchOptions],
) -> str: ...
@overload
def convert(
    patch: Text,
    to: Literal["envelope", "openai", "unified", "git"],
    /,
    *,
    files: Mapping[Any, Text] | None = None,
    **options: Unpack[PatchOptions],
) -> str | bytes: ...
def tool_specs(provider: str, /, **options: Unpack[SpecOptions]) -> Any: ...
def tool_caveats(provider: str, /, **options: Unpack[SpecOptions]) -> list[str]: ...
def prompt(*, dialect: str = "whole", channel: str = "tool") -> str: ...
def fit(files: Mapping[Any, Text], /, **options: Unpack[FitOptions]) -> FittedGrammar: ...
def grammar(format: str = "lark", *, dialect: str = "whole") -> str: ...
