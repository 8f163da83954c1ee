"""The data that a page has about every row from the start: enough for its table, its filters and its search.

The data is stored in columns, not rows: ten thousand rows are a few lists of one type each, which compress well and are parsed in
one step. Scores come from the columns of the run. Texts are cut to their beginnings; the rest of a row is its evidence, which is
read one row at a time.

Label mode needs a name under which the browser stores labels. This is a digest of the rows and their scores, not of the file, so
the same run written again, with more evidence or by a later version, finds its labels again.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from .._compare._comparison import MetricComparison
from .._compare._pairs import Pairing
from .._compare._row_changes import claim_changes
from .._run._columns import Column, Run
from .._run._scored_rows import ScoredRows
from .._run._slices import MOST_SLICES
from .._store._parquet import METADATA
from .._store._records import Record, json_value, record_dict
from .._store._run_settings import MetricColumn, built_in_class
from .._values._score import NOT_ASKED
from ..statistics._interval import ROUNDING

LONGEST_QUESTION, LONGEST_ANSWER = 200, 300
"""The number of characters of a question and of an answer that the table shows and the search reads."""

LONGEST_NOTE = 300
"""The number of characters of the reason of a row whose evidence is not in the page."""

LONGEST_VALUE = 80
"""The largest number of characters of a metadata value that can be a slice."""

LONGEST_DESCRIPTION = 400
"""The number of characters of a metric's description."""

MARKDOWN = re.compile(r"^(?:#{1,6} |[-*+] |\d{1,9}[.)] |> |```|~~~|\|.*\|)|\*\*\S|`[^`\n]+`", re.MULTILINE)
"""What a text has that looks like Markdown; the same as in markdown.js."""

FAILED, NOTHING = -1.0, 2.0
"""The goodness of a failed row, which sorts before all others, and of a row without any value, which sorts last."""

ONE_SIDED, SAME, ALONE = 0.0, -1.0, -2.0
"""The sort keys after all changed rows: rows with a value in one run only, with equal values, and of one run only."""

PASSING = {True: "y", False: "n", None: "-"}
"""The page's codes for whether a row passes; None: the metric gives no verdict."""


class RowTexts:
    """The texts of rows, as far as the table shows them.

    Attributes:
        questions, answers: the beginnings of questions and answers.
        metadata: single values by path, as text.
        notes: for each metric, why there is no value, or the comment of the judge.
        markdown: whether an answer or a reference looks like Markdown.
    """

    def __init__(self, metrics: Sequence[str]) -> None:
        self._metrics = metrics
        self.questions: list[str] = []
        self.answers: list[str] = []
        self.metadata: list[Mapping[str, str]] = []
        self.notes: list[list[str | None]] = []
        self.markdown = False

    def add(self, record: Record) -> None:
        """Add the texts of one more row."""
        sample, scores = record.sample, (record.scores[name] for name in self._metrics)
        self.questions.append(_beginning(sample.user_input, LONGEST_QUESTION))
        self.answers.append(_beginning(sample.response, LONGEST_ANSWER))
        self.metadata.append(dict(_leaves(json_value(sample.metadata))))
        given = (text for text in (sample.response, sample.reference) if isinstance(text, str))
        self.markdown = self.markdown or any(MARKDOWN.search(text) for text in given)
        self.notes.append([_beginning(score.error or score.reason, LONGEST_NOTE) or None for score in scores])


def _beginning(text: object, length: int) -> str:
    """Return the beginning of a text on one line; for a value of another type, the beginning of its representation."""
    if text is None:
        return ""
    whole = text if isinstance(text, str) else str(json_value(text))
    line = " ".join(whole[: 4 * length].split())
    return line if len(line) <= length and len(whole) <= 4 * length else f"{line[: length - 1].rstrip()}\u2026"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the single values of metadata, as text, by path."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, bool):
        yield path, str(value).lower()
    elif isinstance(value, str | int | float) and 0 < len(text := str(value).strip()) <= LONGEST_VALUE:
        yield path, text


