"""Every call, callbacks, errors, threads, and what it takes to import and to call."""

import hashlib
import json
import multiprocessing
import os
import pathlib
import pickle
import re
import resource
import subprocess
import sys
import threading

import pytest

import apply_patch
from apply_patch import DoesNotApply, GitTree, PatchError, Refused, StaleFile, Workspace

ROOT = pathlib.Path(__file__).resolve().parents[3]
BEFORE = "one\ntwo\nthree\n"
AFTER = "one\nTWO\nthree\n"
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** End Patch\n"
DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"


def patch(*lines):
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def test_files_come_back_as_they_were_given():
    both = patch("*** Update File: a", "@@", "-1", "+2", "*** Add File: b", "+é", "*** Delete File: c")
    apply = apply_patch.apply_in_memory
    assert apply({"a": "1\n", "c": ""}, both) == {"a": "2\n", "b": "é\n", "c": None}
    assert apply({"a": b"1\n", "c": b""}, both) == {"a": b"2\n", "b": "é\n".encode(), "c": None}
    assert apply({"a": b"1\n", "c": ""}, both.encode()) == {"a": b"2\n", "b": "é\n", "c": None}
    assert apply({}, patch("*** Add File: a", "+1")) == {"a": "1\n"}
    assert apply({"a": b"\xff\n1\n"}, patch("*** Update File: a", "@@", "-1", "+2")) == {"a": b"\xff\n2\n"}
    with pytest.raises(TypeError):
        apply({"a": 1}, both)
    with pytest.raises(TypeError):
        apply({"a": "1"}, None)
    with pytest.raises(UnicodeEncodeError):
        apply({"a": "\udc80"}, both)


def test_many_are_applied_as_one_is():
    edit = patch("*** Update File: a", "@@", "-1", "+2")
    items = [
        ({"a": "1\n"}, edit),
        ({"a": b"1\n", "b": "x"}, edit.encode()),
        ({"a": "3\n"}, edit),
        ({}, patch("*** Add File: n", "+n")),
        ({"a": "1\n"}, "no patch"),
        ({"a": "\udc80"}, edit),
        ({"a": 1}, edit),
        ({pathlib.PurePosixPath("a"): "1\n"}, patch("*** Delete File: a")),
    ]

    def one(files, patch):
        try:
            return apply_patch.apply_in_memory(files, patch)
        except Exception as error:
            return error

    def shown(result):
        return (type(result), getattr(result, "_fields", str(result))) if isinstance(result, Exception) else result

    wanted = [shown(one(*item)) for item in items]
    assert [type(result) is tuple for result in wanted] == [False, False, True, False, True, True, True, False]
    for workers in [None, 1, 2, 64]:
        # More than are in memory at a time.
        many = apply_patch.apply_many((item for _ in range(1000) for item in items), workers)
        assert [shown(result) for result in many] == wanted * 1000, workers
    assert apply_patch.apply_many([]) == []
    assert apply_patch.apply_many([({"a": "3\n1\n1\n"}, edit)], ambiguous="first") == [{"a": "3\n2\n1\n"}]
    for wrong in [{"workers": 0}, {"workers": -1}, {"frobnicate": 1}]:
        with pytest.raises((TypeError, ValueError, OverflowError)):
            apply_patch.apply_many(items, **wrong)
    with pytest.raises(TypeError):
        apply_patch.apply_many(1)
    cancelled = apply_patch.Cancellation()
    cancelled.cancel()
    with pytest.raises(apply_patch.Cancelled):
        apply_patch.apply_many(items, cancellation=cancelled)

    # Large items are handed over a few at a time, and come back in order.
    large = [({"a": f"1\nat {nth}\n" + "x\n" * 20_000}, edit) for nth in range(100)]
    for workers in [1, 3]:
        many = apply_patch.apply_many(large, workers)
        assert [result["a"].split("\n", 2)[:2] for result in many] == [["2", f"at {nth}"] for nth in range(100)]
    late = apply_patch.Cancellation()

    def broken(count, error):
        yield from [items[0]] * count
        late.cancel()
        if error:
            raise error

    for count in [1, 1000]:
        with pytest.raises(KeyError):
            apply_patch.apply_many(broken(count, KeyError("of the caller")))
    with pytest.raises(apply_patch.Cancelled):
        apply_patch.apply_many(broken(1000, None), cancellation=late)


