"""What people say of rows: lines of labels, read from a file or from memory.

A line is ``{"id", "metric", "claim", "label", "annotator", "note", "blind", "weight", "digest"}``, of which ``id``, ``metric`` and
``label`` are needed; the label mode of a report writes such lines, and a table has them as columns. ``read_labels`` gives one
``Label`` for each line that has a label already, and ``check_rows`` holds them against the rows of a run.

Strategy. Labels are few and dear, and every number of a calibration stands on them. So nothing is dropped and nothing is decided
for people: a line that cannot be read, an annotator who contradicts themself, a line that stands twice, a label of a row that is
not there, each ends the reading with a message that says where it is and what to do. Other columns, such as the question, may
stand beside and are not read.

The fields of a line of labels, each in the words in which people and programs write it.

Strategy. One table holds the words for right and wrong. A number is left a number here, 1 and 0 too: whether 1 is a pass or the
lowest grade of a scale from 1 to 5, only the other labels of the metric and its scale can tell. Whatever is in neither form is
refused with the forms that are read, for a label that is guessed would be worse than none.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
"""What is read as a pass and as a fail, in small letters; 1 and 0 are too."""

FORMS = "true or false (also yes/no, pass/fail, right/wrong, correct/incorrect, 1/0)"
MOST_ROWS = 1e12
"""That a label may stand for: squares and sums of such weights neither overflow nor vanish."""

DIGEST = re.compile("[0-9a-f]{32}")

LONGEST = 80
"""Characters of a value that a message shows."""


def quoted(value: object) -> str:
    """The value as messages show it: on one line, escaped and cut."""
    shown = repr(value)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}\u2026"


def label_of(value: Any) -> bool | float:
    """True or False where words say so, else the number.

    Raises:
        InvalidInput: it is neither, or not finite.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        said = VERDICTS.get(" ".join(value.casefold().split()))
        if said is not None:
            return said
    number = _number(value)
    if number is None:
        raise InvalidInput(
            f"the label {quoted(value)} is neither a pass nor a fail nor a number: write {FORMS}, or a grade on the metric's "
            "scale; leave it empty where there is no label yet"
        )
    return number


def flag_of(value: Any) -> bool | None:
    """Whether a label was given blind; None where nothing is said."""
    if value is None:
        return None
    said = value if isinstance(value, bool) else VERDICTS.get(str(value).strip().casefold(), _number(value))
    if said not in (0, 1):
        raise InvalidInput(f"blind is {quoted(value)}: write true or false, or leave it out")
    return bool(said)


def weight_of(value: Any) -> float | None:
    """How many rows a label stands for; None where nothing is said."""
    number = _number(value)
    if value is not None and (number is None or not 1 / MOST_ROWS <= number <= MOST_ROWS):
        raise InvalidInput(
            f"the weight {quoted(value)} is no number from {1 / MOST_ROWS:g} to {MOST_ROWS:g}: write how many rows the row "
            "stands for, or leave it out"
        )
    return number


def digest_in(value: Any) -> str | None:
    """The digest of the row that was labelled; None where nothing is said."""
    found = text_of("digest", value)
    if found is None or DIGEST.fullmatch(found.strip()):
        return found and found.strip()
    raise InvalidInput(
        f"the digest {quoted(value)} is not one that a report or --suggest writes (32 letters and digits): copy the line as it was "
        "written, or leave the digest out"
    )


def id_of(value: Any) -> str:
    """The id of a row as text; whole numbers that a table has turned into 7.0 are 7."""
    found = text_of("id", value)
    if found is None or not found.strip():
        raise InvalidInput("the field 'id' is empty: write the id of the row that the label is about")
    return found


def claim_of(value: Any) -> str | int | None:
    """The claim, by its text or by its number from 1; None for a label of the whole row."""
    if isinstance(value, str) and not (value.strip().isascii() and value.strip().isdigit()):
        return value
    number = _number(value)
    if value is not None and (number is None or number != int(number) or number < 1):
        raise InvalidInput(f"the claim {quoted(value)} is no number from 1: write the claim's number, or its text")
    return None if number is None else int(number)


def text_of(name: str, value: Any) -> str | None:
    """A text, or a number as text; None where there is none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"the field {name!r} must be a text, got {quoted(value)}")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(value: Any) -> float | None:
    """The finite number that a value is, or says; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and "_" not in str(value) else None


COLUMNS = ("id", "metric", "claim", "label", "annotator", "note", "blind", "weight", "digest")
"""The keys of a line, in their order."""

