#!/usr/bin/env python3
"""Runs appliers on the same trees in turn and compares what they cost.

usage: compare.py --ours PROGRAM [--codex PROGRAM] --workloads DIR [--dir DIR] [--runs N] [--cores N]... [--instructions]
                  [--durability D] [--record FILE] [NAME...]

For each workload in DIR (made by the example `workloads`) every applier gets a fresh copy of `before/`. The first
run's result is compared with `after/`; an applier that refuses or differs is listed as such, and the first one must do
neither. The appliers take turns, so that a noisy minute hits them all, and with one number of processors after the
other; medians are printed, with ratios of the first to each other. Processor time comes first: who has a busy machine, a
battery or one processor pays that.

Nothing is recorded of a run in which others took much of the processors, or that took longer than an hour.
"""
import argparse, filecmp, os, platform, re, shutil, statistics, subprocess, sys, tempfile, textwrap, time
from pathlib import Path

# "again": a second time in a tree that was put back, so that what an applier keeps beside the files is there.
NAMES = ["W1", "W1 again", "W2", "W3", "W4", "W4f", "W5", "W6", "W7", "W8"]


def appliers(args, name, source):
    """The command lines: a name, the arguments, the file on standard input."""
    # What one argument and one line of a program may not be, a file may.
    envelope, unified = source / "patch.txt", source / "patch.diff"
    found = {}
    for number, ours in enumerate(args.ours):
        label = "apply-patch" if number == 0 else Path(ours).name
        line = [ours, "apply", "--quiet", "--durability", args.durability, "--profile"]
        found[label] = ([*line, "codex"], envelope)
        # Blanks are not overlooked there, and a new file's lines end otherwise.
        if number == 0 and name not in ("W4f", "W5"):
            found["the same, strict"] = ([*line, "strict", "--create-parents"], envelope)
    if args.codex:
        found["codex"] = ([args.codex], envelope)
    if shutil.which("git"):
        found["git apply"] = (["git", "apply", "--whitespace=nowarn", "-"], unified)
    if shutil.which("patch"):
        blanks = ["-l"] if name == "W4f" else []
        found["patch"] = (["patch", "-p1", "-s", "--no-backup-if-mismatch", *blanks], unified)
    return {label: found[label] for label in found if args.only is None or label in args.only}


def same(left, right):
    """Whether two trees hold the same files, the state directory of an applier aside."""
    files = [
        {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file() and ".apply-patch" not in path.parts}
        for top in (left, right)
    ]
    return files[0] == files[1] and all(filecmp.cmp(left / path, right / path, shallow=False) for path in files[0])


def run(argv, stdin, tree):
    """One run: wall and CPU seconds, peak memory in MB, exit code."""
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    files = [(os.POSIX_SPAWN_OPEN, 0, str(stdin.absolute()), os.O_RDONLY, 0), *nowhere]
    home = os.getcwd()
    os.chdir(tree)
    # `subprocess` takes longer to start a program than a small edit takes.
    began = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, ENVIRONMENT, file_actions=files)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    os.chdir(home)
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024, "faults": usage.ru_minflt,
            "exit": os.waitstatus_to_exitcode(status)}


