"""Applies the patches of a query: a function of columns for DuckDB.

    python with_duckdb.py IN.parquet OUT.parquet

Needs numpy too: DuckDB hands columns to functions of Python with it.
"""

import sys

import duckdb

from apply_patch.bulk import apply_columns


def connect():
    """A connection that has `apply_patch(repo, base, patch)`."""
    connection = duckdb.connect()
    outcome = duckdb.struct_type({"tree": "VARCHAR", "ok": "BOOLEAN", "reason": "VARCHAR", "diff": "VARCHAR"})
    connection.create_function(
        "apply_patch", apply_columns, ["VARCHAR"] * 3, outcome, type="arrow", null_handling="special"
    )
    return connection


def main(source, target):
    rows = "SELECT *, unnest(apply_patch(repo, base, patch)) FROM read_parquet($source)"
    connect().sql(rows, params={"source": source}).write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
