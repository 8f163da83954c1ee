"""Average precision of one ranking; its mean over samples is MAP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from ragmetrics_core import Document, Score
from ragmetrics_core.metrics.matching import find_hits
from ragmetrics_core.metrics.ranking import RankingMetric


@dataclass(frozen=True)
class AveragePrecision(RankingMetric):
    """Precision at the rank of every relevant document, averaged over all relevant documents (0 to 1); its mean is MAP.

    The sum over hits of (hits so far / rank), divided by the number of distinct relevant documents, found or not. A cut-off
    leaves that divisor as it is (trec_eval's ``map_cut``). Nothing retrieved: 0.0.

    Args:
        k: look at the first k retrieved documents only; None for all.
        field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.

    Source: Manning, Raghavan, Schütze 2008, Introduction to Information Retrieval, section 8.4; trec_eval, measure ``map``.
    """

    def measure(
        self, retrieved_documents: Sequence[Document | str], reference_documents: Sequence[Document | str]
    ) -> Score:
        """Score one ranking; details hold the ranks of the hits and the number of relevant documents."""
        hits = find_hits(retrieved_documents, reference_documents, self.field, self.k)
        precisions = fsum(count / rank for count, rank in enumerate(hits.ranks, 1))
        return hits.score(precisions / len(hits.relevant) if precisions else 0.0)
