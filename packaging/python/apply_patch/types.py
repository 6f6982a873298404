"""What calls answer, as types: dicts, so that nothing here is needed to use them.

Made of `answers.d.ts` of the npm package, and of the schemas of the tools, by
`crates/api/tests/answers.rs`.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union


class LineRange(TypedDict):
    """Lines of a file, from 1, both included."""

    startLine: int
    endLine: int


class _ChangedFile(TypedDict):
    """What it always has."""

    path: str
    operation: Literal["create", "update", "delete", "move"]


class ChangedFile(_ChangedFile, total=False):
    """One file that changes."""

    # Where a moved file goes.
    toPath: str
    beforeSha256: str
    afterSha256: str
    # The diff, or how many lines it has, when asked for.
    diff: str
    # Where the displaced file is kept.
    trashedTo: str


class _Hunk(TypedDict):
    """What it always has."""

    path: str
    section: int
    hunkIndex: int
    outcome: Literal["applied", "already_applied", "rejected", "not_applied"]


_HunkWords = TypedDict("_HunkWords", {"pass": 'Literal["none", "trailing", "blanks", "unicode"]'}, total=False)


class Hunk(_HunkWords, _Hunk, total=False):
    """The outcome of a hunk. `section` and `hunkIndex` count from 0, lines from 1."""

    startLine: int
    lineCount: int
    notes: list[str]
    # Why it is rejected.
    reason: str


class _ChangedBy(TypedDict):
    """What it always has."""

    # It was a transaction. Otherwise it was an editor or another program.
    byApplyPatch: bool


class ChangedBy(_ChangedBy, total=False):
    """Who changed a file last."""

    transactionId: str
    agent: str
    session: str
    ownSession: bool
    turnId: str
    tool: str
    # When it was, in UTC.
    time: str


_CarriedHunkWords = TypedDict("_CarriedHunkWords", {"from": 'LineRange'})


class _CarriedHunk(_CarriedHunkWords):
    """What it always has."""

    path: str
    hunk: int
    to: LineRange


class CarriedHunk(_CarriedHunk, total=False):
    """A hunk, or an edit, that was carried to a file that had changed since it was read."""

    alreadyThere: bool
    changedBy: ChangedBy


class EditedByPerson(TypedDict):
    """What a person changed in a proposal."""

    # The diff from the files as proposed to the files as they are now.
    diff: str


class _Applied(TypedDict):
    """What it always has."""

    # Whether all sections were one transaction.
    atomic: bool
    hunkCount: int
    changedFiles: list[ChangedFile]


class Applied(_Applied, total=False):
    """What a patch did: the `data` of `apply-patch --json`."""

    dryRun: bool
    # What `undo` takes; none when there was nothing to change.
    transactionId: str
    # The transactions of a patch that was not atomic.
    transactionIds: list[str]
    # What was overlooked, and what a reader should know.
    notes: list[str]
    hunks: list[Hunk]
    carried: list[CarriedHunk]
    # A person changed the proposal before it was applied.
    editedByPerson: EditedByPerson
    # The very patch was applied before, and its files are as it left them: nothing was done.
    alreadyDone: bool
    # Interrupted transactions that were seen to on the way.
    recovered: list[str]
    # Diffs or files are left out.
    truncated: bool


class _ProposedFile(TypedDict):
    """What it always has."""

    operation: Literal["create", "update", "delete", "move"]
    path: str


class ProposedFile(_ProposedFile, total=False):
    """A file that a proposal changes."""

    # Where it moves to.
    toPath: str


class _KeptProposal(TypedDict):
    """What it always has."""

    proposalId: str
    state: Literal["proposed", "approved", "declined", "withdrawn", "expired"]
    # When it was made, in UTC.
    time: str
    session: str
    files: list[ProposedFile]
    # The plan that was shown.
    digest: str


class KeptProposal(_KeptProposal, total=False):
    """A change that waits for a person, or about which one has decided."""

    agent: str
    turnId: str
    # The call that made it, as the caller names it.
    callId: str
    # Why it was made.
    why: str
    # The directory of the project to which its paths are relative.
    directory: str
    # Why a person is asked.
    reasons: list[str]
    # When it was decided, in UTC.
    decided: str
    # Why it was declined.
    decidedWhy: str
    # The transactions of what was approved.
    transactionIds: list[str]


class KeptProposals(TypedDict):
    """The proposals of a project, the newest first."""

    proposals: list[KeptProposal]
    # The ids of those that were altered, or are not signed with a key that is here.
    notVerified: list[str]


class PlannedProposal(KeptProposal, total=False):
    """A proposal, and what it would do now, if it waits."""

    # It is not what was shown: the files have changed since.
    differs: bool
    # What `approve` takes to commit exactly this.
    digestNow: str
    changedFiles: list[ChangedFile]
    notes: list[str]
    carried: list[CarriedHunk]
    # Why it does not apply any more.
    error: ErrorFields
    # Older proposals that were found to have expired.
    expired: list[str]


class _Committed(Applied):
    """What it always has."""

    # The id of the commit; null when there was nothing to change.
    commit: str | None
    tree: str
    onto: str


class Committed(_Committed, total=False):
    """What a patch did as a commit."""

    branch: str


class _Undone(TypedDict):
    """What it always has."""

    # The transaction that did it; null when there was nothing to change.
    transactionId: str | None
    undoOf: str | None
    changedFiles: list[ChangedFile]


class Undone(_Undone, total=False):
    """What an undo or a redo did."""

    # The others of several that were undone as one.
    alsoUndoOf: list[str]
    carried: list[CarriedHunk]
    # The turn, if all of one was undone.
    turnId: str
    notes: list[str]


class TurnSummary(TypedDict):
    """What a turn changed."""

    # Its name.
    id: str
    # The ids of its transactions, the newest first.
    transactions: list[str]
    # The files that are not what they were before it.
    changedFiles: list[ChangedFile]
    # All of it as one git diff.
    diff: str


class _LoggedFile(TypedDict):
    """What it always has."""

    path: str
    operation: Literal["create", "update", "delete", "move"]
    beforeSha256: str | None
    afterSha256: str | None
    trashedTo: str | None


class LoggedFile(_LoggedFile, total=False):
    """A file of a transaction."""

    toPath: str


class _Transaction(TypedDict):
    """What it always has."""

    id: str
    shortId: str
    # When it began, in UTC.
    timestamp: str
    tool: str
    agent: str | None
    session: str | None
    turnId: str | None
    undoOf: str | None
    undoneBy: str | None
    rolledBack: bool
    files: list[LoggedFile]


class Transaction(_Transaction, total=False):
    """A transaction."""

    alsoUndoOf: list[str]
    carried: list[CarriedHunk]
    diff: str


class _JournalProblem(TypedDict):
    """What it always has."""

    reason: str
    problem: str


class JournalProblem(_JournalProblem, total=False):
    """Why a journal is not trusted."""

    # The fingerprint of the key that it is signed with.
    key: str


class _NotVerified(TypedDict):
    """What it always has."""

    id: str
    problem: str
    details: JournalProblem
    undoneBy: str | None


class NotVerified(_NotVerified, total=False):
    """A transaction whose journal is not trusted."""

    # The command that undoes it all the same.
    undo: str


class _LoggedTurn(TypedDict):
    """What it always has."""

    id: str
    session: str
    # When it began, in UTC.
    timestamp: str
    transactions: list[str]
    # Nothing of it stands.
    undone: bool


class LoggedTurn(_LoggedTurn, total=False):
    """A turn of the log."""

    # With the diff: the files that are not what they were before it.
    changedFiles: list[ChangedFile]
    diff: str


class Log(TypedDict):
    """The newest transactions first, those of a turn together."""

    transactions: list[Transaction]
    turns: list[LoggedTurn]
    notVerified: list[NotVerified]


class ChangedBetween(TypedDict):
    """A change of a file by others, between the transactions of a diff."""

    path: str
    # Whether the diff leaves it out; otherwise it has both.
    leftOut: bool
    # The newest first.
    by: list[ChangedBy]


class _NetChanges(TypedDict):
    """What it always has."""

    # The ids of the transactions, the newest first, with those that are undone.
    transactions: list[str]
    sessions: list[str]
    # The files that differ.
    changedFiles: list[ChangedFile]
    # All of it as one git diff.
    diff: str


class NetChanges(_NetChanges, total=False):
    """What several transactions changed together."""

    # The time of the first transaction.
    since: str
    # The time of the last transaction.
    until: str
    changedBetween: list[ChangedBetween]


class _Candidate(TypedDict):
    """What it always has."""

    startLine: int
    endLine: int


class Candidate(_Candidate, total=False):
    """A place where a hunk fits, with what tells it from the others."""

    addContextBefore: list[str]
    addContextAfter: list[str]
    addHeader: str


class _ShownLine(TypedDict):
    """What it always has."""

    line: int
    text: str


class ShownLine(_ShownLine, total=False):
    """A line of a file, and the first and the last character that differ from the hunk's."""

    columns: list[int]


