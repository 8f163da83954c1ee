"""Faithfulness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Score, Steps
from ragmetrics_core.metrics.claim_metric import ClaimMetric
from ragmetrics_core.metrics.claims import supported_share


@dataclass(frozen=True)
class Faithfulness(ClaimMetric):
    """Share of the response's claims that the retrieved contexts support.

    One call splits the response into claims, and one call checks all claims against all contexts. Supported claims / claims; a
    response without claims is unscored. A claim that any passage supports counts as supported. If another passage contradicts it,
    its verdict in the details has the flag ``contradicted``.

    Attributes:
        window: most tokens of context per call (estimated). Longer contexts are checked in several concurrent calls, and a claim
            is supported if any window supports it. None: all contexts in one call.
        per_passage: check the claims against every passage in a separate call.

    Source: Es et al. 2023, RAGAS, arXiv:2309.15217, section 3, "Faithfulness".
    """

    calls: ClassVar[str] = "2 (with window: 1 + number of windows; per passage: 1 + n)"

    def measure(self, user_input: str, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Extract the claims, then check them."""
        verdicts = yield from self.checked(response, retrieved_contexts, user_input)
        if not verdicts:
            return Score.unscored("the response makes no claims")
        return Score(supported_share(verdicts), details={"verdicts": verdicts})
