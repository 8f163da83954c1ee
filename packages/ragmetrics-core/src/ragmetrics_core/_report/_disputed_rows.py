"""The rows that a person should decide first: those on which the jurors of a jury differ most."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence

from .._kernel._layout import printable
from .._store._records import Record
from .._store._run_settings import MetricColumn
from ._jury import difference_of
from ._table import cut_middle
from ._worst_rows import RowsToRead, wanted_column


class DisputedRows(RowsToRead):
    """Rows on which the jurors of a metric differ, the most first; ``print`` shows them with the evidence of each juror.

    Attributes:
        differences: for each row, by how much two jurors differ on average, on the scale of the metric.
    """

    def __init__(self, metric: str, records: Sequence[Record], differences: Sequence[float]) -> None:
        super().__init__(metric, records)
        self.differences = tuple(differences)

    @property
    def if_none(self) -> str:
        """What is said where there are none."""
        return f"no two jurors of {cut_middle(self.metric, 60)} differ on any row"

    def __repr__(self) -> str:
        return printable(f"<{len(self)} disputed rows of {self.metric}>")


def disputed_rows(records: Iterable[Record], metrics: Sequence[MetricColumn], name: str, n: int) -> DisputedRows:
    """The ``n`` rows on which jurors differ most; among equals the earlier row comes first.

    Raises:
        InvalidInput: there is no such metric, or ``n`` is less than 1 or no number.
    """
    wanted_column("disagreements", metrics, name, n)
    found: list[tuple[float, int, Record]] = []
    for record in records:
        difference = difference_of(record.scores[name])
        if not difference or (len(found) == n and -difference >= found[-1][0]):
            continue
        insort(found, (-difference, record.index, record), key=lambda item: item[:2])
        del found[n:]
    return DisputedRows(name, [record for *_, record in found], [-difference for difference, *_ in found])
