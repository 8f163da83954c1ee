"""Exact match of answers, with the outputs and errors of Haystack's own component."""

from __future__ import annotations

from typing import Any

from haystack import component
from ragmetrics_core.metrics import ExactMatch

from ._home import HOME

__all__ = ["AnswerExactMatchEvaluator"]

_METRIC = ExactMatch()


@component
class AnswerExactMatchEvaluator:
    """Whether each predicted answer equals the expected one, character by character."""

    __module__ = HOME

    @component.output_types(individual_scores=list[int], score=float)
    def run(self, ground_truth_answers: list[str], predicted_answers: list[str]) -> dict[str, Any]:
        """Compare the answers pair by pair.

        Args:
            ground_truth_answers: the expected answers.
            predicted_answers: the answers to judge, in the same order.

        Returns:
            ``individual_scores``: 1 or 0 for each pair; ``score``: their mean.

        Raises:
            ValueError: a list is empty, or the lists differ in length.
        """
        if len(ground_truth_answers) == 0 or len(predicted_answers) == 0:
            raise ValueError("ground_truth_answers and predicted_answers must be provided.")
        if len(ground_truth_answers) != len(predicted_answers):
            raise ValueError("The length of ground_truth_answers and predicted_answers must be the same.")
        scores = [
            _match(expected, predicted)
            for expected, predicted in zip(ground_truth_answers, predicted_answers, strict=True)
        ]
        return {"individual_scores": scores, "score": sum(scores) / len(scores)}


def _match(expected: Any, predicted: Any) -> int:
    if isinstance(expected, str) and isinstance(predicted, str):
        return int(_METRIC.measure(response=predicted, reference=expected).value == 1.0)
    # Haystack compares whatever it is given: numbers, lists, None
    return 1 if expected == predicted else 0