class Difference(TypedDict):
    """The first line that differs."""

    patchLine: int
    fileLine: int
    wanted: str
    found: str
    column: int


class Nearest(TypedDict):
    """The place in the file that is most like a hunk."""

    startLine: int
    endLine: int
    agreeingLines: int
    oldLines: int
    firstDifference: Difference | None
    region: list[ShownLine]
    mangled: str | None
    # The pass of `fuzz` that would match.
    wouldMatchWith: str | None
    scattered: bool
    notAtEnd: bool
    notAtStart: bool


class Hint(TypedDict):
    """One thing to do about an error; docs/reference/errors.md has the fields of each."""

    hint: str


class _Reject(TypedDict):
    """What it always has."""

    kind: ErrorKind
    message: str
    path: str
    reason: str
    suggestedNextAction: str
    hints: list[Hint]


class Reject(_Reject, total=False):
    """Another reason of an error."""

    section: int
    hunkIndex: int
    patchLine: int


class ErrorDetails(TypedDict, total=False):
    """What else is known of an error; docs/reference/errors.md tells which reason has what."""

    path: str
    # A finer word than the kind.
    reason: str
    section: int
    hunkIndex: int
    # The line of the patch, from 1.
    patchLine: int
    # Where a hunk or an edit fits.
    candidates: list[Candidate]
    nearest: Nearest
    didYouMean: str
    # The SHA-256 of a file that is not what was expected; empty for no file.
    expectedSha256: str
    actualSha256: str
    # Who changed the file last, where that can be found out.
    changedBy: ChangedBy
    # Where a text is not a patch: its line and the character in it, from 1.
    line: int
    column: int
    expected: list[str]
    seen: str | None
    # The other reasons.
    rejects: list[Reject]
    moreRejects: int
    hunks: list[Hunk]
    # The name by which a refused patch can be amended.
    patchId: str
    # What was applied, where it was not all of the patch.
    applied: Applied
    # The command of `verify` that did not accept the change, and the end of what it printed.
    command: str
    exitCode: int
    output: str


