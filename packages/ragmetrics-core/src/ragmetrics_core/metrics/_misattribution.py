"""Misattribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.metrics.citation_metric import JudgedCitations
from ragmetrics_core.metrics.citing import Statement


@dataclass(frozen=True)
class Misattribution(JudgedCitations):
    """Share of the statements with citations that passages support, but not the cited passages. Low is good.

    Statements that cite passages, but that only other passages support / statements that cite. A statement that no
    passage supports is not misattributed but unfounded; ``Faithfulness`` counts those. A response that cites nothing is unscored.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the statements against every passage in a separate call.
        pattern: a regular expression with one group that finds the numbers or ids of citations, instead of the built-in forms.

    Source: this library; from the tables of Gao et al. 2023, ALCE, arXiv:2305.14627.
    """

    higher_is_better: ClassVar[bool | None] = False
    called: ClassVar[str] = "statements with citations supported by other passages only"

    def counted(self, statement: Statement, support: frozenset[int]) -> list[bool]:
        """Return [] without citations; else [True] if passages support the statement but no cited one does, or [False]."""
        return [bool(support) and statement.cited.isdisjoint(support)] if statement.citations else []
