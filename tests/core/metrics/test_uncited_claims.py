"""Uncited claims: which sentences are claims, and which of them cite."""

from __future__ import annotations

import pytest

from ragmetrics_core.metrics import UncitedClaims


@pytest.mark.parametrize(
    ("response", "value", "uncited"),
    [
        ("It is red [1]. It is tall.", 1 / 2, ["It is tall."]),
        ("It is red [9].", 0.0, []),
        ("# Colours\nIs it red? It is:\n- red [1]\n- brown", 1 / 2, ["brown"]),
        ("It is red.", 1.0, ["It is red."]),
    ],
)
def test_values(response: str, value: float, uncited: list[str]) -> None:
    score = UncitedClaims().score(response=response, retrieved_contexts=["a", "b"])
    assert score.value == value
    assert score.details["uncited"] == uncited


def test_without_statements_there_is_no_score() -> None:
    score = UncitedClaims().score(response="Which tower?", retrieved_contexts=["a"])
    assert (score.value, score.reason) == (None, "the response makes no statements")
