"""What a run must show to pass: the gates and the least means of ``ragmetrics evaluate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._evaluate._evaluation import Evaluation
from .._gate._gates import check_mean
from .._gate._results import Decision
from .._kernel._metric import Metric
from .._kernel._sample import Row
from .._run._slices import RowGroups
from ._fail_under import parse_least
from ._gates import Gates, decision_of, parse_gates


@dataclass(frozen=True)
class Wanted:
    """What a run must show.

    Attributes:
        least: the least mean by metric, of ``--fail-under``.
        gates: those of ``--gate``.
        by: the column that the table and the gates have slices by, if any.
        cluster: the column of what rows share, if any.
    """

    least: Mapping[str, float]
    gates: Gates
    by: str | None
    cluster: str | None

    def check_first(self, rows: Sequence[Row], *, more: bool) -> None:
        """Refuse columns that the first rows do not have.

        Raises:
            InvalidInput: a column to go by is not there, or is none.
        """
        RowGroups(self.by, self.cluster).check_first(rows, more=more)

    def decision(self, evaluation: Evaluation) -> Decision:
        """What becomes of the gates; nothing where there are none.

        Raises:
            InvalidInput: a column to go by is not there, or is none.
        """
        return decision_of(self.gates, evaluation, self.by, self.cluster)


def parse_wanted(
    metrics: Sequence[Metric],
    fail_under: list[str] | None,
    gates: list[str] | None,
    by: str | None,
    cluster: str | None,
    **options: Any,
) -> Wanted:
    """What the options say, checked before anything is paid for.

    Args:
        metrics: those of the run.
        fail_under: texts such as ``faithfulness=0.8``.
        gates: texts such as ``faithfulness >= 0.8``.
        by: a column.
        cluster: a column.
        options: the others that ``parse_gates`` takes.

    Raises:
        InvalidInput: one cannot be read or is about no gate, or a limit is off its metric's scale or out of reach.
    """
    scales = {metric.name: metric.scale for metric in metrics}
    wanted = parse_gates(gates, **options, cluster=cluster)
    RowGroups(by, cluster)
    for gate in wanted.gates:
        check_mean(gate, scales)
    return Wanted(parse_least(fail_under or [], scales), wanted, by, cluster)
