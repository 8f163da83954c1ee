"""What the response says without support in the passages: known by itself if the reference says it too, made up if not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Score, Steps, together
from ragmetrics_core.metrics.claim_metric import ClaimMetric

__all__ = ["UnfoundedClaims"]


@dataclass(frozen=True)
class UnfoundedClaims(ClaimMetric):
    """Base of the two metrics that share out the response's claims that no passage supports.

    Class attributes to set:
        right: whether those are counted that the reference supports, or the others.
        called: the name of the counted claims in the details.
    """

    higher_is_better: ClassVar[bool | None] = False
    calls: ClassVar[str] = "3 (with window: 2 + number of windows; per passage: 2 + n)"

    right: ClassVar[bool]
    called: ClassVar[str]

    def measure(
        self, user_input: str, response: str, reference: str, retrieved_contexts: Sequence[str]
    ) -> Steps[Score]:
        """Extract the claims of the response, check them against the passages and against the reference."""
        claims = yield from self.claims_of(response, user_input)
        if not claims:
            return Score.unscored("the response makes no claims")
        verdicts, right = yield from together(
            self.check(claims, response, retrieved_contexts, user_input),
            self.compare(claims, response, reference, user_input),
        )
        counted = [
            claim
            for claim, found, other in zip(claims, verdicts, right, strict=True)
            if not found["supported"] and other["supported"] is self.right
        ]
        details = {self.called: counted, "verdicts": verdicts, "reference_verdicts": right}
        return Score(len(counted) / len(claims), details=details)
