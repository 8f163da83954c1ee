"""Which format a file has: its name says so, else its first bytes do.

JSON, workbooks and Parquet files cannot be taken for anything else. What is none of them is a table if a separator stands in its
first line; if not, nothing tells what it is.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from .._kernel._errors import InvalidInput
from ._csv import separator_told
from ._input_file import InputFile
from ._lists import wraps_rows
from ._text import lines_of

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

SPREADSHEETS = {
    ".xls": "a workbook of Excel 97 to 2003",
    ".xlsb": "a binary workbook of Excel",
    ".ods": "a spreadsheet of OpenDocument",
    ".numbers": "a spreadsheet of Numbers",
}
"""What cannot be read, though every program that opens it can save it as something that can."""

SEPARATORS = frozenset(",;\t|")
MAGIC = {b"PK\x03\x04": "xlsx", b"PAR1": "parquet"}


def format_of(file: InputFile) -> str:
    """One of jsonl, json, csv, tsv, xlsx, parquet.

    Raises:
        InvalidInput: nothing tells it.
    """
    return format_named(file.name) or _sniffed(file)


def format_named(name: str) -> str | None:
    """The format that the name of a file tells, if it does.

    Raises:
        InvalidInput: it tells one that is not read.
    """
    path = Path(name)
    suffix = (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()
    if suffix in SPREADSHEETS:
        raise InvalidInput(
            f"{name} is {SPREADSHEETS[suffix]}, which is not read: save it as .xlsx, or as .csv in UTF-8"
        )
    return SUFFIXES.get(suffix)


def _sniffed(file: InputFile) -> str:
    if not file.zipped:  # only text is
        with file.open() as handle:
            start = handle.read(4)
        if start in MAGIC:
            return MAGIC[start]
    lines = list(islice((line for _, line in lines_of(file) if line.strip()), 2))
    if not lines:
        return "jsonl"  # without rows, like any empty file
    begin = lines[0].lstrip()[:1]
    if begin not in "{[":
        if not separator_told(lines[0]) and SEPARATORS.isdisjoint(lines[0]):
            raise InvalidInput(
                f"the name of {file.name!r} does not tell its format, nor does its first line: "
                "let it end in .jsonl, .json, .csv or .tsv (.gz may follow), in .xlsx or in .parquet"
            )
        return "csv"
    if begin == "[":
        return "json"
    value = _json(lines[0])
    one_of_many = isinstance(value, dict) and (len(lines) > 1 or not wraps_rows(value))
    return "jsonl" if one_of_many else "json"


def _json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):  # an object over several lines, or none; its reader tells
        return None
