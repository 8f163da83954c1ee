"""Mean average precision and mean reciprocal rank, with the constructors, outputs and errors of Haystack's own components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import Document, component
from ragmetrics_core import Metric, Score
from ragmetrics_core.metrics import AveragePrecision, ReciprocalRank

from ._comparison import VALUE, ComparesDocuments, averaged, check_lists, holding
from ._home import HOME

__all__ = ["DocumentMAPEvaluator", "DocumentMRREvaluator"]


class _Ranking(ComparesDocuments):
    """Any metric of a ranking that takes the documents as they are."""

    _metric: ClassVar[Metric]

    @component.output_types(score=float, individual_scores=list[float])
    def run(
        self, ground_truth_documents: list[list[Document]], retrieved_documents: list[list[Document]]
    ) -> dict[str, Any]:
        """Score the rankings.

        Args:
            ground_truth_documents: for each question, the relevant documents.
            retrieved_documents: for each question, the retrieved documents in rank order.

        Returns:
            ``individual_scores``: 0.0 to 1.0 for each question; ``score``: their mean.

        Raises:
            ValueError: a list is empty, the lists differ in length, or there is no such comparison field.
        """
        check_lists(ground_truth_documents, retrieved_documents)
        return averaged(self._measured, ground_truth_documents, retrieved_documents)

    def _measured(self, truths: Sequence[Document], found: Sequence[Document]) -> Score:
        relevant = [holding(value) for value in self._values(truths)]
        retrieved = [holding(value) for value in self._values(found)]
        score = self._metric.measure(retrieved_documents=retrieved, reference_documents=relevant)
        assert isinstance(score, Score)  # such a metric asks nothing
        return score


@component
class DocumentMAPEvaluator(_Ranking):
    """Mean average precision: how high the relevant documents are ranked, all of them counted (0.0 to 1.0).

    Args:
        document_comparison_field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.
    """

    __module__ = HOME

    _metric = AveragePrecision(field=VALUE)


@component
class DocumentMRREvaluator(_Ranking):
    """Mean reciprocal rank: how high the first relevant document is ranked (0.0 to 1.0).

    Args:
        document_comparison_field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.
    """

    __module__ = HOME

    _metric = ReciprocalRank(field=VALUE)
