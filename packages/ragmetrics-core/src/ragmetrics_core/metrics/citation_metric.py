"""What the metrics of citations share: how citations are found, and one question about the statements of a response.

The check of claims decides which of the retrieved passages support a statement. That is one call for all statements. All metrics
that need it share the call; metrics that only look at markers need none. A passage counts as support if the judge names it. If
two passages support a statement only together, each of them counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ragmetrics_core import InvalidInput, Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.citing import Statement, names_of, statements
from ragmetrics_core.metrics.claim_metric import check_claims, supporting
from ragmetrics_core.metrics.claims import VERIFY_CLAIMS, Verdicts
from ragmetrics_core.metrics.markers import compiled
from ragmetrics_core.metrics.matching import DocumentList
from ragmetrics_core.metrics.settings import check_passages

__all__ = ["NOTHING_CITED", "NOTHING_SAID", "CitationMetric", "JudgedCitations", "Statements"]

NOTHING_SAID = "the response makes no statements"
NOTHING_CITED = "the response cites nothing"


class Statements(tuple[Statement, ...]):
    """The statements of a response."""

    __slots__ = ()

    def citations(self) -> list[dict[str, Any]]:
        """Return the citations of each statement, as evidence."""
        return [_cited(statement) for statement in self]


@dataclass(frozen=True)
class CitationMetric(Metric):
    """Base of metrics that read citations.

    Attributes:
        pattern: a regular expression with one group that finds the numbers or ids of citations, instead of the built-in forms.

    Raises:
        InvalidInput: the pattern is not a regular expression, or does not have exactly one group.
    """

    pattern: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pattern is not None:
            try:
                compiled(self.pattern)
            except InvalidInput as error:
                raise InvalidInput(f"{self.name}: {error}") from None

    def read(self, response: str, passages: Sequence[str], documents: DocumentList | None) -> Statements:
        """Return the statements of the response, with their citations."""
        count = len(passages)
        names = names_of(documents, count, self.name)
        found: dict[Any, Any] = getattr(passages, "found", {})  # results that the metrics of a row share
        key = (CitationMetric, response, count, tuple(names.items()), self.pattern)
        said: Statements | None = found.get(key)
        if said is None:
            said = found[key] = Statements(statements(response, count, names, self.pattern))
        return said


@dataclass(frozen=True)
class JudgedCitations(CitationMetric):
    """Base of metrics that ask which passages support the statements. The value is a share; ``counted`` says what is counted.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the statements against every passage in a separate call.
        verify: the prompt that checks statements against contexts.

    Class attributes to set:
        without_citations: the value if the response cites nothing; None: the score has no value then.
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
        """Return the items that the statement adds to the share: True for an item that counts, False for one that does not.
        ``support`` holds the numbers of the passages that support the statement.
        """
        raise NotImplementedError

    def measure(
        self,
        user_input: str,
        response: str,
        retrieved_contexts: Sequence[str],
        retrieved_documents: DocumentList | None = None,
    ) -> Steps[Score]:
        """Read the citations, and check all statements against all passages in one call."""
        said = self.read(response, retrieved_contexts, retrieved_documents)
        if not said:
            return Score.unscored(NOTHING_SAID)
        if not any(statement.citations for statement in said):
            return self._uncited(said)
        claims, window, each = [statement.text for statement in said], self.window, self.per_passage
        rows = yield from check_claims(
            self.verify, claims, retrieved_contexts, user_input, said.citations, window=window, per_passage=each
        )
        supports = supporting(rows, self.name)
        items = [item for pair in zip(said, supports, strict=True) for item in self.counted(*pair)]
        # the verdicts alone do not say this: a statement may be supported, but by a passage that it does not cite
        reason = f"{sum(items)} of {len(items)} {self.called}"
        return Score(sum(items) / len(items), reason=reason, details={"verdicts": rows})

    def _uncited(self, said: Sequence[Statement]) -> Score:
        """Return the score of a response without any citation; no judge is needed."""
        details = {"statements": [{"claim": statement.text, **_cited(statement)} for statement in said]}
        if self.without_citations is None:
            return Score.unscored(NOTHING_CITED, details=details)
        return Score(self.without_citations, reason=NOTHING_CITED, details=details)


def _cited(statement: Statement) -> dict[str, Any]:
    """Return the citations of a statement, as evidence."""
    citations = [{"marker": marker, "passages": list(passages)} for marker, passages, _ in statement.citations]
    return {"citations": citations, "span": list(statement.span)}
