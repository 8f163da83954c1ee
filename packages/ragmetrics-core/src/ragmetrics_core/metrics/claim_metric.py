"""What the metrics of claims and passages share: their settings, and how claims are checked against passages.

These metrics read a few tables. One says what the passages say about the claims of the response, one what they say about the
claims of the reference, and two what response and reference say about each other's claims. A run asks for each table once,
whichever metrics read it. So a further metric costs little, and its score does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ragmetrics_core import BadReply, Evidence, Metric, Prompt, Score, Steps, together
from ragmetrics_core.metrics.claim_origin import PlacedClaims
from ragmetrics_core.metrics.claims import EXTRACT_CLAIMS, VERIFY_CLAIMS, Claims, Verdicts, best, claims_in, evidence
from ragmetrics_core.metrics.settings import check_passages
from ragmetrics_core.metrics.windows import pack_numbered

__all__ = ["ClaimMetric", "Rows", "UnfoundedClaims", "check_claims", "relevant_passages", "supporting"]

Rows = Sequence[Mapping[str, Any]]
"""What passages say about claims, one row per claim; see ``claims.evidence``. Metrics share the rows, so they are read-only.

The place of a claim in its text is computed only when the details of the whole table are read; a single row does not have it.
"""


NOWHERE = {"verdict": "not stated", "supported_by": [], "contradicted_by": []}
"""The verdict on a claim if nothing was retrieved."""


@dataclass(frozen=True)
class ClaimMetric(Metric):
    """Base of metrics that check the claims of one text against passages.

    Attributes:
        window: most tokens of context per call (estimated). Longer contexts are checked in several concurrent calls, and a claim
            is supported if any window supports it. None: all contexts in one call.
        per_passage: check the claims against every passage in a separate call. This costs more, and helps if a judge overlooks
            things in long lists.
        extract: the prompt that splits a text into claims.
        verify: the prompt that checks claims against contexts.

    Raises:
        InvalidInput: an impossible ``window`` or ``per_passage``.
    """

    window: int | None = None
    per_passage: bool = field(default=False, kw_only=True)
    extract: Prompt[Claims] = EXTRACT_CLAIMS
    verify: Prompt[Verdicts] = VERIFY_CLAIMS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_passages(self.name, self.window, self.per_passage)

    def claims_of(self, text: str, question: str | None) -> Steps[PlacedClaims]:
        """Split a text into claims, in one call."""
        return claims_in(self.extract, question, text)

    def checked(self, text: str, passages: Sequence[str], question: str | None) -> Steps[Rows]:
        """Split a text into claims and check them against passages, see ``check``; no rows if the text makes no claims."""
        claims = yield from self.claims_of(text, question)
        return (yield from self.check(claims, text, passages, question))

    def check(self, claims: Sequence[str], text: str, passages: Sequence[str], question: str | None) -> Steps[Rows]:
        """Check the claims of a text against passages. The result has one row per claim, with the numbers of passages."""
        if not passages or not claims:
            return [{"claim": claim, "supported": False, "reason": "", **NOWHERE} for claim in claims]
        window, each, said = self.window, self.per_passage, PlacedClaims.of(claims, text)
        checked = check_claims(self.verify, said, passages, question, said.places, window=window, per_passage=each)
        return (yield from checked)

    def compare(self, claims: Sequence[str], text: str, other: str, question: str | None) -> Steps[Rows]:
        """Check the claims of a text against another text, which is one single passage."""
        if not claims:
            return []
        said = PlacedClaims.of(claims, text)
        return (yield from evidence(self.verify, said, [other], question, said.places))


def check_claims(
    prompt: Prompt[Verdicts],
    claims: Sequence[str],
    passages: Sequence[str],
    question: str | None,
    extras: Callable[[], Iterable[Mapping[str, Any]]],
    *,
    window: int | None = None,
    per_passage: bool = False,
) -> Steps[Rows]:
    """Check claims against passages. The result has one row per claim, with the numbers of passages. For the settings see
    ``ClaimMetric``.

    The rows also show what ``extras()`` returns, see ``claims.evidence``.
    """
    if window is None and not per_passage:
        return (yield from evidence(prompt, claims, passages, question, extras))
    # the pieces of text that go into each call, each with the number of its passage
    numbered = list(enumerate(passages, 1))
    groups = [[passage] for passage in numbered] if per_passage else [numbered]
    if window is not None:
        groups = [part for group in groups for part in pack_numbered(group, window)]
    programs = (evidence(prompt, claims, [piece for _, piece in group], question) for group in groups)
    checked = yield from together(*programs)
    answers = [
        [_renumbered(row, [number for number, _ in group]) for row in rows]
        for group, rows in zip(groups, checked, strict=True)
    ]
    merged = [best(rows) for rows in zip(*answers, strict=True)]
    if window is None:
        merged = [{name: value for name, value in row.items() if name != "window"} for row in merged]
    return Evidence(merged, extras)


def _renumbered(row: Mapping[str, Any], numbers: Sequence[int]) -> dict[str, Any]:
    """Replace the numbers of the pieces that were sent by the numbers of their passages."""
    names = [name for name in ("supported_by", "contradicted_by") if name in row]
    return {**row, **{name: sorted({numbers[number - 1] for number in row[name]}) for name in names}}


def supporting(rows: Sequence[Mapping[str, Any]], name: str) -> list[frozenset[int]]:
    """For each claim, the numbers of the passages that support it.

    Raises:
        BadReply: the judge called a claim supported but did not name the passages, as replies to prompts before version 3 do.
    """
    for row in rows:
        if row["supported"] and not row.get("supported_by"):
            raise BadReply(
                f"{name} needs the passages that support a claim, but the judge's verdicts name none: ask for them, "
                "as the built-in prompt does"
            )
    return [frozenset(row.get("supported_by", ())) for row in rows]


def relevant_passages(rows: Sequence[Mapping[str, Any]], name: str) -> frozenset[int]:
    """Return the numbers of the passages that support any of the claims. Errors: see ``supporting``."""
    return frozenset[int]().union(*supporting(rows, name))


@dataclass(frozen=True)
class UnfoundedClaims(ClaimMetric):
    """Base of the two metrics that count claims of the response that no passage supports.

    If the reference supports such a claim, the system knew it without the passages; otherwise the claim is made up.

    Class attributes to set:
        right: True: count the claims that the reference supports. False: count the others.
        called: the key of the counted claims in the details.
    """

    higher_is_better: ClassVar[bool | None] = False
    calls: ClassVar[str] = "3 (with window: 2 + number of windows; per passage: 2 + n)"

    right: ClassVar[bool]
    called: ClassVar[str]

    def measure(
        self, user_input: str, response: str, reference: str, retrieved_contexts: Sequence[str]
    ) -> Steps[Score]:
        """Extract the claims of the response, then check them against the passages and against the reference."""
        claims = yield from self.claims_of(response, user_input)
        if not claims:
            return Score.unscored("the response makes no claims")
        verdicts, right = yield from together(
            self.check(claims, response, retrieved_contexts, user_input),
            self.compare(claims, response, reference, user_input),
        )
        counted_claims = [
            claim
            for claim, found, other in zip(claims, verdicts, right, strict=True)
            if not found["supported"] and other["supported"] is self.right
        ]
        details = {self.called: counted_claims, "verdicts": verdicts, "reference_verdicts": right}
        return Score(len(counted_claims) / len(claims), details=details)
