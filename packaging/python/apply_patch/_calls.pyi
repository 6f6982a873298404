# Made of the schemas of the tools by crates/api/tests/answers.rs.
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypedDict, overload

from typing_extensions import Unpack

from ._native import Cancellation, Proposal
from .types import (
    Answer,
    ApplyPatchAnswer,
    ApplyPatchArguments,
    CreateFileAnswer,
    CreateFileArguments,
    DeleteFileAnswer,
    DeleteFileArguments,
    EditFileAnswer,
    EditFileArguments,
    EditPatchAnswer,
    EditPatchArguments,
    Event,
    GlobAnswer,
    GlobArguments,
    ListDirectoryAnswer,
    ListDirectoryArguments,
    MoveFileAnswer,
    MoveFileArguments,
    ProposalAnswer,
    ProposalArguments,
    ProposeAnswer,
    ProposeArguments,
    ReadFileAnswer,
    ReadFileArguments,
    RestoreFileAnswer,
    RestoreFileArguments,
    SearchFilesAnswer,
    SearchFilesArguments,
    UndoAnswer,
    UndoArguments,
    UndoTurnAnswer,
    UndoTurnArguments,
    WriteFileAnswer,
    WriteFileArguments,
)

class Edited(TypedDict):
    patch: str | bytes

Decision = bool | Literal["turn", "session"] | Edited

class Callbacks(TypedDict, total=False):
    approve: Callable[[Proposal], Decision] | None
    observe: Callable[[Event], object] | None
    cancellation: Cancellation | None

AsyncApprove = Callable[[Proposal], Decision | Awaitable[Decision]]

class AsyncCallbacks(TypedDict, total=False):
    approve: AsyncApprove | None
    observe: Callable[[Event], object] | None

class Calls:
    @overload
    def call(
        self, tool: Literal["read_file"], arguments: ReadFileArguments, /, **callbacks: Unpack[Callbacks]
    ) -> ReadFileAnswer: ...
    @overload
    def call(
        self, tool: Literal["list_directory"], arguments: ListDirectoryArguments, /, **callbacks: Unpack[Callbacks]
    ) -> ListDirectoryAnswer: ...
    @overload
    def call(
        self, tool: Literal["search_files"], arguments: SearchFilesArguments, /, **callbacks: Unpack[Callbacks]
    ) -> SearchFilesAnswer: ...
    @overload
    def call(
        self, tool: Literal["glob"], arguments: GlobArguments, /, **callbacks: Unpack[Callbacks]
    ) -> GlobAnswer: ...
    @overload
    def call(
        self, tool: Literal["create_file"], arguments: CreateFileArguments, /, **callbacks: Unpack[Callbacks]
    ) -> CreateFileAnswer: ...
    @overload
    def call(
        self, tool: Literal["write_file"], arguments: WriteFileArguments, /, **callbacks: Unpack[Callbacks]
    ) -> WriteFileAnswer: ...
    @overload
    def call(
        self, tool: Literal["edit_file"], arguments: EditFileArguments, /, **callbacks: Unpack[Callbacks]
    ) -> EditFileAnswer: ...
    @overload
    def call(
        self, tool: Literal["delete_file"], arguments: DeleteFileArguments, /, **callbacks: Unpack[Callbacks]
    ) -> DeleteFileAnswer: ...
    @overload
    def call(
        self, tool: Literal["restore_file"], arguments: RestoreFileArguments, /, **callbacks: Unpack[Callbacks]
    ) -> RestoreFileAnswer: ...
    @overload
    def call(
        self, tool: Literal["move_file"], arguments: MoveFileArguments, /, **callbacks: Unpack[Callbacks]
    ) -> MoveFileAnswer: ...
    @overload
    def call(
        self, tool: Literal["apply_patch"], arguments: ApplyPatchArguments, /, **callbacks: Unpack[Callbacks]
    ) -> ApplyPatchAnswer: ...
    @overload
    def call(
        self, tool: Literal["edit.patch"], arguments: EditPatchArguments, /, **callbacks: Unpack[Callbacks]
    ) -> EditPatchAnswer: ...
    @overload
    def call(
        self, tool: Literal["undo"], arguments: UndoArguments, /, **callbacks: Unpack[Callbacks]
    ) -> UndoAnswer: ...
    @overload
    def call(
        self, tool: Literal["undo_turn"], arguments: UndoTurnArguments, /, **callbacks: Unpack[Callbacks]
    ) -> UndoTurnAnswer: ...
    @overload
    def call(
        self, tool: Literal["propose"], arguments: ProposeArguments, /, **callbacks: Unpack[Callbacks]
    ) -> ProposeAnswer: ...
    @overload
    def call(
        self, tool: Literal["proposal"], arguments: ProposalArguments, /, **callbacks: Unpack[Callbacks]
    ) -> ProposalAnswer: ...
    @overload
    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, /, **callbacks: Unpack[Callbacks]
    ) -> Answer: ...

class AsyncCalls:
    @overload
    async def call(
        self, tool: Literal["read_file"], arguments: ReadFileArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> ReadFileAnswer: ...
    @overload
    async def call(
        self, tool: Literal["list_directory"], arguments: ListDirectoryArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> ListDirectoryAnswer: ...
    @overload
    async def call(
        self, tool: Literal["search_files"], arguments: SearchFilesArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> SearchFilesAnswer: ...
    @overload
    async def call(
        self, tool: Literal["glob"], arguments: GlobArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> GlobAnswer: ...
    @overload
    async def call(
        self, tool: Literal["create_file"], arguments: CreateFileArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> CreateFileAnswer: ...
    @overload
    async def call(
        self, tool: Literal["write_file"], arguments: WriteFileArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> WriteFileAnswer: ...
    @overload
    async def call(
        self, tool: Literal["edit_file"], arguments: EditFileArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> EditFileAnswer: ...
    @overload
    async def call(
        self, tool: Literal["delete_file"], arguments: DeleteFileArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> DeleteFileAnswer: ...
    @overload
    async def call(
        self, tool: Literal["restore_file"], arguments: RestoreFileArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> RestoreFileAnswer: ...
    @overload
    async def call(
        self, tool: Literal["move_file"], arguments: MoveFileArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> MoveFileAnswer: ...
    @overload
    async def call(
        self, tool: Literal["apply_patch"], arguments: ApplyPatchArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> ApplyPatchAnswer: ...
    @overload
    async def call(
        self, tool: Literal["edit.patch"], arguments: EditPatchArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> EditPatchAnswer: ...
    @overload
    async def call(
        self, tool: Literal["undo"], arguments: UndoArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> UndoAnswer: ...
    @overload
    async def call(
        self, tool: Literal["undo_turn"], arguments: UndoTurnArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> UndoTurnAnswer: ...
    @overload
    async def call(
        self, tool: Literal["propose"], arguments: ProposeArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> ProposeAnswer: ...
    @overload
    async def call(
        self, tool: Literal["proposal"], arguments: ProposalArguments, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> ProposalAnswer: ...
    @overload
    async def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, /, **callbacks: Unpack[AsyncCallbacks]
    ) -> Answer: ...
