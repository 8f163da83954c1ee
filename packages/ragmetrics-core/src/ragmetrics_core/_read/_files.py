"""Chooses the reader of a file by its name, or else by its first bytes.

JSON, workbooks and Parquet files are recognised without doubt. Any other file is a table if there is a separator in its first
line. If there is none, the format is unknown.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from .._values._errors import InvalidInput, MissingExtra
from ._csv import csv_rows, separator_hint, separator_of
from ._excel import excel_rows, open_sheet
from ._frames import open_parquet
from ._input_file import STDIN, FileOptions, InputFile, OpenFile, RawRow, copy_stream, encoding_of, lines_of
from ._json import find_rows, json_rows, jsonl_lines, jsonl_rows, load_json, wraps_rows

SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".parquet": "parquet",
    ".pq": "parquet",
}

SPREADSHEETS = (".xls", ".xlsb", ".ods", ".numbers")
"""Formats that cannot be read. Every program that opens them can save them in a format that can be read."""

MAGIC = {b"PK\x03\x04": "xlsx", b"PAR1": "parquet"}


def format_named(name: str) -> str | None:
    """Return the format that the suffix of a file name shows; None if the suffix is unknown.

    Raises:
        InvalidInput: the suffix belongs to a format that cannot be read.
    """
    path = Path(name)
    suffix = (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()
    if suffix in SPREADSHEETS:
        raise InvalidInput(f"{name} has a format that cannot be read: save it as .xlsx or as .csv in UTF-8")
    return SUFFIXES.get(suffix)


def _sniff_format(file: InputFile) -> str:
    if not file.zipped:  # only text files may be gzipped
        with file.open() as handle:
            start = handle.read(4)
        if start in MAGIC:
            return MAGIC[start]
    lines = list(islice((line for _, line in lines_of(file) if line.strip()), 2))
    if not lines:
        return "jsonl"  # an empty file has no rows in any format
    begin = lines[0].lstrip()[:1]
    if begin not in "{[":
        if not separator_hint(lines[0]) and SEPARATORS.keys().isdisjoint(lines[0]):
            raise InvalidInput(
                f"neither the name nor the first line of {file.name!r} shows its format: "
                "let the name end in .jsonl, .json, .csv or .tsv (.gz may follow), in .xlsx or in .parquet"
            )
        return "csv"
    if begin == "[":
        return "json"
    value: object = None
    with suppress(ValueError, RecursionError):  # an object over several lines, or not JSON, which its reader reports
        value = json.loads(lines[0])
    one_of_many = isinstance(value, dict) and (len(lines) > 1 or not wraps_rows(value))
    return "jsonl" if one_of_many else "json"


SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def input_file(path: Path, options: FileOptions | None = None) -> InputFile:
    """Return the file of that path; standard input, if the path is ``-``, and a pipe are copied to a temporary file.

    Raises:
        InvalidInput: there is no such file.
    """
    if str(path) == STDIN:
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise InvalidInput("there is no standard input here, as in a notebook: give the path of a file")
        return copy_stream(stream, "stdin", options)
    if not path.exists():
        raise InvalidInput(f"there is no file {str(path)!r} (looked in {Path.cwd()})")
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} is a directory: give the path of a file")
    if not path.is_file() and format_named(path.name) is None:  # such as /dev/fd/63, which a shell creates for <(...)
        with path.open("rb") as pipe:
            return copy_stream(pipe, path.name, options)
    return InputFile.of(path, options)


def open_file(path: Path, options: FileOptions | None) -> OpenFile:
    """Open the file of that path, or standard input if the path is ``-``.

    Raises:
        InvalidInput: there is no such file, its format is unknown, or (raised while reading) it does not have this format.
        MissingExtra: the package that reads its format is not installed.
    """
    file = input_file(path, options)
    file_options = options or FileOptions()
    opened = _open_as(file, format_named(file.name) or _sniff_format(file), file_options)
    form = opened.form if file.path.is_file() else lambda: "a pipe"  # a pipe cannot be read a second time
    return replace(opened, rows=_at_least_one(file.name, opened.rows), form=form)


def _open_as(file: InputFile, kind: str, options: FileOptions) -> OpenFile:
    name = file.name
    if kind in ("xlsx", "parquet"):
        options.refuse(f"{name}, which is not a text file", "encoding")
        if file.zipped:
            raise InvalidInput(f"{name} is gzipped, but only text files may be gzipped: unzip it")
    if kind not in ("json", "xlsx"):
        options.refuse(f"{name}, which is neither a workbook nor a .json file", "at")
    if kind == "parquet":
        return open_parquet(file)
    rows: Callable[[], Iterator[RawRow]]
    if kind == "xlsx":
        rows, form = partial(excel_rows, file, options.at), lambda: f"Excel, sheet {_sheet_name(file, options)!r}"
    elif kind == "json":
        find = cache(lambda: find_rows(load_json(file), options.at, name))  # the file is read once, when it is needed
        rows, form = partial(json_rows, find, name), lambda: _json_form(file, find()[0])
    elif kind == "jsonl":
        rows, form = partial(jsonl_rows, file), lambda: f"JSON lines{_encoding_text(file)}"
    else:
        tab = "\t" if kind == "tsv" else None
        rows = partial(csv_rows, file, tab)
        form = partial(_table_form, file, kind, tab)
    counted = partial(jsonl_lines, file) if kind == "jsonl" else rows  # lines are counted without being parsed
    return OpenFile(name, rows(), partial(_count, file, counted), form)


def _json_form(file: InputFile, at: str) -> str:
    return f"JSON{', rows at ' if at else ''}{at}{_encoding_text(file)}"


def _table_form(file: InputFile, kind: str, tab: str | None) -> str:
    return f"{kind.upper()} with {SEPARATORS[tab or separator_of(file)]}{_encoding_text(file)}"


def _sheet_name(file: InputFile, options: FileOptions) -> str:
    with open_sheet(file, options.at) as sheet:
        return str(sheet.title)


def _count(file: InputFile, rows: Callable[[], Iterator[Any]], most: int | None) -> int | None:
    """Count rows, at most up to a number. None if the file cannot be read; the error is reported when the rows are read."""
    if not file.path.is_file():  # a pipe can be read only once
        return None
    try:
        return sum(1 for _ in islice(rows(), most))
    except (InvalidInput, MissingExtra):
        return None


def _encoding_text(file: InputFile) -> str:
    return f", {encoding_of(file)}{', gzipped' if file.zipped else ''}"


def _at_least_one(name: str, rows: Iterator[RawRow]) -> Iterator[RawRow]:
    first = next(rows, None)
    if first is None:
        raise InvalidInput(f"{name} holds no rows")
    yield first
    yield from rows
