"""A run as a table for spreadsheets: a row per sample, a column per field and per score, in one CSV file.

Strategy. The columns are those of the data frame, so that a table says the same wherever it is opened. What is judged is hostile:
a spreadsheet takes a text that begins with ``=`` for a formula, and runs it. So such a text gets an apostrophe before it, which is
how spreadsheets themselves mark a text; numbers are written as they are.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._kernel._wording import to_json
from .._store._records import Record
from ._frame import columns_of

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a formula begins with, in one of the spreadsheets that people use; the last four are the wide forms of East Asia."""


def write_csv(path: str | os.PathLike[str], records: Sequence[Record], metrics: Sequence[str]) -> None:
    """Write the table; lists are JSON in their cell, and a cell without a value is empty."""
    columns = columns_of(records, metrics, evidence=False)
    rows = zip(*(values for values, _ in columns.values()), strict=True)
    # the mark at the beginning tells spreadsheets that it is UTF-8
    with Path(path).open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(map(_guarded, columns))
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return to_json(value)
    return _guarded(value) if isinstance(value, str) else value


def _guarded(text: str) -> str:
    text = text.replace("\x00", "\ufffd")  # which no reader of CSV takes
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