def test_paths_and_bytes_come_in_every_shape(root):
    both = patch("*** Update File: d/a", "@@", "-1", "+2")
    apply = apply_patch.apply_in_memory
    for path in ["d/a", b"d/a", pathlib.PurePosixPath("d/a"), pathlib.PureWindowsPath("d\\a")]:
        for content in [b"1\n", bytearray(b"1\n"), memoryview(b"1\n"), memoryview(bytearray(b"x1\n"))[1:]]:
            assert apply({path: content}, both) == {"d/a": b"2\n"}, (path, content)
    for text in [both, both.encode(), bytearray(both.encode()), memoryview(both.encode())]:
        assert apply({"d/a": "1\n"}, text) == {"d/a": "2\n"}
    (root / "d").mkdir()
    (root / "d" / "a").write_text("1\n")
    for place in [root, str(root), os.fsencode(root)]:
        workspace = Workspace(place, forbidden=[pathlib.PurePosixPath("x")])
        workspace.apply(memoryview(both.encode()), expected={pathlib.PurePath("d/a"): hashlib.sha256(b"1\n").hexdigest()})
        assert workspace.call("read_file", {"path": pathlib.PurePath("d/a")})["data"]["content"] == "2\n"
        workspace.undo(paths=[b"d/a"])
    with pytest.raises(TypeError):
        Workspace(1)
    with pytest.raises(TypeError):
        apply({1: "1"}, both)


def test_a_workspace_plans_applies_and_takes_back(root):
    with Workspace(root) as workspace:
        plan = workspace.plan(PATCH)
        assert plan.changes[0]["path"] == "a.txt" and plan.summary == "1 updated" and len(plan.digest) == 64
        assert plan.diff.startswith("diff --git") and plan.diff_bytes.decode() == plan.diff and plan.notes == []
        done = workspace.apply(plan)
        assert (root / "a.txt").read_text() == AFTER
        assert workspace.apply(PATCH)["alreadyDone"]
        with pytest.raises(TypeError):
            workspace.apply(plan, profile="codex")
        undone = workspace.undo(done["transactionId"], diff="full")
        assert undone["undoOf"] == done["transactionId"] and "+two" in undone["changedFiles"][0]["diff"]
        workspace.redo()
        assert (root / "a.txt").read_text() == AFTER
        assert [one["tool"] for one in workspace.log(2)["transactions"]] == ["redo", "undo"]
        stale = workspace.plan(patch("*** Update File: a.txt", "@@", "-three", "+3"))
        (root / "a.txt").write_text("three\n")
        with pytest.raises(StaleFile):
            workspace.apply(stale)
        assert (root / "a.txt").read_text() == "three\n"


def test_an_unknown_keyword_is_a_type_error_with_the_nearest_name(root):
    workspace = Workspace(root)
    for call, wanted in [
        (lambda: workspace.apply(PATCH, creat_parents=True), "Workspace.apply() got an unexpected keyword argument 'creat_parents'. Did you mean 'create_parents'?"),
        (lambda: workspace.apply(PATCH, aprove=print), "Workspace.apply() got an unexpected keyword argument 'aprove'. Did you mean 'approve'?"),
        (lambda: workspace.plan(PATCH, frobnicate=1), "Workspace.plan() got an unexpected keyword argument 'frobnicate'"),
        (lambda: Workspace(root, durabilty="none"), "Workspace() got an unexpected keyword argument 'durabilty'. Did you mean 'durability'?"),
        (lambda: workspace.undo(sinse="2h"), "Workspace.undo() got an unexpected keyword argument 'sinse'. Did you mean 'since'?"),
        (lambda: apply_patch.apply_in_memory({}, PATCH, expectedSha256={}), "apply_in_memory() got an unexpected keyword argument 'expectedSha256'. Did you mean 'expected'?"),
        (lambda: apply_patch.tool_specs("openai", patchonly=True), "tool_specs() got an unexpected keyword argument 'patchonly'. Did you mean 'patch_only'?"),
    ]:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == wanted
    assert (root / "a.txt").read_text() == BEFORE


