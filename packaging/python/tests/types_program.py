"""Checked by mypy and pyright, not run: the types fit what programs do with them."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Literal

import apply_patch
from apply_patch import Cancellation, GitTree, HostPlan, PatchError, Plan, Proposal, Workspace, aio, parse_stream
from apply_patch.types import Applied, ChangedFile, Event, Hunk, Log, Transaction, Undone


def approve(proposal: Proposal) -> bool | Literal["turn", "session"]:
    changed: list[ChangedFile] = proposal.changes
    return "turn" if proposal.diff and changed and not proposal.reasons + proposal.notes else proposal.diff_bytes == b""


def many(cancellation: Cancellation) -> dict[str, str | None]:
    (result,) = apply_patch.apply_many([({"a": "1"}, "patch")], 2, cancellation=cancellation, profile="codex")
    if isinstance(result, PatchError):
        print(result.kind)
    mixed = apply_patch.apply_many([({"a": b"1"}, b"patch")])
    print(mixed)
    return result if isinstance(result, dict) else {}


async def approve_later(proposal: Proposal) -> bool:
    await asyncio.sleep(0)
    return proposal.digest != ""


def observe(event: Event) -> None:
    if event["type"] == "progress":
        print(event["path"], event["done"] + event["total"])
    elif event["type"] == "end":
        print(event["ok"], event.get("error"), event["transactionIds"][0])


def calls(root: str, patch: str) -> Applied:
    with Workspace(root, durability="process", approve="auto", verify={"*.py": "true"}, forbidden=["x"]) as workspace:
        cancellation = Cancellation()
        plan: Plan = workspace.plan(patch, profile="codex", expected={"a": ""}, cancellation=cancellation)
        print(plan.summary, plan.digest, plan.notes, plan.diff, plan.changes[0].get("toPath"))
        done = workspace.apply(plan, approve=approve, observe=observe, cancellation=cancellation)
        hunks: list[Hunk] = done.get("hunks", [])
        print(hunks[0]["outcome"], hunks[0].get("pass"), done.get("transactionId"), done["changedFiles"][0]["path"])
        undone: Undone = workspace.undo(done.get("transactionId"), paths=["a"], carry=True, diff="stat", approve=approve)
        print(undone["undoOf"], workspace.redo(diff="full", observe=observe)["changedFiles"])
        log: Log = workspace.log(3, diff=True)
        newest: Transaction = log["transactions"][0]
        print(newest["agent"], newest["files"][0]["trashedTo"], newest.get("diff"), log["notVerified"][0]["details"]["problem"])
        read = workspace.call("read_file", {"path": "a"})
        print(workspace.call_later("apply_patch", {"patch": "p"}, "call-1")["ok"], workspace.propose("p")["digest"])
        for proposal in workspace.proposals()["proposals"]:
            print(proposal.get("callId"), workspace.decline(proposal["proposalId"], "no")["state"])
        if read["ok"] is True:
            print(read["data"]["lineCount"] + 1, read["output"])
        else:
            print(read["error"]["kind"], read["error"].get("hints", [])[0]["hint"])
        found = workspace.call("search_files", {"query": "x", "mode": "text"}, approve=approve)
        if found["ok"] is True:
            print(found["data"]["matches"][0].get("line"))
        other: Mapping[str, object] = workspace.call(f"glo{'b'}", {"pattern": "*"})
        print(other, workspace.root, workspace.session)
        with workspace.turn(undo_on_error=True, approve=approve) as turn:
            print(turn.id, turn.so_far()["diff"])
        print(turn.diff, turn.changed_files[0]["path"], turn.transactions, turn.undo(carry=True, approve=approve).get("turnId"))
        print(log["turns"][0]["undone"], workspace.begin_turn("t"), workspace.turn_so_far(), workspace.end_turn()["id"])
        edited = workspace.apply(patch, approve=lambda proposal: {"patch": proposal.diff_bytes}).get("editedByPerson")
        print(edited and edited["diff"])
        return workspace.apply(patch.encode(), partial=True, diff="full", include=["*.py"])


async def later(root: str, patch: str) -> Applied:
    async with aio.Workspace(root, agent="a") as workspace:
        plan = await workspace.plan(patch, fuzz="none")
        await workspace.undo(since="2h", approve=approve_later)
        await workspace.redo(observe=observe)
        print((await workspace.log())["transactions"][0]["id"])
        answer = await workspace.call("edit_file", {"path": "a", "edits": [{"oldText": "a", "newText": "b"}]}, approve=approve_later)
        if answer["ok"] is True:
            print(answer["data"]["appliedEdits"])
        async with workspace.turn(undo_on_error=True, approve=approve_later) as turn:
            print((await turn.so_far())["diff"])
        print(turn.id, turn.diff, (await turn.undo(observe=observe))["undoOf"])
        with contextlib.suppress(aio.CancelledLate):
            await workspace.apply(patch, approve=approve, syntax="refuse")
        return await workspace.apply(plan, approve=approve_later)


def errors(root: str, patch: str) -> None:
    try:
        Workspace(root).apply(patch)
    except apply_patch.StaleFile as error:
        print(error.path, error.expected, error.actual, error.changed_by and error.changed_by.get("agent"))
    except apply_patch.MultipleMatches as error:
        print([place["startLine"] for place in error.places])
    except apply_patch.ParseError as error:
        print((error.line or 0) + 1, error.column, error.expected + [error.seen or ""])
    except apply_patch.ApplyError as error:
        print(error.nearest and error.nearest["startLine"], error.hunk_index, error.patch_line)
    except (apply_patch.Declined, apply_patch.Cancelled, apply_patch.Timeout) as error:
        print(error.kind, error.reason)
    except apply_patch.CommandFailed as error:
        print(error.command, error.exit_code, error.output)
    except apply_patch.NotFound as error:
        print(error.did_you_mean)
    except PatchError as error:
        print(error.message, error.details.get("patchId"), error.hints, error.recoverable, error.suggested_next_action)


def others(root: str, patch: str) -> None:
    text: str | None = apply_patch.apply_in_memory({"a": "x"}, patch)["a"]
    data: bytes | None = apply_patch.apply_in_memory({"a": b"x"}, patch)["a"]
    both: str | bytes | None = apply_patch.apply_in_memory({"a": b"x", "b": ""}, patch)["a"]
    plan: HostPlan = apply_patch.plan_over(lambda path: ("x", 1), patch, list=lambda path: [("a", "file")])
    line: int = plan.edits[0]["edits"][0]["start"]["line"]
    commit: str | None = GitTree(root, "main").apply(patch, branch="b", carry=True, cancellation=Cancellation())["commit"]
    print(text, data, both, line, commit, apply_patch.convert(patch, "git", files={"a": "x"}).upper())
    for event in parse_stream().push(patch):
        if event["type"] == "begun":
            print(event["path"], event["operation"])
    print(apply_patch.parse(patch)["sections"][0]["path"]["text"], apply_patch.apply_diff("", "+a", "create"))
    fitted = apply_patch.fit({"a": "x"}, operations=["update"])
    print(fitted.lark(), fitted.stub["profile"], apply_patch.prompt(), apply_patch.grammar(), apply_patch.tool_caveats("openai"))


async def mistakes(root: str, patch: str) -> None:
    Workspace(root).apply(patch, frobnicate=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Workspace(root, durability="some")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Workspace(root).undo(path="a")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await aio.Workspace(root).apply(patch, profile="lax")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
