"""Precision with and without a cut-off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Document
from ragmetrics_core.metrics import Precision

letters = st.sampled_from("abcdefgh")


@pytest.mark.parametrize(
    ("retrieved", "reference", "k", "value"),
    [
        (["a", "x", "b", "y"], ["a", "b", "c"], None, 1 / 2),
        (["a", "x", "b", "y"], ["a", "b", "c"], 1, 1.0),
        (["a", "x", "b", "y"], ["a", "b", "c"], 3, 2 / 3),
        (["a", "b"], ["a", "b"], 5, 2 / 5),  # divided by k although only two came back
        (["a", "a"], ["a"], None, 1 / 2),  # one hit, two places taken
        (["a", "a"], ["a"], 2, 1 / 2),
        ([], ["a"], None, 0.0),
        ([], ["a"], 3, 0.0),
        (["x"], ["a"], None, 0.0),
    ],
)
def test_values_worked_out_by_hand(retrieved: list[str], reference: list[str], k: int | None, value: float) -> None:
    score = Precision(k=k).score(retrieved_documents=retrieved, reference_documents=reference)

    assert score.value == value


def test_a_document_without_a_value_takes_a_place() -> None:
    assert Precision().measure([Document(id="1"), "a"], ["a"]).value == 1 / 2


@given(st.lists(letters), st.lists(letters, min_size=1), st.none() | st.integers(1, 9))
def test_equals_the_definition(retrieved: list[str], reference: list[str], k: int | None) -> None:
    hits = len(set(retrieved[:k]) & set(reference))
    divisor = k or len(retrieved)

    assert Precision(k=k).measure(retrieved, reference).value == (hits / divisor if hits else 0.0)


@given(st.lists(letters, min_size=1), st.lists(letters, min_size=1))
def test_without_a_cut_off_it_is_that_at_the_length_of_the_list(retrieved: list[str], reference: list[str]) -> None:
    at_length = Precision(k=len(retrieved)).measure(retrieved, reference)

    assert Precision().measure(retrieved, reference).value == at_length.value
