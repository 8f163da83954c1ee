"""Labels that people give to rows: read them from a file or from memory, and check them.

A line is ``{"id", "metric", "claim", "label", "annotator", "note", "blind", "weight", "digest"}``; ``id``, ``metric`` and
``label`` are required. The label mode of a report writes such lines, and a table has the same names as columns. ``read_labels``
returns one ``Label`` for each line with a label, and ``check_rows`` checks them against the rows of a run.

Labels are few and expensive, and every number of a calibration rests on them. So no label is dropped or guessed. A line that
cannot be read, an annotator with two different labels for one row or claim, a repeated line, and a label of an unknown row are
errors, whose messages give the place and the cure. Other columns, such as the question, are ignored.

``VERDICTS`` lists the words for right and wrong. The numbers 1 and 0 stay numbers at first: only the scale of the metric and its
other labels show whether 1 is a pass or the lowest grade from 1 to 5. A label that is neither a known word nor a number is
refused, because a guessed label would be worse than none.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from .._read._files import open_file
from .._read._frames import frame_rows
from .._read._json import NoObject
from .._values._errors import InvalidInput
from ._records import json_value

RIGHT = ("true", "t", "yes", "y", "pass", "passed", "right", "correct", "good", "supported", "\u2714", "\u2713")
WRONG = (
    *("false", "f", "no", "n", "fail", "failed", "wrong", "incorrect", "bad", "unsupported", "not supported"),
    *("contradicted", "not stated", "\u2718", "\u2717"),
)
VERDICTS = {**dict.fromkeys(RIGHT, True), **dict.fromkeys(WRONG, False)}
"""Words that are read as a pass or a fail, in lower case. 1 and 0 may be a pass and a fail too."""

MOST_ROWS = 1e12
"""The largest number of rows that a label may represent. Squares and sums of such weights neither overflow nor vanish."""

DIGEST = re.compile(r"\s*([0-9a-f]{32})\s*")

LONGEST = 80
"""The largest number of characters of a value that a message shows."""

Scales = Mapping[str, tuple[float, float] | None]
MOST_NAMED = 4
"""The number of further unknown ids that a message lists; the rest is only counted."""


def quoted(value: object) -> str:
    """Return a value in the form in which messages show it: on one line, escaped and shortened."""
    shown = repr(value)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}\u2026"


def _verdict_or_number(value: Any) -> bool | float | None:
    """Return True or False for a word that means a pass or a fail, otherwise the finite number that the value is or spells; None
    if it is none of these.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and (words := " ".join(value.casefold().split())) in VERDICTS:
        return VERDICTS[words]
    try:
        number = float(value) if isinstance(value, int | float | str) and "_" not in str(value) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _number(value: Any, least: float, most: float = math.inf) -> float | None:
    """Return the number in this range that the value is or spells; None if there is none."""
    number = _verdict_or_number(value)
    return None if number is None or isinstance(number, bool) or not least <= number <= most else number


def _label(value: Any) -> bool | float:
    label = _verdict_or_number(value)
    if label is None:
        raise InvalidInput(
            f"the label {quoted(value)} is neither a pass nor a fail nor a number: write true or false (also yes/no, pass/fail, "
            "right/wrong, correct/incorrect, 1/0) or a grade on the metric's scale, or leave it empty if it has no label yet"
        )
    return label


def _flag(value: Any) -> bool:
    flag = _verdict_or_number(value)
    if flag not in (0, 1):
        raise InvalidInput(f"blind is {quoted(value)}: write true or false, or leave it out")
    return bool(flag)


def _weight(value: Any) -> float:
    weight = _number(value, 1 / MOST_ROWS, MOST_ROWS)
    if weight is None:
        raise InvalidInput(
            f"the weight {quoted(value)} is not a number from {1 / MOST_ROWS:g} to {MOST_ROWS:g}: write how many rows this row "
            "represents, or leave it out"
        )
    return weight


def _digest(value: Any) -> str:
    match = DIGEST.fullmatch(_text("digest", value))
    if match is None:
        raise InvalidInput(
            f"the digest {quoted(value)} was not written by a report or by --suggest (32 letters and digits): copy the line "
            "unchanged, or leave the digest out"
        )
    return match[1]


def _claim(value: Any) -> str | int:
    """Return the text of the claim, or its number, from 1."""
    if isinstance(value, str) and not (value.strip().isascii() and value.strip().isdigit()):
        return value
    number = _number(value, 1)
    if number is None or not number.is_integer():
        raise InvalidInput(f"the claim {quoted(value)} is not a whole number from 1: write its number or its text")
    return int(number)


