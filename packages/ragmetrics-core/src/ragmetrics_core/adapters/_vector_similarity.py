"""The similarity of two texts by a function of the user's or of a framework, where it is not the cosine that the core computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .._kernel._metric import Metric
from .._kernel._score import Score
from .._kernel._steps import Steps, embed


@dataclass(frozen=True)
class VectorSimilarity(Metric):
    """Similarity of response and reference by any function of their two vectors; it has no bounds.

    Attributes:
        function: makes a number of two vectors.
    """

    scale: ClassVar[tuple[float, float] | None] = None
    calls: ClassVar[str] = "1 embedding request"

    function: Callable[[Sequence[float], Sequence[float]], float] = field(repr=False, compare=False)

    def measure(self, response: str, reference: str) -> Steps[Score]:
        """Embed both texts, compare their vectors."""
        left, right = yield from embed([response, reference])
        value = float(self.function(left, right))
        return Score(value, details={"similarity": value})
