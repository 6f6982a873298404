"""Why a call failed. Every class has the same attributes; `kind` is the stable name."""


class PatchError(Exception):
    """A call failed. Unless `kind` says otherwise, nothing was changed."""

    def __init__(self, fields):
        super().__init__(fields["message"])
        self.kind = fields["kind"]
        self.message = fields["message"]
        self.path = fields.get("path")
        self.details = fields.get("details", {})
        self.hints = fields.get("hints", [])
        self.recoverable = fields.get("recoverable", False)
        self.suggested_next_action = fields.get("suggestedNextAction")

    def __reduce__(self):
        fields = {
            "kind": self.kind,
            "message": self.message,
            "path": self.path,
            "details": self.details,
            "hints": self.hints,
            "recoverable": self.recoverable,
            "suggestedNextAction": self.suggested_next_action,
        }
        return type(self), (fields,)


class ParseError(PatchError, ValueError):
    """The text is not a patch (`patch_parse_error`)."""


class DoesNotApply(PatchError, ValueError):
    """The patch does not fit the files."""


class StaleFile(PatchError):
    """A file is not what was expected (`stale_file`)."""


class Refused(PatchError):
    """Outside the workspace, against the rules, or not approved (`outside_workspace`, `permission_denied`)."""


_CLASSES = {
    "patch_parse_error": ParseError,
    "stale_file": StaleFile,
    "outside_workspace": Refused,
    "permission_denied": Refused,
    "not_found": DoesNotApply,
    "already_exists": DoesNotApply,
    "binary_file": DoesNotApply,
    "old_text_not_found": DoesNotApply,
    "multiple_matches": DoesNotApply,
    "overlapping_edits": DoesNotApply,
    "patch_apply_error": DoesNotApply,
}


def exception(fields):
    """The exception of an error."""
    return _CLASSES.get(fields["kind"], PatchError)(fields)
