"""Precision of retrieval: how much of what was retrieved is relevant."""

from __future__ import annotations

from dataclasses import dataclass

from ragmetrics_core.metrics.matching import Hits, RankingMetric


@dataclass(frozen=True)
class Precision(RankingMetric):
    """Share of the retrieved documents that are relevant (0 to 1).

    With a cut-off: relevant documents among the first k / k, also if fewer than k were retrieved. Without a cut-off: relevant
    documents retrieved / documents retrieved, 0.0 if none was retrieved. A document that is retrieved twice counts once as a hit
    and twice as retrieved, so precision without a cut-off equals precision at the length of the list.

    Args:
        k: count the first k retrieved documents only; None: all.
        field: the field by which two documents are the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.

    Source: Manning, Raghavan, Schütze 2008, Introduction to Information Retrieval, sections 8.3 and 8.4; trec_eval, measures
    ``P`` and ``set_P``.
    """

    def _value_of(self, hits: Hits) -> float:
        """Return the number of hits, divided by the number of documents that count."""
        return len(hits.ranks) / (self.k or hits.retrieved)
