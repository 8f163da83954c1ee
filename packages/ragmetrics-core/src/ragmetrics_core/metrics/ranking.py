"""The two settings that the ranking metrics share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import Document, Metric, Score
from ragmetrics_core.metrics.matching import Hits, check_cut_off, find_hits

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
        check_cut_off(self.name, self.k, self.field)

    def measure(
        self, retrieved_documents: Sequence[Document | str], reference_documents: Sequence[Document | str]
    ) -> Score:
        """Score one ranking; details hold the ranks of the hits and the number of relevant documents."""
        hits = find_hits(retrieved_documents, reference_documents, self.field, self.k)
        return hits.score(self._value_of(hits) if hits.ranks else 0.0)

    def _value_of(self, hits: Hits) -> float:
        """The value of a ranking with at least one hit."""
        raise NotImplementedError
