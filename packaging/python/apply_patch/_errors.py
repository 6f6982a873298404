"""Why a call failed. `kind` is the stable name of what was seen, and each kind has a class."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .types import Candidate, ChangedBy, ErrorDetails, ErrorFields, Hint, Nearest


class PatchError(Exception):
    """A call failed. Unless `kind` or `details` say otherwise, nothing was changed."""

    def __init__(self, fields: "ErrorFields") -> None:
        super().__init__(fields["message"])
        self._fields = fields
        self.kind: str = fields["kind"]
        self.message: str = fields["message"]
        self.path: str | None = fields.get("path")
        self.details: ErrorDetails = fields.get("details", {})
        self.hints: list[Hint] = fields.get("hints", [])
        self.recoverable: bool = fields.get("recoverable", False)
        self.suggested_next_action: str | None = fields.get("suggestedNextAction")

    @property
    def reason(self) -> "str | None":
        """A finer word than the kind, if there is one."""
        return self.details.get("reason")

    def __reduce__(self) -> "tuple[type[PatchError], tuple[ErrorFields]]":
        return type(self), (self._fields,)


class ParseError(PatchError, ValueError):
    """The text is not a patch (`patch_parse_error`)."""

    @property
    def line(self) -> "int | None":
        """The line of the text, from 1."""
        return self.details.get("line")

    @property
    def column(self) -> "int | None":
        """The character in the line, from 1."""
        return self.details.get("column")

    @property
    def expected(self) -> "list[str]":
        """What could stand there."""
        return self.details.get("expected", [])

    @property
    def seen(self) -> "str | None":
        """What stands there."""
        return self.details.get("seen")


class DoesNotApply(PatchError, ValueError):
    """The patch does not fit the files."""


class ApplyError(DoesNotApply):
    """A hunk has no place, or the sections do not go together (`patch_apply_error`)."""

    @property
    def hunk_index(self) -> "int | None":
        """The hunk in its section, from 0."""
        return self.details.get("hunkIndex")

    @property
    def patch_line(self) -> "int | None":
        """The line of the patch, from 1."""
        return self.details.get("patchLine")

    @property
    def nearest(self) -> "Nearest | None":
        """The place in the file that is most like the hunk."""
        return self.details.get("nearest")


class MultipleMatches(DoesNotApply):
    """A hunk or an edit fits in several places (`multiple_matches`)."""

    @property
    def places(self) -> "list[Candidate]":
        """The places, each with the lines that tell it from the others."""
        return self.details.get("candidates", [])


class NotFound(DoesNotApply):
    """There is no such file, transaction or entry of the trash (`not_found`)."""

    @property
    def did_you_mean(self) -> "str | None":
        """A path that is there, and much like it."""
        return self.details.get("didYouMean")


class AlreadyExists(DoesNotApply):
    """Something is at the path already (`already_exists`)."""


class BinaryFile(DoesNotApply):
    """A file that is to be edited is not text (`binary_file`)."""


class OldTextNotFound(DoesNotApply):
    """The text that an edit replaces is not in the file (`old_text_not_found`)."""


class OverlappingEdits(DoesNotApply):
    """Two hunks or edits change the same lines (`overlapping_edits`)."""


class StaleFile(PatchError):
    """A file is not what was expected (`stale_file`)."""

    @property
    def expected(self) -> "str | None":
        """The SHA-256 that was expected; empty for no file, None where it is not known."""
        return self.details.get("expectedSha256")

    @property
    def actual(self) -> "str | None":
        """The SHA-256 that the file has; empty for no file, None where it is not known."""
        return self.details.get("actualSha256")

    @property
    def changed_by(self) -> "ChangedBy | None":
        """Who changed the file last, where that can be found out."""
        return self.details.get("changedBy")


class Refused(PatchError):
    """The path leads out of the workspace, or the change is against the rules or not approved."""


class OutsideWorkspace(Refused):
    """The path leads out of the workspace (`outside_workspace`)."""


class PermissionDenied(Refused):
    """The rules, or the operating system, forbid it (`permission_denied`)."""


class Declined(PermissionDenied):
    """`approve` said no (`permission_denied`, with the reason `declined`)."""


class FileTooLarge(PatchError):
    """A file or a patch is larger than the limit (`file_too_large`)."""


class CommandFailed(PatchError):
    """The request makes no sense, `verify` did not accept the change, or a system call failed (`command_failed`)."""

    @property
    def command(self) -> "str | None":
        """The command of `verify`."""
        return self.details.get("command")

    @property
    def exit_code(self) -> "int | None":
        """The exit code of `verify`; None if it was ended otherwise."""
        return self.details.get("exitCode")

    @property
    def output(self) -> "str | None":
        """The end of what `verify` printed."""
        return self.details.get("output")


class Timeout(PatchError):
    """Another process has kept the lock of the workspace for too long (`timeout`)."""


class Cancelled(PatchError):
    """The call was given up before the commit point (`cancelled`)."""


class Unknown(PatchError):
    """None of the others (`unknown`)."""


_CLASSES: "dict[str, type[PatchError]]" = {
    "not_found": NotFound,
    "already_exists": AlreadyExists,
    "permission_denied": PermissionDenied,
    "outside_workspace": OutsideWorkspace,
    "binary_file": BinaryFile,
    "file_too_large": FileTooLarge,
    "stale_file": StaleFile,
    "old_text_not_found": OldTextNotFound,
    "multiple_matches": MultipleMatches,
    "overlapping_edits": OverlappingEdits,
    "patch_parse_error": ParseError,
    "patch_apply_error": ApplyError,
    "command_failed": CommandFailed,
    "timeout": Timeout,
    "cancelled": Cancelled,
    "unknown": Unknown,
}


def exception(fields: "ErrorFields") -> PatchError:
    """The exception of an error."""
    if fields.get("details", {}).get("reason") == "declined":
        return Declined(fields)
    return _CLASSES.get(fields["kind"], PatchError)(fields)
