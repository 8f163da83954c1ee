"""DataFrames, and Parquet files through them. Nothing here imports pandas before a Parquet file needs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._kernel._errors import InvalidInput, MissingExtra
from ._text import RawRow

__all__ = ["frame_rows", "parquet_file"]

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


def parquet_file(path: Path) -> tuple[Iterator[RawRow], int]:
    """The rows of a Parquet file, and how many there are.

    Raises:
        InvalidInput: the file is not Parquet.
        MissingExtra: pandas or its Parquet engine is not installed.
    """
    try:
        import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415

        frame = pd.read_parquet(path)
    except ImportError:
        raise MissingExtra(
            f'reading {path.name} needs pandas and pyarrow: pip install "ragmetrics-core[pandas]" pyarrow'
        ) from None
    except ValueError as error:
        raise InvalidInput(f"{path.name} is not a Parquet file that can be read: {error}") from None
    return frame_rows(frame, f"{path.name}, row"), len(frame)