def test_a_hint_names_keyword_arguments_that_work(root):
    workspace = Workspace(root)
    added = patch("*** Add File: d/x", "+x")
    with pytest.raises(apply_patch.NotFound) as caught:
        workspace.apply(added, profile="strict")
    assert caught.value.suggested_next_action.startswith("use `create_parents=True`; or ")
    hint = caught.value.hints[0]
    workspace.apply(added, profile="strict", **{hint["argument"]: hint["value"]})
    assert (root / "d/x").read_text() == "x\n"
    events = []
    with pytest.raises(apply_patch.NotFound):
        workspace.apply(patch("*** Add File: e/x", "+x"), profile="strict", observe=events.append)
    assert "use `create_parents=True`" in events[-1]["result"]["error"]["suggestedNextAction"]
    with pytest.raises(PatchError):
        workspace.undo(id="no transaction")


def test_the_version_is_that_of_the_package():
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", apply_patch.__version__)


def test_tools_share_a_session(root):
    workspace = Workspace(root, agent="tester", durability="none")
    edit = {"path": "a.txt", "edits": ({"oldText": "two", "newText": "2"},)}
    assert workspace.call("edit_file", edit)["error"]["details"]["reason"] == "unread"
    assert workspace.call("read_file", {"path": "a.txt"})["ok"]
    assert workspace.call("edit_file", edit)["ok"]
    assert not workspace.call("edit_file")["ok"]
    with pytest.raises(TypeError):
        workspace.call("edit_file", {"path": object()})


DELETE = patch("*** Delete File: a.txt")
# The kind, the class, the classes by which it is caught too, what is sent, and the attributes.
KINDS = [
    ("patch_parse_error", "ParseError", ValueError, "nonsense", {}, {"reason": "no_patch", "line": 1, "seen": "nonsense"}),
    ("patch_apply_error", "ApplyError", DoesNotApply, patch("*** Update File: a.txt", "@@", "-tow", "+2"), {},
        {"hunk_index": 0, "patch_line": 3, "nearest": None}),
    ("multiple_matches", "MultipleMatches", DoesNotApply, patch("*** Update File: twice", "@@", "-x", "+y"), {},
        {"places": [{"startLine": 1, "endLine": 1, "addContextAfter": ["x"]}, {"startLine": 2, "endLine": 2, "addContextBefore": ["x"]}]}),
    ("not_found", "NotFound", DoesNotApply, patch("*** Delete File: a.tx"), {}, {"path": "a.tx", "did_you_mean": "a.txt"}),
    ("already_exists", "AlreadyExists", ValueError, patch("*** Add File: a.txt", "+1"), {}, {"path": "a.txt"}),
    ("binary_file", "BinaryFile", DoesNotApply, patch("*** Update File: binary", "@@", "-x", "+y"), {}, {}),
    ("overlapping_edits", "OverlappingEdits", DoesNotApply, patch("*** Update File: a.txt", "@@", "-one", "+1", "@@", "-one", "+I"), {}, {}),
    ("stale_file", "StaleFile", PatchError, PATCH, {"expected": {"a.txt": "0" * 64}},
        {"path": "a.txt", "expected": "0" * 64, "actual": hashlib.sha256(BEFORE.encode()).hexdigest()}),
    ("outside_workspace", "OutsideWorkspace", Refused, patch("*** Delete File: ../x"), {}, {}),
    ("permission_denied", "PermissionDenied", Refused, patch("*** Delete File: .env"), {}, {"reason": "forbidden"}),
    ("permission_denied", "PermissionDenied", Refused, DELETE, {"allow_delete": False}, {"reason": "delete_not_allowed"}),
    ("permission_denied", "Declined", apply_patch.PermissionDenied, PATCH, {"approve": lambda proposal: False}, {"reason": "declined"}),
    ("file_too_large", "FileTooLarge", PatchError, PATCH, {"max_file_size": 3}, {}),
    ("command_failed", "CommandFailed", PatchError, PATCH, {"profile": "lenient"}, {"command": None, "exit_code": None, "output": None}),
]


@pytest.mark.parametrize("kind, name, base, text, options, attributes", KINDS)
def test_errors_have_a_kind_and_a_class(root, kind, name, base, text, options, attributes):
    (root / "twice").write_text("x\nx\n")
    (root / "binary").write_bytes(b"\0x\n")
    kind_class = getattr(apply_patch, name)
    with pytest.raises(base) as caught:
        Workspace(root).apply(text, **options)
    error = caught.value
    assert type(error) is kind_class and error.kind == kind and str(error) == error.message
    assert {key: getattr(error, key) for key in attributes} == attributes
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind_class
    assert (again.kind, again.details, again.hints) == (kind, error.details, error.hints)
    assert (root / "a.txt").read_text() == BEFORE


