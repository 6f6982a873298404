"""Applies the patches of a data frame: a function of columns for Polars.

    python with_polars.py IN.parquet OUT.parquet
"""

import sys

import polars as pl

from apply_patch.bulk import apply_columns

OUTCOME = pl.Struct({"tree": pl.String, "ok": pl.Boolean, "reason": pl.String, "diff": pl.String})


def applied(frame):
    """The frame with `tree`, `ok`, `reason` and `diff`."""
    outcome = pl.map_batches(
        ["repo", "base", "patch"],
        lambda columns: pl.Series(apply_columns(*(column.to_arrow() for column in columns)), dtype=OUTCOME),
        return_dtype=OUTCOME,
    )
    return frame.with_columns(outcome.alias("outcome")).unnest("outcome")


def main(source, target):
    applied(pl.read_parquet(source)).write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
