"""Which reader a file needs, as its name tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from .._kernel._errors import InvalidInput
from ._count import count_csv, count_lines
from ._csv import csv_rows
from ._frame import parquet_file
from ._json import JsonFile, jsonl_rows
from ._text import RawRow

__all__ = ["Counting", "open_file"]

Counting = Callable[[int | None], int | None]
"""Counts rows, up to a limit if one is given; None where they cannot be counted."""


def open_file(path: Path) -> tuple[Iterator[RawRow], Counting]:
    """The rows of a file, and a function that counts them: .jsonl, .ndjson, .json, .csv or .tsv (.gz may follow), or
    .parquet.

    Raises:
        InvalidInput: there is no such file, its name tells no format, or (raised while reading) it is not of that format.
        MissingExtra: a Parquet file, and pandas or its Parquet engine is not installed.
    """
    if not path.exists():
        raise InvalidInput(f"there is no file {str(path)!r} (looked in {Path.cwd()})")
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} is a directory: give the path of a file")
    rows, count = _opened(path, path.suffix.lower())
    return _at_least_one(path, rows), count


def _opened(path: Path, suffix: str) -> tuple[Iterator[RawRow], Counting]:
    if suffix in (".parquet", ".pq"):
        rows, total = parquet_file(path)
        return rows, lambda most: total if most is None else min(total, most)
    kind = Path(path.stem).suffix.lower() if suffix == ".gz" else suffix
    if kind in (".jsonl", ".ndjson"):
        return jsonl_rows(path), partial(count_lines, path)
    if kind in (".csv", ".tsv"):
        return csv_rows(path), partial(count_csv, path)
    if kind == ".json":
        file = JsonFile(path)
        return file.rows(), file.count
    raise InvalidInput(
        f"the name of {path.name!r} does not tell its format: "
        "let it end in .jsonl, .json, .csv or .tsv (.gz may follow), or in .parquet"
    )


def _at_least_one(path: Path, rows: Iterator[RawRow]) -> Iterator[RawRow]:
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise InvalidInput(f"{path.name} holds no rows")
