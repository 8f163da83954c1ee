"""NDCG against hand-computed values, a naive implementation, and every rule about grades."""

from __future__ import annotations

import math
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Document, InvalidInput
from ragmetrics_core.metrics import NDCG

letters = st.sampled_from("abcdefgh")
grades = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 1e-300, 1e300])


def graded(**grade_by_text: float) -> list[Document]:
    return [Document(text, score=grade) for text, grade in grade_by_text.items()]


def naive(retrieved: list[str], grade_of: dict[str, float], k: int | None) -> float:
    """The definition, word by word."""
    shown = retrieved if k is None else retrieved[:k]
    dcg = sum(
        grade_of.get(text, 0.0) / log2(place + 2) for place, text in enumerate(shown) if text not in shown[:place]
    )
    best = sorted(grade_of.values(), reverse=True)
    ideal = sum(grade / log2(place + 2) for place, grade in enumerate(best if k is None else best[:k]))
    return dcg / ideal


D2, D3 = 1 / log2(3), 1 / log2(4)  # discounts of ranks 2 and 3: 0.63093, 0.5


@pytest.mark.parametrize(
    ("retrieved", "reference", "k", "value"),
    [
        # gain 1 * 1 + 0.5 * D3 = 1.25; ideal 1 * 1 + 0.5 * D2 = 1.3154649; 1.25 / 1.3154649 = 0.9502344
        (["France", "Germany", "Paris"], graded(France=1.0, Paris=0.5), None, 1.25 / (1 + 0.5 * D2)),
        # no grades: gain 1 + D3 = 1.5, ideal 1 + D2
        (["a", "x", "b"], ["a", "b"], None, 1.5 / (1 + D2)),
        # wrong order: gain 1 * 1 + 3 * D2 = 2.8927893, ideal 3 + 1 * D2 = 3.6309298
        (["a", "b"], graded(a=1.0, b=3.0), None, (1 + 3 * D2) / (3 + D2)),
        # the ideal is cut as well: 1 / 3 at k=1
        (["a", "b"], graded(a=1.0, b=3.0), 1, 1 / 3),
        # the ideal counts what was not found: 1 / (1 + D2 + D3)
        (["a"], ["a", "b", "c"], None, 1 / (1 + D2 + D3)),
        # only one of three relevant fits into k=1, so rank 1 is perfect
        (["a"], ["a", "b", "c"], 1, 1.0),
        # the duplicate is credited once, and b stays at rank 3
        (["a", "a", "b"], ["a", "b"], None, 1.5 / (1 + D2)),
        (["x"], graded(a=2.0), None, 0.0),
        # a document of grade 0 gains nothing and hurts nothing after the others
        (["a", "b"], graded(a=2.0, b=0.0), None, 1.0),
        (["b", "a"], graded(a=2.0, b=0.0), None, D2),
    ],
)
def test_values_worked_out_by_hand(
    retrieved: list[str], reference: list[Document | str], k: int | None, value: float
) -> None:
    score = NDCG(k=k).score(retrieved_documents=retrieved, reference_documents=reference)

    assert score.value == pytest.approx(value, abs=1e-12)


def test_the_reference_example_in_digits() -> None:
    score = NDCG().measure(["France", "Germany", "Paris"], graded(France=1.0, Paris=0.5))

    assert round(float(score), 7) == 0.9502344
    assert score.details == {"ranks": [1, 3], "relevant": 2, "retrieved": 3, "grades": [1.0, 0.5]}


def test_duplicate_relevant_documents_collapse_to_the_highest_grade() -> None:
    reference = [Document("a", score=1.0), Document("b", score=2.0), Document("a", score=3.0)]

    # gain 2 + 3 * D2, ideal 3 + 2 * D2
    score = NDCG().measure(["b", "a"], reference)

    assert score.value == pytest.approx((2 + 3 * D2) / (3 + 2 * D2), abs=1e-12)
    assert score.details["relevant"] == 2
    assert score.details["grades"] == [2.0, 3.0]


