"""Haystack's four evaluators of rankings, computed by the ranking metrics of the core.

Strategy. This module chooses the value by which documents are compared, as Haystack does; matching and arithmetic are the core's.
So each document becomes a document of the core with only this value and its grade, and the metric matches by that value. A base
class has everything that the four share, sockets and checks included; each subclass names its metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack.components.evaluators.document_recall import RecallMode

from haystack import Document, component, default_to_dict, logging
from ragmetrics_core import Document as CoreDocument
from ragmetrics_core.metrics import NDCG, AveragePrecision, Recall, ReciprocalRank

from ._models import HOME

logger = logging.getLogger(__name__)

VALUE = "meta.value"
"""The field by which the metrics match documents made by ``_with_value``."""


class RankingEvaluator:
    """Base of the evaluators of rankings; their own documentation names the arguments."""

    _metric: ClassVar[Any]

    def __init__(self, document_comparison_field: str = "content") -> None:
        self.document_comparison_field = document_comparison_field

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain values, as Haystack saves it."""
        return default_to_dict(self, document_comparison_field=self.document_comparison_field)

    @component.output_types(score=float, individual_scores=list[float])
    def run(
        self, ground_truth_documents: list[list[Document]], retrieved_documents: list[list[Document]]
    ) -> dict[str, Any]:
        """Score the rankings.

        Args:
            ground_truth_documents: for each question, the relevant documents; for NDCG all of them with a score or none.
            retrieved_documents: for each question, the retrieved documents in rank order.

        Returns:
            ``individual_scores``: 0.0 to 1.0 for each question; ``score``: their mean.

        Raises:
            ValueError: a list is empty, the lists differ in length, there is no such comparison field, or the scores of relevant
                documents are not grades for NDCG.
        """
        self._check(ground_truth_documents, retrieved_documents)
        # without any relevant document the core gives no score, and Haystack counts 0
        scores = [
            self._score(truths, found) or 0.0
            for truths, found in zip(ground_truth_documents, retrieved_documents, strict=True)
        ]
        return {"score": sum(scores) / len(scores), "individual_scores": scores}

    @staticmethod
    def _check(gt_docs: list[list[Document]], ret_docs: list[list[Document]]) -> None:
        if len(gt_docs) == 0 or len(ret_docs) == 0:
            raise ValueError("ground_truth_documents and retrieved_documents must be provided.")
        if len(gt_docs) != len(ret_docs):
            raise ValueError("The length of ground_truth_documents and retrieved_documents must be the same.")

    def _score(self, truths: Sequence[Document], found: Sequence[Document]) -> float | None:
        relevant = self._relevant(truths)
        retrieved = [_with_value(self._value(document)) for document in found]
        value: float | None = self._metric.measure(retrieved_documents=retrieved, reference_documents=relevant).value
        return value

    def _relevant(self, documents: Sequence[Document]) -> list[CoreDocument]:
        """Return the documents that have a value, each with its grade."""
        return [
            _with_value(value, 1.0 if document.score is None else document.score)
            for document in documents
            if (value := self._value(document)) is not None
        ]

    def _value(self, document: Document) -> Any:
        """Return the value by which a document is compared; None if it has none."""
        field = self.document_comparison_field
        if field in ("content", "id"):
            return getattr(document, field)
        if not field.startswith("meta."):
            raise ValueError(f"Unsupported document_comparison_field: '{field}'. Use 'content', 'id', or 'meta.<key>'.")
        value: Any = document.meta
        for key in field.removeprefix("meta.").split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value


def _with_value(value: Any, grade: float | None = None) -> CoreDocument:
    return CoreDocument(score=grade, meta={"value": value})


@component
class DocumentMAPEvaluator(RankingEvaluator):
    """Mean average precision: how high all relevant documents are ranked (0.0 to 1.0).

    Args:
        document_comparison_field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.
    """

    __module__ = HOME

    _metric = AveragePrecision(field=VALUE)


