"""Applies patches that language models write: all or nothing, never a guess, undoable.

    >>> import apply_patch
    >>> apply_patch.apply_in_memory({"a.txt": "one\\n"}, '''*** Begin Patch
    ... *** Update File: a.txt
    ... @@
    ... -one
    ... +two
    ... *** End Patch
    ... ''')
    {'a.txt': 'two\\n'}
"""

from ._errors import (
    AlreadyExists,
    ApplyError,
    BinaryFile,
    Cancelled,
    CommandFailed,
    Declined,
    DoesNotApply,
    FileTooLarge,
    MultipleMatches,
    NotFound,
    OldTextNotFound,
    OutsideWorkspace,
    OverlappingEdits,
    ParseError,
    PatchError,
    PermissionDenied,
    Refused,
    StaleFile,
    Timeout,
    Unknown,
)
from ._native import (
    BoundFiles,
    Cancellation,
    FittedGrammar,
    GitTree,
    HostPlan,
    Matcher,
    PatchStream,
    Plan,
    Proposal,
    Vocabulary,
    Workspace,
    __version__,
    apply_diff,
    apply_in_memory,
    apply_many,
    convert,
    fit,
    grammar,
    parse,
    plan_over,
    prompt,
    tool_caveats,
    tool_specs,
)
from ._turn import Turn

parse_stream = PatchStream

__all__ = [
    "AlreadyExists",
    "ApplyError",
    "BinaryFile",
    "BoundFiles",
    "Cancellation",
    "Cancelled",
    "CommandFailed",
    "Declined",
    "DoesNotApply",
    "FileTooLarge",
    "FittedGrammar",
    "GitTree",
    "HostPlan",
    "Matcher",
    "MultipleMatches",
    "NotFound",
    "OldTextNotFound",
    "OutsideWorkspace",
    "OverlappingEdits",
    "ParseError",
    "PatchError",
    "PatchStream",
    "PermissionDenied",
    "Plan",
    "Proposal",
    "Refused",
    "StaleFile",
    "Timeout",
    "Turn",
    "Unknown",
    "Vocabulary",
    "Workspace",
    "apply_diff",
    "apply_in_memory",
    "apply_many",
    "convert",
    "fit",
    "grammar",
    "parse",
    "parse_stream",
    "plan_over",
    "prompt",
    "tool_caveats",
    "tool_specs",
]
