"""Claim utilization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Score, Steps, together
from ragmetrics_core.metrics.claim_metric import ClaimMetric


@dataclass(frozen=True)
class ClaimUtilization(ClaimMetric):
    """Of what the reference says and retrieval found, the share that the response uses.

    Reference claims that the contexts support and the response too / reference claims that the contexts support. Where there are
    none of the latter, nothing could have been used, and the sample is unscored.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the claims against every passage in a separate call.

    Source: Ru et al. 2024, RAGChecker, arXiv:2408.08067, section 3.3, "Context Utilization".
    """

    calls: ClassVar[str] = "3 (with window: 2 + number of windows; per passage: 2 + n)"

    def measure(
        self, user_input: str, response: str, reference: str, retrieved_contexts: Sequence[str]
    ) -> Steps[Score]:
        """Extract the claims of the reference, look which of them were found, and which of these the response says."""
        claims = yield from self.claims_of(reference, user_input)
        if not claims:
            return Score.unscored("the reference makes no claims")
        found, said = yield from together(
            self.check(claims, reference, retrieved_contexts, user_input),
            self.compare(claims, reference, response, user_input),
        )
        details = {"verdicts": found, "response_verdicts": said}
        used = [verdict["supported"] for there, verdict in zip(found, said, strict=True) if there["supported"]]
        if not used:
            return Score.unscored("the contexts support no claim of the reference", details=details)
        return Score(sum(used) / len(used), details=details)
