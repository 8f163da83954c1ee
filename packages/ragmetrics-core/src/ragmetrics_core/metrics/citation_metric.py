"""What the metrics of citations share: how citations are found, and one question about the statements of a response.

Truth is what the check of claims says: which passages support a statement, of all that were retrieved. That is one call for all
statements, the same for every metric that asks, so a row of all of them costs one call; those that only look at markers cost none.
A passage counts as support where the judge names it; of two that support a statement only together, each does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ragmetrics_core import Document, InvalidInput, Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.citing import Statement, names_of, statements
from ragmetrics_core.metrics.claim_metric import check_claims, supporting
from ragmetrics_core.metrics.claims import VERIFY_CLAIMS, Verdicts
from ragmetrics_core.metrics.markers import compiled
from ragmetrics_core.metrics.settings import check_passages

__all__ = ["NOTHING_CITED", "NOTHING_SAID", "CitationMetric", "JudgedCitations", "Statements"]

NOTHING_SAID = "the response makes no statements"
NOTHING_CITED = "the response cites nothing"


class Statements(tuple[Statement, ...]):
    """The statements of a response."""

    __slots__ = ()

    def citations(self) -> list[dict[str, Any]]:
        """What each of them cites, as evidence."""
        return [_cited(statement) for statement in self]


@dataclass(frozen=True)
class CitationMetric(Metric):
    """Base of metrics that read citations.

    Attributes:
        pattern: a regular expression with one group, which finds the numbers or ids of citations, in the place of the built-in
            forms.

    Raises:
        InvalidInput: the pattern is no regular expression, or has not one group.
    """

    pattern: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pattern is not None:
            try:
                compiled(self.pattern)
            except InvalidInput as error:
                raise InvalidInput(f"{self.name}: {error}") from None

    def read(self, response: str, passages: Sequence[str], documents: Sequence[Document | str] | None) -> Statements:
        """The statements of the response, with what they cite."""
        count = len(passages)
        names = names_of(documents, count, self.name)
        found: dict[Any, Any] = getattr(passages, "found", {})  # what the metrics of a row share
        key = (CitationMetric, response, count, tuple(names.items()), self.pattern)
        said: Statements | None = found.get(key)
        if said is None:
            said = found[key] = Statements(statements(response, count, names, self.pattern))
        return said


@dataclass(frozen=True)
class JudgedCitations(CitationMetric):
    """Base of metrics that ask which passages support the statements: a share of what ``counted`` counts.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the statements against every passage in a separate call.
        verify: checks statements against contexts.

    Class attributes to set:
        without_citations: the value where the response cites nothing; None where it has none.
        called: what is counted, in words.
    """

    calls: ClassVar[str] = "1 (with window: number of windows; per passage: n)"

    without_citations: ClassVar[float | None] = None
    called: ClassVar[str] = "counted"

    window: int | None = None
    per_passage: bool = field(default=False, kw_only=True)
    verify: Prompt[Verdicts] = VERIFY_CLAIMS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_passages(self.name, self.window, self.per_passage)

    def counted(self, statement: Statement, support: frozenset[int]) -> list[bool]:
        """What the statement adds to the share, given the numbers of the passages that support it: an item each, counted or not."""
        raise NotImplementedError

    def measure(
        self,
        user_input: str,
        response: str,
        retrieved_contexts: Sequence[str],
        retrieved_documents: Sequence[Document | str] | None = None,
    ) -> Steps[Score]:
        """Read the citations, and check all statements against all passages, in one call."""
        said = self.read(response, retrieved_contexts, retrieved_documents)
        if not said:
            return Score.unscored(NOTHING_SAID)
        if not any(statement.citations for statement in said):
            return self._uncited(said)
        claims = [statement.text for statement in said]
        window, each = self.window, self.per_passage
        rows = yield from check_claims(
            self.verify, claims, retrieved_contexts, user_input, said.citations, window=window, per_passage=each
        )
        supports = supporting(rows, self.name)
        items = [item for pair in zip(said, supports, strict=True) for item in self.counted(*pair)]
        # the verdicts alone do not tell it: a statement may be supported, but by no passage that it cites
        reason = f"{sum(items)} of {len(items)} {self.called}"
        return Score(sum(items) / len(items), reason=reason, details={"verdicts": rows})

    def _uncited(self, said: Sequence[Statement]) -> Score:
        """The score of a response without any citation, which needs no judge."""
        details = {"statements": [{"claim": statement.text, **_cited(statement)} for statement in said]}
        if self.without_citations is None:
            return Score.unscored(NOTHING_CITED, details=details)
        return Score(self.without_citations, reason=NOTHING_CITED, details=details)


def _cited(statement: Statement) -> dict[str, Any]:
    """The citations of a statement, as evidence."""
    citations = [{"marker": marker, "passages": list(passages)} for marker, passages, _ in statement.citations]
    return {"citations": citations, "span": list(statement.span)}
