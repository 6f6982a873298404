import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Literal, TypedDict, final

from typing_extensions import Self, Unpack

# What has bytes, or text; and what the system takes for a path.
_Text = str | bytes | bytearray | memoryview
_Path = str | bytes | PathLike[str] | PathLike[bytes]
_Approve = Callable[["Proposal"], bool | Literal["session"]]
_Observe = Callable[[dict[str, Any]], object]
_Detail = Literal["none", "stat", "full"]
_Profile = Literal["strict", "codex"]

class _PatchOptions(TypedDict, total=False):
    form: Literal["envelope", "unified", "openai", "auto"]
    profile: _Profile | None
    part: int | Literal["all"] | None
    strip: int | None
    skip_binary: bool
    reverse: bool
    directory: str | None
    include: Sequence[str]
    exclude: Sequence[str]
    environment: str | None
    expected: Mapping[str, str]
    base: Mapping[str, str] | None
    overwrite: bool | None
    create_parents: bool | None
    skip_applied: bool | None
    unidiff_zero: bool | None
    allow_delete: bool | None
    allow_move: bool | None
    ambiguous: Literal["reject", "first"] | None
    fuzz: Literal["none", "trailing", "blanks", "unicode"] | None
    whitespace: Literal["error", "fix", "warn", "nowarn"] | None
    whitespace_rules: str | None
    syntax: Literal["refuse", "warn", "off"] | None
    encoding: Sequence[str]
    max_file_size: int | None
    max_operations: int | None
    amend: str | None
    atomic: bool | None
    partial: bool
    diff: _Detail

class _WorkspaceOptions(TypedDict, total=False):
    session: str | None
    agent: str | None
    durability: Literal["full", "process", "none"] | None
    lock_timeout: float | None
    profile: _Profile | None
    overwrite: bool | None
    create_parents: bool | None
    skip_applied: bool | None
    unidiff_zero: bool | None
    allow_delete: bool | None
    allow_move: bool | None
    ambiguous: Literal["reject", "first"] | None
    fuzz: Literal["none", "trailing", "blanks", "unicode"] | None
    whitespace: Literal["error", "fix", "warn", "nowarn"] | None
    whitespace_rules: str | None
    syntax: Literal["refuse", "warn", "off"] | None
    encoding: Sequence[str]
    max_file_size: int | None
    max_operations: int | None
    max_output: int | None
    max_snapshots: int | None
    verify: str | Mapping[str, str] | None
    format_with: str | Mapping[str, str] | None
    verify_timeout: float | None
    trash_keep: str | None
    approve: Literal["never", "auto", "ask"] | None
    forbidden: Sequence[str]
    allow_forbidden: Sequence[str]
    guarded: Sequence[str]
    allow: Sequence[str]
    names: Literal["portable", "native"] | None
    hard_links: Literal["refuse", "break"] | None
    state: Literal["project", "user"] | None
    accept_open_state: bool

class _SpecOptions(TypedDict, total=False):
    patch_only: bool
    brief: bool
    dialect: Literal["whole", "codex", "tight"] | None
    grammar: Literal["pest", "lark", "gbnf", "ebnf", "regex"] | None
    client: Literal["raw", "python"] | None
    max_characters: int | None
    free_text: bool
    allowed_callers: list[Literal["direct", "programmatic"]]

class _FitOptions(TypedDict, total=False):
    lines: Mapping[str, Sequence[tuple[int, int]]]
    paths: Sequence[str]
    operations: Sequence[Literal["update", "add", "delete", "move"]]
    profile: Literal["strict", "codex"] | None

@final
class FittedGrammar:
    """A grammar for some files as they are: every patch of it applies to them."""

    def lark(self) -> str: ...
    def ebnf(self) -> str: ...
    def gbnf(self) -> str: ...
    @property
    def stub(self) -> dict[str, Any]: ...
    @property
    def notes(self) -> list[str]: ...

@final
class Plan:
    """What a patch would do. Nothing is written, and what happens to the files since does not change it."""

    @property
    def changes(self) -> list[dict[str, Any]]: ...
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
    def changes(self) -> list[dict[str, Any]]: ...
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
    def changes(self) -> list[dict[str, Any]]: ...
    @property
    def diff(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def edits(self) -> list[dict[str, Any]]: ...

@final
class Workspace:
    """A directory whose files are changed, all or nothing, by one session. Calls may come from many threads."""

    def __new__(cls, root: _Path, /, **options: Unpack[_WorkspaceOptions]) -> Self: ...
    @property
    def root(self) -> PathLike[str]: ...
    @property
    def session(self) -> str: ...
    def plan(self, patch: _Text, /, **options: Unpack[_PatchOptions]) -> Plan: ...
    def apply(
        self,
        patch: _Text | Plan,
        /,
        *,
        approve: _Approve | None = None,
        observe: _Observe | None = None,
        **options: Unpack[_PatchOptions],
    ) -> dict[str, Any]: ...
    def undo(
        self,
        id: str | None = None,
        /,
        *,
        paths: Sequence[_Path] = ...,
        session: str | None = None,
        since: str | None = None,
        carry: bool = False,
        diff: _Detail = "none",
        approve: _Approve | None = None,
        observe: _Observe | None = None,
    ) -> dict[str, Any]: ...
    def redo(
        self,
        id: str | None = None,
        /,
        *,
        diff: _Detail = "none",
        approve: _Approve | None = None,
        observe: _Observe | None = None,
    ) -> dict[str, Any]: ...
    def log(self, max_count: int | None = None, /, *, diff: bool = False) -> dict[str, Any]: ...
    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        approve: _Approve | None = None,
        observe: _Observe | None = None,
    ) -> dict[str, Any]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool: ...

