"""Applies patches to commits of git repositories by the million: Parquet in, Parquet out.

    python -m apply_patch.bulk IN.parquet OUT.parquet [--workers N] [--resume] [--ray [ADDRESS]]

IN has the columns `repo` (a directory of a git repository), `base` (a commit) and `patch`. OUT has all columns of IN, and `tree` (the
id of the tree that the patch makes of the commit's), `ok`, `reason` (the word of the refusal) and `diff`. `ok` is null where the
repository cannot be read. No work tree is needed, and nothing is written to a repository.

A row group is done as a whole: its rows are written to a file of their own in OUT.parts, which is put in its place when it is whole.
When all are there, they become OUT. What was stopped goes on with `--resume`, and does no row group twice. An OUT that does not end in
`.parquet` is itself the directory of the parts.

Needs pyarrow: `pip install "apply-patch[bulk]"`; for a Ray cluster `"apply-patch[ray]"`.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import multiprocessing
import os
import shutil
import sys
import threading
import time
import uuid
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]
import pyarrow.parquet as pq  # type: ignore[import-untyped,import-not-found,unused-ignore]

from . import CommandFailed, DoesNotApply, FileTooLarge, GitTree, ParseError, PatchError, Refused, StaleFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Outcome = tuple[str | None, bool | None, str | None, str | None]

__all__ = ["BulkError", "Progress", "apply_columns", "apply_parquet", "main"]

# The rows of a row group that are in memory at a time.
_BATCH = 1024

# The commits and the repositories that a worker has open. Of a repository some 50 MB are kept at most.
_OPEN = 256
_REPOSITORIES = 8

# Where a file says of which input it has the results.
_INPUT = b"apply_patch.input"

_FIELDS: tuple[tuple[str, Any], ...] = (
    ("tree", pa.string()),
    ("ok", pa.bool_()),
    ("reason", pa.string()),
    ("diff", pa.string()),
)


class BulkError(Exception):
    """A run that cannot begin or go on. Its parts stay."""


@functools.lru_cache(maxsize=_OPEN)
def _opened(repo: str, base: str) -> GitTree:
    known = _repository(repo)
    if not known:
        known.append(GitTree(repo, base))
    return known[0].at(base)


@functools.lru_cache(maxsize=_REPOSITORIES)
def _repository(repo: str) -> list[GitTree]:
    """A commit of a repository, once one is open: the others share what was read for it, trees and bases of deltas."""
    return []


def _outcome(repo: str | None, base: str | None, patch: str | bytes | None) -> _Outcome:
    if repo is None or base is None or patch is None:
        return None, None, "null", None
    try:
        tree = _opened(repo, base)
        try:
            plan = tree.plan(patch)
        except (ParseError, DoesNotApply, StaleFile, Refused, FileTooLarge, CommandFailed) as error:
            if error.reason == "io":
                raise
            return None, False, error.reason or error.kind, None
        return tree.tree_of(plan), True, None, plan.diff
    except PatchError as error:
        # The repository or an object cannot be read, which says nothing of the patch.
        return None, None, error.reason or error.kind, None


def apply_columns(repo: Any, base: Any, patch: Any) -> Any:
    """What becomes of each patch: a `pyarrow.StructArray` with the fields `tree`, `ok`, `reason` and `diff`.

    The columns are arrays of Arrow, chunked or not, or lists. A function of batches for DuckDB, Polars, Ray Data and the like.
    """
    repo, base, patch = (column.to_pylist() if hasattr(column, "to_pylist") else column for column in (repo, base, patch))
    given = list(zip(repo, base, patch, strict=True))
    rows: list[_Outcome] = [(None, None, None, None)] * len(given)
    # Commits of one repository one after the other: they have most trees and files in common.
    for nth in sorted(range(len(given)), key=lambda nth: (given[nth][0] or "", given[nth][1] or "")):
        rows[nth] = _outcome(*given[nth])
    columns = zip(*rows) if rows else ((),) * len(_FIELDS)
    arrays = [pa.array(column, type) for column, (_, type) in zip(columns, _FIELDS, strict=True)]
    return pa.StructArray.from_arrays(arrays, names=[name for name, _ in _FIELDS])


def _fingerprint(source: Path) -> bytes:
    """A name of a Parquet file: a hash of its footer, which has the place and the size of each column of each row group."""
    with source.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        length = int.from_bytes(file.read(4), "little")
        file.seek(-8 - length, os.SEEK_END)
        return hashlib.sha256(file.read(length)).hexdigest().encode()


def _schema(source: Any, fingerprint: bytes) -> Any:
    schema = source.schema_arrow
    for name in ("repo", "base", "patch"):
        if schema.names.count(name) != 1:
            raise BulkError(f"the input has no column `{name}`, or several")
    for name, type in _FIELDS:
        if name in schema.names:
            raise BulkError(f"the input has a column `{name}`, which the output gets")
        schema = schema.append(pa.field(name, type))
    return schema.with_metadata({**(schema.metadata or {}), _INPUT: fingerprint})


def _apply_group(source: str, group: int, part: str) -> tuple[int, int, int]:
    """Applies the patches of a row group; how many there were, were refused, and could not be tried."""
    file, place = pq.ParquetFile(source), Path(part)
    schema = _schema(file, _fingerprint(Path(source)))
    # Two workers may be at the same part when one of them is taken for lost.
    draft = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
    rows = refused = untried = 0
    try:
        with pq.ParquetWriter(draft, schema) as writer:
            for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group]):
                done = apply_columns(batch.column("repo"), batch.column("base"), batch.column("patch"))
                writer.write_table(pa.Table.from_arrays([*batch.columns, *done.flatten()], schema=schema))
                ok = done.field("ok")
                rows += len(ok)
                refused += ok.false_count
                untried += ok.null_count
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
    return rows, refused, untried


def _is_of(file: Path, fingerprint: bytes) -> bool:
    """Whether a file has results for this input. What is torn is not there."""
    try:
        metadata = pq.read_schema(file).metadata or {}
    except (pa.ArrowInvalid, FileNotFoundError):
        return False
    if metadata.get(_INPUT) != fingerprint:
        raise BulkError(f"{file} has the results of another input")
    return True


class Progress:
    """How far a run is. Calls `tell` with a line at most once a second, and at the end."""

    def __init__(self, groups: int, tell: Callable[[str], object] | None) -> None:
        self.groups = groups
        self.done: int = 0
        self.rows: int = 0
        self.refused: int = 0
        self.untried: int = 0
        self.kept: int = 0
        self._tell, self._begun, self._told = tell, time.monotonic(), 0.0

    def add(self, rows: int, refused: int, untried: int) -> None:
        """Counts a row group."""
        self.done += 1
        self.rows += rows
        self.refused += refused
        self.untried += untried
        now = time.monotonic()
        if self._tell and (now - self._told >= 1 or self.kept + self.done == self.groups):
            self._told = now
            self._tell(str(self))

    def __str__(self) -> str:
        speed = self.rows / max(time.monotonic() - self._begun, 1e-9)
        kept = f", {self.kept} of them kept" if self.kept else ""
        untried = f", {self.untried} not tried" if self.untried else ""
        return (
            f"{self.kept + self.done} of {self.groups} row groups{kept}; "
            f"{self.rows} patches, {self.refused} refused{untried}, {speed:.0f} a second"
        )


def _ends_with_driver() -> None:
    """Makes a worker end when its driver is gone, also when that was killed. It would wait for work forever."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        threading.Thread(target=_wait_for_end, args=(driver.sentinel,), daemon=True).start()


