"""Citation precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.metrics.citation_metric import JudgedCitations
from ragmetrics_core.metrics.citing import Statement


@dataclass(frozen=True)
class CitationPrecision(JudgedCitations):
    """Share of the citations that support the statement they stand at; the others are not needed, or fabricated.

    Citations of a passage which supports its statement / citations, fabricated ones included. In ALCE's words a citation is
    irrelevant if it cannot support its statement alone and the others can without it; by one verdict for each statement that is
    one of a passage which the judge does not name. Of passages that support a statement only together, all that are cited count.
    A response that cites nothing is unscored.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the statements against every passage in a separate call.
        pattern: a regular expression with one group, which finds the numbers or ids of citations, in the place of the built-in
            forms.

    Source: Gao et al. 2023, ALCE, arXiv:2305.14627, "Citation precision".
    """

    called: ClassVar[str] = "citations of a passage that supports their statement"

    def counted(self, statement: Statement, support: frozenset[int]) -> list[bool]:
        """Every citation: whether what it names supports the statement."""
        return [not support.isdisjoint(citation.passages) for citation in statement.citations]
