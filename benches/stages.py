#!/usr/bin/env python3
"""Where the processor time of this program goes: by stage, from samples of its stacks.

usage: stages.py --ours PROGRAM --workloads DIR [--dir DIR] [--runs N] [--record FILE] [NAME...]

Takes `perf` of Linux, and a program with frame pointers and the names of its functions (`just stages` builds it). Each
workload is applied again and again on one processor, and `perf record -e cpu-clock` notes where the program is: no
counters of the processor are needed, so that it works in a virtual machine. A sample belongs to the innermost stage of
its stack; what a page fault, the allocator or SHA-256 takes is counted there, whatever the stage.
"""
import argparse, collections, os, re, shutil, subprocess, sys, tempfile, textwrap, time
from pathlib import Path

from compare import ENVIRONMENT, fresh, machine, record

NAMES = ["W1", "W1 again", "W2", "W5", "W7"]
# So often where an application takes a millisecond; where it takes more, a fifth of that.
HERTZ = 20_000
# The first that a frame matches, from the innermost frame out; those above the line are looked for in the whole stack
# first. What the row is for: a promise (p), or what every applier has to do (–).
WHEREVER = [
    ("page faults", "–", r"exc_page_fault"),
    ("the allocator", "–", r"^_?mi_|mimalloc|^munmap|__x64_sys_(munmap|madvise)"),
    ("SHA-256: files, record, log", "p", r"sha2::|digest::Hasher|Sha256::of"),
]
STAGES = [
    ("the record of what is left", "p", r"commit::left::|LeftWriter|packed::|lz4_flex"),
    ("the journal", "p", r"journal::|write_journal|Commit::journal"),
    ("the index of the trash, purging", "p", r"workspace_trash::index|::note$|finish_and_purge|finish_keeping|last_ahead"),
    ("the audit log", "p", r"audit::|commit::host::intend"),
    ("staging: making files", "p", r"Spot>::create|create_ahead::"),
    ("staging: writing files", "–", r"write_pieces|NewFile::write"),
    ("staging: the rest", "p", r"commit::stage::|stage_each|NewFile::|Commit::stage$"),
    ("publishing: renames", "p", r"exchange_raw|rename_new_raw|rename_aside_raw|DisplacedFile::take|publish_new"),
    ("publishing: looks before and after", "p", r"ExpectedFile|publish::verify|Spot::holds"),
    ("publishing: the rest", "p", r"publish::|Publication|Dirs::|siblings::"),
    ("looks before staging", "p", r"Commit::check|check_dirs|Root::check_no_new"),
    ("the lock, recovery, the trash's folder", "p", r"commit::workspace::Workspace::lock|Locked|LockedStore|recover::|pending::|store::"),
    ("conflict markers, placeholders, syntax", "p", r"contents::|placeholders::|conflict_markers::"),
    ("locating hunks", "–", r"patch_text::locate|patch_text::carry"),
    ("splicing, finding lines", "–", r"patch_text::text|SharedLines|shared_lines|texts::Texts"),
    ("reading files", "–", r"disk::|read::|read_whole|Files::inspect_and_read"),
    ("paths and rules", "p", r"Root::check|Policy::|globs::|fs_guard::rules|conventions"),
    ("planning: the rest", "–", r"patch_engine::plan|patch_engine::files"),
    ("reading and parsing the patch", "–", r"patch_grammar|pest::|source::|form::|input::PatchText"),
    ("configuration, arguments, root, key", "–", r"clap|config|Session|session::|Workspace::open|place|key|apply_patch::"),
]
START = ("start and end of the process", "–")
OTHER = ("other", "–")


def stage(frames):
    """The row of a stack, which begins with its innermost frame."""
    for name, kind, pattern in WHEREVER:
        if any(re.search(pattern, frame) for frame in frames):
            return name, kind
    if not any(frame in ("main", "apply_patch::main") or "begin_short_backtrace" in frame for frame in frames):
        return START
    for frame in frames:
        for name, kind, pattern in STAGES:
            if re.search(pattern, frame):
                return name, kind
    return OTHER


