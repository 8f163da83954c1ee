"""Citation precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.metrics.citation_metric import JudgedCitations
from ragmetrics_core.metrics.citing import Statement


@dataclass(frozen=True)
class CitationPrecision(JudgedCitations):
    """Share of the citations that support their statement. The other citations are unnecessary or fabricated.

    Citations of a passage that supports their statement / citations, fabricated ones included. ALCE calls a citation irrelevant
    if it cannot support its statement alone and the other citations can support it without this one. Here, one verdict per
    statement decides: a citation is irrelevant if the judge does not name its passage. If several passages support a statement
    only together, every citation of one of them counts. A response that cites nothing is unscored.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the statements against every passage in a separate call.
        pattern: a regular expression with one group that finds the numbers or ids of citations, instead of the built-in forms.

    Source: Gao et al. 2023, ALCE, arXiv:2305.14627, "Citation precision".
    """

    called: ClassVar[str] = "citations of a passage that supports their statement"

    def counted(self, statement: Statement, support: frozenset[int]) -> list[bool]:
        """Return one item per citation: whether a passage that it names supports the statement."""
        return [not support.isdisjoint(citation.passages) for citation in statement.citations]
