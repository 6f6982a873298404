"""Tries `apply_patch.bulk` and the examples: all of them come to what git makes of the patches.

    python try.py [COUNT]

DuckDB, Polars and Ray are tried where they are installed.
"""

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from apply_patch import bulk

FILES, LINES = 200, 60


def git(repo, *args, **options):
    command = ["git", "-C", str(repo), "-c", "user.name=n", "-c", "user.email=e@e", *args]
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.strip()


def make(folder, count, group):
    """A bare repository of 200 files, and patches for it: every tenth does not fit."""
    work, repo = folder / "work", folder / "repo.git"
    work.mkdir()
    for nth in range(FILES):
        place = work / f"d{nth % 20}" / f"f{nth}.txt"
        place.parent.mkdir(exist_ok=True)
        place.write_text("".join(f"{nth} {line}\n" for line in range(LINES)))
    git(work, "init", "-q", "-b", "main")
    git(work, "add", ".")
    git(work, "commit", "-qm", "first")
    git(work, "clone", "-q", "--bare", ".", str(repo))
    base = git(repo, "rev-parse", "main")

    def patch(nth):
        file, line = nth % FILES, nth % LINES
        old = f"{file} {line}" if nth % 10 else "no such line"
        update = f"*** Update File: d{file % 20}/f{file}.txt\n@@\n-{old}\n+new {nth}\n"
        return f"*** Begin Patch\n{update}*** End Patch\n"

    columns = {"id": range(count), "repo": [str(repo)] * count, "base": [base] * count, "patch": map(patch, range(count))}
    source = folder / "patches.parquet"
    pq.write_table(pa.table({name: list(column) for name, column in columns.items()}), source, row_group_size=group)
    return source


def as_git_says(folder, row):
    """Whether the diff of a row makes its tree of the base, as git applies it."""
    index = {**os.environ, "GIT_INDEX_FILE": str(folder / "index")}
    git(row["repo"], "read-tree", row["base"], env=index)
    git(row["repo"], "apply", "--cached", "-", env=index, input=row["diff"])
    return git(row["repo"], "write-tree", env=index) == row["tree"]


def command(source, target, *options):
    return [sys.executable, "-m", "apply_patch.bulk", str(source), str(target), *options]


def killed(source, target, *options):
    """A run one of whose workers is killed after the first parts."""
    run = subprocess.Popen(command(source, target, *options), stderr=subprocess.PIPE, text=True)
    parts = target.with_name(f"{target.name}.parts")
    while not list(parts.glob("part-*.parquet")) and run.poll() is None:
        time.sleep(0.001)
    children = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split()
    for child in reversed(children):
        os.kill(int(child), signal.SIGKILL)
    return run.wait(), run.stderr.read()


def ray_worker_is_killed(stop, victims):
    """Kills the first process that is at work on a row group."""
    while not stop.is_set() and not victims:
        found = subprocess.run(["pgrep", "-f", "^ray::_apply_group"], capture_output=True, text=True).stdout.split()
        for pid in found[:1]:
            try:
                os.kill(int(pid), signal.SIGKILL)
                victims.append(pid)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    group = max(count // 60, 1)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        source = make(folder, count, group)
        one = folder / "one.parquet"
        alone = bulk.apply_parquet(source, one, workers=1)
        expected = pq.read_table(one)
        assert alone.rows == expected.num_rows == count
        assert alone.refused == (count + 9) // 10, f"{alone.refused} of {count} refused"
        assert expected.select(["id", "repo", "base", "patch"]) == pq.read_table(source), "the columns of the input"
        rows = expected.to_pylist()
        assert {row["reason"] for row in rows if not row["ok"]} == {"context_not_found"}
        assert all(as_git_says(folder, row) for row in rows[1:8]), "git makes another tree"

        def run(name, *options):
            target = folder / f"{name}.parquet"
            done = subprocess.run(command(source, target, *options), capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert pq.read_table(target) == expected, f"{name}: other verdicts than one process has"
            return done.stderr.splitlines()[-1]

        said = ["one: " + str(alone), "two: " + run("two", "--workers", "2")]

        code, error = killed(source, folder / "killed.parquet", "--workers", "2")
        assert code == 1 and "a worker died" in error, (code, error)
        assert not (folder / "killed.parquet").exists()
        said.append("killed: " + run("killed", "--workers", "2", "--resume"))
        assert "of them kept" in said[-1], said[-1]

        parts = folder / "parts"
        bulk.apply_parquet(source, parts, workers=1)
        lost = sorted(parts.glob("*.parquet"))[1::3]
        kept = {part: part.stat().st_ino for part in parts.iterdir() if part not in lost}
        # One is gone, the others are torn.
        lost[0].unlink()
        for part in lost[1:]:
            part.write_bytes(part.read_bytes()[:-9])
        again = bulk.apply_parquet(source, parts, workers=1, resume=True)
        assert again.done == len(lost), f"{again.done} done again"
        assert all(part.stat().st_ino == inode for part, inode in kept.items()), "a part was done twice"
        assert pa.concat_tables(map(pq.read_table, sorted(parts.iterdir()))).to_pylist() == rows

        for engine in ["duckdb", "polars"]:
            if importlib.util.find_spec(engine):
                target = folder / f"{engine}.parquet"
                begun = time.monotonic()
                script = Path(__file__).with_name(f"with_{engine}.py")
                subprocess.run([sys.executable, str(script), str(source), str(target)], check=True)
                found = sorted(pq.read_table(target).to_pylist(), key=lambda row: row["id"])
                assert found == rows, f"{engine}: other verdicts"
                said.append(f"{engine}: {count / (time.monotonic() - begun):.0f} a second, with its start")
            else:
                said.append(f"skipped: no {engine}")

        if importlib.util.find_spec("ray"):
            stop, victims = threading.Event(), []
            killer = threading.Thread(target=ray_worker_is_killed, args=(stop, victims))
            killer.start()
            said.append("ray: " + run("ray", "--workers", "2", "--ray"))
            stop.set()
            killer.join()
            assert victims, "no worker of Ray was killed"
        else:
            said.append("skipped: no ray")
        print(*said, sep="\n")


if __name__ == "__main__":
    main()
