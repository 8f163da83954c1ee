"""Passage precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Score, Steps
from ragmetrics_core.metrics.claim_metric import ClaimMetric, relevant_passages


@dataclass(frozen=True)
class PassagePrecision(ClaimMetric):
    """Share of the retrieved passages that contain something of the reference.

    Passages that support at least one claim of the reference / passages. A reference without claims is unscored.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the claims against every passage in a separate call.

    Source: Ru et al. 2024, RAGChecker, arXiv:2408.08067, section 3.3, "Context Precision".
    """

    calls: ClassVar[str] = "2 (with window: 1 + number of windows; per passage: 1 + n)"

    def measure(self, user_input: str, reference: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Extract the claims of the reference, then find the passages that support any of them."""
        verdicts = yield from self.checked(reference, retrieved_contexts, user_input)
        if not verdicts:
            return Score.unscored("the reference makes no claims")
        relevant = relevant_passages(verdicts, self.name)
        details = {"relevant_passages": sorted(relevant), "verdicts": verdicts}
        return Score(len(relevant) / len(retrieved_contexts), details=details)
