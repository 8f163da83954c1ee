"""Normalised discounted cumulative gain, with the constructor, outputs and errors of Haystack's own component.

Strategy. The core knows one formula: the normalised gain of a ranking. The two gains that it is the quotient of, which Haystack
offers as methods, follow from it: a ranking that holds nothing but the best document gains exactly that document's grade.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from haystack import Document, component
from ragmetrics_core import Document as CoreDocument
from ragmetrics_core import Score
from ragmetrics_core.metrics import NDCG

from ._comparison import VALUE, ComparesDocuments, averaged, check_lists, holding
from ._home import HOME

__all__ = ["DocumentNDCGEvaluator"]

_METRIC = NDCG(field=VALUE)


@component
class DocumentNDCGEvaluator(ComparesDocuments):
    """Normalised discounted cumulative gain: how near the ranking comes to the ideal one (0.0 to 1.0).

    The grade of a relevant document is its ``score``; where none of a question's relevant documents has one, all count the same.

    Args:
        document_comparison_field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.
    """

    __module__ = HOME

    @component.output_types(score=float, individual_scores=list[float])
    def run(
        self, ground_truth_documents: list[list[Document]], retrieved_documents: list[list[Document]]
    ) -> dict[str, Any]:
        """Score the rankings.

        Args:
            ground_truth_documents: for each question, the relevant documents, all of them with a score or none.
            retrieved_documents: for each question, the retrieved documents in rank order.

        Returns:
            ``individual_scores``: 0.0 to 1.0 for each question; ``score``: their mean.

        Raises:
            ValueError: see ``validate_inputs``; there is no such comparison field; a grade is negative or not finite.
        """
        self.validate_inputs(ground_truth_documents, retrieved_documents)
        return averaged(self._measured, ground_truth_documents, retrieved_documents)

    @staticmethod
    def validate_inputs(gt_docs: list[list[Document]], ret_docs: list[list[Document]]) -> None:
        """Check the inputs of ``run``.

        Raises:
            ValueError: a list is empty, the lists differ in length, or only some documents of a question have a score.
        """
        check_lists(gt_docs, ret_docs)
        for documents in gt_docs:
            unscored = [document.score is None for document in documents]
            if any(unscored) and not all(unscored):
                raise ValueError(
                    "Either none or all documents in each list of ground_truth_documents must have a score."
                )

    def calculate_dcg(self, gt_docs: list[Document], ret_docs: list[Document]) -> float:
        """The discounted cumulative gain of one ranking: the sum over hits of grade / log2(rank + 1)."""
        return (self._measured(gt_docs, ret_docs).value or 0.0) * self.calculate_idcg(gt_docs)

    def calculate_idcg(self, gt_docs: list[Document]) -> float:
        """The discounted cumulative gain of the ideal ranking, which holds the relevant documents by descending grade."""
        relevant = self._relevant(gt_docs)
        best = max(relevant, key=_grade, default=holding(None, 0.0))
        share = _METRIC.measure(retrieved_documents=[best], reference_documents=relevant).value
        return _grade(best) / share if share else 0.0

    def _measured(self, truths: Sequence[Document], found: Sequence[Document]) -> Score:
        retrieved = [holding(value) for value in self._values(found)]
        return _METRIC.measure(retrieved_documents=retrieved, reference_documents=self._relevant(truths))

    def _relevant(self, documents: Sequence[Document]) -> list[CoreDocument]:
        """The documents that can be found, each with its grade."""
        return [
            holding(value, 1.0 if document.score is None else document.score)
            for document, value in zip(documents, self._values(documents), strict=True)
            if value is not None
        ]


def _grade(document: CoreDocument) -> float:
    return document.score or 0.0
