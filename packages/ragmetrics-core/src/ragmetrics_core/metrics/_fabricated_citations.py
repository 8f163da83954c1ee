"""Fabricated citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Score
from ragmetrics_core.metrics.citation_metric import NOTHING_CITED, CitationMetric
from ragmetrics_core.metrics.matching import DocumentList


@dataclass(frozen=True)
class FabricatedCitations(CitationMetric):
    """Share of the citations that name no passage: ``[9]`` of five, ``[0]``, an id or a link of something that was not
    retrieved. Low is good.

    Fabricated citations / citations; ``[1, 9]`` counts as two. A response that cites nothing is unscored. If nothing was
    retrieved, every citation is fabricated.

    Attributes:
        pattern: a regular expression with one group that finds the numbers or ids of citations, instead of the built-in forms.

    Source: this library.
    """

    higher_is_better: ClassVar[bool | None] = False
    takes_empty: ClassVar[tuple[str, ...]] = ("retrieved_contexts",)

    def measure(
        self,
        response: str,
        retrieved_contexts: Sequence[str],
        retrieved_documents: DocumentList | None = None,
    ) -> Score:
        """Read the citations and count those that name no passage."""
        said = self.read(response, retrieved_contexts, retrieved_documents)
        citations = sum(len(statement.citations) for statement in said)
        if not citations:
            return Score.unscored(NOTHING_CITED)
        fabricated = [marker for statement in said for marker in statement.fabricated]
        return Score(len(fabricated) / citations, details={"fabricated": fabricated, "citations": citations})
