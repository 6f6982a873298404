"""The file tools, as functions of a workspace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._native import tool_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import TypedDict

    from ._native import Approve, Observe, Workspace

    class ToolOptions(TypedDict, total=False):
        """The options of `functions`, which the tools of an SDK take too."""

        brief: bool
        approve: Approve | None
        observe: Observe | None


def functions(
    workspace: Workspace,
    only: Collection[str] | None = None,
    *,
    brief: bool = False,
    approve: Approve | None = None,
    observe: Observe | None = None,
) -> Iterator[tuple[str, str, dict[str, Any], Callable[..., str]]]:
    """Name, description, schema of the arguments and function of each tool; `only` names those that are wanted.

    A function takes the arguments by keyword, and gives the answer as JSON: also that of a call that failed, which tells a model
    what to do instead.
    """
    specs = tool_specs("anthropic", brief=brief)
    names = [spec["name"] for spec in specs]
    unknown = set(only or ()) - set(names)
    if unknown:
        raise ValueError(f"there is no tool {sorted(unknown)[0]!r}; there are {', '.join(names)}")
    for spec in specs:
        if only is None or spec["name"] in only:
            yield spec["name"], spec["description"], spec["input_schema"], _function(workspace, spec["name"], approve, observe)


def _function(
    workspace: Workspace, name: str, approve: Approve | None, observe: Observe | None
) -> Callable[..., str]:
    def call(**arguments: Any) -> str:
        answer = workspace.call(name, arguments, approve=approve, observe=observe)
        return json.dumps(answer, ensure_ascii=False)

    call.__name__ = name
    return call
