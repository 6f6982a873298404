"""A forked child has one thread: what the others were calling at the fork is refused there, and nothing hangs."""

import os
import signal
import threading

import pytest

import apply_patch
from apply_patch import BoundFiles, Matcher, Vocabulary, Workspace, parse_stream

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** End Patch\n"
REFUSED = "forked during a call of this object"


def in_child(act):
    """What `act` returns in a forked child."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # Ends a child that hangs.
        try:
            said = repr(act())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(theirs, said.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, "the child hung"
    return said


def test_a_child_refuses_what_another_thread_was_calling(root):
    workspace, other = Workspace(root), Workspace(root)
    plan, stream = workspace.plan(PATCH), parse_stream()
    asked, go_on = threading.Event(), threading.Event()

    def approve(_):
        asked.set()
        return go_on.wait(60)

    thread = threading.Thread(target=workspace.apply, args=(plan,), kwargs={"approve": approve})
    thread.start()
    assert asked.wait(60)
    try:
        for name, act in {
            "plan": lambda: workspace.plan(PATCH),
            "call": lambda: workspace.call("read_file", {"path": "a.txt"}),
            "log": lambda: workspace.log(),
            "diff": lambda: plan.diff,
        }.items():
            assert REFUSED in in_child(act), name
            assert in_child(act).startswith("RuntimeError"), name
        for name, act in {
            "the same directory": lambda: Workspace(root).plan(PATCH).digest == other.plan(PATCH).digest,
            "what has no lock": lambda: workspace.root == other.root and workspace.session != other.session,
            "another object": lambda: bool(stream.push(PATCH)),
            "in memory": lambda: apply_patch.apply_in_memory({"a.txt": "one\n"}, PATCH) == {"a.txt": "ONE\n"},
        }.items():
            assert in_child(act) == "True", name
        # In the parent all goes on.
        assert other.plan(PATCH).digest == plan.digest
    finally:
        go_on.set()
        thread.join()
    assert (root / "a.txt").read_text() == "ONE\ntwo\nthree\n"
    assert in_child(lambda: workspace.log()["transactions"][0]["tool"]) == "'apply'"


def test_children_of_one_that_is_not_called_use_everything(root):
    workspace = Workspace(root)

    def act():
        workspace.apply(PATCH)
        return in_child(lambda: workspace.undo()["transactionId"] is not None)

    assert in_child(act) == "'True'"
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"


def test_a_fork_within_a_callback_is_one_within_the_call(root):
    workspace = Workspace(root)
    said = []

    def approve(_):
        said.append(in_child(lambda: workspace.plan(PATCH)))
        return True

    workspace.apply(PATCH, approve=approve)
    assert REFUSED in said[0]


def test_forks_while_masks_are_made_never_hang():
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [None], end=[256])
    files = BoundFiles({"a.txt": "".join(f"line {nth}\n" for nth in range(2000))})
    called, done = Matcher(vocabulary, files), threading.Event()
    for byte in b"*** Begin Patch\n*** Update File: a.txt\n@@\n-":
        called.accept(byte)
    mask = called.allowed()

    def call():
        while not done.is_set():
            called.allowed()

    thread = threading.Thread(target=call)
    thread.start()
    try:
        said = [in_child(lambda: called.allowed() == mask) for _ in range(30)]
    finally:
        done.set()
        thread.join()
    assert all(one == "True" or REFUSED in one for one in said), said
