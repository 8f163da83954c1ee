"""DataFrames. Nothing here imports pandas: whoever has a frame has imported it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._kernel._errors import InvalidInput
from ._text import RawRow

CHUNK = 1000
"""Rows that are turned into plain values at a time: a large frame is never copied whole."""


def frame_rows(frame: Any, unit: str) -> Iterator[RawRow]:
    """Every row of a DataFrame, in plain values; missing cells become None.

    Raises:
        InvalidInput: two columns have the same name.
    """
    if not frame.columns.is_unique:
        double = frame.columns[frame.columns.duplicated()][0]
        raise InvalidInput(f"the DataFrame has two columns {double!r}: rename or drop one of them")
    for start in range(0, len(frame), CHUNK):
        part = frame.iloc[start : start + CHUNK].astype(object)
        for number, row in enumerate(part.where(part.notna(), None).to_dict("records"), start + 1):
            yield f"{unit} {number}", row
