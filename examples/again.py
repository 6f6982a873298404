#!/usr/bin/env python3
"""Applies the diffs of a history to files that are the new version already.

    examples/again.py GIT_DIR [FILES] [PROGRAM]

For the newest changes of the history each file is put into a directory of its own, as the commit
left it. Then the commit's diff of it is applied, and the same as an envelope in both profiles, with
and without --skip-applied. Nothing may be written; what was is named, and the exit status is 1.
"Refused" is the right answer without the switch, "left out" with it.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

WAYS = [
    (form, profile, skip)
    for form, profile in [("diff", "standard"), ("envelope", "standard"), ("envelope", "codex")]
    for skip in (False, True)
]


def git(directory, *arguments):
    command = ["git", "--git-dir", directory, *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout


def changes(directory):
    """Yields the commit and the name of every file that was modified, the newest first."""
    log = git(directory, "log", "--no-merges", "--diff-filter=M", "--name-only", "--format=@%H")
    commit = ""
    for line in log.decode(errors="replace").splitlines():
        if line.startswith("@"):
            commit = line[1:]
        elif line and '"' not in line:
            yield commit, line


def envelope(diff, name):
    """Returns a diff as an envelope: without its numbers, and without the markers of git."""
    hunks = diff[diff.index(b"\n@@ ") + 1 :]
    if b"\n\\ No newline" in hunks or b"\r" in hunks:
        return None
    hunks = re.sub(rb"^@@ .*$", b"@@", hunks, flags=re.MULTILINE)
    head = f"*** Begin Patch\n*** Update File: {name}\n".encode()
    return head + hunks + b"*** End Patch\n"


def main():
    directory = sys.argv[1]
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    program = str(pathlib.Path(sys.argv[3]).resolve()) if len(sys.argv) > 3 else "apply-patch"
    counts, files, wrong = collections.Counter(), 0, 0
    for commit, path in changes(directory):
        if files == most:
            break
        diff = git(directory, "diff", f"{commit}^", commit, "--", path)
        if b"\n@@ " not in diff or b"\nold mode" in diff:
            continue
        files += 1
        new = git(directory, "show", f"{commit}:{path}")
        for form, profile, skip in WAYS:
            patch = diff if form == "diff" else envelope(diff, path)
            if patch is None:
                continue
            with tempfile.TemporaryDirectory() as work:
                file = pathlib.Path(work, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(new)
                command = [program, "--allow", "**", "--profile", profile, *(["--skip-applied"] if skip else [])]
                ended = subprocess.run(command, cwd=work, input=patch, capture_output=True)
                written = file.read_bytes() != new
            outcome = "written" if written else "left out" if ended.returncode == 0 else "refused"
            counts[form, profile, skip, outcome] += 1
            if written:
                wrong += 1
                print(f"written twice: {commit[:12]} {path}: {form}, {profile}, skip {skip}")
    print(f"{files} files")
    for (form, profile, skip, outcome), count in sorted(counts.items()):
        print(f"{form:9} {profile:7} {'--skip-applied' if skip else '':15} {outcome:9} {count}")
    sys.exit(1 if wrong else 0)


main()
