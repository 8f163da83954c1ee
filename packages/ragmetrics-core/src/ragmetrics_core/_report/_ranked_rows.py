"""The rows of a run in the order in which somebody should read them: the worst first, or the most disputed."""

from __future__ import annotations

from dataclasses import dataclass

from .._kernel._metric import Metric
from ._disputed_rows import DisputedRows, disputed_rows
from ._scored_rows import ScoredRows
from ._worst_rows import WorstRows, worst_rows


@dataclass(frozen=True, repr=False)
class RankedRows(ScoredRows):
    """Rows and their scores, and those of them to look at first."""

    def worst(self, metric: str | Metric, n: int = 10) -> WorstRows:
        """The rows with the worst values of a metric, the worst first; ``print`` shows each with its evidence.

        The worst are the lowest, or the highest where the metric says that low values are good (``higher_is_better``). Rows
        without a value are not among them: ``summary()`` tells why they have none.

        Args:
            metric: the metric, or its name.
            n: how many rows, at least 1; fewer come where fewer have a value.

        Raises:
            InvalidInput: there is no such metric, neither end of its scale is the worse one, or ``n`` is no such number.
        """
        name = metric.name if isinstance(metric, Metric) else metric
        return worst_rows(self.records, self.metrics, name, n)

    def disagreements(self, metric: str | Metric, n: int = 10) -> DisputedRows:
        """The rows on which the jurors of a ``Jury`` differ, the most first; ``print`` shows each with the evidence of all jurors.

        By how much is the difference of two jurors on average. Rows on which they agree are not among them, nor are those where
        fewer than two have a value; of a metric that is no jury there are none.

        Args:
            metric: the jury, or its name.
            n: how many rows, at least 1.

        Raises:
            InvalidInput: there is no such metric, or ``n`` is no such number.
        """
        name = metric.name if isinstance(metric, Metric) else metric
        return disputed_rows(self.records, self.metrics, name, n)