def _wait_for_end(driver: int) -> None:
    wait([driver])
    # A draft is left, as by a worker that was killed.
    os._exit(1)


def _by_processes(tasks: Iterable[tuple[str, int, str]], workers: int) -> Iterator[tuple[int, int, int]]:
    # What is forked would share locks with the threads of Arrow.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_ends_with_driver) as pool:
        try:
            for done in as_completed([pool.submit(_apply_group, *task) for task in tasks]):
                yield done.result()
        except BrokenProcessPool as error:
            raise BulkError("a worker died") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _by_ray(tasks: Iterable[tuple[str, int, str]], workers: int, address: str) -> Iterator[tuple[int, int, int]]:
    import ray  # type: ignore[import-untyped,import-not-found,unused-ignore]

    if not ray.is_initialized():
        of_one = {"num_cpus": workers} if address == "local" else {}
        ray.init(address=address, include_dashboard=False, log_to_driver=False, **of_one)
    # A worker that is lost has its row group done by another.
    task = ray.remote(max_retries=-1)(_apply_group)
    waiting = [task.remote(*one) for one in tasks]
    while waiting:
        ready, waiting = ray.wait(waiting)
        yield from ray.get(ready)


def apply_parquet(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    workers: int | None = None,
    resume: bool = False,
    ray: str | None = None,
    tell: Callable[[str], object] | None = None,
) -> Progress:
    """Applies the patches of a Parquet file, and writes another: what was done, without what a resumed run kept.

    `ray` is the address of a cluster, or "local" for one on this machine; without it the workers are processes of this machine.
    They are started anew, so that a program calls this beneath `if __name__ == "__main__":`.
    `tell` gets lines about the progress.
    """
    source, target = Path(source).absolute(), Path(target).absolute()
    file, fingerprint = pq.ParquetFile(source), _fingerprint(source)
    schema, groups = _schema(file, fingerprint), file.metadata.num_row_groups
    merges = target.suffix == ".parquet"
    parts = target.with_name(f"{target.name}.parts") if merges else target
    progress = Progress(groups, tell)
    for there in (target, parts):
        if not resume and there.exists():
            raise BulkError(f"{there} is there: resume it, or remove it")
    if merges and target.exists() and _is_of(target, fingerprint):
        shutil.rmtree(parts, ignore_errors=True)
        progress.kept = groups
        return progress
    parts.mkdir(parents=True, exist_ok=True)
    all_parts = [parts / f"part-{group:06}.parquet" for group in range(groups)]
    missing = [group for group, part in enumerate(all_parts) if not _is_of(part, fingerprint)]
    progress.kept = groups - len(missing)
    tasks = [(str(source), group, str(all_parts[group])) for group in missing]
    workers = workers or os.cpu_count() or 1
    if ray is not None:
        done = _by_ray(tasks, workers, ray)
    elif workers == 1:
        done = (_apply_group(*task) for task in tasks)
    else:
        done = _by_processes(tasks, min(workers, len(tasks)) or 1)
    for counts in done:
        progress.add(*counts)
    if merges:
        draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            with pq.ParquetWriter(draft, schema) as writer:
                for part in all_parts:
                    table = pq.ParquetFile(part).read()
                    writer.write_table(table, row_group_size=max(len(table), 1))
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        shutil.rmtree(parts)
    else:
        # Drafts of workers that were killed.
        for draft in parts.glob(".part-*"):
            draft.unlink(missing_ok=True)
    return progress