def _slices(metadata: Sequence[Mapping[str, str]]) -> dict[str, list[str | None]]:
    """Return the metadata columns that group rows: columns with few values, each of which several rows share on average."""
    paths = dict.fromkeys(path for row in metadata for path in row)
    columns: dict[str, list[str | None]] = {path: [row.get(path) for row in metadata] for path in paths}
    most = min(MOST_SLICES - 1, max(2, len(metadata) // 2))
    return {path: each for path, each in columns.items() if len(set(each)) > 1 and len(set(each) - {None}) <= most}


def _shown(values: Sequence[float | None]) -> list[float | None]:
    """Return the values rounded to the digits that are shown."""
    return [None if value is None else round(value, 6) for value in values]


def _labels(labels: list[str | None]) -> list[str | None] | None:
    """Return the labels; None if no row has a label."""
    return labels if any(labels) else None


class RunRows:
    """The columns of all rows of one run, filled while its records are read.

    Attributes:
        run: the rows and their scores.
        texts: the texts of the rows.
    """

    def __init__(self, evaluation: ScoredRows) -> None:
        self.run = Run.empty(evaluation)
        self._ids: list[str | None] = []
        self.texts = RowTexts(list(self.run.columns))

    def add(self, record: Record) -> None:
        """Add one row."""
        self.run.add(record)
        self._ids.append(None if record.sample.id is None else str(record.sample.id))
        self.texts.add(record)

    def slices(self) -> dict[str, list[str | None]]:
        """Return the columns of the metadata that group rows."""
        return _slices(self.texts.metadata)

    def _worst(self) -> list[float]:
        """Return for each row the goodness of its worst score, 0 to 1; ``FAILED`` or ``NOTHING`` for a row without such a score.

        A metric without any value, such as one that failed on all rows, is ignored, because it cannot rank rows.
        """
        columns = list(self.run.columns.values())
        columns = [column for column in columns if any(value is not None for value in column.values)] or columns
        return [min((_goodness(column, row) for column in columns), default=NOTHING) for row in range(len(self._ids))]

    def worst_first(self) -> list[int]:
        """Return the rows with the worst scores first; rows with equal scores keep the input order."""
        return sorted(range(len(self._ids)), key=self._worst().__getitem__)

    def to_dict(self) -> dict[str, Any]:
        """Return the data in the form that the page reads."""
        columns = self.run.columns.values()
        return {
            **self._judged(),
            "places": [row.place for row in self.run.rows],
            "worst": _shown(self._worst()),
            "passing": ["".join(PASSING[item] for item in column.passing) for column in columns],
            "labels": [_labels(column.labels) for column in columns],
            "metadata": self.slices(),
        }

    def _judged(self) -> dict[str, Any]:
        """Return the texts of the rows and the results of the metrics."""
        columns = self.run.columns.values()
        return {
            "ids": self._ids,
            "questions": self.texts.questions,
            "answers": self.texts.answers,
            "values": [_shown(column.values) for column in columns],
            "states": ["".join(_state(column, row) for row in range(len(self._ids))) for column in columns],
        }

    def labelling(self) -> dict[str, Any]:
        """Return the data of label mode: a digest of the run; the names used in labels, for rows whose name is not their id; and
        the question of each metric, None if unknown.
        """
        columns = self.run.columns
        digest = sha256(json.dumps([list(columns), list(self._judged().values())]).encode()).hexdigest()
        names = {at: row.name for at, row in enumerate(self.run.rows) if row.name != self._ids[at]}
        return {"digest": digest[:32], "names": names, "asks": [_asked(column.metric) for column in columns.values()]}


def _state(column: Column, row: int) -> str:
    """Return the state of a row as a letter: scored, failed, unscored."""
    return "s" if column.values[row] is not None else "f" if column.failed[row] else "u"


def _goodness(column: Column, row: int) -> float:
    """Return how good a score is, 0 to 1; ``FAILED`` for a failed score, ``NOTHING`` without a value or a better end."""
    value, scale = column.values[row], column.scales[row] or column.metric.scale
    if column.failed[row]:
        return FAILED
    if value is None or column.metric.higher_is_better is None or scale is None:
        return NOTHING
    low, high = scale
    if not math.isfinite(high - low) or high == low:
        return NOTHING
    share = (value - low) / (high - low)
    return share if column.metric.higher_is_better else 1.0 - share


def _asked(column: MetricColumn) -> str | None:
    """Return the first paragraph of a built-in metric's description."""
    metric = built_in_class(column.name, column.settings)
    text = inspect.getdoc(metric) if metric else None
    return " ".join(text.split("\n\n")[0].split()).replace("`", "")[:LONGEST_DESCRIPTION] if text else None


class PairedRows:
    """The columns of all rows of two runs, and the evidence of each row.

    A row of the page is a pair, or a row that only one run has; it is identified by its position in ``Pairing.units``. Values are
    those that the comparison counts: repeats of a row count once, with their mean. Texts are those of the first repeat. The name
    of a row comes from the first run if that run has the row.
    """

    def __init__(self, pairing: Pairing, metrics: Sequence[MetricComparison]) -> None:
        self._pairing = pairing
        self._metrics = metrics
        self._names = [item.name for item in metrics]
        self._units = pairing.units
        self._runs = pairing.before, pairing.after
        self._texts = [self._texts_of(run) for run in self._runs]

    @property
    def markdown(self) -> bool:
        """Whether an answer or a reference of a run looks like Markdown."""
        return any(texts.markdown for texts in self._texts)

    def _texts_of(self, run: Run) -> RowTexts:
        texts, firsts = RowTexts(self._names), {row.records[0] for row in run.rows}
        for position, record in enumerate(run.evaluation.records):
            if position in firsts:
                texts.add(record)
        return texts

    def _each(self, side: int, values: Sequence[Any], absent: Any = None) -> list[Any]:
        """Return a column of one run, by row of the page."""
        return [absent if (at := unit[side]) is None else values[at] for unit in self._units]

    def _known(self, *columns: Sequence[Any]) -> list[Any]:
        """Return a column of both runs, by row of the page: the value in the first run if it has the row, otherwise the value
        in the second run.
        """
        return [columns[1][two] if one is None else columns[0][one] for one, two in self._units]  # type: ignore[index]

    def notes(self) -> list[list[list[str | None]]]:
        """Return for each row and each metric the notes of both runs."""
        each = (self._each(side, self._texts[side].notes, [None] * len(self._names)) for side in (0, 1))
        return [[list(both) for both in zip(*notes, strict=True)] for notes in zip(*each, strict=True)]

    def to_dict(self, by: str | None) -> dict[str, Any]:
        """Return the data in the form that the page reads."""
        rows = [run.rows for run in self._runs]
        places = [self._each(side, [row.place for row in rows[side]]) for side in (0, 1)]
        metadata = _slices(self._known(*(texts.metadata for texts in self._texts)))
        name = None if by is None else by.removeprefix(METADATA)
        if name is not None and name not in metadata:
            metadata[name] = list(self._pairing.labels or ())
        return {
            "ids": self._known(*([row.id for row in each] for each in rows)),
            "names": self._known(*([row.name for row in each] for each in rows)),
            "places": [" and ".join(dict.fromkeys(filter(None, both))) for both in zip(*places, strict=True)],
            "questions": self._known(*(texts.questions for texts in self._texts)),
            "answers": [self._each(side, self._texts[side].answers, "") for side in (0, 1)],
            "values": [[_shown(values) for values in self._values(name)] for name in self._names],
            "states": [["".join(states) for states in self._states(name)] for name in self._names],
            "labels": [
                [_labels(self._each(side, self._runs[side].columns[name].labels)) for side in (0, 1)]
                for name in self._names
            ],
            "passing": [["".join(passing) for passing in self._passing(name)] for name in self._names],
            "metadata": metadata,
            "order": self.order(),
        }

    def _values(self, metric: str) -> list[list[float | None]]:
        return [self._each(side, run.columns[metric].values) for side, run in enumerate(self._runs)]

    def _states(self, metric: str) -> Iterator[list[str]]:
        """Return for each run the state of each row as a letter: a letter of ``_state``, ``n`` for not asked, or ``-`` for not in
        this run.
        """
        for side, run in enumerate(self._runs):
            column = run.columns[metric]
            states = ["n" if column.labels[row] == NOT_ASKED else _state(column, row) for row in range(len(run.rows))]
            yield self._each(side, states, "-")

    def _passing(self, metric: str) -> Iterator[list[str]]:
        """Return for each run the codes for whether each row passes."""
        for side, run in enumerate(self._runs):
            yield self._each(side, [PASSING[item] for item in run.columns[metric].passing], PASSING[None])

    def order(self) -> list[int]:
        """Return the rows that changed most first, by the largest change of any metric as a share of its scale.

        Then come rows with a value in one run only, then rows with equal values, then rows that only one run has.
        """
        sizes = [ALONE if None in unit else SAME for unit in self._units]
        for item in (each for each in self._metrics if each.credited):
            low, high = item.scale or (0.0, 1.0)
            width = high - low if math.isfinite(high - low) and high > low else 1.0
            for row, (old, new) in enumerate(zip(*self._values(item.name), strict=True)):
                change = ONE_SIDED if old is None or new is None else abs(new - old) / width
                if sizes[row] != ALONE and (change > ROUNDING or (old is None) is not (new is None)):
                    sizes[row] = max(sizes[row], change)
        return sorted(range(len(sizes)), key=lambda row: -sizes[row])

    def evidence(self, row: int) -> dict[str, Any]:
        """Return everything about a row in both runs, and for each metric the claims whose support differs."""
        places = zip(self._runs, self._units[row], strict=True)
        positions = [() if at is None else run.rows[at].records for run, at in places]
        sides = [[run.evaluation.records[at] for at in found] for run, found in zip(self._runs, positions, strict=True)]
        claims = {}
        if all(sides):
            for name in self._names:
                changes = claim_changes(*([record.scores[name] for record in records] for records in sides))
                claims[name] = [item.to_dict() for item in changes]
        return {"sides": [[self._record(record) for record in records] for records in sides], "claims": claims}

    def _record(self, record: Record) -> dict[str, Any]:
        """Return everything about a row in one run, by the metrics of both, as plain and finite JSON values."""
        found: dict[str, Any] = json_value(record_dict(record))
        return {**found, "scores": {name: found["scores"][name] for name in self._names}}
