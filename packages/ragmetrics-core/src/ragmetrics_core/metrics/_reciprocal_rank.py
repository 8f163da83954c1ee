"""Reciprocal rank of the first relevant document; its mean over samples is MRR."""

from __future__ import annotations

from dataclasses import dataclass

from ragmetrics_core.metrics.matching import Hits, RankingMetric


@dataclass(frozen=True)
class ReciprocalRank(RankingMetric):
    """How early the first relevant document comes: 1 / its rank, 0.0 if none was retrieved (0 to 1). Its mean over samples is
    MRR.

    Args:
        k: count the first k retrieved documents only; None: all.
        field: the field by which two documents are the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.

    Source: Voorhees 1999, The TREC-8 Question Answering Track Report, NIST SP 500-246, pages 77 to 82; trec_eval, measure
    ``recip_rank``.
    """

    def _value_of(self, hits: Hits) -> float:
        """1 / the rank of the first hit."""
        return 1 / hits.ranks[0]