def main(arguments: list[str] | None = None) -> int:
    """The command: 0 when all patches are applied or refused, 1 when the run could not end, 130 when it was stopped."""
    parser = argparse.ArgumentParser(
        prog="python -m apply_patch.bulk", description="Applies the patches of a Parquet file to commits of git repositories."
    )
    parser.add_argument("source", metavar="IN.parquet", help="with the columns repo, base and patch")
    parser.add_argument("target", metavar="OUT.parquet", help="gets these, tree, ok, reason and diff; without .parquet a directory of parts")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (as many as there are processors)")
    parser.add_argument("--resume", action="store_true", help="keep the row groups that are done")
    parser.add_argument("--ray", nargs="?", const="local", metavar="ADDRESS", help="let a Ray cluster do it; without an address one here")
    given = parser.parse_args(arguments)
    if given.workers is not None and given.workers < 1:
        parser.error("--workers is a number from 1")
    try:
        progress = apply_parquet(
            given.source,
            given.target,
            workers=given.workers,
            resume=given.resume,
            ray=given.ray,
            tell=lambda line: print(line, file=sys.stderr, flush=True),
        )
    except (BulkError, OSError, pa.ArrowInvalid) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped: go on with --resume", file=sys.stderr)
        return 130
    print(progress, file=sys.stderr)
    return 0


if __name__ == "__main__":
    # Workers import the functions by the name of the module.
    from apply_patch.bulk import main as run

    sys.exit(run())
