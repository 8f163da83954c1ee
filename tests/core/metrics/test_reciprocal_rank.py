"""ReciprocalRank against hand-computed values and a naive implementation of the definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.metrics import HitRate, ReciprocalRank

letters = st.sampled_from("abcdefgh")


@pytest.mark.parametrize(
    ("retrieved", "reference", "k", "value"),
    [
        (["a", "b"], ["a", "b"], None, 1.0),
        (["x", "a", "b"], ["a", "b"], None, 1 / 2),
        (["x", "x", "y", "b"], ["a", "b"], None, 1 / 4),  # the repeated x holds rank 2
        (["x", "y", "b"], ["b"], 3, 1 / 3),
        (["x", "y", "b"], ["b"], 2, 0.0),
        (["x"], ["b"], None, 0.0),
    ],
)
def test_values_worked_out_by_hand(retrieved: list[str], reference: list[str], k: int | None, value: float) -> None:
    score = ReciprocalRank(k=k).score(retrieved_documents=retrieved, reference_documents=reference)

    assert score.value == value


@given(st.lists(letters), st.lists(letters, min_size=1), st.none() | st.integers(1, 9))
def test_equals_the_definition(retrieved: list[str], reference: list[str], k: int | None) -> None:
    expected = next((1 / rank for rank, item in enumerate(retrieved[:k], 1) if item in reference), 0.0)

    assert ReciprocalRank(k=k).measure(retrieved, reference).value == expected


@given(st.lists(letters), st.lists(letters, min_size=1), st.none() | st.integers(1, 9))
def test_is_positive_exactly_where_the_hit_rate_is_one(
    retrieved: list[str], reference: list[str], k: int | None
) -> None:
    value = ReciprocalRank(k=k).measure(retrieved, reference).value

    assert (value is not None and value > 0) is (HitRate(k=k).measure(retrieved, reference).value == 1.0)
