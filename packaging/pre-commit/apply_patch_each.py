"""Runs `apply-patch COMMAND OPTION… FILE` for each file, for .pre-commit-hooks.yaml: the program takes one patch at a time.

usage: apply-patch-each COMMAND [OPTION…] -- FILE…
"""

import shutil
import subprocess
import sys

WHERE = "https://github.com/apply-patch/apply-patch"


def main() -> int:
    """Returns 1 if a file is refused; 2 if the call is wrong, and 127 if there is no program."""
    arguments = sys.argv[1:]
    if "--" not in arguments[1:]:
        print("usage: apply-patch-each COMMAND [OPTION...] -- FILE...", file=sys.stderr)
        return 2
    program = shutil.which("apply-patch")
    if program is None:
        print(f"there is no apply-patch in PATH; how to install it: {WHERE}", file=sys.stderr)
        return 127
    end = arguments.index("--", 1)
    command, *options = arguments[:end]
    # The syntax tree that `parse` prints is of no use here; what is wrong goes to standard error.
    calls = [[program, command, "--quiet", *options, "--", file] for file in arguments[end + 1 :]]
    codes = [subprocess.run(call, stdout=subprocess.DEVNULL).returncode for call in calls]
    return 1 if any(codes) else 0
