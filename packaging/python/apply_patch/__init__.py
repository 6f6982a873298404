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

from ._errors import DoesNotApply, ParseError, PatchError, Refused, StaleFile
from ._native import (
    BoundFiles,
    FittedGrammar,
    GitTree,
    HostPlan,
    Matcher,
    PatchStream,
    Plan,
    Proposal,
    Vocabulary,
    Workspace,
    apply_diff,
    apply_in_memory,
    convert,
    fit,
    grammar,
    parse,
    plan_over,
    prompt,
    tool_caveats,
    tool_specs,
)

parse_stream = PatchStream

__all__ = [
    "BoundFiles",
    "DoesNotApply",
    "FittedGrammar",
    "GitTree",
    "HostPlan",
    "Matcher",
    "ParseError",
    "PatchError",
    "PatchStream",
    "Plan",
    "Proposal",
    "Refused",
    "StaleFile",
    "Vocabulary",
    "Workspace",
    "apply_diff",
    "apply_in_memory",
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