@final
class GitTree:
    """The files of a commit in a git repository, without a checkout."""

    def __new__(
        cls, repository: _Path, revision: str = "HEAD", /, **options: Unpack[_WorkspaceOptions]
    ) -> Self: ...
    @property
    def commit(self) -> str: ...
    @property
    def tree(self) -> str: ...
    def read(self, path: _Path, /) -> bytes | None: ...
    def list(self) -> builtins.list[str]: ...
    def plan(self, patch: _Text, /, **options: Unpack[_PatchOptions]) -> Plan: ...
    def tree_of(self, plan: Plan, /) -> str:
        """The id of the tree that a plan of this object makes; nothing is written."""
    def apply(
        self,
        patch: _Text,
        /,
        *,
        branch: str | None = None,
        message: str | None = None,
        author: str | None = None,
        carry: bool = False,
        allow_checked_out: bool = False,
        approve: _Approve | None = None,
        observe: _Observe | None = None,
        **options: Unpack[_PatchOptions],
    ) -> dict[str, Any]: ...

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
        files: Mapping[Any, _Text],
        *,
        paths: Iterable[str] = (),
        operations: Iterable[Literal["update", "add", "delete", "move"]] = ("update",),
    ) -> Self:
        """`paths` are other files of the workspace, which new ones must not collide with."""

@final
class Matcher:
    """Follows one output, and says which tokens may come next. What it lets end applies."""

    def __new__(cls, vocabulary: Vocabulary, files: BoundFiles) -> Self: ...
    def allowed(self, mask: Any = None) -> bytes | None:
        """Writes the mask into a writable buffer (a NumPy array, a bytearray), or returns it.

        The bit of token `id` is bit `id % 32` of the 32-bit word `id // 32`, little endian.
        """

    def accept(self, token: int) -> None:
        """Takes the next token; `ValueError` if it may not follow."""

    def forced(self) -> bytes:
        """The bytes that can only follow."""

    def rollback(self, tokens: int) -> int:
        """Takes back the last tokens; how many there were."""

    def copy(self) -> Matcher: ...
    @property
    def is_finished(self) -> bool: ...
    @property
    def is_in_old_line(self) -> bool:
        """Whether the next byte is one of an old line's text."""

    @property
    def has_ended(self) -> bool: ...
    @property
    def text(self) -> bytes: ...

@final
class PatchStream:
    """Takes the text of a patch in chunks of any size, and says what is known of it so far."""

    def __new__(cls, **options: Unpack[_PatchOptions]) -> Self: ...
    def push(self, chunk: _Text) -> list[dict[str, Any]]: ...
    def end(self) -> list[dict[str, Any]]: ...
    @property
    def text(self) -> str: ...

def apply_in_memory(
    files: Mapping[Any, _Text],
    patch: _Text,
    /,
    **options: Unpack[_PatchOptions],
) -> dict[str, Any]: ...
def apply_diff(input: str, diff: str, mode: Literal["default", "create"] = "default") -> str: ...
def plan_over(
    read: Callable[[str], _Text | tuple[_Text, int | None] | None],
    patch: _Text,
    /,
    *,
    list: Callable[[str], Iterable[tuple[str, str]] | None] | None = None,
    **options: Unpack[_PatchOptions],
) -> HostPlan: ...
def parse(patch: _Text, /, **options: Unpack[_PatchOptions]) -> dict[str, Any]: ...
def convert(
    patch: _Text,
    to: Literal["envelope", "openai", "unified", "git"],
    /,
    *,
    files: Mapping[Any, _Text] | None = None,
    **options: Unpack[_PatchOptions],
) -> Any: ...
def tool_specs(provider: str, /, **options: Unpack[_SpecOptions]) -> Any: ...
def tool_caveats(provider: str, /, **options: Unpack[_SpecOptions]) -> list[str]: ...
def prompt(*, dialect: str = "whole", channel: str = "tool") -> str: ...
def fit(files: Mapping[Any, _Text], /, **options: Unpack[_FitOptions]) -> FittedGrammar: ...
def grammar(format: str = "lark", *, dialect: str = "whole") -> str: ...
