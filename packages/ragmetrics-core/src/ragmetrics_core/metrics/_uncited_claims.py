"""Uncited claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Score
from ragmetrics_core.metrics.citation_metric import NOTHING_SAID, CitationMetric
from ragmetrics_core.metrics.matching import DocumentList


@dataclass(frozen=True)
class UncitedClaims(CitationMetric):
    """Share of the response's statements without a citation, whether or not a passage supports them. Low is good.

    Statements without a citation / statements. Questions, headings and lines that end in a colon are not statements, unless they
    cite. A fabricated citation counts as a citation. A response without statements is unscored.

    Attributes:
        pattern: a regular expression with one group that finds the numbers or ids of citations, instead of the built-in forms.

    Source: this library.
    """

    higher_is_better: ClassVar[bool | None] = False

    def measure(
        self,
        response: str,
        retrieved_contexts: Sequence[str],
        retrieved_documents: DocumentList | None = None,
    ) -> Score:
        """Read the citations and count the statements without one."""
        said = self.read(response, retrieved_contexts, retrieved_documents)
        if not said:
            return Score.unscored(NOTHING_SAID)
        uncited = [statement.text for statement in said if not statement.citations]
        return Score(len(uncited) / len(said), details={"uncited": uncited, "statements": len(said)})