class _ErrorFields(TypedDict):
    """What it always has."""

    kind: ErrorKind
    message: str
    # Whether the caller can correct the request and try again.
    recoverable: bool


class ErrorFields(_ErrorFields, total=False):
    """Why a call failed."""

    path: str
    details: ErrorDetails
    # What to do, in words.
    suggestedNextAction: str
    # The same as data: alternatives, the best one first.
    hints: list[Hint]


class _FailedCall(TypedDict):
    """What it always has."""

    ok: Literal[False]
    error: ErrorFields


class FailedCall(_FailedCall, total=False):
    """The answer of a file tool that failed."""

    normalised: list[str]


class _EventChange(TypedDict):
    """What it always has."""

    operation: Literal["create", "update", "delete", "move"]
    path: str
    inserted: int
    deleted: int


class EventChange(_EventChange, total=False):
    """A change of an event."""

    toPath: str
    beforeSha256: str
    afterSha256: str


class BeginEvent(TypedDict):
    """A change is about to be made."""

    type: Literal["begin"]
    callId: str
    tool: str
    autoApproved: bool
    changes: list[EventChange]


class UpdateEvent(TypedDict):
    """What will be changed is something else than the event before said."""

    type: Literal["update"]
    callId: str
    autoApproved: bool
    changes: list[EventChange]


class ProgressEvent(TypedDict):
    """A file is in its place."""

    type: Literal["progress"]
    callId: str
    path: str
    done: int
    total: int


class _EndEvent(TypedDict):
    """What it always has."""

    type: Literal["end"]
    callId: str
    ok: bool
    transactionIds: list[str]
    changes: list[EventChange]
    # The answer.
    result: dict[str, Any]


class EndEvent(_EndEvent, total=False):
    """The call is over."""

    declined: bool
    error: str


class TurnDiffEvent(TypedDict):
    """All that the call changed, as a git diff."""

    type: Literal["turn_diff"]
    callId: str
    unifiedDiff: str


class _Begun(TypedDict):
    """What it always has."""

    type: Literal["begun"]
    section: int
    operation: Literal["add", "delete", "update", "move"]
    path: str
    line: int


class Begun(_Begun, total=False):
    """A section of a patch that is still arriving has begun."""

    toPath: str


