"""TokenF1 against hand-computed values and the definition of SQuAD."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Metric, MissingInput
from ragmetrics_core.metrics import TokenF1
from ragmetrics_core.metrics.squad import normalise

sentence = st.lists(st.sampled_from(["the", "A", "cat", "sat", "mat", "cat,", "on", "..."]), min_size=1).map(" ".join)


def official(response: str, reference: str) -> float:
    """compute_f1 of the official script, in its own order of operations."""
    ours, theirs = normalise(response).split(), normalise(reference).split()
    if len(ours) == 0 or len(theirs) == 0:
        return float(ours == theirs)
    same = sum((Counter(ours) & Counter(theirs)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(ours), same / len(theirs)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("response", "reference", "value"),
    [
        ("The cat sat", "a cat sat.", 1.0),
        # words: cat sat on mat (4) and cat sat (2); common 2; 2 * 2 / 6
        ("the cat sat on the mat", "the cat sat", 2 / 3),
        # a word counts as often as both have it: cat cat (2) and cat (1); common 1; 2 * 1 / 3
        ("cat cat", "cat", 2 / 3),
        ("Lyon", "Paris", 0.0),
        # order does not count
        ("Paris in France", "in France Paris", 1.0),
        # an empty side: 1.0 only if both are, as in SQuAD 2.0
        ("the", "a", 1.0),
        ("the", "Paris", 0.0),
        ("Paris", "...", 0.0),
        # 北京 (2 characters) and 北京市 (3); common 2; 2 * 2 / 5
        ("北京", "北京市", 4 / 5),
        ("“Paris”", "Paris", 1.0),
        ("CAFÉ", "cafe\u0301", 1.0),
    ],
)
def test_values_worked_out_by_hand(response: str, reference: str, value: float) -> None:
    assert TokenF1().score(response=response, reference=reference).value == pytest.approx(value, abs=1e-12)


def test_details_hold_the_counts() -> None:
    score = TokenF1().score(response="cat sat on mat", reference="cat sat")

    assert score.details == {
        "response_words": 4,
        "reference_words": 2,
        "common_words": 2,
        "precision": 0.5,
        "recall": 1.0,
    }
    assert TokenF1().score(response="the", reference="cat").details == {"response_words": 0, "reference_words": 1}


@given(sentence, sentence)
def test_equals_the_official_script(response: str, reference: str) -> None:
    value = TokenF1().measure(response, reference).value

    assert value == pytest.approx(official(response, reference), abs=1e-12)


@given(st.text(min_size=1), st.text(min_size=1))
def test_is_symmetric_and_within_bounds(response: str, reference: str) -> None:
    value = TokenF1().measure(response, reference).value

    assert type(value) is float
    assert 0.0 <= value <= 1.0
    assert value == TokenF1().measure(reference, response).value
    assert TokenF1().measure(response, response).value == 1.0


@given(sentence, sentence, st.randoms())
def test_the_order_of_words_is_irrelevant(response: str, reference: str, random: object) -> None:
    shuffled = response.split()
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert TokenF1().measure(" ".join(shuffled), reference).value == TokenF1().measure(response, reference).value


def test_round_trips() -> None:
    assert repr(TokenF1()) == "TokenF1()"
    assert Metric.from_dict(TokenF1().to_dict()) == TokenF1()
    assert TokenF1().name == "token_f1"


def test_inputs_are_checked_first() -> None:
    with pytest.raises(MissingInput, match="token_f1 needs 'reference', which is missing"):
        TokenF1().score(response="x")