def _text(name: str, value: Any) -> str:
    """Return a text, or a number as text. Whole numbers that a table has converted to 7.0 become 7."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInput(f"the field {name!r} must be a text, got {quoted(value)}")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


READERS: dict[str, Callable[[Any], Any]] = {
    "claim": _claim,
    "label": _label,
    "blind": _flag,
    "weight": _weight,
    "digest": _digest,
}
"""The functions that parse fields that are not empty; fields that are not listed here are texts."""

COLUMNS = ("id", "metric", "claim", "label", "annotator", "note", "blind", "weight", "digest")
"""The keys of a line, in the order in which they are written."""

GIVEN = "given"
"""The key of the time at which a label was given, in lines that a viewer has saved."""


@dataclass(frozen=True)
class Label:
    """The label that one annotator gives to a row, or to one claim of a row.

    Attributes:
        id: the id of the row, as text.
        metric: the name of the metric whose question was answered.
        label: True for a pass and False for a fail, also for metrics of which low values are good; a float for a grade on the
            metric's scale. For a claim always True or False.
        claim: None for a label of the row; else the claim's text (as the report writes it), or its number from 1 among the claims
            of the metric's evidence.
        annotator: who gave the label; None if unknown.
        note: the annotator's note; None without one.
        blind: whether the annotator had seen neither score nor verdict nor reason; None if unknown.
        weight: how many rows this row represents, above 0, if rows were drawn with unequal probabilities; None: all equally many.
        digest: a digest of what the metric read of the row when it was labelled; None if unknown, as in a line written by hand.
        place: the place of the line, such as ``labels.jsonl, line 7``.
    """

    id: str
    metric: str
    label: bool | float
    claim: str | int | None = None
    annotator: str | None = None
    note: str | None = None
    blind: bool | None = None
    weight: float | None = None
    digest: str | None = field(default=None, compare=False)
    place: str = field(default="", compare=False)


def read_labels(
    source: str | os.PathLike[str] | Iterable[Any], metric: str | None = None, scales: Scales | None = None
) -> list[Label]:
    """Read the labels in a file or in memory, in order.

    Lines with an empty or null label are rows to be labelled; they are left out. The numbers 1 and 0 are a pass and a fail,
    unless the scale of the metric, or another number among its labels, shows that the numbers are grades.

    Args:
        source: the path of a file (JSONL, CSV, TSV, JSON, Excel or Parquet), mappings with the keys of a line, a DataFrame, or
            ``Label``s.
        metric: the metric of lines that name none.
        scales: the metrics of the run with their scales, if known: other metrics and grades off the scale are refused, and 1 and
            0 are grades if the scale is not 0 to 1.

    Raises:
        InvalidInput: a line cannot be read, no line has a label, passes and grades are mixed, or an annotator has labelled one
            thing twice; the message names file, line and field.
        MissingExtra: the package that reads such a file is not installed.
    """
    labels = [
        item for place, value in latest(_lines(source)) if (item := _line(place, value, metric, scales)) is not None
    ]
    if not labels:
        name = f"{Path(source).name}: " if isinstance(source, str | os.PathLike) else ""
        raise InvalidInput(f"{name}no line has a label: fill in the column 'label'")
    grades: dict[str, Label] = {}
    for item in labels:
        two_valued = (scales or {}).get(item.metric) in (None, (0, 1)) and item.label in (0, 1)
        if item.claim is None and not isinstance(item.label, bool) and not two_valued:
            grades.setdefault(item.metric, item)
    labels = [_with_kind(item, scales, grades.get(item.metric)) for item in labels]
    _check_once(labels)
    return labels


def check_rows(labels: Iterable[Label], ids: Iterable[Any]) -> None:
    """Check labels against the rows of a run.

    Args:
        labels: the labels.
        ids: the id of every row, None for a row without one.

    Raises:
        InvalidInput: a label is about a row that does not exist, or about an id that several rows share.
    """
    counts = Counter(str(item) for item in ids if item is not None)
    if unknown := {item.id: item.place for item in labels if item.id not in counts}:
        first, *others = map(quoted, unknown)
        listed = ", ".join([*others[:MOST_NAMED], "..."] if len(others) > MOST_NAMED else others)
        more = f" ({len(others)} more ids are unknown: {listed})" if others else ""
        cure = (
            "use the ids of its rows"
            if counts
            else "none of its rows has an id, and only rows with ids can have labels"
        )
        place = next(iter(unknown.values()))
        raise InvalidInput(f"{place}: no row of this run has the id {first}{more}: {cure}")
    for item in labels:
        if counts[item.id] > 1:
            raise InvalidInput(
                f"{item.place}: {counts[item.id]} rows of this run have the id {quoted(item.id)}, so it is not clear which of "
                "them is meant: give every row a different id"
            )


def latest(lines: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    """Return the lines in force, with their places: of the lines that a viewer has saved for one annotator and one thing, the
    last; and all others.
    """
    kept: dict[Any, tuple[str, Any]] = {}
    for number, (place, value) in enumerate(lines):
        saved = isinstance(value, Mapping) and bool(value.get(GIVEN))
        key: Any = number
        if saved:
            key = tuple(_as_compared(name, value.get(name)) for name in ("annotator", "id", "metric", "claim"))
        kept.pop(key, None)
        kept[key] = place, value
    return kept.values()


def _as_compared(name: str, value: Any) -> str:
    """Return the value of a field for comparison, without the blanks that a ``Label`` does not keep."""
    text = "" if value is None else str(value)
    return text.strip() if name == "annotator" or not text.strip() else text


def _lines(source: Any) -> Iterator[tuple[str, Any]]:
    """Return every line with its place."""
    if isinstance(source, str | os.PathLike):
        return open_file(Path(source), None).rows
    if hasattr(source, "iloc"):
        return frame_rows(source, "label")
    if isinstance(source, Mapping | Label) or not isinstance(source, Iterable):
        raise InvalidInput(f"labels must be a path, lines of labels or a DataFrame, got {type(source).__name__}")
    return ((f"label {number}", item) for number, item in enumerate(source, 1))


def _line(place: str, value: Any, metric: str | None, scales: Scales | None) -> Label | None:
    """Return the label in a line; None if the line has no label yet."""
    if isinstance(value, Label):
        place, value = value.place or place, asdict(value)
    try:
        fields = _fields(value)
        if not str(fields["id"] or "").strip():
            raise InvalidInput("the field 'id' is empty: write the id of the row that the label is about")
        if fields.get("metric") is None and metric is None:
            raise InvalidInput(
                "the field 'metric' is missing: name the metric that the label is about, in this line, or for all lines with "
                "the argument metric (--metric on the command line)"
            )
        texts = {name: _text(name, item) for name, item in fields.items() if name not in READERS and item is not None}
        if fields["label"] is None:
            return None
        others = {name: READERS[name](item) for name, item in fields.items() if name in READERS and item is not None}
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error}") from None
    label = Label(**{"metric": metric, **texts, **others, "place": place})
    name = label.metric if label.metric in (scales or ()) else label.metric.strip()
    return replace(label, metric=name, annotator=label.annotator and label.annotator.strip())


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a line by column name; None for blank texts and for NaN, which pandas uses for missing cells."""
    if isinstance(value, InvalidInput) and not isinstance(value, NoObject):
        raise value
    if not isinstance(value, Mapping):
        kind = value.kind if isinstance(value, NoObject) else type(value).__name__
        example = '{"id": "q1", "metric": "faithfulness", "label": true}'
        raise InvalidInput(f"a line of labels must be an object such as {example}, got {kind}")
    fields: dict[str, Any] = {}
    for key, item in value.items():
        name = str(key).strip().casefold()
        if name in fields:
            raise InvalidInput(f"the line has the field {name!r} twice: keep one of them")
        if name in COLUMNS:
            plain = item if isinstance(item, float) else json_value(item)
            is_blank = math.isnan(plain) if isinstance(plain, float) else isinstance(plain, str) and not plain.strip()
            fields[name] = None if is_blank else plain
    for name in ("id", "label"):
        if name not in fields:
            has = ", ".join(map(quoted, fields)) or "none of the columns of labels"
            raise InvalidInput(f"the field {name!r} is missing: a line needs id, metric and label; this one has {has}")
    return fields