def counted(argv, stdin, tree):
    """The instructions of one run, as valgrind counts them; `None` if it fails."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    with open(stdin, "rb") as patch:
        ran = subprocess.run([*valgrind, *argv], stdin=patch, cwd=tree, env=ENVIRONMENT, capture_output=True)
    found = re.search(rb"I +refs: +([\d,]+)", ran.stderr)
    return int(found[1].replace(b",", b"")) if ran.returncode == 0 and found else None


def fresh(source, scratch, argv=None, stdin=None):
    """A copy of the tree of a workload; with `argv`, one that this has changed, and that was put back."""
    tree = Path(tempfile.mkdtemp(prefix="run-", dir=scratch))
    shutil.copytree(source / "before", tree, dirs_exist_ok=True)
    if argv:
        run(argv, stdin, tree)
        shutil.copytree(source / "before", tree, dirs_exist_ok=True)
    return tree


def measure(args, name, scratch):
    again, source = name.endswith(" again"), Path(args.workloads) / name.removesuffix(" again")
    lines = appliers(args, name, source)
    kept = {label: [] for label in lines}
    verdict = {}
    # W1 is over in a millisecond: more runs cost nothing.
    for turn in range(args.runs * (8 if name.startswith("W1") else 1)):
        for label, (argv, stdin) in lines.items():
            if verdict.get(label) not in (None, "equal"):
                continue
            tree = fresh(source, scratch, argv if again else None, stdin)
            if args.settle:
                os.sync()
            # A file that was made a moment ago may be changed again within one tick of its time stamps; nobody's
            # repository is that young.
            time.sleep(0.1)
            result = run(argv, stdin, tree)
            if turn == 0:
                if result["exit"] != 0:
                    verdict[label] = f"refuses (exit {result['exit']})"
                else:
                    verdict[label] = "equal" if same(tree, source / "after") else "differs"
            elif verdict[label] == "equal":
                kept[label].append(result)
            if args.settle:
                continue
            shutil.rmtree(tree)
    found = {}
    for label in lines:
        if verdict[label] != "equal" or not kept[label]:
            found[label] = verdict[label]
        else:
            found[label] = {what: statistics.median(run[what] for run in kept[label]) for what in ("wall", "cpu", "peak")}
    return found


def instructions(args, name, scratch):
    """Millions of instructions that each applier takes for a workload, counted by valgrind."""
    again, source = name.endswith(" again"), Path(args.workloads) / name.removesuffix(" again")
    found = {}
    for label, (argv, stdin) in appliers(args, name, source).items():
        tree = fresh(source, scratch, argv if again else None, stdin)
        if (count := counted(argv, stdin, tree)) is not None:
            found[label] = count / 1e6
        shutil.rmtree(tree)
    return found


def row(name, found):
    """A workload: what the first one takes, and its share of what each other takes, in processor and wall time."""
    ours, *others = found.values()
    if isinstance(ours, str):
        sys.exit(f"{name}: the first one {ours}")
    share = lambda theirs, what: f"{ours[what] / max(theirs[what], 1e-6):.2f}"
    cell = lambda theirs: theirs if isinstance(theirs, str) else f"{share(theirs, 'cpu')} ({share(theirs, 'wall')})"
    shares = {label: cell(theirs) for label, theirs in zip(list(found)[1:], others)}
    return (f"| {name} | {ours['cpu'] * 1e3:.2f} | {ours['wall'] * 1e3:.2f} | {ours['peak']:.1f} | "
            + " | ".join(shares.get(label, "–") for label in COLUMNS) + " |")


def row_of_instructions(name, found):
    ours = found["apply-patch"]
    cell = lambda label: f"{found[label]:.2f} ({ours / found[label]:.2f})" if label in found else "–"
    return f"| {name} | {ours:.2f} | " + " | ".join(cell(label) for label in COLUMNS) + " |"


class Others:
    """How much of the processors others take while this runs."""

    def __init__(self):
        self.began, self.start = time.monotonic(), self.busy()

    def busy(self):
        """Seconds in which a processor was not idle, less those of this process and its children."""
        if not os.path.exists("/proc/stat"):
            return 0
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, open("/proc/stat").readline().split()[1:9])
        own = os.times()
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK") - sum(own[:4])

    def share(self):
        """Of all processors, from 0 to 1."""
        return (self.busy() - self.start) / (time.monotonic() - self.began) / os.cpu_count()


def record(at, heading, lines):
    """Puts a section into a file, in place of the one with the same heading."""
    text = at.read_text() if at.exists() else ""
    before, found, rest = text.partition(f"{heading}\n")
    _, next_heading, after = rest.partition("\n## ")
    section = "\n".join([heading, "", *lines]) + "\n"
    at.write_text((before if found else before.rstrip("\n") + "\n\n") + section + next_heading + after)


def machine():
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "unknown")
    return f"{os.cpu_count()} cores, {model}, Linux {'.'.join(platform.release().split('.')[:2])}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", action="append", required=True, help="our program; a second one is compared too")
    parser.add_argument("--codex", help="the codex program, linked as `apply_patch`")
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--dir", default="/dev/shm", help="where the trees are changed (default: in memory)")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--durability", default="process", choices=["full", "process", "none"])
    parser.add_argument("--cores", action="append", type=int,
                        help="how many processors there are to use (repeatable; default: one, then all)")
    parser.add_argument("--instructions", action="store_true", help="count instructions too, which takes minutes")
    parser.add_argument("--only", action="append", help="this applier only (repeatable)")
    parser.add_argument("--settle", action="store_true",
                        help="for a disk: sync before each run, and delete no tree before the end")
    parser.add_argument("--record", help="put the table into this file, in place of the one before")
    parser.add_argument("names", nargs="*", default=[])
    args = parser.parse_args()
    args.runs += 1
    ENVIRONMENT["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="state-", dir=args.dir)
    scratch = tempfile.mkdtemp(prefix="compare-", dir=args.dir)
    COLUMNS[:] = [*(Path(ours).name for ours in args.ours[1:]), *COLUMNS]
    names = args.names or NAMES
    all_cores = sorted(os.sched_getaffinity(0))
    others = Others()
    tables = []

    def table(title, head, rows):
        lines = [title, "", f"| work | {head} | " + " | ".join(COLUMNS) + " |",
                 "|---|" + "---:|" * (head.count("|") + 1 + len(COLUMNS))]
        print("\n".join(["", *lines]), flush=True)
        for name in names:
            lines.append(rows(name))
            print(lines[-1], flush=True)
        tables.append(lines)

    try:
        for cores in args.cores or sorted({1, len(all_cores)}):
            os.sched_setaffinity(0, all_cores[:cores])
            title = f"**On {'one processor' if cores == 1 else f'{cores} processors'}:**"
            table(title, "CPU ms | wall ms | peak MB", lambda name: row(name, measure(args, name, scratch)))
        os.sched_setaffinity(0, all_cores)
        if args.instructions:
            title = "**Millions of instructions,** ours and theirs, and our share; valgrind has no instructions for SHA-256:"
            table(title, "ours", lambda name: row_of_instructions(name, instructions(args, name, scratch)))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(ENVIRONMENT["XDG_STATE_HOME"], ignore_errors=True)
    busy, minutes = others.share(), (time.monotonic() - others.began) / 60
    print(f"\nothers took {busy:.0%} of the processors, in {minutes:.0f} minutes")
    if busy > BUSY or minutes > 60:
        sys.exit("this run is not to be believed, and is not recorded: "
                 + ("the machine is too busy" if busy > BUSY else "it took longer than an hour"))
    if args.record:
        where = "on a disk" if args.settle else "in memory"
        said = (f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {machine()}; medians of {args.runs - 1} runs in turn, outputs "
                f"verified equal, in {minutes:.0f} minutes, of which others took {busy:.0%} of the processors. Ours, and our share of the "
                "processor time of each other, with that of the wall time in brackets.")
        lines = [*textwrap.wrap(said, 100)]
        for one in tables:
            lines += ["", *one]
        record(Path(args.record), f"## Whole processes, `--durability {args.durability}`, {where}", lines)


# What we are compared with, as far as it is there.
COLUMNS = ["the same, strict", "codex", "git apply", "patch"]
# Others may take so much of the processors.
BUSY = 0.05
ENVIRONMENT = dict(os.environ)
if __name__ == "__main__":
    sys.exit(main())
