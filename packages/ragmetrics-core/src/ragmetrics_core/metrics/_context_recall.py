"""Context recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.claims import (
    EXTRACT_CLAIMS,
    VERIFY_CLAIMS,
    Claims,
    Verdicts,
    extract,
    supported_share,
    verify,
)

__all__ = ["ContextRecall"]


@dataclass(frozen=True)
class ContextRecall(Metric):
    """Share of the reference's claims that can be found in the retrieved contexts: did retrieval bring what was needed?

    Supported reference claims / reference claims. The reference is taken apart in a call of its own, so a claim that a judge
    would rather skip cannot drop out of the denominator. A reference without claims is unscored.

    Source: the RAGAS documentation, "Context Recall", https://docs.ragas.io; claims after Es et al. 2023, arXiv:2309.15217.
    """

    calls: ClassVar[str] = "2"

    extract: Prompt[Claims] = EXTRACT_CLAIMS
    verify: Prompt[Verdicts] = VERIFY_CLAIMS

    def measure(self, user_input: str, reference: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Extract the claims of the reference, verify them against the contexts."""
        claims = yield from extract(self.extract, user_input, reference)
        if not claims:
            return Score.unscored("the reference makes no claims")
        verdicts = yield from verify(self.verify, claims, retrieved_contexts)
        return Score(supported_share(verdicts), details={"verdicts": verdicts})
