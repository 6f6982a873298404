"""Patches in bulk: what the columns have, what a run that goes on keeps, and what is refused. `examples/bulk/try.py` kills workers."""

import os
import pathlib
import select
import signal
import subprocess
import sys
import time

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from apply_patch import bulk  # noqa: E402

EDIT = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+{}\n*** End Patch\n"


def git(repo, *args):
    command = ["git", "-C", str(repo), "-c", "user.name=n", "-c", "user.email=e@e", *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repo(root):
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def rows(repo, count=10, **more):
    columns = {"repo": [str(repo)] * count, "base": ["main"] * count, "patch": [EDIT.format(nth) for nth in range(count)]}
    return pa.table({**columns, **{name: [value] * count for name, value in more.items()}})


def test_every_row_has_its_verdict(repo, tmp_path):
    (repo / "a.txt").write_text("ONE\ntwo\nthree\n")
    git(repo, "add", ".")
    tree = git(repo, "write-tree")
    missing, torn = str(tmp_path / "none"), str(tmp_path / "torn")
    git(repo, "clone", "-q", "--bare", "--no-local", str(repo), torn)
    for pack in pathlib.Path(torn, "objects").rglob("pack-*.*"):
        pack.unlink()
    blob = git(repo, "rev-parse", "main:a.txt")
    for kind, name in [("commit", "main"), ("tree", "main^{tree}")]:
        raw = subprocess.run(["git", "-C", str(repo), "cat-file", kind, name], check=True, capture_output=True).stdout
        subprocess.run(["git", "-C", torn, "hash-object", "-w", "-t", kind, "--stdin", "--literally"], input=raw, check=True)
    assert not pathlib.Path(torn, "objects", blob[:2], blob[2:]).exists()
    cases = [
        ((str(repo), "main", EDIT.format("ONE")), (True, None)),
        ((str(repo), "main", EDIT.replace("-one", "-none")), (False, "context_not_found")),
        ((str(repo), "main", "no patch"), (False, "no_patch")),
        ((str(repo), "main", EDIT.replace("a.txt", "b.txt")), (False, "not_found")),
        ((str(repo), "main", EDIT.replace("a.txt", "/a.txt")), (False, "absolute_path")),
        ((str(repo), "other", EDIT), (None, "not_found")),
        ((str(repo), "main..other", EDIT), (None, "invalid_input")),
        ((missing, "main", EDIT), (None, "not_found")),
        ((torn, "main", EDIT), (None, "io")),
        ((None, "main", EDIT), (None, "null")),
        ((str(repo), None, EDIT), (None, "null")),
        ((str(repo), "main", None), (None, "null")),
    ]
    given = [pa.array(column, pa.string()) for column in zip(*[row for row, _ in cases])]
    for columns in [given, [pa.chunked_array([column]) for column in given], [column.to_pylist() for column in given]]:
        found = bulk.apply_columns(*columns).to_pylist()
        assert [(row["ok"], row["reason"]) for row in found] == [wanted for _, wanted in cases]
        assert found[0]["tree"] == tree
        of_git = git(repo, "diff", "--cached", "--no-ext-diff").splitlines()
        assert found[0]["diff"].splitlines() == [line for line in of_git if not line.startswith("index ")]
        assert all(row["tree"] is row["diff"] is None for row in found[1:])
    assert bulk.apply_columns([], [], []).to_pylist() == []


def test_a_run_keeps_what_is_done(repo, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(rows(repo, more="x"), source, row_group_size=3)
    said = []
    done = bulk.apply_parquet(source, target, workers=1, tell=said.append)
    assert (done.done, done.rows, done.refused) == (4, 10, 0) and said
    assert pq.ParquetFile(target).metadata.num_row_groups == 4
    assert pq.read_table(target).select(["repo", "base", "patch", "more"]) == pq.read_table(source)
    assert sorted(file.name for file in tmp_path.glob("*out*")) == ["out.parquet"], "no parts and drafts"
    with pytest.raises(bulk.BulkError, match="is there"):
        bulk.apply_parquet(source, target, workers=1)
    again = bulk.apply_parquet(source, target, workers=1, resume=True)
    assert (again.kept, again.done) == (4, 0)

    # In parts: what is torn or missing is done, and what a killed worker left is removed.
    parts = tmp_path / "parts"
    bulk.apply_parquet(source, parts, workers=1)
    files = sorted(parts.iterdir())
    files[0].write_bytes(files[0].read_bytes()[:-5])
    files[1].write_bytes(b"")
    files[2].unlink()
    (parts / ".part-000002.parquet.x").write_bytes(b"half")
    again = bulk.apply_parquet(source, parts, workers=1, resume=True)
    assert (again.kept, again.done) == (1, 3)
    assert sorted(parts.iterdir()) == files
    assert pa.concat_tables(map(pq.read_table, files)).to_pylist() == pq.read_table(target).to_pylist()

    # The results of another input are not kept.
    pq.write_table(rows(repo, count=9, more="x"), source, row_group_size=3)
    for other in [target, parts]:
        with pytest.raises(bulk.BulkError, match="another input"):
            bulk.apply_parquet(source, other, workers=1, resume=True)
    assert sorted(parts.iterdir()) == files


def test_columns_are_named_and_not_replaced(repo, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    for table, said in [(rows(repo).drop_columns(["base"]), "no column `base`"), (rows(repo, ok=True), "a column `ok`")]:
        pq.write_table(table, source)
        with pytest.raises(bulk.BulkError, match=said):
            bulk.apply_parquet(source, target, workers=1)
        assert list(tmp_path.glob("out*")) == []


def test_the_command(repo, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(rows(repo, count=0), source)

    def run(*arguments):
        command = [sys.executable, "-m", "apply_patch.bulk", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stdout == ""
        return done.returncode, done.stderr

    code, said = run(source, target, "--workers", 1)
    assert code == 0 and "0 patches" in said and pq.read_table(target).num_rows == 0
    assert run(source, target) == (1, f"error: {target} is there: resume it, or remove it\n")
    assert run(tmp_path / "none.parquet", tmp_path / "x.parquet")[0] == 1
    (tmp_path / "text.parquet").write_text("no Parquet\n")
    code, said = run(tmp_path / "text.parquet", tmp_path / "x.parquet")
    assert code == 1 and said.startswith("error: ") and "Traceback" not in said
    assert run(source, target, "--workers", 0)[0] == 2
    pq.write_table(rows(repo), source, row_group_size=2)
    code, said = run(source, tmp_path / "two.parquet", "--workers", 2)
    assert code == 0 and "10 patches, 0 refused" in said
    assert pq.read_table(tmp_path / "two.parquet")["ok"].to_pylist() == [True] * 10


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="there are no descriptors of processes here")
def test_workers_end_with_a_driver_that_is_killed(repo, tmp_path):
    source = tmp_path / "in.parquet"
    pq.write_table(rows(repo, count=20_000), source, row_group_size=100)
    command = [sys.executable, "-m", "apply_patch.bulk", source, tmp_path / "out.parquet", "--workers", "2"]
    driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert "row groups" in driver.stderr.readline(), "the workers are at work"
    children = subprocess.run(["pgrep", "-P", str(driver.pid)], capture_output=True, text=True, check=True).stdout.split()
    assert len(children) >= 2
    workers = [os.pidfd_open(int(child)) for child in children]
    driver.kill()
    driver.wait()
    driver.stderr.close()
    end = time.monotonic() + 2
    # A descriptor can be read once its process has ended.
    left = [worker for worker in workers if not select.select([worker], [], [], max(0, end - time.monotonic()))[0]]
    for worker in left:
        signal.pidfd_send_signal(worker, signal.SIGKILL)
    for worker in workers:
        os.close(worker)
    assert left == [], "workers go on without their driver"