def test_scores_of_the_retrieved_are_no_grades() -> None:
    assert NDCG().measure([Document("a", score=-7.0)], ["a"]).value == 1.0


def test_only_grades_of_zero_leave_nothing_to_find() -> None:
    score = NDCG().score(retrieved_documents=["a"], reference_documents=graded(a=0.0, b=0.0))

    assert score.state == "unscored"
    assert score.reason == "every relevant document has the grade 0, so there is nothing to find"


def test_grades_without_values_leave_nothing_to_find() -> None:
    score = NDCG(field="id").score(retrieved_documents=["a"], reference_documents=graded(a=1.0))

    assert score.reason == "none of the 1 reference_documents has a value in the field 'id' to match by"


@pytest.mark.parametrize("reference", [["x", "y"], []])
def test_graded_documents_and_others_do_not_mix(reference: list[Document | str]) -> None:
    mixed = [Document("a", score=1.0), Document("b"), *reference]

    with pytest.raises(InvalidInput) as caught:
        NDCG().score(retrieved_documents=["a"], reference_documents=mixed)
    assert str(caught.value) == ("ndcg: reference_documents[1] has no score, but others have: score all or none")


def test_plain_texts_have_no_grade() -> None:
    with pytest.raises(InvalidInput, match=r"^ndcg: reference_documents\[0\] has no score, but others"):
        NDCG().measure(["a"], ["b", Document("a", score=1.0)])


@pytest.mark.parametrize("score", [-1.0, -1e-300, math.nan, math.inf, -math.inf, "1", 10**400])
def test_refuses_impossible_grades(score: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        NDCG().measure(["a"], [Document("a", score=1.0), Document("b", score=score)])  # type: ignore[arg-type]
    assert str(caught.value) == (f"ndcg: reference_documents[1] has the score {score!r}: give 0 or more")


def test_numpy_and_integer_grades_are_fine() -> None:
    score = NDCG().measure(["b", "a"], [Document("a", score=np.float32(1)), Document("b", score=1)])

    assert score.value == 1.0
    assert type(score.value) is float


def test_huge_grades_do_not_overflow() -> None:
    reference = graded(a=1.7e308, b=1.7e308, c=1.7e308)

    assert NDCG().measure(["a", "x", "b", "c"], reference).value == pytest.approx(
        (1 + D3 + 1 / log2(5)) / (1 + D2 + D3), abs=1e-12
    )


@given(
    st.lists(letters, max_size=12),
    st.dictionaries(letters, grades, min_size=1).filter(lambda grade_of: any(grade_of.values())),
    st.none() | st.integers(1, 9),
)
def test_equals_the_definition(retrieved: list[str], grade_of: dict[str, float], k: int | None) -> None:
    score = NDCG(k=k).measure(retrieved, graded(**grade_of))

    assert score.value == pytest.approx(naive(retrieved, grade_of, k), abs=1e-12)
    assert 0.0 <= float(score) <= 1.0


@given(st.lists(letters), st.lists(letters, min_size=1, unique=True), st.none() | st.integers(1, 9))
def test_equal_grades_are_as_good_as_none(retrieved: list[str], reference: list[str], k: int | None) -> None:
    same = [Document(text, score=7.5) for text in reference]

    assert NDCG(k=k).measure(retrieved, same).value == NDCG(k=k).measure(retrieved, reference).value


@given(st.dictionaries(letters, st.floats(0, 1e308), min_size=1).filter(lambda grade_of: any(grade_of.values())))
def test_the_ideal_ranking_is_exactly_one_and_no_other_is_better(grade_of: dict[str, float]) -> None:
    reference = graded(**grade_of)
    best = sorted(grade_of, key=grade_of.__getitem__, reverse=True)

    assert NDCG().measure(best, reference).value == 1.0
    assert float(NDCG().measure(best[::-1], reference)) <= 1.0
