"""Runs the program on good and bad patches and validates each line that it prints as a notification.

usage: check.py PROGRAM SCHEMAS SCRATCH
"""

import json
import pathlib
import subprocess
import sys

import jsonschema

program, schemas, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

HEADERS = {
    "several kinds": "*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: new file.txt\n+x\n*** Delete File: b.txt\n",
    "a move": "*** Move File: a.txt -> sub.txt\n",
    "a move with hunks": "*** Update File: a.txt\n*** Move to: \u00e9.txt\n@@\n-one\n+ONE\n",
    "a deletion": "*** Delete File: b.txt\n",
    "a binary file": "*** Delete File: c.bin\n",
    "a long file": "*** Update File: long.txt\n@@\n-first\n+FIRST\n",
    "an empty file": "*** Add File: empty\n",
    "what does not apply": "*** Update File: a.txt\n@@\n-nothing\n+x\n",
    "what is refused": "*** Add File: ../x\n+x\n",
    "what does not parse": "*** Frobnicate: x\n",
}

# What each version calls the parts of a notification.
NAMES = {"acp": ("v1", "SessionNotification"), "acp-v2": ("v2", "UpdateSessionNotification")}


def commands(form):
    for name, body in HEADERS.items():
        patch = f"*** Begin Patch\n{body}*** End Patch\n"
        yield f"apply: {name}", ["--events", form], patch
        args = json.dumps({"patch": patch, "allow_delete": True})
        yield f"edit.patch: {name}", ["tool", "edit.patch", "--events", form, "--args", "-"], args
    yield "delete_file", ["tool", "delete_file", "--events", form, "--args", '{"path":"b.txt"}'], ""


def workspace(nth):
    place = scratch / f"workspace {nth}"
    place.mkdir()
    (place / "a.txt").write_text("one\ntwo\n")
    (place / "b.txt").write_text("b\n")
    (place / "c.bin").write_bytes(b"\0\1\2")
    (place / "long.txt").write_text("first\n" + "line\n" * 400_000)
    return place


lines = 0
for form, (version, notification) in NAMES.items():
    definitions = json.loads((schemas / version / "schema.json").read_text())["$defs"]
    check = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{notification}", "$defs": definitions})
    # A check that cannot fail is none.
    assert not check.is_valid({"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "title": "no id"}})
    for nth, (name, args, text) in enumerate(commands(form)):
        run = subprocess.run([program, *args], input=text, capture_output=True, text=True, cwd=workspace(f"{form} {nth}"))
        printed = [json.loads(line) for line in run.stdout.splitlines()]
        statuses = []
        for message in printed:
            assert (message["jsonrpc"], message["method"]) == ("2.0", "session/update"), message
            errors = [error.message[:500] for error in check.iter_errors(message["params"])]
            assert not errors, f"{form}, {name}: {errors}"
            statuses.append(message["params"]["update"].get("status"))
        wanted = ["pending", "in_progress", "completed"] if run.returncode == 0 else ["pending", "failed"]
        assert statuses == wanted, f"{form}, {name}: {statuses}, exit {run.returncode}\n{run.stderr}"
        lines += len(printed)
print(f"{lines} notifications are valid")
