"""A run as a data frame whose every column has one type, so that Parquet, SQL and Arrow take it as it is; and as a CSV file.

Rows come from anywhere: numbers and texts in one column, objects in the metadata, documents of two kinds, rows with a
number where a text should be. A column whose values are all of one plain kind keeps it; any other becomes text, and what is no
text is written as JSON there. Lists are lists of texts. What a cell holds thus never depends on the format that comes after.

Evidence is four columns of lists of equal length per metric, so that ``explode`` makes a row per claim of them.

The columns of the CSV file are those of the data frame, so that a table says the same wherever it is opened. Data is hostile:
a spreadsheet takes a text that begins with ``=`` for a formula, and runs it. So such a text gets an apostrophe before it, which is
how spreadsheets themselves mark a text; numbers are written as they are.
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
from .._store._records import Record, is_given, json_value
from .._values._errors import MissingExtra
from .._values._findings import Finding, findings_of
from .._values._sample import Sample
from .._values._score import Score
from ._judgements import is_silence

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]


METADATA = "metadata."
"""What the names of columns of the metadata begin with."""

LISTS = ("retrieved_contexts", "reference_contexts", "retrieved_documents", "reference_documents")
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, for which no file format has a form."""

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
"""The type of a column by the type of its values; each of them has a missing value."""


def frame_of(records: Sequence[Record], metrics: Sequence[str], *, evidence: bool) -> pd.DataFrame:
    """One row per record; the columns are described by ``Evaluation.to_pandas``.

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
    """The columns by their names, in order; where a name is taken already, the later column gets a number behind it."""
    columns = _sample_columns([record.sample for record in records])
    for name in metrics:
        columns += _score_columns(name, [record.scores[name] for record in records], evidence=evidence)
    named: dict[str, Column] = {}
    for name, column in columns:
        names = chain([_text(name)], (f"{_text(name)}_{number}" for number in count(2)))
        named[next(each for each in names if each not in named)] = column
    return named


def _sample_columns(samples: Sequence[Sample]) -> list[tuple[str, Column]]:
    """The fields that any row has, and a column per key of the metadata."""
    columns: list[tuple[str, Column]] = []
    for item in fields(Sample):
        values = [getattr(sample, item.name) for sample in samples]
        if item.name != "metadata" and any(map(is_given, values)):
            columns.append((item.name, _lists(values) if item.name in LISTS else _column(values)))
    keys = dict.fromkeys(key for sample in samples for key in sample.metadata)
    return columns + [(f"{METADATA}{key}", _column([sample.metadata.get(key) for sample in samples])) for key in keys]


Column = tuple[list[Any], str]
"""The values, and the type that pandas has for them."""


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
    """Lists of equal length, an item per finding, and all that the score holds as JSON."""
    found = [findings_of(score.details).items for score in scores]
    columns = {"details": _column([dict(score.details) for score in scores])}
    if any(found):
        columns = {part: _column_of_lists(found, field) for part, field in EVIDENCE.items()} | columns
    return {f"{name}_{part}": column for part, column in columns.items()}


def _column_of_lists(found: Iterable[Sequence[Finding]], field: str) -> Column:
    values = ([getattr(item, field) for item in items] for items in found)
    return [[_text(value) if isinstance(value, str) else list(value) for value in row] for row in values], "object"


def _column(values: Sequence[Any]) -> Column:
    """The values if all are of one plain kind, else texts."""
    plain = [json_value(value) for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if kinds == {int, float}:
        kinds = {float}
    kind = kinds.pop() if len(kinds) == 1 else str
    if kind in KINDS and not (kind is int and any(value is not None and abs(value) >= LARGEST for value in plain)):
        return plain, KINDS[kind]
    return [None if value is None else _as_text(value) for value in plain], "object"


def _lists(values: Iterable[Any]) -> Column:
    """Lists of texts; what is no list is a list of one."""
    plain = (None if value is None else json_value(value) for value in values)
    several = (value if value is None or isinstance(value, list) else [value] for value in plain)
    return [None if value is None else [_as_text(item) for item in value] for value in several], "object"


def _as_text(value: Any) -> str:
    return _text(value if isinstance(value, str) else to_json(value))


def _text(text: str) -> str:
    return SURROGATE.sub("\ufffd", text)


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
