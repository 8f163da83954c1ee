"""A run as a data frame in which every column has one type, ready for Parquet, SQL and Arrow; and as a CSV file.

Input rows may mix numbers and texts in one column, objects in the metadata, documents of two kinds, and numbers where texts are
expected. A column whose values are all of one plain type keeps this type. Any other column becomes text, and its values that are
not texts are written as JSON. Lists become lists of texts. So the content of a cell never depends on the file format that is
written later.

Evidence is four columns of lists of equal length per metric, so that ``explode`` makes one row per claim.

The CSV file has the same columns as the data frame. Data is not trusted:
a spreadsheet reads a text that begins with ``=`` as a formula, and runs it. So such a text gets a leading apostrophe, with
which spreadsheets themselves mark texts; numbers are written unchanged.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._kernel._wording import to_json
from .._store._parquet import METADATA
from .._store._records import Record, is_given, json_value
from .._values._errors import MissingExtra
from .._values._findings import Finding, findings_of
from .._values._sample import Sample
from .._values._score import Score
from ._judgements import is_silence
from ._worst_rows import LISTS

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]


SURROGATE = re.compile("[\ud800-\udfff]")
"""A lone surrogate, which no file format can encode."""

EVIDENCE = {
    "claims": "label",
    "parts": "part",
    "verdicts": "verdict",
    "passages": "passages",
    "against": "against",
    "reasons": "reason",
}
"""The columns of evidence, and the field of a finding that each holds."""

LARGEST = 2**63
KINDS: dict[type, str] = {bool: "boolean", int: "Int64", float: "float64"}
"""The pandas type of a column, by the type of its values; each of these types has a missing value."""


def frame_of(records: Sequence[Record], metrics: Sequence[str], *, evidence: bool) -> pd.DataFrame:
    """Return a data frame with one row per record; ``Evaluation.to_pandas`` describes the columns.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError:
        raise MissingExtra('to_pandas() needs pandas: pip install "ragmetrics-core[pandas]"') from None
    columns = columns_of(records, metrics, evidence=evidence)
    series = {name: pd.Series(values, dtype=kind) for name, (values, kind) in columns.items()}
    return pd.DataFrame(series, index=range(len(records)))


def columns_of(records: Sequence[Record], metrics: Sequence[str], *, evidence: bool) -> dict[str, Column]:
    """Return the columns by name, in order. If a name is already taken, the later column gets a number as suffix."""
    columns = _sample_columns([record.sample for record in records])
    for name in metrics:
        columns += _score_columns(name, [record.scores[name] for record in records], evidence=evidence)
    named: dict[str, Column] = {}
    for name, column in columns:
        names = chain([_text(name)], (f"{_text(name)}_{number}" for number in count(2)))
        named[next(each for each in names if each not in named)] = column
    return named


def _sample_columns(samples: Sequence[Sample]) -> list[tuple[str, Column]]:
    """Return the fields that any row has, and a column for each key of the metadata."""
    columns: list[tuple[str, Column]] = []
    for item in fields(Sample):
        values = [getattr(sample, item.name) for sample in samples]
        if item.name != "metadata" and any(map(is_given, values)):
            columns.append((item.name, _lists(values) if item.name in LISTS else _column(values)))
    keys = dict.fromkeys(key for sample in samples for key in sample.metadata)
    return columns + [(f"{METADATA}{key}", _column([sample.metadata.get(key) for sample in samples])) for key in keys]


Column = tuple[list[Any], str]
"""The values of a column, and their pandas type."""


def _score_columns(name: str, scores: Sequence[Score], *, evidence: bool) -> list[tuple[str, Column]]:
    columns: dict[str, Column] = {name: ([score.value for score in scores], "float64")}
    if any(score.passing is not None for score in scores):
        columns[f"{name}_passing"] = [score.passing for score in scores], "boolean"
    if any(score.label is not None and not is_silence(score) for score in scores):
        columns[f"{name}_label"] = _column([score.label for score in scores])
    columns[f"{name}_state"] = _column([score.state for score in scores])
    columns[f"{name}_note"] = _column([score.error or score.reason for score in scores])
    return list((columns | (_evidence_columns(name, scores) if evidence else {})).items())


def _evidence_columns(name: str, scores: Sequence[Score]) -> dict[str, Column]:
    """Return lists of equal length with one item per finding, and the whole score as JSON."""
    found = [findings_of(score.details).items for score in scores]
    columns = {"details": _column([dict(score.details) for score in scores])}
    if any(found):
        columns = {part: _column_of_lists(found, field) for part, field in EVIDENCE.items()} | columns
    return {f"{name}_{part}": column for part, column in columns.items()}


def _column_of_lists(found: Iterable[Sequence[Finding]], field: str) -> Column:
    values = ([getattr(item, field) for item in items] for items in found)
    return [[_text(value) if isinstance(value, str) else list(value) for value in row] for row in values], "object"


def _column(values: Sequence[Any]) -> Column:
    """Return the values unchanged if all are of one plain type, otherwise as texts."""
    plain = [json_value(value) for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if kinds == {int, float}:
        kinds = {float}
    kind = kinds.pop() if len(kinds) == 1 else str
    if kind in KINDS and not (kind is int and any(value is not None and abs(value) >= LARGEST for value in plain)):
        return plain, KINDS[kind]
    return [None if value is None else _as_text(value) for value in plain], "object"


def _lists(values: Iterable[Any]) -> Column:
    """Return lists of texts; a value that is not a list becomes a list with one item."""
    plain = (None if value is None else json_value(value) for value in values)
    several = (value if value is None or isinstance(value, list) else [value] for value in plain)
    return [None if value is None else [_as_text(item) for item in value] for value in several], "object"


def _as_text(value: Any) -> str:
    return _text(value if isinstance(value, str) else to_json(value))


def _text(text: str) -> str:
    return SURROGATE.sub("\ufffd", text)


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The characters with which a formula begins in some common spreadsheet; the last four are the East Asian full-width forms."""


def write_csv(path: str | os.PathLike[str], records: Sequence[Record], metrics: Sequence[str]) -> None:
    """Write the table. Lists are written as JSON, and a cell without a value is empty."""
    columns = columns_of(records, metrics, evidence=False)
    rows = zip(*(values for values, _ in columns.values()), strict=True)
    # from the byte order mark, spreadsheets know that the file is UTF-8
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
    text = text.replace("\x00", "\ufffd")  # CSV readers reject NUL
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
