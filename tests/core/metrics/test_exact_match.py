"""ExactMatch, to the letter and with SQuAD's normalisation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import InvalidInput, Metric, MissingInput
from ragmetrics_core.metrics import ExactMatch, TokenF1

text = st.text(min_size=1)


@pytest.mark.parametrize(
    ("response", "reference", "exact", "normalised"),
    [
        ("Paris", "Paris", 1.0, 1.0),
        ("Paris", "paris", 0.0, 1.0),
        ("The Eiffel Tower.", "eiffel  tower", 0.0, 1.0),
        ("Paris ", "Paris", 0.0, 1.0),
        ("Paris", "Lyon", 0.0, 0.0),
        ("an apple", "apples", 0.0, 0.0),
        ("the", "a", 0.0, 1.0),  # nothing is left of either
        ("the", "Paris", 0.0, 0.0),
        ("“Paris”", "Paris", 0.0, 0.0),  # SQuAD removes ASCII punctuation only
    ],
)
def test_values(response: str, reference: str, exact: float, normalised: float) -> None:
    assert ExactMatch().score(response=response, reference=reference).value == exact
    assert ExactMatch(normalize=True).score(response=response, reference=reference).value == normalised


def test_details_hold_what_was_compared() -> None:
    score = ExactMatch(normalize=True).score(response="The Cat!", reference="a cat")

    assert score.details == {"response": "cat", "reference": "cat"}
    assert ExactMatch().score(response="Cat", reference="cat").details == {"response": "Cat", "reference": "cat"}


@given(text, text)
def test_is_equality(response: str, reference: str) -> None:
    assert ExactMatch().measure(response, reference).value == float(response == reference)
    assert ExactMatch().measure(response, response).value == 1.0


@given(text, text)
def test_is_symmetric(response: str, reference: str) -> None:
    metric = ExactMatch(normalize=True)

    assert metric.measure(response, reference).value == metric.measure(reference, response).value


@given(st.lists(st.sampled_from(["the", "A", "cat", "Cat.", "東京", "!"]), min_size=1).map(" ".join), st.booleans())
def test_equal_answers_share_all_words(response: str, normalize: bool) -> None:
    for reference in (response, response.upper(), f"the {response}"):
        if ExactMatch(normalize=normalize).measure(response, reference).value == 1.0:
            assert TokenF1().measure(response, reference).value == 1.0


def test_settings() -> None:
    metric = ExactMatch(normalize=True)

    assert repr(metric) == "ExactMatch(normalize=True)"
    assert Metric.from_dict(metric.to_dict()) == metric
    with pytest.raises(InvalidInput) as caught:
        ExactMatch("yes")  # type: ignore[arg-type]
    assert str(caught.value) == "exact_match: normalize must be True or False, got 'yes'"


def test_inputs_are_checked_first() -> None:
    with pytest.raises(MissingInput, match="exact_match needs 'response', which is missing"):
        ExactMatch().score(reference="x")
    with pytest.raises(MissingInput, match="exact_match needs 'reference', which is blank"):
        ExactMatch().score(response="x", reference=" ")
    with pytest.raises(InvalidInput, match="exact_match: reference must be a str, got list"):
        ExactMatch().score(response="x", reference=["x"])
