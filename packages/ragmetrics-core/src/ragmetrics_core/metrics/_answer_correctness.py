"""Answer correctness."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmetrics_core import InvalidInput, Metric, Prompt, Score, Steps, compare, together
from ragmetrics_core.metrics import FactualCorrectness
from ragmetrics_core.metrics.claims import EXTRACT_CLAIMS, VERIFY_CLAIMS, Claims, Verdicts


@dataclass(frozen=True)
class AnswerCorrectness(Metric):
    """Weighted mean of the factual agreement and the semantic similarity of response and reference.

    (w1 * F-beta of ``FactualCorrectness`` + w2 * max(cosine, 0)) / (w1 + w2). The factual part makes the same calls as
    ``FactualCorrectness``.
    A part whose weight is 0 is not computed and costs nothing. The score is unscored if the factual part is.

    Attributes:
        weights: the weights of the factual part and of the similarity.
        beta: as in ``FactualCorrectness``.

    Source: the RAGAS documentation, "Answer Correctness", https://docs.ragas.io.
    """

    calls: ClassVar[str] = "4 + 1 embedding request"

    weights: tuple[float, float] = (0.75, 0.25)
    beta: float = 1.0
    extract: Prompt[Claims] = EXTRACT_CLAIMS
    verify: Prompt[Verdicts] = VERIFY_CLAIMS

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = tuple(self.weights)
        good = len(weights) == 2 and all(isinstance(item, int | float) and math.isfinite(item) for item in weights)
        if not good or min(weights) < 0 or sum(weights) == 0:
            raise InvalidInput(f"{self.name}: weights must be two numbers from 0, not both 0, got {self.weights!r}")
        object.__setattr__(self, "weights", weights)
        self._factual  # noqa: B018  checks beta

    @property
    def _factual(self) -> FactualCorrectness:
        return FactualCorrectness(beta=self.beta, extract=self.extract, verify=self.verify, name=self.name)

    def measure(self, user_input: str, response: str, reference: str) -> Steps[Score]:
        """Compute the parts that have a weight above 0, with their model requests sent together."""
        factual_part = self._factual.measure(response, reference, user_input)
        programs: list[Steps[Any]] = [factual_part, compare([(response, reference)])]
        parts = yield from together(*itertools.compress(programs, self.weights))
        details: dict[str, Any] = {}
        if self.weights[0]:
            factual: Score = parts[0]
            if factual.value is None:
                return factual
            details.update(factual.details, factual=factual.value)
        if self.weights[1]:
            details["similarity"] = max(parts[-1][0], 0.0)
        total = self.weights[0] * details.get("factual", 0.0) + self.weights[1] * details.get("similarity", 0.0)
        return Score(min(total / sum(self.weights), 1.0), details=details)
