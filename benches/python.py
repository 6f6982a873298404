"""Microseconds for a patch in memory, from Python: ours beside what else there is. Medians of one run, as a table.

    benches/python.py DIR

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


def main(folder):
    before = folder / "before"
    files = {path.relative_to(before).as_posix(): path.read_text() for path in before.rglob("*") if path.is_file()}
    envelope, diff = (folder / "patch.txt").read_text(), (folder / "patch.diff").read_text()
    ((path, text),) = files.items()
    wanted = apply_patch.apply_in_memory(files, envelope)[path]
    body = "".join(line + "\n" for line in envelope.splitlines()[2:-1])

    def ours():
        assert apply_patch.apply_in_memory(files, envelope)[path] == wanted

    def ours_diff():
        assert apply_patch.apply_in_memory(files, diff)[path] == wanted

    def ours_apply_diff():
        assert apply_patch.apply_diff(text, body) == wanted

    thousand = [(files, envelope)] * 1000

    def ours_many(workers):
        def many():
            assert apply_patch.apply_many(thousand, workers)[-1][path] == wanted

        return many

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
    for workers in sorted({1, os.cpu_count() or 1}):
        name = f"`apply_many`, one of 1000 envelopes, {workers} worker{'s' if workers > 1 else ''}"
        results.append((name, median(ours_many(workers)) / 1000))
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {folder.name}\n")
    print("| what | µs | ours is faster by |\n|---|---|---|")
    for name, took in results:
        print(f"| {name} | {took:.1f} | {took / results[0][1]:.1f} |")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) / "W1")
