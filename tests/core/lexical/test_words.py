"""Words: one key for one meaning, in several scripts and notations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core._lexical._words import fold, guess_language, words_of


def keys(text: str, language: str = "en") -> list[str]:
    return [word.key for word in words_of(text, language) if word.kind != "stop"]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("1,234.50 units", "en", ["1234.5", "unit"]),
        ("1.234,50 Leute", "de", ["1234.5", "leute"]),
        ("eleven players", "en", ["11", "player"]),
        ("elf Spieler", "de", ["11", "spieler"]),
        ("２０１９", "en", ["2019"]),
        ("٢٠١٩", "en", ["2019"]),
        ("the 1970s", "en", ["1970"]),
        ("the 9th grade", "en", ["9", "grade"]),
        ("2nd place", "en", ["second", "place"]),
        ("2019-07-05", "en", ["2019", "month 7", "5"]),
        ("July 5, 2019", "en", ["month 7", "5", "2019"]),
        ("5 juillet 2019", "fr", ["5", "month 7", "2019"]),
        ("it may march on", "en", ["march"]),
        ("Jan. 3", "en", ["month 1", "3"]),
        ("École", "fr", ["ecole"]),
        ("don't stop", "en", ["not", "stop"]),
        ("do n't stop", "en", ["not", "stop"]),
        ("U.S. states", "en", ["us", "state"]),
        ("Paris's cities", "en", ["paris", "city"]),
        ("法国首都", "en", ["法国", "国首", "首都"]),
        ("中", "en", ["中"]),
        ("मेरा नाम", "en", ["मेरा", "नाम"]),
    ],
)
def test_keys(text: str, language: str, expected: list[str]) -> None:
    assert keys(text, language) == expected


def test_words_keep_their_place_in_the_text() -> None:
    text = "The U.S. didn't sell 1,234 units on 2019-07-05 in 巴黎城."
    for word in words_of(text, "en"):
        assert text[word.start : word.end] == word.text


def test_kinds() -> None:
    kinds = {word.text: word.kind for word in words_of("The tower of Paris is not 300 m tall, says UNESCO", "en")}
    assert kinds == {
        "The": "stop", "tower": "plain", "of": "stop", "Paris": "name", "is": "stop", "not": "negation",
        "300": "number", "m": "plain", "tall": "plain", "says": "plain", "UNESCO": "name",
    }  # fmt: skip


def test_german_capitals_are_no_names() -> None:
    assert {word.kind for word in words_of("der große Turm", "de")} == {"stop", "plain"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tower is in the city.", "en"),
        ("Der Turm ist in der Stadt und nicht auf dem Land.", "de"),
        ("La tour est dans la ville et elle n'est pas fermée.", "fr"),
        ("El río es el más largo de los ríos.", "es"),
        ("Город не является столицей и не был ею.", "ru"),
        ("xyzzy", "en"),
        ("", "en"),
    ],
)
def test_guess_language(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("Cities", "city"),
        ("dogs", "dog"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
    ],
)
def test_fold(word: str, folded: str) -> None:
    assert fold(word) == folded


@given(
    st.text(st.characters() | st.sampled_from("\u0301\u0308\u05b0\u064ba1.'’s[n't- "), max_size=12),
    st.sampled_from(["en", "de"]),
)
def test_every_word_has_something_to_compare_it_by(text: str, language: str) -> None:
    assert all(word.key for word in words_of(text, language))


def test_accents_without_a_letter_are_no_word() -> None:
    assert keys("the \u0301 tower \u0308\u0301") == ["tower"]
