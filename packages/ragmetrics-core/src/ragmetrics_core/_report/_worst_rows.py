"""The rows to look at first: those with the worst values of one metric, in the direction that the metric has."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from .._kernel._errors import InvalidInput
from .._kernel._evidence import Line
from .._kernel._evidence_html import block
from .._kernel._layout import printable
from .._kernel._sample import Sample
from .._kernel._score import Score
from .._kernel._tags import element
from .._store._records import Record
from .._store._run_settings import MetricColumn
from ._row_html import row_parts
from ._row_text import brief_lines, plain_text
from ._table import cut_middle, room


@dataclass(frozen=True)
class WorstRow:
    """A row with its score.

    Attributes:
        index: its position in the input, from 0.
        place: where it stood there, such as ``questions.jsonl, line 7``.
        sample: the row.
        score: what the metric made of it.
    """

    index: int
    place: str
    sample: Sample
    score: Score


class RowsToRead(Sequence[WorstRow]):
    """Rows in the order in which they are to be looked at; ``print`` shows them with the evidence of one metric."""

    def __init__(self, metric: str, records: Sequence[Record]) -> None:
        self._metric = metric
        self._records = tuple(records)
        self._rows = tuple(WorstRow(item.index, item.place, item.sample, item.scores[metric]) for item in records)

    @overload
    def __getitem__(self, index: int) -> WorstRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[WorstRow, ...]: ...
    def __getitem__(self, index: int | slice) -> WorstRow | tuple[WorstRow, ...]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def records(self) -> tuple[Record, ...]:
        """The rows with the scores of all metrics."""
        return self._records

    @property
    def metric(self) -> str:
        """Name of the metric whose evidence is shown."""
        return self._metric

    @property
    def if_none(self) -> str:
        """What is said where there are none."""
        return f"no row has a value of {cut_middle(self._metric, 60)}"

    def lines(self, width: int) -> Iterator[Iterable[Line]]:
        """The lines of each row, for those who paint them."""
        return (brief_lines(record, self._metric, width) for record in self._records)

    def __str__(self) -> str:
        return plain_text(self.lines(room())) or self.if_none

    def _repr_html_(self) -> str:
        """Notebooks show the rows, to unfold."""
        return block(*row_parts(self._records, self._metric, unfolded=1) or [element("p", str(self))])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython shows the rows."""
        printer.text("..." if cycle else str(self))


class WorstRows(RowsToRead):
    """Rows with the worst values of one metric, the worst first; ``print`` shows them with their evidence."""

    def __init__(self, metric: str, higher_is_better: bool, records: Sequence[Record]) -> None:
        super().__init__(metric, records)
        self._higher_is_better = higher_is_better

    @property
    def end(self) -> str:
        """The worse end of the scale: ``lowest`` or ``highest``."""
        return "lowest" if self._higher_is_better else "highest"

    def __repr__(self) -> str:
        return printable(f"<{len(self)} worst rows of {self._metric}>")


def why_no_worst(metric: MetricColumn) -> str | None:
    """Why no row is the worst by this metric; None if there is one."""
    if metric.higher_is_better is not None:
        return None
    if metric.knows_better:
        return f"neither high nor low values of {metric.name} are better, so that no row is the worst"
    return f"a file of scores does not tell which values of {metric.name} are better: load the directory of the run"


def wanted_column(owner: str, metrics: Sequence[MetricColumn], name: str, n: object) -> MetricColumn:
    """The metric of this name, where ``n`` rows of it can be wanted; ``owner`` is who wants them, for messages.

    Raises:
        InvalidInput: there is no such metric, or ``n`` is less than 1 or no number.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InvalidInput(f"{owner}: n must be a whole number, at least 1, got {n!r}")
    column = next((item for item in metrics if item.name == name), None)
    if column is None:
        raise InvalidInput(
            f"{owner}: there is no metric {name!r}; there are {', '.join(item.name for item in metrics)}"
        )
    return column


def worst_rows(records: Iterable[Record], metrics: Sequence[MetricColumn], name: str, n: int) -> WorstRows:
    """The ``n`` rows with the worst values; among equals the earlier row comes first.

    Raises:
        InvalidInput: there is no such metric, neither end of its scale is the worse one, or ``n`` is less than 1 or no number.
    """
    column = wanted_column("worst", metrics, name, n)
    if (problem := why_no_worst(column)) is not None:
        raise InvalidInput(f"worst: {problem}")
    (rows,) = worst_of_each(records, [column], n)
    return rows


def worst_of_each(records: Iterable[Record], metrics: Sequence[MetricColumn], n: int) -> list[WorstRows]:
    """The same for each metric that has a worst end, in one pass over the rows, which may be read from a file."""
    signs = {item.name: 1 if item.higher_is_better else -1 for item in metrics if item.higher_is_better is not None}
    found: dict[str, list[tuple[float, int, Record]]] = {name: [] for name in signs}
    for record in records:
        for name, sign in signs.items():
            value, worst = record.scores[name].value, found[name]
            if value is None or (len(worst) == n and sign * value >= worst[-1][0]):
                continue
            insort(worst, (sign * value, record.index, record), key=lambda item: item[:2])
            del worst[n:]
    return [WorstRows(name, signs[name] > 0, [record for *_, record in worst]) for name, worst in found.items()]