class MoveTo(TypedDict):
    """Its file moves."""

    type: Literal["move_to"]
    section: int
    toPath: str


class Lines(TypedDict):
    """How many lines it has so far."""

    type: Literal["lines"]
    section: int
    inserted: int
    deleted: int


class Finished(TypedDict):
    """It is complete."""

    type: Literal["finished"]
    section: int
    inserted: int
    deleted: int


class Ended(TypedDict):
    """The patch is complete."""

    type: Literal["ended"]
    line: int


class NotAPatch(TypedDict):
    """The text is not a patch."""

    type: Literal["failed"]
    error: ErrorFields


class Spanned(TypedDict):
    """A part of the text of a patch: where it begins and ends, in bytes."""

    text: str
    span: list[int]


class Section(TypedDict):
    """A section of a patch."""

    path: Spanned
    line: int
    span: list[int]
    operation: str


class ParsedPatch(TypedDict):
    """The tree of a patch."""

    sections: list[Section]
    warnings: list[str]


class _ReadFileArguments(TypedDict):
    """What it always has."""

    # File, from the workspace root.
    path: str


class ReadFileArguments(_ReadFileArguments, total=False):
    """The arguments of `read_file`."""

    # Give a binary file as base64.
    allowBinary: bool
    # nextCursor of the last answer.
    cursor: str
    # Last line, included.
    endLine: int
    # Put its number and a tab before each line.
    lineNumbers: bool
    # Most bytes of content (262144).
    maxBytes: int
    # Most bytes of the answer.
    maxResultBytes: int
    # First line, from 1.
    startLine: int
    # Put 12#kz| before each line, its number and tag, for edit_file.
    tags: bool


class _ReadFileData(TypedDict):
    """What it always has."""

    # Whether it is binary.
    binary: bool
    # utf-8, or the charset that the content was decoded from, or unknown (content has U+FFFD for what is not UTF-8), or binary.
    encoding: str
    # Last line given; less than startLine when there is none.
    endLine: int
    # Whether it starts with a byte-order mark.
    hasBom: bool
    # Lines of the whole file.
    lineCount: int
    # lf, crlf, mixed or none.
    newlineStyle: Literal["lf", "crlf", "mixed", "none"]
    # The file; where a link leads.
    path: str
    # SHA-256 of the whole file as it is on disk.
    sha256: str
    # Bytes of the whole file.
    sizeBytes: int
    # First line given.
    startLine: int
    # The content was cut.
    truncated: bool


class ReadFileData(_ReadFileData, total=False):
    """What `read_file` answers."""

    # The lines, ending in line feeds, without a byte-order mark.
    content: str
    # The bytes of a binary file.
    contentBase64: str
    # Where to go on.
    nextCursor: str


class ListDirectoryArguments(TypedDict, total=False):
    """The arguments of `list_directory`."""

    # nextCursor of the last answer.
    cursor: str
    # List hidden and ignored names too.
    includeHidden: bool
    # How deep, recursively; at most 32.
    maxDepth: int
    # Most bytes of the answer.
    maxResultBytes: int
    # Directory; the workspace root by default.
    path: str
    # List what is beneath too.
    recursive: bool


class Entry(TypedDict):
    """One of a list."""

    # 1 for the directory's own entries.
    depth: int
    # When its bytes changed last: RFC 3339, UTC.
    mtime: str
    # Its name.
    name: str
    # Its path beneath the workspace root.
    relativePath: str
    # Bytes.
    size: int
    # file, directory, symlink or other.
    type: Literal["file", "directory", "symlink", "other"]


class _ListDirectoryData(TypedDict):
    """What it always has."""

    # By depth, then directories, files and links, then by name.
    entries: list[Entry]
    # There is more.
    truncated: bool


class ListDirectoryData(_ListDirectoryData, total=False):
    """What `list_directory` answers."""

    # Where to go on.
    nextCursor: str


class _SearchFilesArguments(TypedDict):
    """What it always has."""

    # What to look for.
    query: str


class SearchFilesArguments(_SearchFilesArguments, total=False):
    """The arguments of `search_files`."""

    # Lines around each match (0), at most 20.
    contextLines: int
    # nextCursor of the last answer.
    cursor: str
    # Leave out paths like these.
    excludeGlobs: list[str]
    # Look only at paths like these.
    includeGlobs: list[str]
    # Most bytes of the answer.
    maxResultBytes: int
    # Most results (100), at most 5000.
    maxResults: int
    # text (default), or regex, as Rust has it: in lines; path: in paths.
    mode: Literal["path", "text", "regex"]
    # Directory to look in; the workspace root by default.
    root: str
    # Put tags before lines, as in read_file.
    tags: bool


