"""Claim utilization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Score, Steps, together
from ragmetrics_core.metrics.claim_metric import ClaimMetric


@dataclass(frozen=True)
class ClaimUtilization(ClaimMetric):
    """Share of the reference's retrieved claims that the response uses.

    Reference claims that both the contexts and the response support / reference claims that the contexts support. If the contexts
    support none, there was nothing to use, and the sample is unscored.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the claims against every passage in a separate call.

    Source: Ru et al. 2024, RAGChecker, arXiv:2408.08067, section 3.3, "Context Utilization".
    """

    calls: ClassVar[str] = "3 (with window: 2 + number of windows; per passage: 2 + n)"

    def measure(
        self, user_input: str, response: str, reference: str, retrieved_contexts: Sequence[str]
    ) -> Steps[Score]:
        """Extract the claims of the reference, find those that the contexts support, and find which of these the response
        states.
        """
        claims = yield from self.claims_of(reference, user_input)
        if not claims:
            return Score.unscored("the reference makes no claims")
        support, statements = yield from together(
            self.check(claims, reference, retrieved_contexts, user_input),
            self.compare(claims, reference, response, user_input),
        )
        details = {"verdicts": support, "response_verdicts": statements}
        uses = [stated["supported"] for found, stated in zip(support, statements, strict=True) if found["supported"]]
        if not uses:
            return Score.unscored("the contexts support no claim of the reference", details=details)
        return Score(sum(uses) / len(uses), details=details)