Scales = Mapping[str, tuple[float, float] | None]
MOST_NAMED = 5
"""Unknown ids that a message names; the rest is counted."""


@dataclass(frozen=True)
class Label:
    """What one person says of a row, or of one claim of it.

    Attributes:
        id: of the row, as text.
        metric: the name of the metric whose question was answered.
        label: True or False for a pass or a fail, True being the good end also where low scores are good; a float for a grade on
            the metric's scale. Of a claim always True or False.
        claim: None for a label of the row; else the claim's text (as the report writes it), or its number from 1 among the claims
            of the metric's evidence.
        annotator: who said it; None where that is not known.
        note: what they wrote about it; None where nothing.
        blind: whether they had seen neither score nor verdict nor reason; None where that is not known.
        weight: how many rows this one stands for, above 0, where rows were drawn with unequal chances; None: all alike.
        digest: of what the metric read of the row when it was labelled; None where that is not known, as in a line written by hand.
        place: where it stands, such as ``labels.jsonl, line 7``.
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
    """The labels in a file, or in memory, in their order.

    Lines whose label is empty or null are rows to be labelled: they are left out. The numbers 1 and 0 are a pass and a fail, unless
    another number among the labels of the metric's rows, or its scale, shows that the numbers are grades.

    Args:
        source: the path of a file (JSONL, CSV, TSV, JSON, Excel or Parquet), mappings with the keys of a line, a DataFrame, or
            ``Label``s.
        metric: the metric of those lines that name none.
        scales: the metrics of the run with their scales, where they are known: other metrics and grades off the scale are refused,
            and 1 and 0 are grades where the scale is not 0 to 1.

    Raises:
        InvalidInput: a line cannot be read, nothing has a label, passes and grades are mixed, or an annotator has said two
            things, or one thing twice; the message names file, line and field.
        MissingExtra: the package that reads such a file is not installed.
    """
    labels = [item for place, value in _lines(source) if (item := _line(place, value, metric, scales)) is not None]
    if not labels:
        name = f"{Path(source).name}: " if isinstance(source, str | os.PathLike) else ""
        raise InvalidInput(f"{name}no line has a label: fill the column 'label' in")
    grades: dict[str, Label] = {}
    for item in labels:
        if item.claim is None and not isinstance(item.label, bool):
            two_valued = (scales or {}).get(item.metric) in (None, (0, 1))
            if not two_valued or item.label not in (0, 1):
                grades.setdefault(item.metric, item)
    labels = [_of_kind(item, grades.get(item.metric)) for item in labels]
    _check_once(labels)
    return labels


def check_rows(labels: Iterable[Label], ids: Iterable[Any]) -> None:
    """Hold labels against the rows of a run.

    Args:
        labels: the labels.
        ids: the id of every row, None where it has none.

    Raises:
        InvalidInput: a label is of a row that is not there, or of an id that several rows share.
    """
    counts = Counter(str(item) for item in ids if item is not None)
    unknown = {item.id: item for item in labels if item.id not in counts}
    if unknown:
        first, *others = unknown.values()
        named = ", ".join(quoted(item.id) for item in others[: MOST_NAMED - 1]) + ", ..." * (len(others) >= MOST_NAMED)
        rest = f" ({len(others)} more ids are unknown: {named})" if others else ""
        known = "the ids of its rows" if counts else "rows with ids, of which it has none"
        raise InvalidInput(
            f"{first.place}: no row of this run has the id {quoted(first.id)}{rest}: labels need {known}"
        )
    for item in labels:
        if counts[item.id] > 1:
            raise InvalidInput(
                f"{item.place}: {counts[item.id]} rows of this run have the id {quoted(item.id)}, so it is not clear which of them "
                "is meant: give every row an id of its own"
            )


def _lines(source: Any) -> Iterator[tuple[str, Any]]:
    """Every line with its place."""
    if isinstance(source, str | os.PathLike):
        return open_file(Path(source), None).rows
    if hasattr(source, "iloc"):
        return frame_rows(source, "label")
    if isinstance(source, Mapping | Label) or not isinstance(source, Iterable):
        raise InvalidInput(
            f"labels must be the path of a file, several lines of labels or a DataFrame, got {type(source).__name__}"
        )
    return ((f"label {number}", item) for number, item in enumerate(source, 1))


def _line(place: str, value: Any, metric: str | None, scales: Scales | None) -> Label | None:
    """The label in a line; None where it has none yet."""
    try:
        label = _label(place, _fields(value), metric)
        if label is None:
            return None
        if label.metric not in (scales or ()):  # blanks around a name that the run has not got are those of a file
            label = replace(label, metric=label.metric.strip())
        if scales is not None:
            _check_scale(label, scales)
    except InvalidInput as error:
        raise InvalidInput(f"{getattr(value, 'place', '') or place}: {error}") from None
    return label


def _fields(value: Any) -> Mapping[str, Any]:
    """What a line holds, by the names of the columns; texts that are blank are None."""
    if isinstance(value, Label):
        return asdict(value)
    if not isinstance(value, Mapping):
        if isinstance(value, InvalidInput) and not isinstance(value, NoObject):
            raise value
        kind = value.kind if isinstance(value, NoObject) else type(value).__name__
        example = '{"id": "q1", "metric": "faithfulness", "label": true}'
        raise InvalidInput(f"a line of labels must be an object such as {example}, got {kind}")
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = str(key).strip().casefold()
        if name in found:
            raise InvalidInput(f"the field {name!r} stands twice: keep one of them")
        if name in COLUMNS:
            found[name] = _cell(item)
    return found


def _cell(item: Any) -> Any:
    """A plain value; None for blank texts, and for NaN, which pandas has for missing cells."""
    if isinstance(item, float):
        return None if math.isnan(item) else float(item)
    plain = json_value(item)
    return None if isinstance(plain, str) and not plain.strip() else plain


def _label(place: str, found: Mapping[str, Any], metric: str | None) -> Label | None:
    for name in ("id", "label"):
        if name not in found:
            has = ", ".join(map(quoted, found)) or "none of the columns of labels"
            raise InvalidInput(
                f"the field {name!r} is missing: a line needs id, metric and label, and this one has {has}"
            )
    said = text_of("metric", found.get("metric")) or metric
    if said is None:
        raise InvalidInput(
            "the field 'metric' is missing: name the metric that the label is about, in this line, or for all lines with "
            "the argument metric (--metric on the command line)"
        )
    row = id_of(found["id"])
    if found["label"] is None:
        return None
    annotator = text_of("annotator", found.get("annotator"))
    return Label(
        id=row,
        metric=said,
        label=label_of(found["label"]),
        claim=claim_of(found.get("claim")),
        annotator=annotator.strip() if annotator else None,
        note=text_of("note", found.get("note")),
        blind=flag_of(found.get("blind")),
        weight=weight_of(found.get("weight")),
        digest=digest_in(found.get("digest")),
        place=found.get("place") or place,
    )


def _check_scale(item: Label, scales: Scales) -> None:
    if item.metric not in scales:
        raise InvalidInput(f"the run has no metric {quoted(item.metric)}; it has {', '.join(map(quoted, scales))}")
    scale = scales[item.metric]
    is_grade = item.claim is None and not isinstance(item.label, bool)
    if scale is not None and is_grade and not scale[0] <= item.label <= scale[1]:
        verdict = ": write true or false for a pass or a fail" if item.label in (0, 1) else ""
        raise InvalidInput(
            f"the label {item.label:g} is not on the scale of {quoted(item.metric)}, {scale[0]:g} to {scale[1]:g}{verdict}"
        )


def _of_kind(item: Label, grade: Label | None) -> Label:
    """The label, whose 1 and 0 are a pass and a fail, unless this ``grade`` shows that the labels of the metric are grades."""
    if item.claim is not None and item.label not in (0, 1):
        raise InvalidInput(
            f"{item.place}: a claim is right or wrong, got the label {item.label:g}: write true or false"
        )
    if item.claim is not None or grade is None:
        return replace(item, label=bool(item.label))
    if isinstance(item.label, bool):
        raise InvalidInput(
            f"{item.place}: a pass or a fail of {quoted(item.metric)}, which has the grade {grade.label:g} in {grade.place}: label "
            "all rows of a metric in the same way"
        )
    return item


def _check_once(labels: Iterable[Label]) -> None:
    """Refuse two labels of one thing by one annotator, the same or different."""
    seen: dict[tuple[str | None, str, str, str | int | None], Label] = {}
    for item in labels:
        first = seen.setdefault((item.annotator, item.id, item.metric, item.claim), item)
        if first is item:
            continue
        what = f"the {'row' if item.claim is None else 'claim'}, for {quoted(item.metric)} of {quoted(item.id)}"
        who = quoted(item.annotator) if item.annotator else "someone without a name"
        cure = "" if item.annotator else ", or name the annotators if they are two"
        same = "twice" if first.label == item.label else f"twice, and differently ({first.label} and {item.label})"
        raise InvalidInput(
            f"{item.place}: {who} labelled {what}, {same}, here and in {first.place}: keep one of the lines{cure}"
        )
