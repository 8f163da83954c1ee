"""Diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmetrics_core import BadReply, Prompt, Score, Steps, together
from ragmetrics_core.metrics.abstention import JUDGE_ABSTENTION, Abstention, judge_abstention
from ragmetrics_core.metrics.claim_metric import ClaimMetric, Rows

REASONS = {
    "declined": "declined: the response answers nothing",
    "right": "right: the response says all that the reference says, and the contexts support all of it",
    "right_unsupported": "right, but unsupported: the contexts do not support some of what the response says",
    "contradicted": "contradicted: the contexts contradict what the response says against the reference",
    "misled": "misled: the contexts support what the response says against the reference",
    "not_retrieved": "not retrieved: the response lacks something that the contexts lack too",
    "not_used": "not used: the response lacks something that the contexts hold",
    "own_knowledge": "own knowledge: the response says something against the reference of which the contexts say nothing",
}
"""Each label in words."""


TABLES = ("verdicts", "reference_verdicts", "reference_claims", "response_verdicts")
"""Names of the tables in the details: claims of the response, checked against passages and against the reference; then claims of
the reference, checked against passages and against the response.
"""


@dataclass(frozen=True)
class Diagnosis(ClaimMetric):
    """What went wrong with an answer, and which part of the system caused it: 1.0 if the answer is right, else 0.0, with a
    label.

    An answer is right if it states everything that the reference states and contradicts the reference nowhere. The label is the
    first that applies:

    * ``declined``: the response answers nothing.
    * ``right``: right, and the contexts support all of it.
    * ``right_unsupported``: right, but the contexts do not support some of it.
    * ``contradicted``: the contexts contradict what the response says against the reference: the generator did not follow them.
    * ``misled``: the contexts support what the response says against the reference: the contexts are wrong.
    * ``not_retrieved``: the response lacks something that the contexts lack too: the retriever did not find it.
    * ``not_used``: the response lacks something that the contexts contain: the generator did not use it.
    * ``own_knowledge``: the response says something against the reference, and the contexts say nothing about it.

    A reference without claims is unscored, and so is an answer without claims that does not decline.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the claims against every passage in a separate call.

    Source: the tables of Ru et al. 2024, RAGChecker, arXiv:2408.08067, section 3; the labels are this library's.
    """

    calls: ClassVar[str] = "7 (per passage: 5 + 2n)"
    two_valued: ClassVar[bool] = True
    takes_empty: ClassVar[tuple[str, ...]] = ("retrieved_contexts",)

    abstention: Prompt[Abstention] = JUDGE_ABSTENTION

    def measure(
        self, user_input: str, response: str, reference: str, retrieved_contexts: Sequence[str]
    ) -> Steps[Score]:
        """Ask whether the response declines, and extract the claims of both texts; then check the claims of each text against
        the other texts.
        """
        abstention, claims, reference_claims = yield from together(
            judge_abstention(self.abstention, user_input, retrieved_contexts, response),
            self.claims_of(response, user_input),
            self.claims_of(reference, user_input),
        )
        declines = abstention.response_declines == "wholly"
        if not reference_claims or not (claims or declines):
            return Score.unscored(f"the {'response' if reference_claims else 'reference'} makes no claims")
        found = yield from together(
            self.check(claims, response, retrieved_contexts, user_input),
            self.compare(claims, response, reference, user_input),
            self.check(reference_claims, reference, retrieved_contexts, user_input),
            self.compare(reference_claims, reference, response, user_input),
        )
        label, why = next((label, claims) for label, claims in _labels(declines, *found) if claims is not None)
        value = float(label in ("right", "right_unsupported"))
        details = {"abstention": abstention.model_dump(), "because": why, **dict(zip(TABLES, found, strict=True))}
        return Score(value, passing=bool(value), reason=REASONS[label], details=details, label=label)


def _labels(
    declines: bool, said: Rows, by_reference: Rows, wanted: Rows, by_response: Rows
) -> Iterator[tuple[str, list[str] | None]]:
    """Return all labels in order, each with the claims that it rests on; None for a label that does not apply.

    Args:
        declines: whether the response answers nothing.
        said: what the contexts say about the claims of the response.
        by_reference: what the reference says about the same claims.
        wanted: what the contexts say about the claims of the reference.
        by_response: what the response says about the same claims.
    """
    yield "declined", [] if declines else None
    # row by row, not by claim: a claim that a text makes twice has two rows, and their verdicts may differ
    missing = [(row["claim"], there) for row, there in zip(by_response, wanted, strict=True) if not row["supported"]]
    wrong = [(row["claim"], there) for row, there in zip(by_reference, said, strict=True) if _contradicted(row)]
    if not missing and not wrong:
        unsupported = [row["claim"] for row in said if not row["supported"]]
        yield "right", None if unsupported else []
        yield "right_unsupported", unsupported
    yield "contradicted", _some(claim for claim, there in wrong if _contradicted(there))
    yield "misled", _some(claim for claim, there in wrong if there["supported"])
    yield "not_retrieved", _some(claim for claim, there in missing if not there["supported"])
    yield "not_used", _some(claim for claim, _ in missing)
    yield "own_knowledge", [claim for claim, _ in wrong]


def _some(claims: Iterable[str]) -> list[str] | None:
    return list(claims) or None


def _contradicted(row: Mapping[str, Any]) -> bool:
    """Whether a claim is contradicted and not supported.

    Raises:
        BadReply: the verdict does not say whether the claim is contradicted, like replies to the first version of the prompt.
            Without that, a wrong answer cannot be distinguished from a right one.
    """
    if row["supported"]:
        return False
    if "verdict" not in row:
        raise BadReply(
            "diagnosis needs to know which claims are contradicted, but the judge's verdicts do not say so: ask for the "
            "contexts against a claim, as the built-in prompt does"
        )
    return bool(row["verdict"] == "contradicted")