def test_what_verify_says_is_in_its_error(root):
    workspace = Workspace(root, verify="echo no; exit 3", durability="none")
    with pytest.raises(apply_patch.CommandFailed) as caught:
        workspace.apply(PATCH)
    error = caught.value
    assert (error.reason, error.command, error.exit_code, error.output) == ("unverified", "echo no; exit 3", 3, "no\n")
    assert (root / "a.txt").read_text() == BEFORE


def test_a_stale_file_names_who_changed_it(root):
    Workspace(root, agent="other", session="s", durability="none").apply(PATCH)
    for change, changed_by in [
        (lambda: None, {"byApplyPatch": True, "agent": "other", "session": "s", "tool": "apply"}),
        (lambda: (root / "a.txt").write_text("?\n"), {"byApplyPatch": False}),
    ]:
        change()
        with pytest.raises(StaleFile) as caught:
            Workspace(root).apply(PATCH.replace("TWO", "II"), expected={"a.txt": "0" * 64})
        assert {key: caught.value.changed_by.get(key) for key in changed_by} == changed_by


def test_a_call_is_given_up(root):
    workspace, cancellation = Workspace(root), apply_patch.Cancellation()
    assert not cancellation.is_cancelled
    workspace.apply(PATCH, cancellation=cancellation)
    # Another thread may do it; here it is the callback.
    for call in [
        lambda: workspace.undo(approve=lambda proposal: cancellation.cancel() or True, cancellation=cancellation),
        lambda: workspace.apply(DELETE, cancellation=cancellation),
        lambda: workspace.plan(DELETE, cancellation=cancellation),
        lambda: workspace.redo(cancellation=cancellation),
    ]:
        with pytest.raises(apply_patch.Cancelled):
            call()
    assert workspace.call("delete_file", {"path": "a.txt"}, cancellation=cancellation)["error"]["kind"] == "cancelled"
    assert cancellation.is_cancelled and (root / "a.txt").read_text() == AFTER


def test_a_proposal_waits_for_a_person(root):
    agent, person = Workspace(root), Workspace(root)
    made = agent.propose(PATCH, why="louder")
    assert made["state"] == "proposed" and (root / "a.txt").read_text() == BEFORE
    id = made["proposalId"]
    assert person.proposals()["proposals"][0]["why"] == "louder"
    assert person.proposal(id[:8])["changedFiles"][0]["path"] == "a.txt"
    (root / "a.txt").write_text("zero\n" + BEFORE)
    with pytest.raises(apply_patch.StaleFile) as caught:
        person.approve(id)
    assert caught.value.reason == "plan_differs"
    events = []
    done = person.approve(id, digest=caught.value.details["digest"], observe=events.append)
    assert (root / "a.txt").read_text() == "zero\n" + AFTER and len(events) > 3
    assert agent.proposal(id)["transactionIds"] == [done["transactionId"]]
    assert person.approve(id)["alreadyDone"] is True
    other = agent.propose(DELETE)["proposalId"]
    assert person.decline(other, "it is needed")["state"] == "declined"
    assert agent.proposal(other)["decidedWhy"] == "it is needed"
    with pytest.raises(apply_patch.PermissionDenied, match="declined already"):
        person.approve(other)
    own = agent.propose(DELETE)["proposalId"]
    assert agent.call("proposal", {"id": own, "withdraw": True})["data"]["state"] == "withdrawn"
    with pytest.raises(TypeError):
        agent.propose(PATCH, reason="x")


