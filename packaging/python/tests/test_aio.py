"""The calls for asyncio: coroutines as callbacks, and what becomes of a call whose task is cancelled."""

import asyncio
import pickle

import pytest

from apply_patch import Declined, DoesNotApply, Plan
from apply_patch.aio import CancelledLate, Workspace

BEFORE = "one\ntwo\nthree\n"
AFTER = "one\nTWO\nthree\n"
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** End Patch\n"
DELETE = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n"
WRONG = "*** Begin Patch\n*** Delete File: nope\n*** End Patch\n"


def test_every_call(root):
    async def run():
        async with Workspace(root, durability="none") as workspace:
            assert (str(workspace.root), len(workspace.session) > 3) == (str(root), True)
            plan = await workspace.plan(PATCH)
            assert isinstance(plan, Plan) and plan.summary == "1 updated"
            done = await workspace.apply(plan)
            assert (await workspace.undo(done["transactionId"], diff="stat"))["changedFiles"][0]["diff"] == "+1 -1"
            await workspace.redo()
            assert [one["tool"] for one in (await workspace.log(2))["transactions"]] == ["redo", "undo"]
            assert (await workspace.call("read_file", {"path": "a.txt"}))["data"]["content"] == AFTER
            assert not (await workspace.call("read_file"))["ok"]
            with pytest.raises(DoesNotApply):
                await workspace.apply(WRONG)
            assert pickle.loads(pickle.dumps(workspace)).root == workspace.root

    asyncio.run(run())


def test_callbacks_run_in_the_loop(root):
    async def run():
        workspace, loop, events = Workspace(root), asyncio.get_running_loop(), []

        async def approve(proposal):
            await asyncio.sleep(0)
            assert asyncio.get_running_loop() is loop
            return "+TWO" not in proposal.diff

        with pytest.raises(Declined):
            await workspace.apply(PATCH, approve=approve)
        with pytest.raises(ZeroDivisionError):
            await workspace.apply(PATCH, approve=lambda proposal: 1 / 0)
        assert (root / "a.txt").read_text() == BEFORE
        await workspace.apply(PATCH, approve=lambda proposal: True, observe=events.append)
        assert [event["type"] for event in events] == ["begin", "progress", "end", "turn_diff"]

    asyncio.run(run())


def test_a_turn(root):
    async def run():
        workspace = Workspace(root, durability="none")
        async with workspace.turn() as turn:
            await workspace.apply(PATCH)
            assert len((await turn.so_far())["transactions"]) == 1
        assert "+TWO" in turn.diff and (await turn.undo())["turnId"] == turn.id
        began = asyncio.Event()

        async def work():
            async with workspace.turn("t", undo_on_error=True):
                await workspace.apply(PATCH)
                began.set()
                await asyncio.sleep(3600)

        task = asyncio.create_task(work())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (root / "a.txt").read_text() == BEFORE and await workspace.turn_so_far() is None

    asyncio.run(run())


@pytest.mark.parametrize("call", ["apply", "undo", "redo", "call"])
def test_a_call_that_waits_for_approval_is_cancelled(root, call):
    async def run():
        workspace, asked, ended = Workspace(root), asyncio.Event(), []
        await workspace.apply(PATCH)
        if call == "redo":
            await workspace.undo()
        before = (root / "a.txt").read_text()

        async def approve(proposal):
            asked.set()
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append(True)

        arguments = {
            "apply": ["*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n"],
            "undo": [],
            "redo": [],
            "call": ["create_file", {"path": "b", "content": ""}],
        }
        task = asyncio.create_task(getattr(workspace, call)(*arguments[call], approve=approve))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert not isinstance(caught.value, CancelledLate) and task.cancelled() and ended == [True]
        assert (root / "a.txt").read_text() == before and not (root / "b").exists()

    asyncio.run(run())


def test_planning_is_cancelled(root):
    lines = [f"line {nth}\n" for nth in range(20_000)]
    for name in "abcdef":
        (root / name).write_text("".join(lines))
    hunks = "".join(f"@@\n-{line}+{line.upper()}" for line in lines[::4])
    large = "*** Begin Patch\n" + "".join(f"*** Update File: {name}\n{hunks}" for name in "abcdef") + "*** End Patch\n"

    async def run():
        workspace = Workspace(root, durability="none")
        for call in [workspace.plan, workspace.apply]:
            task = asyncio.create_task(call(large))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            assert not isinstance(caught.value, CancelledLate)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(workspace.plan(large), 0.01)
        assert (root / "a").read_text() == "".join(lines) and not (await workspace.log())["transactions"]

    asyncio.run(run())


def test_a_change_that_was_made_is_told(root):
    async def run():
        workspace = Workspace(root)

        def observe(event):
            if event["type"] == "end":
                task.cancel()

        task = asyncio.create_task(workspace.apply(PATCH, observe=observe))
        with pytest.raises(CancelledLate) as caught:
            await task
        assert task.cancelled() and (root / "a.txt").read_text() == AFTER
        await workspace.undo(caught.value.result["transactionId"])
        assert (root / "a.txt").read_text() == BEFORE

    asyncio.run(run())


def test_a_proposal_waits_for_a_person(root):
    async def run():
        workspace = Workspace(root)
        made = await workspace.propose(PATCH, why="louder")
        assert (await workspace.proposals())["proposals"][0]["state"] == "proposed"
        assert (await workspace.proposal(made["proposalId"]))["differs"] is False
        await workspace.approve(made["proposalId"])
        other = await workspace.propose(DELETE)
        assert (await workspace.decline(other["proposalId"], "no"))["state"] == "declined"

    asyncio.run(run())
    assert (root / "a.txt").read_text() == AFTER
