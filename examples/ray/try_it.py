"""Tries `apply_many.py`: a cluster of two workers here, one of which is killed, against one process.

    python try_it.py [COUNT]
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ray

import apply_many

PART = 50


def git(repo, *args):
    command = ["git", "-C", str(repo), "-c", "user.name=n", "-c", "user.email=e@e", *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make(folder, count):
    """A bare repository of 200 files, and patches for it: every tenth does not fit."""
    work, repo = folder / "work", folder / "repo.git"
    work.mkdir()
    for nth in range(200):
        place = work / f"d{nth % 20}" / f"f{nth}.txt"
        place.parent.mkdir(exist_ok=True)
        place.write_text("".join(f"{nth} {line}\n" for line in range(60)))
    git(work, "init", "-q", "-b", "main")
    git(work, "add", ".")
    git(work, "commit", "-qm", "first")
    git(work, "clone", "-q", "--bare", ".", str(repo))
    rev = git(repo, "rev-parse", "main")
    patches = folder / "patches.jsonl"
    with patches.open("w") as out:
        for nth in range(count):
            file, line = nth % 200, nth % 60
            old = f"{file} {line}" if nth % 10 else "no such line"
            body = f"*** Update File: d{file % 20}/f{file}.txt\n@@\n-{old}\n+new {nth}\n"
            patch = f"*** Begin Patch\n{body}*** End Patch\n"
            print(json.dumps({"id": str(nth), "repo": str(repo), "rev": rev, "patch": patch}), file=out)
    return patches


def verdicts(results):
    return [json.loads(line) for part in sorted(results.glob("part-*.jsonl")) for line in part.open()]


def kill_a_worker(stop, killed):
    """Kills the first process that is at work on a part."""
    while not stop.is_set() and not killed:
        found = subprocess.run(["pgrep", "-f", "^ray::apply_part"], capture_output=True, text=True).stdout.split()
        for pid in found[:1]:
            try:
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        patches = make(folder, count)

        alone = folder / "alone"
        alone.mkdir()
        begun, trees = time.monotonic(), {}
        with (alone / "part-000000.jsonl").open("w") as out:
            for line in patches.open():
                print(json.dumps(apply_many.outcome(json.loads(line), trees)), file=out)
        one = time.monotonic() - begun
        expected = verdicts(alone)
        refused = sum(not verdict["ok"] for verdict in expected)
        assert refused == (count + 9) // 10, f"{refused} of {count} refused"

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        # The workers are there before the time is taken.
        ray.get([apply_many.apply_part.remote([], str(folder / f"none-{nth}")) for nth in range(2)])
        begun = time.monotonic()
        assert apply_many.run(patches, folder / "quiet", PART) == count
        two = time.monotonic() - begun
        assert verdicts(folder / "quiet") == expected, "other verdicts than one process has"

        stop, killed = threading.Event(), []
        killer = threading.Thread(target=kill_a_worker, args=(stop, killed))
        killer.start()
        results = folder / "results"
        assert apply_many.run(patches, results, PART) == count
        stop.set()
        killer.join()
        assert killed, "no worker was killed"
        assert verdicts(results) == expected, "other verdicts after the loss of a worker"

        lost = sorted(results.glob("part-*.jsonl"))[1::3]
        kept = {part: part.stat().st_ino for part in results.glob("part-*.jsonl") if part not in lost}
        for part in lost:
            part.unlink()
        again = apply_many.run(patches, results, PART)
        assert again == sum(min(PART, count - PART * int(part.stem[5:])) for part in lost), f"{again} done again"
        assert all(part.stat().st_ino == inode for part, inode in kept.items()), "a part was done twice"
        assert verdicts(results) == expected
        ray.shutdown()

        # The tree that git makes of the first patch that applies.
        verdict = next(verdict for verdict in expected if verdict["ok"])
        path = f"d{int(verdict['id']) % 20}/f{verdict['id']}.txt"
        git(folder / "work", "checkout", "-q", "main")
        text = (folder / "work" / path).read_text()
        (folder / "work" / path).write_text(text.replace(f"{verdict['id']} {verdict['id']}\n", f"new {verdict['id']}\n"))
        git(folder / "work", "add", ".")
        assert git(folder / "work", "write-tree") == verdict["tree"]
        print(
            f"{count} patches, {refused} refused: one process {count / one:.0f} a second, two workers {count / two:.0f}; "
            f"worker {killed[0]} was killed, {again} patches were done again after a stop; all verdicts and trees are the same"
        )


if __name__ == "__main__":
    main()
