"""Parquet files, read a batch at a time, and DataFrames, a part at a time, so that no large table is copied whole.

Nothing here imports pandas: a caller who has a frame has imported it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .._values._errors import InvalidInput, MissingExtra
from ._input_file import InputFile, RawRow, at_most, first_double

INDEX = re.compile(r"__index_level_\d+__")
"""Columns in which pandas keeps the index of a frame: they are no columns of it."""

BATCH = 1000


class ParquetRows:
    """A Parquet file.

    Args:
        file: the file.

    Raises:
        InvalidInput: the file is not Parquet, or two columns have the same name.
        MissingExtra: pyarrow is not installed.
    """

    def __init__(self, file: InputFile) -> None:
        self._name = file.name
        try:
            from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]  # noqa: PLC0415
        except ImportError:
            raise MissingExtra(f'reading {file.name} needs pyarrow: pip install "ragmetrics-core[parquet]"') from None
        try:
            self._file: Any = ParquetFile(file.path)
        except (ValueError, OSError) as error:
            raise InvalidInput(f"{file.name} is not a Parquet file that can be read: {error}") from None
        names = list(self._file.schema_arrow.names)
        double = first_double(names)
        if double is not None:
            raise InvalidInput(f"{file.name}: two columns are named {double!r}: rename one of them")
        self._columns = [name for name in names if not INDEX.fullmatch(name)]

    def rows(self) -> Iterator[RawRow]:
        """Every row, in plain values."""
        number = 0
        try:
            for batch in self._file.iter_batches(BATCH, columns=self._columns):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{self._name}, row {number}", row
        except (ValueError, OSError) as error:
            raise InvalidInput(f"{self._name}, after row {number}: the file is damaged ({error})") from None

    def count(self, most: int | None) -> int | None:
        """The number of rows, or ``most``."""
        return at_most(self._file.metadata.num_rows, most)


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
