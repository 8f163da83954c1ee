"""Recall of retrieval, with the constructor, outputs and errors of Haystack's own component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from haystack.components.evaluators.document_recall import RecallMode

from haystack import Document, component, default_to_dict, logging
from ragmetrics_core import Document as CoreDocument
from ragmetrics_core import Score
from ragmetrics_core.metrics import Recall

from ._comparison import VALUE, ComparesDocuments, averaged, check_lists, holding
from ._home import HOME

__all__ = ["DocumentRecallEvaluator", "RecallMode"]

logger = logging.getLogger(__name__)

Mode = Literal["single_hit", "multi_hit"]


@component
class DocumentRecallEvaluator(ComparesDocuments):
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
        """The component as plain values, as Haystack saves it."""
        return default_to_dict(self, mode=str(self.mode), document_comparison_field=self.document_comparison_field)

    @component.output_types(score=float, individual_scores=list[float])
    def run(
        self, ground_truth_documents: list[list[Document]], retrieved_documents: list[list[Document]]
    ) -> dict[str, Any]:
        """Score what was retrieved.

        Args:
            ground_truth_documents: for each question, the relevant documents.
            retrieved_documents: for each question, the retrieved documents.

        Returns:
            ``individual_scores``: 0.0 to 1.0 for each question; ``score``: their mean.

        Raises:
            ValueError: a list is empty, the lists differ in length, or there is no such comparison field.
        """
        check_lists(ground_truth_documents, retrieved_documents)
        return averaged(self._measured, ground_truth_documents, retrieved_documents)

    def _measured(self, truths: Sequence[Document], found: Sequence[Document]) -> Score:
        relevant = self._comparable("ground truth", truths)
        retrieved = self._comparable("retrieved", found)
        mode: Mode = "single_hit" if self.mode == RecallMode.SINGLE_HIT else "multi_hit"
        return Recall(mode, field=VALUE).measure(retrieved_documents=retrieved, reference_documents=relevant)

    def _comparable(self, side: str, documents: Sequence[Document]) -> list[CoreDocument]:
        values = [value for value in self._values(documents) if value is not None and value != ""]
        if not values:
            logger.warning(
                "There are no {side} documents or none of them contain a valid comparison value. "
                "Score will be set to 0.",
                side=side,
            )
        return [holding(value) for value in values]
