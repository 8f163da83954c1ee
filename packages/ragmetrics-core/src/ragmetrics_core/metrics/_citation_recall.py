"""Citation recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.metrics.citation_metric import JudgedCitations
from ragmetrics_core.metrics.citing import Statement


@dataclass(frozen=True)
class CitationRecall(JudgedCitations):
    """Share of the response's statements that cite a passage that supports them.

    Statements that cite a passage that supports them / statements. A statement without a citation counts as not supported. A
    response that cites nothing is 0.0, without a call. A fabricated citation does not invalidate the other citations of its
    statement; it lowers ``CitationPrecision``. ALCE asks whether all cited passages together support the statement. Here one
    passage that the judge names is enough, so if several passages support a statement only together, citing one of them counts.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the statements against every passage in a separate call.
        pattern: a regular expression with one group that finds the numbers or ids of citations, instead of the built-in forms.

    Source: Gao et al. 2023, ALCE, arXiv:2305.14627, "Citation recall".
    """

    without_citations: ClassVar[float | None] = 0.0
    called: ClassVar[str] = "statements supported by a passage that they cite"

    def counted(self, statement: Statement, support: frozenset[int]) -> list[bool]:
        """Return one item, the statement: whether a cited passage supports it."""
        return [bool(statement.cited & support)]
