"""What makes two documents of Haystack the same, and how they are handed to the ranking metrics of the core.

Strategy. Which value of a document counts, and what is said about a field that cannot be, are Haystack's affair and live here.
Matching and arithmetic are the core's. So each document becomes a document of the core that holds nothing but its value (and its
grade), and the metric is told to match by that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from haystack import Document, default_to_dict
from ragmetrics_core import Document as CoreDocument
from ragmetrics_core import Score

__all__ = ["VALUE", "ComparesDocuments", "averaged", "check_lists", "holding"]

VALUE = "meta.value"
"""The field by which the metrics match what ``holding`` makes."""

Ranking = Sequence[CoreDocument]


class ComparesDocuments:
    """Base of the components that compare documents by one of their fields."""

    def __init__(self, document_comparison_field: str = "content") -> None:
        self.document_comparison_field = document_comparison_field

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values, as Haystack saves it."""
        return default_to_dict(self, document_comparison_field=self.document_comparison_field)

    def _values(self, documents: Sequence[Document]) -> list[Any]:
        """The value of each document that is compared; None where it has none.

        Raises:
            ValueError: there is no such field.
        """
        return [self._value(document) for document in documents]

    def _value(self, document: Document) -> Any:
        field = self.document_comparison_field
        if field == "content":
            return document.content
        if field == "id":
            return document.id
        if not field.startswith("meta."):
            raise ValueError(f"Unsupported document_comparison_field: '{field}'. Use 'content', 'id', or 'meta.<key>'.")
        value: Any = document.meta
        for key in field.removeprefix("meta.").split("."):
            if not isinstance(value, dict) or key not in value:
                return None
            value = value[key]
        return value


def holding(value: Any, grade: float | None = None) -> CoreDocument:
    """A document of the core that is matched by this value."""
    return CoreDocument(score=grade, meta={"value": value})


def check_lists(ground_truth_documents: Sequence[Any], retrieved_documents: Sequence[Any]) -> None:
    """Check the two outer lists.

    Raises:
        ValueError: one is empty, or they are of different lengths.
    """
    if len(ground_truth_documents) == 0 or len(retrieved_documents) == 0:
        raise ValueError("ground_truth_documents and retrieved_documents must be provided.")
    if len(ground_truth_documents) != len(retrieved_documents):
        raise ValueError("The length of ground_truth_documents and retrieved_documents must be the same.")


def averaged(
    measure: Callable[[Sequence[Document], Sequence[Document]], Score],
    ground_truth_documents: Sequence[Sequence[Document]],
    retrieved_documents: Sequence[Sequence[Document]],
) -> dict[str, Any]:
    """The outputs of a component from the score of each query; where nothing could be found, Haystack counts 0."""
    scores = [
        measure(truths, found).value or 0.0
        for truths, found in zip(ground_truth_documents, retrieved_documents, strict=True)
    ]
    return {"score": sum(scores) / len(scores), "individual_scores": scores}
