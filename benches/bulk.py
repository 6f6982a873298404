#!/usr/bin/env python3
"""Times patches in bulk on real histories: each of the newest commits as a patch of its parent, all trees compared.

usage: bulk.py GIT_DIR... [--commits N] [--ray]

The package `apply_patch` and pyarrow have to be importable; DuckDB, Polars and Ray are tried where they are. Merges are left out, and so
are commits whose diff is over 200 kB. Prints patches a second of processor time for one worker, and of wall time for one and for two.
"""
import argparse, os, resource, subprocess, sys, tempfile, time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from apply_patch import bulk

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples/bulk"))


def git(repo, *args):
    return subprocess.run(["git", "-C", repo, *args], check=True, capture_output=True).stdout


def rows(repo, count):
    """The patch of each commit, its parent, and the tree that it makes."""
    log = git(repo, "log", "--all", "--no-merges", "--min-parents=1", "--date-order", f"-n{count}", "--format=%H %P %T")
    for line in log.decode().splitlines():
        commit, base, tree = line.split()
        try:
            text = git(repo, "diff-tree", "-p", "-M", "--full-index", "--binary", "--no-commit-id", "-r", commit).decode()
        except (subprocess.CalledProcessError, UnicodeDecodeError):
            # A clone may be without some objects.
            continue
        if text and len(text) < 200_000:
            yield repo, base, text, tree


def spent():
    """The processor time of this process and of those that it waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def timed(what, table, run):
    """Runs, checks every tree, and prints the speed."""
    cpu, wall = spent(), time.perf_counter()
    result = run()
    wall, cpu = time.perf_counter() - wall, spent() - cpu
    trees = result.column("tree").to_pylist()
    wrong = sum(found is not None and found != tree for found, tree in zip(trees, table.column("wanted").to_pylist()))
    applied = sum(tree is not None for tree in trees)
    print(
        f"| {what} | {len(table)} | {applied} | {wrong} | {len(table) / cpu:.0f} | {len(table) / wall:.0f} |", flush=True
    )
    return wall


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repos", nargs="+")
    parser.add_argument("--commits", type=int, default=1500)
    parser.add_argument("--ray", action="store_true")
    given = parser.parse_args()
    print("| what | patches | applied | other trees | a second of processor time | of wall |\n|---|---:|---:|---:|---:|---:|")
    folder = Path(tempfile.mkdtemp())
    tables = []
    for repo in given.repos:
        columns = zip(*rows(os.path.abspath(repo), given.commits))
        table = pa.table(dict(zip(("repo", "base", "patch", "wanted"), columns)))
        tables.append(table)
        name = Path(repo.rstrip("/")).parent.name if Path(repo).name in ("repo", ".git") else Path(repo).name

        def columns_of(table=table):
            found = bulk.apply_columns(*(table.column(name) for name in ("repo", "base", "patch")))
            return pa.table({"tree": found.field("tree")})

        timed(f"{name}, `apply_columns`", table, columns_of)
    all_rows = pa.concat_tables(tables)
    source = folder / "in.parquet"
    # Several row groups for each worker.
    pq.write_table(all_rows, source, row_group_size=max(len(all_rows) // 8, 1))

    def whole(workers, ray=None):
        target = folder / f"out-{workers}-{ray}.parquet"
        bulk.apply_parquet(source, target, workers=workers, ray=ray)
        return pq.read_table(target)

    one = timed("all, one worker", all_rows, lambda: whole(1))
    two = timed("all, two workers", all_rows, lambda: whole(2))
    print(f"| two workers beside one | | | | | {one / two:.2f} |")
    for module in ("with_duckdb", "with_polars"):
        try:
            program = __import__(module)
        except ImportError as error:
            print(f"{module} is left out: {error}", file=sys.stderr)
            continue
        target = folder / f"{module}.parquet"

        def other(program=program, target=target):
            program.main(str(source), str(target))
            return pq.read_table(target)

        timed(module.removeprefix("with_"), all_rows, other)
    if given.ray:
        timed("Ray, two processes", all_rows, lambda: whole(2, "local"))


if __name__ == "__main__":
    main()
