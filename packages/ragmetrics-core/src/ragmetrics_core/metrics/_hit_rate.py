"""Hit rate: whether anything relevant was found at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Document, Score
from ragmetrics_core.metrics.matching import find_hits
from ragmetrics_core.metrics.ranking import RankingMetric


@dataclass(frozen=True)
class HitRate(RankingMetric):
    """1.0 if any of the retrieved documents is relevant, else 0.0; its mean is the share of questions with a hit.

    Args:
        k: look at the first k retrieved documents only; None for all.
        field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.

    Source: NIST trec_eval 9, measure ``success`` (m_success.c).
    """

    two_valued: ClassVar[bool] = True

    def measure(
        self, retrieved_documents: Sequence[Document | str], reference_documents: Sequence[Document | str]
    ) -> Score:
        """Score one ranking; details hold the ranks of the hits and the number of relevant documents."""
        hits = find_hits(retrieved_documents, reference_documents, self.field, self.k)
        return hits.score(1.0 if hits.ranks else 0.0)
