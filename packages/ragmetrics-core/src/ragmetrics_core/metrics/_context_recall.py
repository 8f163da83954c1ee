"""Context recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Score, Steps
from ragmetrics_core.metrics.claim_metric import ClaimMetric
from ragmetrics_core.metrics.claims import supported_share


@dataclass(frozen=True)
class ContextRecall(ClaimMetric):
    """Share of the reference's claims that the retrieved contexts support: did retrieval bring what was needed?

    Supported reference claims / reference claims. A separate call extracts the claims of the reference, so a claim that a judge
    would prefer to skip stays in the denominator. A reference without claims is unscored.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the claims against every passage in a separate call.

    Source: the RAGAS documentation, "Context Recall", https://docs.ragas.io; claims after Es et al. 2023, arXiv:2309.15217.
    """

    calls: ClassVar[str] = "2 (with window: 1 + number of windows; per passage: 1 + n)"

    def measure(self, user_input: str, reference: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Extract the claims of the reference, then check them against the contexts."""
        verdicts = yield from self.checked(reference, retrieved_contexts, user_input)
        if not verdicts:
            return Score.unscored("the reference makes no claims")
        return Score(supported_share(verdicts), details={"verdicts": verdicts})
