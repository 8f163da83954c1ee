"""Exact match of two answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Score
from ragmetrics_core.metrics.settings import check_switch
from ragmetrics_core.metrics.squad import normalise


@dataclass(frozen=True)
class ExactMatch(Metric):
    """1.0 if the response equals the reference, else 0.0.

    Args:
        normalize: compare as SQuAD does: in lower case, without ASCII punctuation, without the English articles a, an and the,
            with single spaces. Texts that are empty after that are equal to each other.

    Raises:
        InvalidInput: ``normalize`` is not a bool.

    Source: Rajpurkar et al. 2016, SQuAD, arXiv:1606.05250, section 6.1; normalisation as in the official script
    evaluate-v2.0.py.
    """

    two_valued: ClassVar[bool] = True

    normalize: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_switch(self.name, "normalize", self.normalize)

    def measure(self, response: str, reference: str) -> Score:
        """Score one answer. The details hold the two texts as they were compared."""
        prepare = normalise if self.normalize else str
        compared = {"response": prepare(response), "reference": prepare(reference)}
        return Score(float(compared["response"] == compared["reference"]), details=compared)
