"""Calls of the tools, in an order in which each finds what it needs."""

import hashlib
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CATALOGUE = json.loads((ROOT / "crates/tools/tests/tools/catalogue.json").read_text())
# What a server offers; there is no dot in its names.
TOOLS = [tool["name"] for tool in CATALOGUE if tool["name"] != "edit.patch"]
FILE = b"one\r\ntwo\r\nthree\r\n"


def prepare(root: pathlib.Path) -> None:
    root.mkdir()
    (root / "f").write_bytes(FILE)


def sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def script(root: pathlib.Path, one_session: bool = True):
    """Yields (tool, arguments) and is sent the data of each answer; `one_session`: of all calls."""
    read = yield "read_file", {"path": "f"}
    assert read["sha256"] == hashlib.sha256(FILE).hexdigest(), read
    listed = yield "list_directory", {}
    assert [entry["name"] for entry in listed["entries"]] == ["f"], listed
    found = yield "search_files", {"query": "two", "mode": "text"}
    assert found["matches"][0]["line"] == 2, found
    yield "glob", {"pattern": "*"}
    new = yield "create_file", {"path": "d/n", "content": "n\n", "createParentDirectories": True}
    edits = [{"oldText": "two", "newText": "2"}]
    edit = yield "edit_file", {"path": "f", "expectedSha256": read["sha256"], "edits": edits}
    assert (root / "f").read_bytes() == b"one\r\n2\r\nthree\r\n"
    written = yield "write_file", {"path": "f", "content": "all\nnew\n", "expectedSha256": edit["afterSha256"]}
    yield "move_file", {"fromPath": "d/n", "toPath": "d/m", "expectedSha256": new["sha256"]}
    gone = yield "delete_file", {"path": "d/m"}
    yield "restore_file", {"trashedPath": gone["trashedTo"]}
    assert (root / "d/m").read_bytes() == b"n\n"
    patch = "*** Begin Patch\n*** Update File: f\n@@\n-all\n+most\n*** End Patch\n"
    patched = yield "apply_patch", {"patch": patch}
    yield "undo", {"transactionId": patched["transactionId"]}
    yield "undo", {"transactionId": written["transactionId"]}
    assert sha256(root / "f") == edit["afterSha256"]
    later = "*** Begin Patch\n*** Add File: later\n+later\n*** End Patch\n"
    proposed = yield "propose", {"patch": later, "reason": "for a person"}
    told = yield "proposal", {"id": proposed["proposalId"]}
    assert told["state"] == "proposed", told
    if one_session:
        told = yield "proposal", {"id": proposed["proposalId"], "withdraw": True}
        assert told["state"] == "withdrawn", told
    assert not (root / "later").exists()


#: Calls that fail in band, with the kind of their error.
FAILURES = [
    ("read_file", {}, "command_failed"),
    ("read_file", {"path": "../x"}, "outside_workspace"),
    ("read_file", {"path": ".env"}, "permission_denied"),
    ("create_file", {"path": "f", "content": ""}, "already_exists"),
    ("write_file", {"path": "f", "content": "", "expectedSha256": "0" * 64}, "stale_file"),
    ("apply_patch", {"patch": "no patch"}, "patch_parse_error"),
    ("undo", {}, "command_failed"),
    ("proposal", {"id": "p-none"}, "not_found"),
]
