"""Average precision of one ranking; its mean over samples is MAP."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from ragmetrics_core.metrics.matching import Hits, RankingMetric


@dataclass(frozen=True)
class AveragePrecision(RankingMetric):
    """Precision at the rank of every relevant document, averaged over all relevant documents (0 to 1). Its mean over samples is
    MAP.

    The sum over hits of (hits so far / rank), divided by the number of distinct relevant documents, retrieved or not. A cut-off
    does not change this divisor (trec_eval's ``map_cut``). If nothing was retrieved: 0.0.

    Args:
        k: count the first k retrieved documents only; None: all.
        field: the field by which two documents are the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.

    Source: Manning, Raghavan, Schütze 2008, Introduction to Information Retrieval, section 8.4; trec_eval, measure ``map``.
    """

    def _value_of(self, hits: Hits) -> float:
        """Return the sum of the precisions at the ranks of the hits, divided by the number of relevant documents."""
        return fsum(count / rank for count, rank in enumerate(hits.ranks, 1)) / len(hits.relevant)