def test_what_is_changed_in_a_turn_is_one(root):
    workspace, asked = Workspace(root, approve="ask", durability="none"), []

    def approve(proposal):
        asked.append(proposal.digest)
        return "turn"

    with workspace.turn() as turn:
        workspace.apply(PATCH, approve=approve)
        workspace.apply(patch("*** Update File: a.txt", "@@", "-TWO", "+II"), approve=approve)
        assert len(turn.so_far()["transactions"]) == 2
        with pytest.raises(RuntimeError, match="not ended"):
            turn.diff  # noqa: B018
        with pytest.raises(apply_patch.CommandFailed, match="is open"):
            workspace.begin_turn()
    assert len(asked) == 1 and "-two\n+II\n" in turn.diff and turn.so_far() == turn.summary
    assert [file["path"] for file in turn.changed_files] == ["a.txt"]
    assert workspace.log()["turns"][0]["transactions"] == turn.transactions
    assert turn.undo(approve=lambda proposal: True)["turnId"] == turn.id and (root / "a.txt").read_text() == BEFORE
    for name, undo_on_error in [("b1", False), ("b2", True)]:
        with pytest.raises(ZeroDivisionError):
            with workspace.turn(name, undo_on_error=undo_on_error, approve=lambda proposal: True):
                workspace.apply(patch(f"*** Add File: {name}", "+x"), approve=lambda proposal: True)
                1 / 0  # noqa: B018
        assert (root / name).exists() is not undo_on_error
    with workspace.turn("own", undo_on_error=True) as nothing:
        assert nothing.id == "own"
    assert (nothing.diff, workspace.turn_so_far()) == ("", None)
    with pytest.raises(apply_patch.CommandFailed):
        workspace.end_turn()


def test_several_changes_are_one_diff_without_what_others_changed_between(tmp_path):
    """The same by a session, a time and two ids."""
    (tmp_path / "a").write_text("1\n2\n3\n4\n5\n6\n7\n8\n")
    workspace = apply_patch.Workspace(tmp_path, durability="none")

    def update(old, new):
        return workspace.apply(
            f"*** Begin Patch\n*** Update File: a\n@@\n-{old}\n+{new}\n*** End Patch\n"
        )

    first = update("1", "one")["transactionId"]
    (tmp_path / "a").write_text((tmp_path / "a").read_text().replace("4", "four"))
    last = update("8", "eight")["transactionId"]
    for options in [{"session": workspace.session}, {"since": "1h"}, {"range": f"{first}..{last}"}]:
        net = workspace.net_changes(**options)
        assert "+one\n" in net["diff"] and "+eight\n" in net["diff"]
        assert "+four" not in net["diff"]
        assert [(one["path"], one["leftOut"]) for one in net["changedBetween"]] == [("a", True)]
    for options in [{}, {"since": "1h", "turn": "t"}, {"turn": "none"}, {"range": "x"}]:
        with pytest.raises(apply_patch.PatchError):
            workspace.net_changes(**options)
    with pytest.raises(TypeError):
        workspace.net_changes(id="x")


def adds(workspace, name):
    return workspace.session, workspace.apply(patch(f"*** Add File: {name}", "+x"))


def test_processes_share_a_workspace(root):
    workspace = Workspace(root, session="s", agent="tester", durability="none", forbidden=["x*"], lock_timeout=60)
    again = pickle.loads(pickle.dumps(workspace))
    assert (again.root, again.session) == (workspace.root, "s")
    with pytest.raises(apply_patch.PermissionDenied):
        again.apply(patch("*** Add File: x", "+x"))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        done = pool.starmap(adds, [(workspace, f"b{nth}") for nth in range(4)])
        with pytest.raises(apply_patch.PermissionDenied) as caught:
            pool.apply(adds, (workspace, "x"))
        assert caught.value.path == "x"
    assert {session for session, _ in done} == {"s"}
    log = workspace.log()["transactions"]
    assert {one["id"] for one in log} == {one["transactionId"] for _, one in done} and {one["agent"] for one in log} == {"tester"}
    assert pickle.loads(pickle.dumps(Workspace(root))).root == workspace.root
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(workspace.plan(PATCH))


def test_what_is_left_open_may_be_none(root):
    assert Workspace(root, session=None, profile=None).plan(PATCH, profile=None, base=None, strip=None).changes


def test_a_lock_that_is_held_is_a_timeout(root):
    workspace = Workspace(root, durability="none", lock_timeout=0)
    workspace.apply(patch("*** Add File: b", "+b"))
    other = Workspace(root, lock_timeout=0)

    def approve(proposal):
        with pytest.raises(PatchError) as caught:
            other.apply(patch("*** Add File: c", "+c"))
        assert caught.value.kind == "timeout"
        return True

    workspace.apply(PATCH, approve=approve)