class _Match(TypedDict):
    """What it always has."""

    # The path beneath the workspace root.
    path: str
    # The line with its context, or the path.
    preview: str


class Match(_Match, total=False):
    """One of a list."""

    # The character in the line where the first match begins, from 1.
    column: int
    # The line, from 1.
    line: int


class _SearchFilesData(TypedDict):
    """What it always has."""

    # In order of paths, then lines.
    matches: list[Match]
    # There are more.
    truncated: bool


class SearchFilesData(_SearchFilesData, total=False):
    """What `search_files` answers."""

    # Where to go on.
    nextCursor: str


class _GlobArguments(TypedDict):
    """What it always has."""

    # Pattern of paths beneath root; `*` stays in a directory, `**` does not.
    pattern: str


class GlobArguments(_GlobArguments, total=False):
    """The arguments of `glob`."""

    # nextCursor of the last answer.
    cursor: str
    # Patterns of paths to leave out.
    excludeGlobs: list[str]
    # Most bytes of the answer.
    maxResultBytes: int
    # Most results; 1000 by default, at most 5000.
    maxResults: int
    # Directory to look in; the workspace root by default.
    root: str


class FoundPath(TypedDict):
    """One of a list."""

    # The path beneath the workspace root.
    path: str
    # file, directory, symlink or other.
    type: Literal["file", "directory", "symlink", "other"]


class _GlobData(TypedDict):
    """What it always has."""

    # In order of paths.
    matches: list[FoundPath]
    # There are more.
    truncated: bool


class GlobData(_GlobData, total=False):
    """What `glob` answers."""

    # Where to go on.
    nextCursor: str


class _CreateFileArguments(TypedDict):
    """What it always has."""

    # All of its text.
    content: str
    # New file, relative to the workspace root.
    path: str


class CreateFileArguments(_CreateFileArguments, total=False):
    """The arguments of `create_file`."""

    # Make missing directories.
    createParentDirectories: bool
    # Diff to show; none by default.
    diff: Literal["none", "stat", "full"]
    # Most bytes of the answer (8192).
    maxResultBytes: int


class _CreateFileData(TypedDict):
    """What it always has."""

    # Whether it was made.
    created: bool
    # The file.
    path: str
    # Its hash.
    sha256: str
    # The transaction, for undo.
    transactionId: str


class CreateFileData(_CreateFileData, total=False):
    """What `create_file` answers."""

    # The unified diff, or how many lines it has, when asked for.
    diff: str


class _WriteFileArguments(TypedDict):
    """What it always has."""

    # All of its new text.
    content: str
    # File, from the workspace root.
    path: str


class WriteFileArguments(_WriteFileArguments, total=False):
    """The arguments of `write_file`."""

    # Diff to show; none by default.
    diff: Literal["none", "stat", "full"]
    # sha256 from read_file, empty if the file must not exist; by default the one that this session saw last.
    expectedSha256: str
    # Most bytes of the answer (8192).
    maxResultBytes: int


class _WriteFileData(TypedDict):
    """What it always has."""

    # Its hash now.
    afterSha256: str
    # The file.
    path: str


class WriteFileData(_WriteFileData, total=False):
    """What `write_file` answers."""

    # Its hash before.
    beforeSha256: str
    # The unified diff, or how many lines it has, when asked for.
    diff: str
    # The transaction, for undo; none when nothing changed.
    transactionId: str


class _Edit(TypedDict):
    """What it always has."""

    # What takes its place.
    newText: str


_EditWords = TypedDict("_EditWords", {"from": 'str'}, total=False)


class Edit(_EditWords, _Edit, total=False):
    """One of a list."""

    # Or the line to insert below; 0: the top.
    after: str
    # Replace all, if there are so many.
    expectedOccurrences: int
    # Text in the file, exactly; enough of it to be there once.
    oldText: str
    # Replace it wherever it is.
    replaceAll: bool
    # The last line to replace.
    to: str


class _EditFileArguments(TypedDict):
    """What it always has."""

    # Replacements; all are matched against the file before the call.
    edits: list[Edit]
    # File, from the workspace root.
    path: str


