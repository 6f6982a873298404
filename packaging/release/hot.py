#!/usr/bin/env python3
"""Writes hot.txt: the functions that everyday commands call, which ordered-cc puts beside each other.

The static program is built with its symbols, and valgrind tells what each command below calls. Run it when the program has changed so much
that ordered-cc finds too few of the names.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = "x86_64-unknown-linux-musl"

ADD = "*** Add File: {0}\n+one\n+two\n+three\n"
UPDATE = "*** Update File: {0}\n@@\n one\n-two\n+2\n three\n"
DIFF = "--- a/{0}\n+++ b/{0}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


def patch(*sections):
    return "*** Begin Patch\n" + "".join(sections) + "*** End Patch\n"


# One after the other in one workspace: the arguments, and the patch. The last is refused, and told what is there.
COMMANDS = [
    (["--version"], ""),
    ([], patch(*(ADD.format(name) for name in ("a", "b", "src/c", "src/d")))),
    ([], patch(UPDATE.format("a"))),
    (["-n"], patch(UPDATE.format("b"))),
    ([], patch(UPDATE.format("b"))),
    ([], patch("*** Delete File: a\n", "*** Update File: b\n*** Move to: e\n@@\n one\n-2\n+two\n")),
    ([], DIFF.format("src/c")),
    (["--durability", "process", "--json"], patch(UPDATE.format("src/d"))),
    (["undo"], ""),
    (["log", "-n", "5"], ""),
    (["status"], ""),
    ([], patch("*** Update File: e\n@@\n one\n-tow\n+2\n three\n")),
]


def name(symbol):
    """A name as nm and valgrind show it, without what differs from build to build."""
    symbol = re.sub(r"'[0-9]+$", "", symbol)
    return re.sub(r"\[[0-9a-f]+\]", "", re.sub(r"::h[0-9a-f]{16}$", "", symbol))


def build():
    described = subprocess.run([HERE / "described", "target_directory"], capture_output=True, text=True, check=True)
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "apply-patch", "--target", TARGET,
                    "--config", "profile.release.package.apply-patch.strip=false"], check=True)
    return Path(described.stdout.strip()) / TARGET / "release" / "apply-patch"


def called(program):
    names = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        work, out = Path(scratch) / "work", Path(scratch) / "out"
        (work / ".git").mkdir(parents=True)
        (work / "src").mkdir()
        environment = {**os.environ, "HOME": scratch, "XDG_STATE_HOME": f"{scratch}/state"}
        for command in COMMANDS:
            arguments, text = command
            run = subprocess.run(["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}", program, *arguments],
                                 input=text, text=True, cwd=work, env=environment, capture_output=True, check=False)
            if run.returncode != (command is COMMANDS[-1]):
                sys.exit(f"{arguments} {text}: {run.stderr}")
            names.update({name(found) for found in re.findall(r"^c?fn=\(\d+\) (.+)$", out.read_text(), re.MULTILINE)})
    return names


def main():
    program = Path(sys.argv[1]) if len(sys.argv) > 1 else build()
    symbols = subprocess.run(["nm", "-C", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    there = {name(line[19:]) for line in symbols.splitlines() if line[17] in "tTwW"}
    counts = called(program)
    # What most of the commands call comes first.
    hot = sorted(there & counts.keys(), key=lambda found: (-counts[found], found))
    (HERE / "hot.txt").write_text("\n".join(hot) + "\n")
    print(f"{len(hot)} of {len(there)} functions")


main()
