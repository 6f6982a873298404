"""Microseconds for a patch in memory, from Python: ours beside what else there is. Medians of one run, as a table.

    benches/python.py DIR [--many]

With --many one of 20 000 patches at once, with 1 worker and with as many as there are processors: wall time, processor time, and
both by each other, which is how many processors it had; other programs take some away. The best of several runs.

DIR is what `cargo run --release -p apply-patch --example workloads -- DIR W1` made. Needs the wheel, and for the others openai-agents,
whatthepatch, unidiff and git; what is missing is left out.
"""

import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import apply_patch


def median(call, seconds=2.0):
    """Microseconds: the median of many calls."""
    call()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 20:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


ITEMS, ROUNDS = 20_000, 5


def many(files, patch, workers):
    """Microseconds of wall and of processor time for one of many: the best by wall time."""

    def run():
        cpu, wall = time.process_time(), time.perf_counter()
        done = apply_patch.apply_many([(files, patch)] * ITEMS, workers)
        times = time.perf_counter() - wall, time.process_time() - cpu
        assert done == [apply_patch.apply_in_memory(files, patch)] * ITEMS
        return times

    return [took / ITEMS * 1e6 for took in min(run() for _ in range(ROUNDS))]


def main(folder, is_many):
    before = folder / "before"
    files = {path.relative_to(before).as_posix(): path.read_text() for path in before.rglob("*") if path.is_file()}
    envelope, diff = (folder / "patch.txt").read_text(), (folder / "patch.diff").read_text()
    ((path, text),) = files.items()
    processors = os.cpu_count() or 1
    print(f"Python {platform.python_version()}, {processors} processors, {folder.name}\n")
    if is_many:
        print("| `apply_many` | wall µs | CPU µs | CPU by wall |\n|---|---:|---:|---:|")
        for workers in sorted({1, processors}):
            wall, cpu = many(files, envelope, workers)
            print(f"| {workers} worker{'s' * (workers > 1)} | {wall:.1f} | {cpu:.1f} | {cpu / wall:.2f} |")
        return
    wanted = apply_patch.apply_in_memory(files, envelope)[path]
    body = "".join(line + "\n" for line in envelope.splitlines()[2:-1])

    def ours():
        assert apply_patch.apply_in_memory(files, envelope)[path] == wanted

    def ours_diff():
        assert apply_patch.apply_in_memory(files, diff)[path] == wanted

    def ours_apply_diff():
        assert apply_patch.apply_diff(text, body) == wanted

    cases = [
        ("`apply_in_memory`, an envelope", ours),
        ("`apply_in_memory`, a diff", ours_diff),
        ("`apply_diff`", ours_apply_diff),
    ]
    try:
        from agents import apply_diff

        def theirs():
            assert apply_diff(text, body) == wanted

        cases.append(("`agents.apply_diff`", theirs))
    except ImportError:
        pass
    try:
        import whatthepatch

        def what_the_patch():
            (parsed,) = whatthepatch.parse_patch(diff)
            assert "\n".join(whatthepatch.apply_diff(parsed, text)) + "\n" == wanted

        cases.append(("`whatthepatch`", what_the_patch))
    except ImportError:
        pass
    try:
        import unidiff

        def unidiff_applied():
            lines, out, at = text.splitlines(keepends=True), [], 0
            for hunk in unidiff.PatchSet(diff)[0]:
                out += lines[at : hunk.source_start - 1]
                at = hunk.source_start - 1
                for line in hunk:
                    if not line.is_added:
                        assert lines[at] == line.value
                        at += 1
                    if not line.is_removed:
                        out.append(line.value)
            assert "".join(out + lines[at:]) == wanted

        cases.append(("`unidiff`, applied by 12 lines", unidiff_applied))
    except ImportError:
        pass

    def git_apply():
        with tempfile.TemporaryDirectory() as scratch:
            at = pathlib.Path(scratch, path)
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_text(text)
            subprocess.run(["git", "apply", "-"], input=diff, text=True, cwd=scratch, check=True)
            assert at.read_text() == wanted

    cases.append(("`git apply`, a process", git_apply))
    results = [(name, median(call)) for name, call in cases]
    print("| what | µs | ours is faster by |\n|---|---|---|")
    for name, took in results:
        print(f"| {name} | {took:.1f} | {took / results[0][1]:.1f} |")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) / "W1", "--many" in sys.argv[2:])
