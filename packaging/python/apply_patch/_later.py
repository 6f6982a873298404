"""Changes that wait for a person between two runs of an agent.

A change that a tool would make is kept as a proposal of the workspace, by the id of the call. The run stops, and may go on in another
process on another day: the same id leads to the same proposal.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._errors import PatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ._native import Workspace


def begin(workspace: Workspace, name: str, arguments: Mapping[str, Any], call_id: str) -> tuple[str, str | None]:
    """Calls a tool. Returns its answer as JSON, and the id of the proposal if it is one: then nothing is changed."""
    answer = workspace.call_later(name, arguments, call_id)
    details = (answer.get("error") or {}).get("details") or {}
    return _json(answer), details.get("proposalId")


def shown(workspace: Workspace, proposal_id: str) -> dict[str, Any]:
    """What a person has to see of a proposal: its files, its diff as it would be now, and why it was made.

    `digest` is what `approve` takes to commit exactly this; `error` says why it does not apply any more.
    """
    proposal = workspace.proposal(proposal_id)
    diffs = [file["diff"] for file in proposal.get("changedFiles", []) if "diff" in file]
    value = {
        "proposalId": proposal["proposalId"],
        "state": proposal["state"],
        "files": proposal["files"],
        "diff": "".join(diffs),
        "digest": proposal.get("digestNow", proposal["digest"]),
        "differs": proposal.get("differs", False),
        "why": proposal.get("why"),
        "reasons": proposal.get("reasons"),
        "error": proposal["error"]["message"] if "error" in proposal else None,
    }
    return {name: one for name, one in value.items() if one is not None}


def approve(workspace: Workspace, proposal_id: str, digest: str | None = None) -> str | None:
    """Commits a proposal, and returns the answer of the call. None if the result is not the one that was shown when it was made,
    or has this digest: it has to be shown again. Raises `PatchError` where it cannot be committed."""
    try:
        done = workspace.approve(proposal_id, digest=digest)
    except PatchError as error:
        if error.reason == "plan_differs":
            return None
        if error.reason != "decided":
            raise
        return outcome(workspace, proposal_id)
    return _json({"ok": True, "output": f"approved by a person: {proposal_id}", "data": done})


def decline(workspace: Workspace, proposal_id: str, why: str | None = None) -> str:
    """Declines a proposal, and returns the answer of the call. Raises `PatchError` where it cannot be declined."""
    try:
        workspace.decline(proposal_id, why)
    except PatchError as error:
        if error.reason != "decided":
            raise
    return outcome(workspace, proposal_id)


def answered(decide: Callable[..., str | None], *arguments: Any) -> str | None:
    """Decides within the call of a tool: a model is answered what went wrong."""
    try:
        return decide(*arguments)
    except PatchError as error:
        return _json({"ok": False, "error": error._fields})


def declined(why: str | None) -> str:
    """What the model is told of a change that was declined."""
    return f"declined by a person: {why}" if why else "declined by a person"


def only_one_asks(later: bool, approve: object) -> None:
    """Refuses `approve` beside `later`."""
    if later and approve is not None:
        raise ValueError("with `later` a person is asked when the run has stopped: leave out `approve`")


def outcome(workspace: Workspace, proposal_id: str) -> str:
    """What became of a proposal, as an answer."""
    return _json(workspace.call("proposal", {"id": proposal_id}))


def of_call(workspace: Workspace, call_id: str) -> str | None:
    """The id of the proposal that a call of this session made."""
    for proposal in workspace.proposals()["proposals"]:
        if proposal.get("callId") == call_id and proposal["session"] == workspace.session:
            return proposal["proposalId"]
    return None


def _json(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False)