def test_callbacks_approve_and_observe(root):
    workspace = Workspace(root)
    seen = []

    def approve(proposal):
        seen.append((proposal.changes[0]["path"], proposal.digest, "+TWO" in proposal.diff, proposal.reasons))
        return len(seen) > 1

    with pytest.raises(Refused) as caught:
        workspace.apply(PATCH, approve=approve)
    assert caught.value.kind == "permission_denied" and (root / "a.txt").read_text() == BEFORE
    events = []
    workspace.apply(PATCH, approve=approve, observe=events.append)
    assert seen[0][:3] == ("a.txt", workspace_digest(seen), True)
    assert [event["type"] for event in events] == ["begin", "progress", "end", "turn_diff"]


def workspace_digest(seen):
    assert seen[0][1] == seen[1][1]
    return seen[0][1]


def test_a_person_edits_the_proposal(root):
    done = Workspace(root).apply(PATCH, approve=lambda proposal: {"patch": PATCH.replace("TWO", "2")})
    assert (root / "a.txt").read_text() == "one\n2\nthree\n" and "-TWO\n+2\n" in done["editedByPerson"]["diff"]
    with pytest.raises(TypeError):
        Workspace(root).apply(PATCH.replace("-two", "-2"), approve=lambda proposal: {"nothing": 1})


def test_a_guarded_file_is_asked_about_once_for_a_session(root):
    workspace = Workspace(root, approve="auto", durability="none")
    guarded, reasons = patch("*** Add File: .envrc", "+x"), []

    def approve(proposal):
        reasons.extend(proposal.reasons)
        return "session"

    workspace.apply(guarded, approve=approve)
    workspace.undo(approve=approve)
    before = len(reasons)
    workspace.apply(patch("*** Add File: .envrc", "+y"), approve=lambda proposal: 1 / 0)
    assert "guarded" in reasons[0] and before == len(reasons)
    with pytest.raises(Refused, match="no `approve`"):
        workspace.apply(patch("*** Delete File: a.txt"))


@pytest.mark.parametrize("which", ["approve", "observe"])
def test_an_exception_of_a_callback_comes_out_and_nothing_is_changed(root, which):
    class Mine(Exception):
        pass

    def fails(_):
        raise Mine

    with pytest.raises(Mine):
        Workspace(root).apply(PATCH, **{which: fails})
    assert (root / "a.txt").read_text() == BEFORE
    with pytest.raises(TypeError):
        Workspace(root).apply(PATCH, approve=lambda proposal: None)
    with pytest.raises(KeyboardInterrupt):
        Workspace(root).call("create_file", {"path": "b", "content": ""}, approve=interrupts)
    assert not (root / "b").exists()


def interrupts(_):
    raise KeyboardInterrupt


def test_threads_share_a_workspace(root):
    workspace = Workspace(root, durability="none", lock_timeout=120)
    failed = []

    def work(nth):
        try:
            for turn in range(4):
                workspace.apply(patch(f"*** Add File: {nth}-{turn}", "+x"), approve=lambda proposal: True)
                workspace.call("read_file", {"path": f"{nth}-{turn}"})
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(nth,)) for nth in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(workspace.log()["transactions"]) == 64


def test_a_callback_is_the_tree():
    def read(path):
        return (BEFORE, 7) if path == "a.txt" else None

    plan = apply_patch.plan_over(read, PATCH)
    (edit,) = plan.edits
    assert (edit["operation"], edit["path"], edit["version"], edit["text"]) == ("update", "a.txt", 7, AFTER)
    assert edit["edits"][0]["text"] == "TWO\n" and edit["edits"][0]["start"] == {"line": 1, "character": 0}
    assert plan.changes and plan.diff and len(plan.digest) == 64 and plan.notes == []
    with pytest.raises(ZeroDivisionError):
        apply_patch.plan_over(lambda path: 1 / 0, PATCH)
    listing = {"": [("a.txt", "file"), ("d", "directory")], "d": []}
    new = patch("*** Add File: d/b", "+b")
    assert apply_patch.plan_over(read, new, list=listing.get).changes[0]["path"] == "d/b"
    with pytest.raises(DoesNotApply):
        apply_patch.plan_over(read, patch("*** Add File: e/b", "+b"), list=listing.get, profile="strict")


