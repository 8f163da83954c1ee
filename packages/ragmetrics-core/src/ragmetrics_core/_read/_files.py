"""Which reader a file needs: its name tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from .._errors import InvalidInput
from ._csv import csv_records
from ._frame import parquet_records
from ._json import json_records, jsonl_records
from ._text import Record

__all__ = ["open_file"]

TEXT_READERS: dict[str, Callable[[Path], Iterator[Record]]] = {
    ".jsonl": jsonl_records,
    ".ndjson": jsonl_records,
    ".json": json_records,
    ".csv": csv_records,
    ".tsv": csv_records,
}


def open_file(path: Path) -> Iterator[Record]:
    """The records of a file: .jsonl, .ndjson, .json, .csv or .tsv (.gz may follow), or .parquet.

    Raises:
        InvalidInput: there is no such file, its name tells no format, or (said while reading) it is not of that format.
        MissingExtra: a Parquet file, and pandas or its Parquet engine is not installed.
    """
    if not path.exists():
        raise InvalidInput(f"there is no file {str(path)!r} (looked in {Path.cwd()})")
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} is a directory: give the path of a file")
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        return _at_least_one(path, parquet_records(path))
    reader = TEXT_READERS.get(Path(path.stem).suffix.lower() if suffix == ".gz" else suffix)
    if reader is None:
        raise InvalidInput(
            f"the name of {path.name!r} does not tell its format: "
            "let it end in .jsonl, .json, .csv or .tsv (.gz may follow), or in .parquet"
        )
    return _at_least_one(path, reader(path))


def _at_least_one(path: Path, records: Iterator[Record]) -> Iterator[Record]:
    empty = True
    for record in records:
        empty = False
        yield record
    if empty:
        raise InvalidInput(f"{path.name} holds no rows")
