"""Hit rate: whether anything relevant was retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.metrics.matching import Hits, RankingMetric


@dataclass(frozen=True)
class HitRate(RankingMetric):
    """1.0 if any of the retrieved documents is relevant, else 0.0. Its mean is the share of questions with a hit.

    Args:
        k: count the first k retrieved documents only; None: all.
        field: the field by which two documents are the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.

    Source: NIST trec_eval 9, measure ``success`` (m_success.c).
    """

    two_valued: ClassVar[bool] = True

    def _value_of(self, hits: Hits) -> float:  # noqa: ARG002
        """Always 1.0, because there is at least one hit."""
        return 1.0