class EditFileArguments(_EditFileArguments, total=False):
    """The arguments of `edit_file`."""

    # false: refuse a file changed since.
    carry: bool
    # Diff to show; none by default.
    diff: Literal["none", "stat", "full"]
    # sha256 from read_file; by default what this session saw last.
    expectedSha256: str
    # Most bytes of the answer (8192).
    maxResultBytes: int


class _EditFileData(TypedDict):
    """What it always has."""

    # Its hash now.
    afterSha256: str
    # How many edits were made.
    appliedEdits: int
    # Its hash before.
    beforeSha256: str
    # The file.
    path: str
    # How many places were replaced.
    replacements: int


class EditFileData(_EditFileData, total=False):
    """What `edit_file` answers."""

    # The edits that were carried to the file, which had changed since it was read, and where they went.
    carried: list[CarriedHunk]
    # The unified diff, or how many lines it has, when asked for.
    diff: str
    # The transaction, for undo; none when others had made the same edits.
    transactionId: str


class _DeleteFileArguments(TypedDict):
    """What it always has."""

    # File, link or directory, relative to the workspace root.
    path: str


class DeleteFileArguments(_DeleteFileArguments, total=False):
    """The arguments of `delete_file`."""

    # Diff to show; none by default.
    diff: Literal["none", "stat", "full"]
    # sha256 from read_file.
    expectedSha256: str
    # Most bytes of the answer (8192).
    maxResultBytes: int
    # Keep nothing in the trash: it cannot be restored.
    permanent: bool
    # Delete a directory with all in it.
    recursive: bool


class _DeleteFileData(TypedDict):
    """What it always has."""

    # Whether it is gone.
    deleted: bool
    # How many files went.
    deletedFiles: int
    # What is gone.
    path: str


class DeleteFileData(_DeleteFileData, total=False):
    """What `delete_file` answers."""

    # The hash that the file had; none for a directory.
    beforeSha256: str
    # The unified diff, or how many lines it has, when asked for.
    diff: str
    # The transaction, for undo; none when it is gone for good.
    transactionId: str
    # Where restore_file finds it; none when it is gone for good, or had no files.
    trashedTo: str


class RestoreFileArguments(TypedDict, total=False):
    """The arguments of `restore_file`."""

    # Where to, if not to its old path.
    targetPath: str
    # Instead of trashedPath: TRANSACTION/NUMBER.
    trashId: str
    # trashedTo of delete_file, apply_patch or move_file.
    trashedPath: str


class RestoreFileData(TypedDict):
    """What `restore_file` answers."""

    # Where; the first one of several.
    path: str
    # Whether it is back.
    restored: bool
    # How many files are back.
    restoredFiles: int
    # Its hash.
    sha256: str
    # The transaction, for undo.
    transactionId: str


class _MoveFileArguments(TypedDict):
    """What it always has."""

    # File, from the workspace root.
    fromPath: str
    # Its new path, in an existing directory.
    toPath: str


class MoveFileArguments(_MoveFileArguments, total=False):
    """The arguments of `move_file`."""

    # sha256 of the file, from read_file; by default what this session saw last.
    expectedSha256: str
    # Replace a file at toPath; the trash keeps it.
    overwrite: bool


class _MoveFileData(TypedDict):
    """What it always has."""

    # Its path before.
    fromPath: str
    # Whether it has its new path.
    moved: bool
    # Its hash.
    sha256: str
    # Its path now.
    toPath: str
    # The transaction, for undo.
    transactionId: str


class MoveFileData(_MoveFileData, total=False):
    """What `move_file` answers."""

    # Where the file is kept that it replaced.
    overwroteTrashedTo: str


class ExpectedFile(TypedDict):
    """One of a list."""

    # The file.
    path: str
    # sha256 from read_file; empty: no such file.
    sha256: str


class _ApplyPatchArguments(TypedDict):
    """What it always has."""

    # Patch, from `*** Begin Patch` to `*** End Patch`.
    patch: str


class ApplyPatchArguments(_ApplyPatchArguments, total=False):
    """The arguments of `apply_patch`."""

    # patchId of a refused patch, for files not in this one.
    amend: str
    # All sections or none; true by default.
    atomic: bool
    # false: refuse a file changed since.
    carry: bool
    # Make missing directories.
    createParentDirectories: bool
    # Diff to show; none by default, full for a dryRun.
    diff: Literal["none", "stat", "full"]
    # Only tell what would change.
    dryRun: bool
    # Files as you read them; refused if changed since.
    expectedSha256ByPath: list[ExpectedFile]
    # Most bytes of the answer (8192).
    maxResultBytes: int
    # Apply the sections that fit; keep the others (patchId).
    partial: bool
    # standard (default): exact. strict: the envelope alone. codex: headers are anchors, blanks may differ, files may be replaced.
    profile: Literal["strict", "standard", "codex"]
    # Omit what is applied already.
    skipApplied: bool


