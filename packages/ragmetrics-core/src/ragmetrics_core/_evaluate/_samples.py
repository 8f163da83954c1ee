"""The rows that ``evaluate`` would score, for those who must know them before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from .._kernel._sample import Sample
from .._read import Columns, FileOptions, open_rows


def read_samples(
    samples: str | os.PathLike[str] | Iterable[Any],
    *,
    limit: int | None = None,
    encoding: str | None = None,
    at: str | None = None,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
) -> list[Sample]:
    """The samples as ``evaluate`` reads them, whose arguments mean the same; nothing is scored.

    Raises:
        InvalidInput: the file, or one of the rows, cannot be read; the message names the row.
        MissingExtra: the package that reads a format is not installed.
    """
    found = []
    for row in open_rows(samples, limit, Columns(columns, separator), FileOptions(encoding, at)).rows:
        if row.problem is not None:
            raise row.problem
        found.append(row.sample)
    return found
