"""Recall of retrieval: how much of what is relevant was retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import Metric, Score
from ragmetrics_core.metrics.matching import DocumentList, check_cut_off, find_hits
from ragmetrics_core.metrics.settings import check_choice


@dataclass(frozen=True)
class Recall(Metric):
    """Share of the distinct relevant documents that were retrieved (0 to 1).

    Args:
        mode: ``multi_hit``: relevant documents retrieved / relevant documents. ``single_hit``: 1.0 if any was retrieved, else
            0.0.
        k: count the first k retrieved documents only; None: all.
        field: the field by which two documents are the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``mode``, ``k`` or ``field``.

    Source: Manning, Raghavan, Schütze 2008, Introduction to Information Retrieval, section 8.3; trec_eval, measure ``recall``.
    """

    mode: Literal["multi_hit", "single_hit"] = "multi_hit"
    k: int | None = None
    field: str = "content"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cut_off(self.name, self.k, self.field)
        check_choice(self.name, "mode", self.mode, ("multi_hit", "single_hit"))

    def measure(self, retrieved_documents: DocumentList, reference_documents: DocumentList) -> Score:
        """Score one ranking. The details hold the ranks of the hits and the number of relevant documents."""
        hits = find_hits(retrieved_documents, reference_documents, self.field, self.k)
        if not hits.ranks:
            return hits.score(0.0)
        return hits.score(len(hits.ranks) / len(hits.relevant) if self.mode == "multi_hit" else 1.0)