class _EditPatchArguments(TypedDict):
    """What it always has."""

    # Patch, from `*** Begin Patch` to `*** End Patch`.
    patch: str


class EditPatchArguments(_EditPatchArguments, total=False):
    """The arguments of `edit.patch`."""

    # Let the patch delete files; false by default.
    allow_delete: bool
    # Let the patch move files; true by default.
    allow_move: bool
    # false: refuse a file changed since.
    carry: bool
    # Only tell what would change.
    dry_run: bool
    # Directory that paths are relative to; the workspace root by default.
    workspace_root: str


class _EditPatchData(TypedDict):
    """What it always has."""

    # Whether it was applied, or would be.
    ok: bool


class EditPatchData(_EditPatchData, total=False):
    """What `edit.patch` answers."""

    # The hunks that were carried to files that had changed since they were read, and where they went.
    carried: list[CarriedHunk]
    # Why not, in one line.
    error: str
    # What was overlooked, and what a reader should know.
    notes: list[str]
    # How many files were added, modified, deleted and renamed: `A 1, M 2, D 0, R 0`.
    summary: str


class UndoArguments(TypedDict, total=False):
    """The arguments of `undo`."""

    # Diff to show; none by default.
    diff: Literal["none", "stat", "full"]
    # Most bytes of the answer (8192).
    maxResultBytes: int
    # Only these files of it.
    paths: list[str]
    # transactionId of the answer to undo.
    transactionId: str


class _UndoData(TypedDict):
    """What it always has."""

    # The files that changed.
    changedFiles: list[ChangedFile]
    # What was undone.
    undoOf: str


class UndoData(_UndoData, total=False):
    """What `undo` answers."""

    # The transaction that did it; undo it to have the changes again. None if there was nothing to change.
    transactionId: str
    # Diffs or files are left out.
    truncated: bool


class UndoTurnArguments(TypedDict, total=False):
    """The arguments of `undo_turn`."""

    # Diff to show; none by default.
    diff: Literal["none", "stat", "full"]
    # Most bytes of the answer (8192).
    maxResultBytes: int


class _UndoTurnData(TypedDict):
    """What it always has."""

    # The files that changed.
    changedFiles: list[ChangedFile]
    # What was undone.
    undoOf: str


class UndoTurnData(_UndoTurnData, total=False):
    """What `undo_turn` answers."""

    # The transaction that did it; undo it to have the changes again. None if there was nothing to change.
    transactionId: str
    # Diffs or files are left out.
    truncated: bool


class _ProposeArguments(TypedDict):
    """What it always has."""

    # Patch, from `*** Begin Patch` to `*** End Patch`.
    patch: str


class ProposeArguments(_ProposeArguments, total=False):
    """The arguments of `propose`."""

    # Files as you read them; refused if changed since.
    expectedSha256ByPath: list[ExpectedFile]
    # Most bytes of the answer (8192).
    maxResultBytes: int
    # Why it is wanted, for who decides.
    reason: str


class _ProposeData(TypedDict):
    """What it always has."""

    # The files that it would change, in order.
    changedFiles: list[ChangedFile]
    # Its id, for `proposal`.
    proposalId: str
    # proposed: nothing is changed yet.
    state: str


class ProposeData(_ProposeData, total=False):
    """What `propose` answers."""

    # What was overlooked, and what a reader should know.
    notes: list[str]
    # Why a person is asked, beside that it was proposed.
    reasons: list[str]
    # Diffs or files are left out.
    truncated: bool


class _ProposalArguments(TypedDict):
    """What it always has."""

    # proposalId.
    id: str


class ProposalArguments(_ProposalArguments, total=False):
    """The arguments of `proposal`."""

    # Why it is given up.
    reason: str
    # Give it up: it is not wanted any more.
    withdraw: bool


class _ProposalData(TypedDict):
    """What it always has."""

    # The plan that was shown.
    digest: str
    # The files that it changes.
    files: list[ProposedFile]
    # Its id.
    proposalId: str
    # The session that made it.
    session: str
    # proposed, approved, declined, withdrawn or expired.
    state: str
    # When it was made.
    time: str


