"""HitRate: any hit at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.metrics import HitRate

letters = st.sampled_from("abcdefgh")


@pytest.mark.parametrize(
    ("retrieved", "reference", "k", "value"),
    [
        (["x", "a"], ["a", "b"], None, 1.0),
        (["x", "a"], ["a", "b"], 2, 1.0),
        (["x", "a"], ["a", "b"], 1, 0.0),
        (["x", "y"], ["a", "b"], None, 0.0),
        (["a", "b"], ["a", "b"], None, 1.0),
        ([], ["a"], None, 0.0),
    ],
)
def test_values_worked_out_by_hand(retrieved: list[str], reference: list[str], k: int | None, value: float) -> None:
    score = HitRate(k=k).score(retrieved_documents=retrieved, reference_documents=reference)

    assert score.value == value


@given(st.lists(letters), st.lists(letters, min_size=1), st.none() | st.integers(1, 9))
def test_equals_the_definition_on_sets(retrieved: list[str], reference: list[str], k: int | None) -> None:
    expected = 0.0 if set(retrieved[:k]).isdisjoint(reference) else 1.0

    assert HitRate(k=k).measure(retrieved, reference).value == expected
