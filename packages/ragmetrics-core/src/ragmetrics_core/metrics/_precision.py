"""Precision of retrieval: how much of what was found is relevant."""

from __future__ import annotations

from dataclasses import dataclass

from ragmetrics_core.metrics.matching import Hits, RankingMetric


@dataclass(frozen=True)
class Precision(RankingMetric):
    """Share of the retrieved documents that are relevant (0 to 1).

    With a cut-off: relevant documents among the first k / k, also when fewer than k were retrieved. Without: relevant documents
    retrieved / documents retrieved, 0.0 if none was. A document that is retrieved twice counts as a hit once, and both times
    among the retrieved, so that precision without a cut-off equals precision at the length of the list.

    Args:
        k: look at the first k retrieved documents only; None for all.
        field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.

    Source: Manning, Raghavan, Schütze 2008, Introduction to Information Retrieval, sections 8.3 and 8.4; trec_eval, measures
    ``P`` and ``set_P``.
    """

    def _value_of(self, hits: Hits) -> float:
        """Hits / documents looked at."""
        return len(hits.ranks) / (self.k or hits.retrieved)