def _with_kind(item: Label, scales: Scales | None, grade: Label | None) -> Label:
    """Return the label with 1 and 0 converted to a pass and a fail, unless ``grade`` shows that the labels of the metric are
    grades.

    Raises:
        InvalidInput: the run has no such metric, or the metric cannot have such a label.
    """
    problem = ""
    scale = (scales or {}).get(item.metric)
    if scales is not None and item.metric not in scales:
        problem = f"the run has no metric {quoted(item.metric)}; it has {', '.join(map(quoted, scales))}"
    elif item.claim is not None and item.label not in (0, 1):
        problem = f"a claim is right or wrong, got the label {item.label:g}: write true or false"
    elif item.claim is not None or grade is None:
        return replace(item, label=bool(item.label))
    elif isinstance(item.label, bool):
        problem = (
            f"a pass or a fail of {quoted(item.metric)}, which has the grade {grade.label:g} in {grade.place}: label all rows of "
            "a metric in the same way"
        )
    elif scale is not None and not scale[0] <= item.label <= scale[1]:
        verdict = ": write true or false for a pass or a fail" if item.label in (0, 1) else ""
        name = quoted(item.metric)
        problem = f"the label {item.label:g} is not on the scale of {name}, {scale[0]:g} to {scale[1]:g}{verdict}"
    if problem:
        raise InvalidInput(f"{item.place}: {problem}")
    return item


def _check_once(labels: Iterable[Label]) -> None:
    """Check that each annotator has labelled each row or claim only once; two equal labels are refused too."""
    seen: dict[tuple[str | None, str, str, str | int | None], Label] = {}
    for item in labels:
        first = seen.setdefault((item.annotator, item.id, item.metric, item.claim), item)
        if first is not item:
            what = f"the {'row' if item.claim is None else 'claim'}, for {quoted(item.metric)} of {quoted(item.id)}"
            who = quoted(item.annotator) if item.annotator else "someone without a name"
            cure = "" if item.annotator else ", or name the annotators if they are two"
            same = "twice" if first.label == item.label else f"twice, and differently ({first.label} and {item.label})"
            raise InvalidInput(
                f"{item.place}: {who} labelled {what}, {same}, here and in {first.place}: keep one of the lines{cure}"
            )