@component
class DocumentMRREvaluator(RankingEvaluator):
    """Mean reciprocal rank: how high the first relevant document is ranked (0.0 to 1.0).

    Args:
        document_comparison_field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.
    """

    __module__ = HOME

    _metric = ReciprocalRank(field=VALUE)


@component
class DocumentNDCGEvaluator(RankingEvaluator):
    """Normalised discounted cumulative gain: how near the ranking comes to the ideal one (0.0 to 1.0).

    The grade of a relevant document is its ``score``; where none of a question's relevant documents has one, all count the same.

    Args:
        document_comparison_field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.
    """

    __module__ = HOME

    _metric = NDCG(field=VALUE)

    @staticmethod
    def validate_inputs(gt_docs: list[list[Document]], ret_docs: list[list[Document]]) -> None:
        """Check the inputs of ``run``.

        Raises:
            ValueError: a list is empty, the lists differ in length, or only some documents of a question have a score.
        """
        RankingEvaluator._check(gt_docs, ret_docs)
        if any(len({document.score is None for document in documents}) > 1 for documents in gt_docs):
            raise ValueError("Either none or all documents in each list of ground_truth_documents must have a score.")

    _check = validate_inputs

    def calculate_dcg(self, gt_docs: list[Document], ret_docs: list[Document]) -> float:
        """Return the discounted cumulative gain of one ranking: the sum over hits of grade / log2(rank + 1)."""
        return (self._score(gt_docs, ret_docs) or 0.0) * self.calculate_idcg(gt_docs)

    def calculate_idcg(self, gt_docs: list[Document]) -> float:
        """Return the discounted cumulative gain of the ideal ranking: the relevant documents by descending grade."""
        # the core only knows normalised gains, but the best document alone gains its grade, so the quotient is the ideal gain
        relevant = self._relevant(gt_docs)
        best = max(relevant, key=lambda document: document.score or 0.0, default=_with_value(None))
        share = self._metric.measure(retrieved_documents=[best], reference_documents=relevant).value
        return (best.score or 0.0) / share if share else 0.0


@component
class DocumentRecallEvaluator(RankingEvaluator):
    """Recall: whether any relevant document was retrieved, or which share of them.

    Args:
        mode: ``single_hit`` (1.0 if any relevant document was retrieved, else 0.0) or ``multi_hit`` (the share of the distinct
            relevant documents that was retrieved), as a text or as a ``RecallMode``.
        document_comparison_field: what makes two documents the same: ``content``, ``id`` or ``meta.<key>[.<key>]``. Documents
            without a value there, or with an empty text, count on neither side.

    Raises:
        ValueError: there is no such mode.
    """

    __module__ = HOME

    def __init__(
        self, mode: str | RecallMode = RecallMode.SINGLE_HIT, document_comparison_field: str = "content"
    ) -> None:
        super(DocumentRecallEvaluator, self).__init__(document_comparison_field)  # noqa: UP008  the class is made anew
        self.mode = mode if isinstance(mode, RecallMode) else RecallMode.from_str(mode)

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, mode=str(self.mode), document_comparison_field=self.document_comparison_field)

    def _score(self, truths: Sequence[Document], found: Sequence[Document]) -> float | None:
        relevant, retrieved = self._comparable("ground truth", truths), self._comparable("retrieved", found)
        metric = Recall("single_hit" if self.mode is RecallMode.SINGLE_HIT else "multi_hit", field=VALUE)
        return metric.measure(retrieved_documents=retrieved, reference_documents=relevant).value

    def _comparable(self, side: str, documents: Sequence[Document]) -> list[CoreDocument]:
        values = [value for document in documents if (value := self._value(document)) is not None and value != ""]
        if not values:
            logger.warning(
                "There are no {side} documents or none of them contain a valid comparison value. "
                "Score will be set to 0.",
                side=side,
            )
        return [_with_value(value) for value in values]