def test_patches_are_parsed_streamed_and_converted():
    assert apply_patch.parse(PATCH)["sections"][0]["path"]["text"] == "a.txt"
    assert apply_patch.convert(DIFF, "envelope").startswith("*** Begin Patch\n*** Update File: a.txt\n")
    assert apply_patch.convert(PATCH, "unified", files={"a.txt": BEFORE}) == DIFF
    assert apply_patch.convert(PATCH.encode(), "unified", files={"a.txt": BEFORE}) == DIFF.encode()
    with pytest.raises(PatchError):
        apply_patch.convert(PATCH, "git")
    with pytest.raises(PatchError):
        apply_patch.convert(PATCH, "paper")
    stream = apply_patch.parse_stream()
    events = [event for letter in PATCH for event in stream.push(letter)] + stream.end()
    assert (events[0]["type"], events[-1]["type"], stream.text) == ("begun", "ended", PATCH)


def test_what_models_need():
    tools = json.loads((ROOT / "crates/tools/tests/tools/catalogue.json").read_text())
    names = [tool["name"].replace(".", "_") for tool in tools]
    assert [spec["name"] for spec in apply_patch.tool_specs("anthropic")] == names
    # They are made once, and each caller has its own.
    apply_patch.tool_specs("anthropic")[0]["input_schema"].clear()
    assert apply_patch.tool_specs("anthropic")[0]["input_schema"]["type"] == "object"
    assert apply_patch.tool_specs("anthropic", brief=True) != apply_patch.tool_specs("anthropic")
    assert apply_patch.tool_specs("openai", patch_only=True)["type"] == "custom"
    assert apply_patch.tool_caveats("openai", patch_only=True)
    assert "*** Begin Patch" in apply_patch.prompt()
    assert "start" in apply_patch.grammar("lark", dialect="codex")
    fitted = apply_patch.fit({"a.txt": "one\ntwo\n", "b": b"\0"}, lines={"a.txt": [(2, 2)]})
    assert "two" in fitted.lark()
    assert "one" not in fitted.ebnf()
    assert list(fitted.stub["expectedSha256ByPath"]) == ["a.txt", "b"]
    assert fitted.notes == ["b: left out of updates: it is binary"]
    with pytest.raises(PatchError):
        apply_patch.grammar("yacc")


def git(root, *args):
    return subprocess.run(["git", *args], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def test_a_patch_becomes_a_commit(root):
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "A")
    git(root, "config", "user.email", "a@example.org")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    git(root, "branch", "work")
    tree = GitTree(root, "work")
    assert (tree.commit, tree.tree) == (git(root, "rev-parse", "work"), git(root, "rev-parse", "work^{tree}"))
    assert tree.list() == ["a.txt"] and tree.read("a.txt").decode() == BEFORE and tree.read("b") is None
    assert tree.plan(PATCH).summary == "1 updated"
    done = tree.apply(PATCH, message="second", author="B <b@example.org>")
    assert done["commit"] == git(root, "rev-parse", "work") and git(root, "show", "work:a.txt") + "\n" == AFTER
    with pytest.raises(StaleFile):
        tree.apply(PATCH)
    assert tree.apply(PATCH, branch="other")["branch"] == "other"
    other = tree.at("other")
    assert other.commit == git(root, "rev-parse", "other") and tree.commit != other.commit
    assert other.read("a.txt").decode() == AFTER and tree.read("a.txt").decode() == BEFORE
    for opened in (GitTree, lambda root, revision: tree.at(revision)):
        with pytest.raises(PatchError):
            opened(root, "nowhere")


def test_it_imports_little_and_soon():
    program = """
import sys, time
before = set(sys.modules)
start = time.perf_counter()
import apply_patch
print((time.perf_counter() - start) * 1000, *sorted(set(sys.modules) - before))
"""
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(5)]
    took, *modules = min((run.stdout.split() for run in runs), key=lambda words: float(words[0]))
    print(f"import apply_patch: {took} ms")
    # Not the time, which depends on the machine, but what takes it.
    assert all(module.partition(".")[0] == "apply_patch" for module in modules), modules


def test_memory_stays_the_same():
    def call():
        apply_patch.apply_in_memory({"a.txt": BEFORE}, PATCH)
        try:
            apply_patch.apply_in_memory({}, PATCH)
        except PatchError:
            pass

    def most():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    rounds = 50_000 if os.environ.get("APPLY_PATCH_LONG_TESTS") else 5_000
    for _ in range(rounds // 5):
        call()
    before = most()
    for _ in range(rounds):
        call()
    grown = most() - before
    print(f"{2 * rounds} calls more: {grown} kB more")
    assert grown < 1024
