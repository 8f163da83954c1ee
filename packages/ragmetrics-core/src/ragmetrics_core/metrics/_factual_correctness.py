"""Factual correctness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragmetrics_core import InvalidInput, Metric, Prompt, Score, Steps, together
from ragmetrics_core.metrics.claims import (
    EXTRACT_CLAIMS,
    VERIFY_CLAIMS,
    Claims,
    Verdicts,
    claims_in,
    evidence,
    supported_share,
)
from ragmetrics_core.metrics.settings import check_choice

SIDES = {"f1": ["response", "reference"], "precision": ["response"], "recall": ["reference"]}
"""The texts whose claims each mode counts."""


@dataclass(frozen=True)
class FactualCorrectness(Metric):
    """How well the claims of the response and of the reference agree.

    Precision = response claims that the reference supports / response claims. Recall = reference claims that the response
    supports / reference claims. F-beta = (1 + beta²) P R / (beta² P + R), not rounded.

    Without reference claims there is nothing to recall: recall and F are unscored. Without response claims recall and F are 0.0,
    and precision is unscored. The mode ``precision`` does not extract the claims of the reference; a reference without claims
    supports nothing, so precision is 0.0 then.

    Attributes:
        mode: ``f1`` (F-beta), ``precision`` or ``recall``; the last two cost half the calls.
        beta: weight of recall against precision in F-beta.

    Source: the RAGAS documentation, "Factual Correctness", https://docs.ragas.io; F-beta as in van Rijsbergen 1979, Information
    Retrieval, chapter 7.
    """

    calls: ClassVar[str] = "4 (2 for precision or recall alone)"

    mode: Literal["f1", "precision", "recall"] = "f1"
    beta: float = 1.0
    extract: Prompt[Claims] = EXTRACT_CLAIMS
    verify: Prompt[Verdicts] = VERIFY_CLAIMS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "mode", self.mode, tuple(SIDES))
        check_beta(self.name, self.beta)

    def measure(self, response: str, reference: str, user_input: str | None = None) -> Steps[Score]:
        """Extract the claims of both texts in one round, and check them against the other text in a second round."""
        own = {"response": response, "reference": reference}
        other = {"response": reference, "reference": response}
        sides = SIDES[self.mode]
        claims = yield from together(*(claims_in(self.extract, user_input, own[side]) for side in sides))
        if not all(claims):
            return self._without_claims(claims)
        programs = (
            evidence(self.verify, parts, [other[side]], user_input, parts.places)
            for side, parts in zip(sides, claims, strict=True)
        )
        return self._combine((yield from together(*programs)))

    def _without_claims(self, claims: Sequence[Sequence[str]]) -> Score:
        details = {f"{side}_claims": found for side, found in zip(SIDES[self.mode], claims, strict=True)}
        if not claims[-1]:
            return Score.unscored(f"the {SIDES[self.mode][-1]} makes no claims", details=details)
        # recall is 0, so F is 0 for every precision
        return Score(0.0, reason="the response makes no claims", details={**details, "recall": 0.0})

    def _combine(self, checked: Sequence[Sequence[Mapping[str, Any]]]) -> Score:
        shares = [supported_share(verdicts) for verdicts in checked]
        names = ["precision", "recall"] if self.mode == "f1" else [self.mode]
        details: dict[str, Any] = dict(zip(names, shares, strict=True))
        details.update((f"{side}_claims", found) for side, found in zip(SIDES[self.mode], checked, strict=True))
        return Score(f_beta(shares[0], shares[1], self.beta) if self.mode == "f1" else shares[0], details=details)


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return the weighted harmonic mean of precision and recall; 0.0 if either is 0."""
    if not precision or not recall:
        return 0.0
    if precision == recall:
        return precision  # exact, without the rounding errors of the formula below
    weight = beta * beta
    if math.isinf(weight):
        return recall  # the limit of the formula
    return (1 + weight) * precision * recall / (weight * precision + recall)


def check_beta(metric: str, beta: float) -> None:
    """Check that beta is a positive finite number.

    Raises:
        InvalidInput: it is not.
    """
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not (math.isfinite(beta) and beta > 0):
        raise InvalidInput(f"{metric}: beta must be a positive number, got {beta!r}")
