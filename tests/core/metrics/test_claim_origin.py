"""Where in a text its claims come from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.metrics.claim_origin import PlacedClaims, spans_of

ANSWER = (
    "She was born in London in 1815. She designed no machine; Babbage did! Did she write? In 1843 she published notes."
)


def parts(claims: list[str], text: str) -> list[str | None]:
    return [text[slice(*span)] if span else None for span in spans_of(claims, text)]


def test_a_claim_is_found_word_for_word_or_by_its_sentence() -> None:
    assert parts(
        ["She was born in London in 1815.", "Ada Lovelace published notes in 1843.", "Babbage designed a machine."],
        ANSWER,
    ) == [
        "She was born in London in 1815",
        "In 1843 she published notes.",
        "She designed no machine; Babbage did!",
    ]


def test_claims_come_in_the_order_of_their_text() -> None:
    text = "The tower is red. The tower is old."
    assert spans_of(["The tower is old", "The tower", "is old", "The tower is red"], text) == [
        (18, 34),
        (18, 27),
        (28, 34),
        (0, 16),
    ]


def test_a_claim_that_is_not_found_has_no_place() -> None:
    assert parts(["Paris is the capital of France.", "", "!?"], ANSWER) == [None, None, None]
    assert spans_of(["anything"], "") == [None]
    assert spans_of([], ANSWER) == []


def test_words_that_many_sentences_hold_decide_less() -> None:
    text = "The tower is tall. The tower is red. The tower is old."
    assert parts(["The tower is painted red.", "The tower is new."], text) == ["The tower is red.", None]


def test_a_claim_that_is_made_twice_has_two_places() -> None:
    text = "The tower is red [1]. The tower is red. It is old. The tower is red."
    red, old = "The tower is red.", "It is old."
    assert spans_of([red, red, old, red], text) == [(0, 16), (22, 38), (40, 49), (51, 67)]
    assert spans_of([red] * 4, text) == [(0, 16), (22, 38), (51, 67), (0, 16)]


def test_other_scripts() -> None:
    text = "塔は高さ330メートルです。塔はパリにあります。"
    assert parts(["エッフェル塔はパリにあります。"], text) == ["塔はパリにあります。"]
    text = "Der Turm wurde 1889 fertig. Er ist 330 Meter hoch."
    assert parts(["Der Turm ist 330 Meter hoch."], text) == ["Er ist 330 Meter hoch."]


@given(st.lists(st.text(max_size=40), max_size=4), st.text(max_size=200))
def test_a_place_lies_in_the_text_and_is_not_empty(claims: list[str], text: str) -> None:
    spans = spans_of(claims, text)
    assert len(spans) == len(claims)
    for span in spans:
        assert span is None or (0 <= span[0] < span[1] <= len(text) and text[slice(*span)].strip())


def test_the_places_of_claims_are_looked_up_once() -> None:
    claims = PlacedClaims.of(["She was born in London."], ANSWER)
    assert claims is PlacedClaims.of(claims, ANSWER)
    assert claims.spans is claims.spans
    assert (claims.spans, claims.places()) == (((0, 22),), [{"span": [0, 22]}])
    elsewhere = PlacedClaims.of([*claims, "Rome fell."], "Was she born in London? She was born in London.")
    assert elsewhere.places() == [{"span": [24, 46]}, {}]
    numbers: Any = [1]
    with pytest.raises(TypeError, match="a claim is a text, got int"):
        PlacedClaims.of(numbers, ANSWER)


@given(st.text("xy.!?\n\r\t\x0b\x1c ", max_size=60))
def test_ascii_is_cut_as_all_other_texts(text: str) -> None:
    claims = ["y x", "x, y", "XX", "yx y", "y"]
    assert spans_of(claims, text + "\ne") == spans_of(claims, text + "\né")


@pytest.mark.parametrize("last", ["e", "é"])
def test_where_sentences_end(last: str) -> None:
    text = f"One is red. Two\tis red!  Three is\n\nfour? Five.six is {last}"
    claims = ["Red one", "Red two", "Is three", "Six five"]
    assert parts(claims, text) == ["One is red.", "Two\tis red!", "Three is", f"Five.six is {last}"]
