"""The scenarios of the repository, by `Workspace.apply` and, where they are about nothing but files, by `apply_in_memory`."""

import json
import os
import re
import socket
import stat

import pytest
from conftest import REPOSITORY

import apply_patch
from apply_patch import PatchError, Workspace

FOLDER = REPOSITORY / "tests" / "scenarios"
CASES = sorted(case for case in FOLDER.iterdir() if case.is_dir())

# Flags of the command line and what they are here; True for those of the workspace.
FLAGS = {
    "--profile": ("profile", False),
    "--from": ("form", False),
    "--create-parents": ("create_parents", False),
    "--overwrite": ("overwrite", False),
    "--fuzz": ("fuzz", False),
    "--environment": ("environment", False),
    "--ambiguous": ("ambiguous", False),
    "--allow-move": ("allow_move", False),
    "--allow-delete": ("allow_delete", False),
    "-R": ("reverse", False),
    "-p": ("strip", False),
    "--skip-binary": ("skip_binary", False),
    "--recount": ("recount", False),
    "--no-atomic": ("atomic", False),
    "--encoding": ("encoding", False),
    "--names": ("names", True),
    "--allow": ("allow", True),
    "--hard-links": ("hard_links", True),
    "--durability": ("durability", True),
}
ALONE = {"-R": True, "--skip-binary": True, "--recount": True, "--create-parents": True, "--overwrite": True, "--no-atomic": False}


def text(case, name):
    path = case / name
    return path.read_text() if path.exists() else None


def arguments(case):
    """The options of a case; None where it is about the command line."""
    args = (text(case, "args.txt") or "").splitlines()
    patch, workspace, expected = {}, {}, {}
    while args:
        flag, _, value = args.pop(0).partition("=")
        if flag in ALONE:
            patch[FLAGS[flag][0]] = ALONE[flag]
            continue
        if flag not in FLAGS and flag != "--expect":
            return None
        value = value or (args.pop(0) if args else "")
        if flag == "--expect":
            path, separator, sha256 = value.rpartition("=")
            if not separator:
                return None
            expected[path] = sha256
            continue
        name, of_workspace = FLAGS[flag]
        if name in ("encoding", "allow"):
            value = [*(workspace if of_workspace else patch).get(name, []), value]
        elif name == "strip":
            value = int(value)
        elif value in ("true", "false"):
            value = value == "true"
        (workspace if of_workspace else patch)[name] = value
    if expected:
        patch["expected"] = expected
    return patch, workspace


def unescape(value):
    known = {"n": "\n", "r": "\r", "0": "\0", "s": " ", "\\": "\\"}

    def one(found):
        escape = found.group(1)
        if escape.startswith("x"):
            return chr(0xDC00 + int(escape[1:], 16))
        if escape.startswith("u"):
            return chr(int(escape[2:-1], 16))
        return known[escape]

    return re.sub(r"\\(x..|u\{\w+\}|.)", one, value).encode("utf-8", "surrogateescape")


def step(root, line):
    word, *rest = line.split(" ", 2)
    at = root / rest[-1 if word == "mode" else 0] if rest else root
    if word == "mode":
        at.chmod(int(rest[0], 8))
    elif word == "dir":
        at.mkdir(parents=True)
    elif word == "write":
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(unescape(rest[1]))
    elif word == "repeat":
        path, content = rest[1].split(" ", 1)
        (root / path).write_bytes(unescape(content) * int(rest[0]))
    elif word == "symlink":
        at.parent.mkdir(parents=True, exist_ok=True)
        at.symlink_to(rest[1])
    elif word == "hardlink":
        os.link(root / rest[1], at)
    elif word == "fifo":
        os.mkfifo(at)
    elif word == "socket":
        # The name of a socket may not be long.
        before = os.getcwd()
        os.chdir(root)
        socket.socket(socket.AF_UNIX).bind(rest[0])
        os.chdir(before)
    else:
        assert not word, line


