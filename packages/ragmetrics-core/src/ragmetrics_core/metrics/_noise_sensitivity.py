"""Noise sensitivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ragmetrics_core import Score, Steps, together
from ragmetrics_core.metrics.claim_metric import ClaimMetric, relevant_passages, supporting
from ragmetrics_core.metrics.settings import check_switch


@dataclass(frozen=True)
class NoiseSensitivity(ClaimMetric):
    """Share of the response's claims that are wrong and come from the passages: how often noise misleads the generator. Low is
    good.

    Response claims that a relevant passage supports and the reference does not / response claims. A passage is relevant if it
    supports a claim of the reference. ``relevant=False`` counts the claims that only irrelevant passages support. A response or
    a reference without claims is unscored.

    Attributes:
        relevant: True: noise of relevant passages (the name is then ``noise_sensitivity_relevant``). False: noise of the other
            passages (``noise_sensitivity_irrelevant``).
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the claims against every passage in a separate call.

    Source: Ru et al. 2024, RAGChecker, arXiv:2408.08067, section 3.3, "Noise Sensitivity".
    """

    higher_is_better: ClassVar[bool | None] = False
    calls: ClassVar[str] = "5 (per passage: 3 + 2n)"

    relevant: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        check_switch("NoiseSensitivity", "relevant", self.relevant)
        super().__post_init__()

    @property
    def usual_name(self) -> str:
        """A name for each value of ``relevant``, so that both can be columns of one run."""
        return f"{self.default_name()}_{'relevant' if self.relevant else 'irrelevant'}"

    def measure(
        self, user_input: str, response: str, reference: str, retrieved_contexts: Sequence[str]
    ) -> Steps[Score]:
        """Extract the claims of both texts; check all of them against the passages, and the claims of the response against
        the reference.
        """
        claims, reference_claims = yield from together(
            self.claims_of(response, user_input), self.claims_of(reference, user_input)
        )
        if not claims or not reference_claims:
            return Score.unscored(f"the {'reference' if claims else 'response'} makes no claims")
        verdicts, reference_support, right = yield from together(
            self.check(claims, response, retrieved_contexts, user_input),
            self.check(reference_claims, reference, retrieved_contexts, user_input),
            self.compare(claims, response, reference, user_input),
        )
        relevant = relevant_passages(reference_support, self.name)
        wrong = [
            claim
            for claim, passages, row in zip(claims, supporting(verdicts, self.name), right, strict=True)
            if passages and not row["supported"] and bool(passages & relevant) is self.relevant
        ]
        details = {
            "misled": wrong,
            "relevant_passages": sorted(relevant),
            "verdicts": verdicts,
            "reference_verdicts": right,
        }
        return Score(len(wrong) / len(claims), details=details)