def samples(data, command):
    """The stacks of a recording, each as names of functions, innermost first."""
    script = ["perf", "script", "-i", str(data), "--comm", command, "-F", "ip,sym"]
    text = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    for block in text.split("\n\n"):
        frames = [line.split(None, 1)[1] for line in block.splitlines() if len(line.split(None, 1)) == 2]
        if frames:
            yield tuple(frames)


def measure(args, name, scratch):
    """Microseconds of processor time of one application, by row."""
    again, source = name.endswith(" again"), Path(args.workloads) / name.removesuffix(" again")
    small = name.startswith("W1")
    runs, hertz = (args.runs * 40, HERTZ) if small else (args.runs, HERTZ // 5)
    argv = [args.ours, "apply", "--quiet", "--durability", "process", "--profile", "codex"]
    trees = [fresh(source, scratch, argv if again else None, source / "patch.txt") for _ in range(runs)]
    time.sleep(0.2)
    script = Path(scratch) / "run"
    command = " ".join(f"'{word}'" for word in argv)
    script.write_text("".join(f"cd '{tree}' && {command} < '{(source / 'patch.txt').absolute()}' || exit\n" for tree in trees))
    data = Path(scratch) / "samples"
    perf = ["perf", "record", "-q", "-F", str(hertz), "-e", "cpu-clock", "-g", "-o", str(data), "sh", str(script)]
    subprocess.run(perf, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = collections.Counter()
    known = {}
    for frames in samples(data, Path(args.ours).name[:15]):
        if frames not in known:
            known[frames] = stage(frames)
        found[known[frames]] += 1
    for tree in trees:
        shutil.rmtree(tree)
    data.unlink()
    if args.other:
        other = [frames for frames, row in known.items() if row == OTHER]
        sys.stderr.writelines(f"{name}: {' < '.join(frames[:8])}\n" for frames in other)
    return {row: count * 1e6 / hertz / runs for row, count in found.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True, help="the program, with frame pointers and names")
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--dir", default="/dev/shm", help="where the trees are changed (default: in memory)")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--record", help="put the table into this file, in place of the one before")
    parser.add_argument("--other", action="store_true", help="print the stacks that belong to no row")
    parser.add_argument("names", nargs="*", default=[])
    args = parser.parse_args()
    args.ours = str(Path(args.ours).absolute())
    names = args.names or NAMES
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    columns = {}
    with tempfile.TemporaryDirectory(prefix="stages-", dir=args.dir) as scratch:
        ENVIRONMENT["XDG_STATE_HOME"] = f"{scratch}/state"
        for name in names:
            columns[name] = measure(args, name, scratch)
    rows = [(name, kind) for name, kind, _ in WHEREVER + STAGES] + [START, OTHER]
    lines = ["| of | promise | " + " | ".join(names) + " |", "|---|---|" + "---:|" * len(names)]
    totals = {name: sum(columns[name].values()) for name in names}
    for row in rows:
        shares = [100 * columns[name].get(row, 0) / totals[name] for name in names]
        if any(share >= 0.5 for share in shares):
            lines.append(f"| {row[0]} | {'yes' if row[1] == 'p' else ''} | " + " | ".join(f"{share:.1f}" for share in shares) + " |")
    promised = [100 * sum(time for (_, kind), time in columns[name].items() if kind == "p") / totals[name] for name in names]
    lines.append("| all rows of promises | | " + " | ".join(f"{share:.0f}" for share in promised) + " |")
    lines.append("| ms in all | | " + " | ".join(f"{totals[name] / 1e3:.2f}" for name in names) + " |")
    print("\n".join(lines))
    if args.record:
        said = (f"`just stages`, {time.strftime('%Y-%m-%d', time.gmtime())}, {machine()}; percent of the processor time on one "
                "processor, from samples of the stacks of a program with frame pointers, which take a few percent. A row counts "
                "where it is innermost; page faults, memory and hashes count there whatever called them.")
        record(Path(args.record), "## Where the processor time goes", [*textwrap.wrap(said, 100), "", *lines])


if __name__ == "__main__":
    sys.exit(main())