class ProposalData(_ProposalData, total=False):
    """What `proposal` answers."""

    # The agent of that session.
    agent: str
    # The call that made it, as the caller names it.
    callId: str
    # When it was decided.
    decided: str
    # Why it was declined.
    decidedWhy: str
    # The directory of the project to which its paths are relative.
    directory: str
    # Why a person is asked.
    reasons: list[str]
    # The transactions of what was approved, for undo.
    transactionIds: list[str]
    # The turn in which it was made.
    turnId: str
    # Why it was made.
    why: str


class _Succeeded(TypedDict):
    """What it always has."""

    ok: Literal[True]
    output: str


class Succeeded(_Succeeded, total=False):
    """The answer of a file tool that did it."""

    # What was taken in another form than it was sent in.
    normalised: list[str]

    # What is wrong with the new files.
    warnings: list[str]


class ReadFileSucceeded(Succeeded):
    """The answer of `read_file`."""

    data: ReadFileData


ReadFileAnswer = Union[ReadFileSucceeded, FailedCall]


class ListDirectorySucceeded(Succeeded):
    """The answer of `list_directory`."""

    data: ListDirectoryData


ListDirectoryAnswer = Union[ListDirectorySucceeded, FailedCall]


class SearchFilesSucceeded(Succeeded):
    """The answer of `search_files`."""

    data: SearchFilesData


SearchFilesAnswer = Union[SearchFilesSucceeded, FailedCall]


class GlobSucceeded(Succeeded):
    """The answer of `glob`."""

    data: GlobData


GlobAnswer = Union[GlobSucceeded, FailedCall]


class CreateFileSucceeded(Succeeded):
    """The answer of `create_file`."""

    data: CreateFileData


CreateFileAnswer = Union[CreateFileSucceeded, FailedCall]


class WriteFileSucceeded(Succeeded):
    """The answer of `write_file`."""

    data: WriteFileData


WriteFileAnswer = Union[WriteFileSucceeded, FailedCall]


class EditFileSucceeded(Succeeded):
    """The answer of `edit_file`."""

    data: EditFileData


EditFileAnswer = Union[EditFileSucceeded, FailedCall]


class DeleteFileSucceeded(Succeeded):
    """The answer of `delete_file`."""

    data: DeleteFileData


DeleteFileAnswer = Union[DeleteFileSucceeded, FailedCall]


class RestoreFileSucceeded(Succeeded):
    """The answer of `restore_file`."""

    data: RestoreFileData


RestoreFileAnswer = Union[RestoreFileSucceeded, FailedCall]


class MoveFileSucceeded(Succeeded):
    """The answer of `move_file`."""

    data: MoveFileData


MoveFileAnswer = Union[MoveFileSucceeded, FailedCall]


class ApplyPatchSucceeded(Succeeded):
    """The answer of `apply_patch`."""

    data: Applied


ApplyPatchAnswer = Union[ApplyPatchSucceeded, FailedCall]


EditPatchAnswer = EditPatchData


class UndoSucceeded(Succeeded):
    """The answer of `undo`."""

    data: UndoData


UndoAnswer = Union[UndoSucceeded, FailedCall]


class UndoTurnSucceeded(Succeeded):
    """The answer of `undo_turn`."""

    data: UndoTurnData


UndoTurnAnswer = Union[UndoTurnSucceeded, FailedCall]


class ProposeSucceeded(Succeeded):
    """The answer of `propose`."""

    data: ProposeData


ProposeAnswer = Union[ProposeSucceeded, FailedCall]


class ProposalSucceeded(Succeeded):
    """The answer of `proposal`."""

    data: ProposalData


ProposalAnswer = Union[ProposalSucceeded, FailedCall]


class AnySucceeded(Succeeded):
    """The answer of any tool."""

    data: dict[str, Any]


Answer = Union[AnySucceeded, FailedCall]

Event = Union[BeginEvent, UpdateEvent, ProgressEvent, EndEvent, TurnDiffEvent]

StreamEvent = Union[Begun, MoveTo, Lines, Finished, Ended, NotAPatch]

ErrorKind = Literal[
    "not_found",
    "already_exists",
    "permission_denied",
    "outside_workspace",
    "binary_file",
    "file_too_large",
    "stale_file",
    "old_text_not_found",
    "multiple_matches",
    "overlapping_edits",
    "patch_parse_error",
    "patch_apply_error",
    "command_failed",
    "timeout",
    "cancelled",
    "unknown",
]
