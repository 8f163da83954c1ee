"""Reads Parquet files in batches and DataFrames in parts, so that no large table is copied as a whole.

Nothing here imports pandas: a caller who has a DataFrame has already imported it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from .._values._errors import InvalidInput, MissingExtra
from ._input_file import InputFile, OpenFile, RawRow, at_most, first_double

INDEX = re.compile(r"__index_level_\d+__")
"""The columns in which pandas stores the index of a DataFrame; they are not data."""

BATCH = 1000
"""The number of rows converted to plain values at a time."""


def open_parquet(file: InputFile) -> OpenFile:
    """Open a Parquet file whose rows are converted to plain values.

    Raises:
        InvalidInput: the file is not Parquet, two columns have the same name, or (raised while reading) it is damaged.
        MissingExtra: pyarrow is not installed.
    """
    try:
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f'reading {file.name} needs pyarrow: pip install "ragmetrics-core[parquet]"') from None
    try:
        opened: Any = ParquetFile(file.path)
    except (ValueError, OSError) as error:
        raise InvalidInput(f"{file.name} is not a Parquet file that can be read: {error}") from None
    names = list(opened.schema_arrow.names)
    if (double := first_double(names)) is not None:
        raise InvalidInput(f"{file.name}: two columns are named {double!r}: rename one of them")
    columns = [name for name in names if not INDEX.fullmatch(name)]
    rows = _parquet_rows(opened, columns, file.name)
    return OpenFile(file.name, rows, partial(at_most, opened.metadata.num_rows), lambda: "Parquet")


def _parquet_rows(opened: Any, columns: list[str], name: str) -> Iterator[RawRow]:
    number = 0
    try:
        for batch in opened.iter_batches(BATCH, columns=columns):
            for row in batch.to_pylist():
                number += 1
                yield f"{name}, row {number}", row
    except (ValueError, OSError) as error:
        raise InvalidInput(f"{name}, after row {number}: the file is damaged ({error})") from None


def frame_rows(frame: Any, unit: str) -> Iterator[RawRow]:
    """Yield every row of a DataFrame, with plain values; missing cells become None.

    Raises:
        InvalidInput: two columns have the same name.
    """
    if not frame.columns.is_unique:
        double = frame.columns[frame.columns.duplicated()][0]
        raise InvalidInput(f"the DataFrame has two columns {double!r}: rename or drop one of them")
    for start in range(0, len(frame), BATCH):
        part = frame.iloc[start : start + BATCH].astype(object)
        for number, row in enumerate(part.where(part.notna(), None).to_dict("records"), start + 1):
            yield f"{unit} {number}", row
