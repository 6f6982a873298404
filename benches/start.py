#!/usr/bin/env python3
"""What every command pays at its start, beside git, and how large the program is, by crate.

usage: start.py --ours PROGRAM [--named PROGRAM] [--dir DIR] [--runs N] [--record FILE]

Both have a repository of 50 files with one change. `--named` is the same program with the names of its functions (as
`just stages` builds it), for the table of sizes. Instructions are counted by valgrind, page faults by the kernel.
"""
import argparse, collections, os, re, shutil, statistics, subprocess, sys, tempfile, textwrap, time
from pathlib import Path

from compare import ENVIRONMENT, counted, machine, record, run

PATCH = "*** Begin Patch\n*** Update File: f1\n@@\n-one\n+two\n*** End Patch\n"


def sizes(program):
    """Kilobytes of code and tables by crate, as the names of the functions tell."""
    text = subprocess.run(["nm", "-SC", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    found, seen = collections.Counter(), set()
    for line in text.splitlines():
        parts = line.split(None, 3)
        if len(parts) == 4 and len(parts[1]) == 16 and parts[0] not in seen and parts[2] not in "bB":
            seen.add(parts[0])
            crate = re.match(r"^<*(?:&|mut |dyn |\*const |\*mut |\[|\()*([a-z_0-9]+)::", parts[3])
            c = "tree-sitter-bash (C)" if parts[3].startswith("ts_") else "other C, tables"
            found[crate[1] if crate else c] += int(parts[1], 16) / 1024
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--named")
    parser.add_argument("--dir", default="/dev/shm", help="where the repository is made (default: in memory)")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--record", help="put the tables into this file, in place of those before")
    args = parser.parse_args()
    ours = os.path.abspath(args.ours)
    lines = []
    with tempfile.TemporaryDirectory(prefix="start-", dir=args.dir) as scratch:
        tree = Path(scratch) / "tree"
        tree.mkdir()
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME"):
            ENVIRONMENT[name] = f"{scratch}/{name}"
        for number in range(50):
            (tree / f"f{number}").write_text("one\n")
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com"]
        for argv in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run([*git, *argv], cwd=tree, env=ENVIRONMENT, check=True)
        subprocess.run([ours, "apply", "--quiet"], input=PATCH.encode(), cwd=tree, env=ENVIRONMENT, check=True)
        commands = {
            "apply-patch --version": [ours, "--version"], "git --version": ["git", "--version"],
            "apply-patch log -n 1": [ours, "log", "-n", "1"], "git log -1": ["git", "log", "-1"],
            "apply-patch status": [ours, "status"], "git status": ["git", "status"],
        }
        times = {name: [] for name in commands}
        for _ in range(args.runs):
            for name, argv in commands.items():
                times[name].append(run(argv, Path(os.devnull), tree))
        lines += ["| command | instructions | page faults | CPU µs | wall µs |", "|---|---:|---:|---:|---:|"]
        for name, argv in commands.items():
            count = counted(argv, os.devnull, tree) if shutil.which("valgrind") else None
            median = {what: statistics.median(one[what] for one in times[name]) * 1e6 for what in ("cpu", "wall")}
            faults = statistics.median(one["faults"] for one in times[name])
            lines.append(f"| {name} | {f'{count:,}'.replace(',', ' ') if count else '–'} | {faults:.0f} | "
                         f"{median['cpu']:.0f} | {median['wall']:.0f} |")
    if args.named:
        found = sizes(args.named)
        most = [f"{crate} {size:.0f}" for crate, size in found.most_common(24)]
        rest = sum(size for _, size in found.most_common()[24:])
        lines += ["", *textwrap.wrap(
            f"The program has {os.path.getsize(ours) / 1e6:.1f} MB. Code and tables by crate, in kB (generic functions count where "
            f"they are written): {', '.join(most)}; {len(found) - 24} others {rest:.0f}.", 100)]
    print("\n".join(lines))
    if args.record:
        said = f"`just start`, {time.strftime('%Y-%m-%d', time.gmtime())}, {machine()}; medians of {args.runs} runs in turn."
        record(Path(args.record), "## The start of a command", [said, "", *lines])


if __name__ == "__main__":
    sys.exit(main())
