"""The two settings that the ranking metrics share."""

from __future__ import annotations

from dataclasses import dataclass

from ragmetrics_core import Metric
from ragmetrics_core.metrics.matching import check_settings

__all__ = ["RankingMetric"]


@dataclass(frozen=True)
class RankingMetric(Metric):
    """Base of metrics that compare a ranking of retrieved documents with the relevant ones.

    Attributes:
        k: look at the first k retrieved documents only; None for all.
        field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.
    """

    k: int | None = None
    field: str = "content"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings(type(self).__name__, self.k, self.field)
