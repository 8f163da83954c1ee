"""AveragePrecision against hand-computed values and a naive implementation of the definition."""

from __future__ import annotations

from fractions import Fraction
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Document
from ragmetrics_core.metrics import AveragePrecision

letters = st.sampled_from("abcdefgh")


def naive(retrieved: list[str], reference: list[str], k: int | None) -> Fraction:
    """The definition, word by word, with exact arithmetic."""
    shown = retrieved if k is None else retrieved[:k]
    total = Fraction(0)
    for place, document in enumerate(shown):
        if document in reference and document not in shown[:place]:
            found = len({other for other in shown[: place + 1] if other in reference})
            total += Fraction(found, place + 1)
    return total / len(set(reference))


@pytest.mark.parametrize(
    ("retrieved", "reference", "k", "value"),
    [
        # hits at ranks 1 and 3 of two relevant: (1/1 + 2/3) / 2 = 5/6
        (["a", "x", "b"], ["a", "b"], None, 5 / 6),
        # the second relevant document is never found: (1/2) / 2
        (["x", "a"], ["a", "b"], None, 1 / 4),
        # divided by the relevant documents, not by the hits: (1/1) / 4
        (["a"], ["a", "b", "c", "d"], None, 1 / 4),
        # the cut-off hides rank 3 and leaves the divisor: (1/1) / 2
        (["a", "x", "b"], ["a", "b"], 2, 1 / 2),
        # the duplicate is credited once and still holds rank 2: (1/1 + 2/3) / 2
        (["a", "a", "b"], ["a", "b"], None, 5 / 6),
        # duplicate relevant documents collapse: (1/2) / 1
        (["x", "a"], ["a", "a"], None, 1 / 2),
        # hits at 2, 4, 5 of three: (1/2 + 2/4 + 3/5) / 3 = 1.6 / 3
        (["x", "a", "y", "b", "c"], ["a", "b", "c"], None, 1.6 / 3),
        (["x", "y"], ["a"], None, 0.0),
        (["a", "b"], ["b", "a"], None, 1.0),
    ],
)
def test_values_worked_out_by_hand(retrieved: list[str], reference: list[str], k: int | None, value: float) -> None:
    score = AveragePrecision(k=k).score(retrieved_documents=retrieved, reference_documents=reference)

    assert score.value == pytest.approx(value, abs=1e-12)


def test_the_published_two_query_example() -> None:
    # France: one of one at rank 1 -> 1.0. 9th century: relevant [9th century, 9th] at ranks 1 and 3 -> (1 + 2/3) / 2 = 5/6.
    first = AveragePrecision().measure(["France"], ["France"])
    second = AveragePrecision().measure(["9th century", "10th century", "9th"], ["9th century", "9th"])

    assert mean([float(first), float(second)]) == pytest.approx(11 / 12, abs=1e-12)


def test_grades_play_no_part() -> None:
    assert AveragePrecision().measure(["a"], [Document("a", score=0.0)]).value == 1.0


@given(st.lists(letters, max_size=14), st.lists(letters, min_size=1), st.none() | st.integers(1, 9))
def test_equals_the_definition(retrieved: list[str], reference: list[str], k: int | None) -> None:
    value = AveragePrecision(k=k).measure(retrieved, reference).value

    assert value == pytest.approx(float(naive(retrieved, reference, k)), abs=1e-12)


@given(st.lists(letters, unique=True), st.lists(letters, min_size=1, unique=True))
def test_is_one_exactly_if_all_relevant_documents_come_first(retrieved: list[str], reference: list[str]) -> None:
    comes_first = set(retrieved[: len(reference)]) == set(reference)

    assert (AveragePrecision().measure(retrieved, reference).value == 1.0) is comes_first


def test_name_and_catalogue_text() -> None:
    assert AveragePrecision().name == "average_precision"
    assert [item.name for item in AveragePrecision().inputs] == ["retrieved_documents", "reference_documents"]
