"""Which reader a file needs, as its name or its first line tells."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .._kernel._errors import InvalidInput
from ._count import count_csv, count_lines
from ._csv import csv_rows, separator_of
from ._excel import ExcelFile
from ._format import format_named, format_of
from ._input_file import STDIN, FileOptions, InputFile, copied
from ._json import JsonFile, jsonl_rows
from ._parquet import ParquetRows
from ._text import RawRow, encoding_of

Counting = Callable[[int | None], int | None]
"""Counts rows, up to a limit if one is given; None where they cannot be counted."""

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class OpenFile:
    """A file that is open for reading.

    Attributes:
        name: what messages call it.
        rows: its raw rows.
        count: counts them.
        form: says how it is read, such as "CSV with semicolons, UTF-8".
    """

    name: str
    rows: Iterator[RawRow]
    count: Counting
    form: Callable[[], str]


def open_file(path: Path, options: FileOptions | None) -> OpenFile:
    """The file of that path, or standard input if the path is ``-``.

    Raises:
        InvalidInput: there is no such file, nothing tells its format, or (raised while reading) it is not of that format.
        MissingExtra: the package that reads its format is not installed.
    """
    if str(path) == STDIN:
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise InvalidInput("there is no standard input here, as in a notebook: give the path of a file")
        file = copied(stream, "stdin", options)
    elif not path.exists():
        raise InvalidInput(f"there is no file {str(path)!r} (looked in {Path.cwd()})")
    elif path.is_dir():
        raise InvalidInput(f"{str(path)!r} is a directory: give the path of a file")
    elif not path.is_file() and format_named(path.name) is None:  # such as /dev/fd/63, which a shell makes of <(...)
        with path.open("rb") as pipe:
            file = copied(pipe, path.name, options)
    else:
        file = InputFile.of(path, options)
    known = options or FileOptions()
    opened = _opened(file, format_of(file), known)
    form = opened.form if file.path.is_file() else lambda: "a pipe"  # which cannot be looked at once more
    return replace(opened, rows=_at_least_one(file.name, opened.rows), form=form)


def _opened(file: InputFile, kind: str, options: FileOptions) -> OpenFile:
    name = file.name
    if kind in ("xlsx", "parquet"):
        options.refuse(f"{name}, which is no text file", "encoding")
        if file.zipped:
            raise InvalidInput(f"{name} is gzipped, which only text files may be: unzip it")
    if kind not in ("json", "xlsx"):
        options.refuse(f"{name}, which is neither a workbook nor a .json file", "at")
    if kind == "parquet":
        table = ParquetRows(file)
        return OpenFile(name, table.rows(), table.count, lambda: "Parquet")
    if kind == "xlsx":
        book = ExcelFile(file, options.at)
        return OpenFile(name, book.rows(), book.count, lambda: f"Excel, sheet {book.sheet!r}")
    if kind == "json":
        whole = JsonFile(file, options.at)
        return OpenFile(name, whole.rows(), whole.count, lambda: f"JSON{_found_at(whole)}{_encoded(file)}")
    if kind == "jsonl":
        return OpenFile(name, jsonl_rows(file), partial(count_lines, file), lambda: f"JSON lines{_encoded(file)}")
    tab = "\t" if kind == "tsv" else None

    def form() -> str:
        separator = tab or separator_of(file)
        return f"{kind.upper()} with {SEPARATORS[separator]}{_encoded(file)}"

    return OpenFile(name, csv_rows(file, tab), partial(count_csv, file), form)


def _found_at(file: JsonFile) -> str:
    return f", rows at {file.at}" if file.at else ""


def _encoded(file: InputFile) -> str:
    return f", {encoding_of(file)}{', gzipped' if file.zipped else ''}"


def _at_least_one(name: str, rows: Iterator[RawRow]) -> Iterator[RawRow]:
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise InvalidInput(f"{name} holds no rows")