def build(root, case, folder, steps):
    root.mkdir(parents=True, exist_ok=True)
    source = case / folder
    for path in sorted(source.rglob("*")) if source.exists() else []:
        to = root / path.relative_to(source)
        if path.is_symlink():
            to.parent.mkdir(parents=True, exist_ok=True)
            to.symlink_to(os.readlink(path))
        elif path.is_dir():
            to.mkdir(parents=True, exist_ok=True)
        else:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())
            to.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    for line in (text(case, steps) or "").splitlines():
        step(root, line)


def look(root):
    """What is beneath a directory: bytes of files, texts of links, and kinds of all else."""
    found = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if name == ".apply-patch" or name.startswith(".apply-patch/"):
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[name] = ("link", os.readlink(path))
        elif stat.S_ISREG(mode):
            found[name] = ("file", bool(mode & 0o100), path.read_bytes() if mode & 0o400 else None)
        else:
            found[name] = stat.S_IFMT(mode)
    return found


def check_error(case, error):
    """Holds an error against what the case wants."""
    wanted = [line.partition(": ")[::2] for line in text(case, "error.txt").splitlines()]
    messages = [error.message, *(reject["message"] for reject in error.details.get("rejects", []))]
    for name, value in wanted:
        if name == "kind":
            assert error.kind == value, error
        elif name == "reason":
            assert error.details.get("reason") == value, error
        elif name == "message":
            # The command line has flags where a program has options.
            assert "--" in value or any(value in message for message in messages), messages
    applied = [value for name, value in wanted if name == "applied"]
    assert [file["path"] for file in error.details.get("applied", {}).get("changedFiles", [])] == applied


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_directory(case, tmp_path):
    given = arguments(case)
    if given is None or (case / "bug.txt").exists():
        pytest.skip("it is about the command line")
    options, of_workspace = given
    root = tmp_path / "ws"
    build(root, case, "before", "setup.txt")
    before = look(root)
    patch = (case / "patch.txt").read_bytes()
    fails = (case / "error.txt").exists()
    try:
        done = Workspace(root, **of_workspace).apply(patch, **options)
        assert not fails
        notes = (text(case, "notes.txt") or "").splitlines()
        if not (case / "stdout.txt").exists():
            assert len(done.get("notes", [])) == len(notes)
            assert all(wanted in note for wanted, note in zip(notes, done.get("notes", [])))
    except PatchError as error:
        assert fails, error
        check_error(case, error)
    if fails and not (case / "after").exists():
        assert look(root) == before
        return
    wanted = tmp_path / "wanted"
    build(wanted, case, "after", "after.txt")
    found = look(root)
    assert {name for name in found} == {name for name in look(wanted)}
    for name, entry in look(wanted).items():
        assert found[name] == entry, name


def in_memory(case):
    """The files of a case that is about nothing but files; None for another."""
    given = arguments(case)
    if given is None or given[1] or any((case / name).exists() for name in ("setup.txt", "after.txt", "bug.txt")):
        return None
    if given[0].get("atomic") is not None:
        return None
    paths = [path for path in (case / "before").rglob("*")]
    if any(path.is_symlink() for path in paths):
        return None
    return {
        path.relative_to(case / "before").as_posix(): path.read_bytes() for path in paths if path.is_file()
    }


@pytest.mark.parametrize("case", [case for case in CASES if in_memory(case) is not None], ids=lambda case: case.name)
def test_memory(case):
    files, options = in_memory(case), arguments(case)[0]
    before = dict(files)
    try:
        changed = apply_patch.apply_in_memory(files, (case / "patch.txt").read_bytes(), **options)
    except PatchError as error:
        assert (case / "error.txt").exists(), error
        check_error(case, error)
        assert files == before
        return
    assert not (case / "error.txt").exists()
    for path, content in changed.items():
        files.pop(path, None)
        if content is not None:
            files[path] = content if isinstance(content, bytes) else content.encode()
    after = case / "after"
    wanted = {path.relative_to(after).as_posix(): path.read_bytes() for path in after.rglob("*") if path.is_file()}
    assert files == wanted


def test_enough_cases_run():
    assert sum(arguments(case) is not None for case in CASES) > 200
    assert sum(in_memory(case) is not None for case in CASES) > 150


def test_arguments_are_read():
    assert json.dumps(arguments(FOLDER / "501-a-file-that-changed-meanwhile")[0])
