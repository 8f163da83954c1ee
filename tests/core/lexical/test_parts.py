"""What the offline judge counts: words, with one key for one meaning in several scripts and notations; sentences; shares.

Shares stand in its replies as whole percents, and sentences without their ends.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lexical.judging import judged
from ragmetrics_core._lexical._claims import sentences
from ragmetrics_core._lexical._ratings import agreement, relevance
from ragmetrics_core._lexical._support import Support, verify
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It opened in 1889. It is tall!", ["It opened in 1889.", "It is tall!"]),
        ("Dr. Smith lives in St. Louis, e.g. in spring.", ["Dr. Smith lives in St. Louis, e.g. in spring."]),
        ("It was No. 1 in May. I said No.", ["It was No. 1 in May.", "I said No."]),
        ("1. **First**\n2. Second\n- Third", ["First", "Second", "Third"]),
        ("10. August 1296", ["10. August 1296"]),
        ("这是一。这是二！", ["这是一。", "这是二！"]),
        ("J. R. Cash sang", ["J. R. Cash sang"]),
        ("Wait... what", ["Wait...", "what"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """And each is asked as it stands, before any of its pieces is left blank."""
    assert sentences(text) == expected
    asked = judged("questions_of_answer", answer=text, number_of_questions=len(expected))["questions"]
    assert asked == [f"{sentence.rstrip(' .!?…。！？')}?" for sentence in expected]


QUESTION = "What is the capital of France?"


def test_relevance_weighs_names_and_numbers_double() -> None:
    assert relevance(QUESTION, "Paris is the capital of France.") == 1.0
    assert relevance(QUESTION, "France is a country.") == pytest.approx(2 / 3)
    assert relevance(QUESTION, "Every capital is a city.") == pytest.approx(1 / 3)
    assert relevance(QUESTION, "Bananas are yellow.") == 0.0
    assert relevance("What is it?", "It is what it is.") == 0.0


def test_agreement_orders_answers_as_people_do() -> None:
    reference = "The capital of France is Paris."
    right = agreement("Paris is the capital of France.", reference)
    short = agreement("Paris", reference)
    wrong = agreement("The capital of France is Lyon.", reference)
    assert agreement(reference, reference) == 1.0
    assert 1.0 >= right > short > wrong > agreement("Bananas are yellow.", reference) == 0.0


@pytest.mark.parametrize(
    ("one", "other", "value"), [("Yes", "yes.", 1.0), ("No", "Yes", 0.0), ("巴黎", "巴黎", 1.0), ("Paris", "Rome", 0.0)]
)
def test_agreement_of_short_answers(one: str, other: str, value: float) -> None:
    assert agreement(one, other) == value


@given(st.text(max_size=80), st.text(max_size=80))
def test_agreement_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert 0 <= agreement(one, other) <= 1
    assert agreement(one, other) == pytest.approx(agreement(other, one))
    assert 0 <= relevance(one, other) <= 1


def test_the_share_is_the_part_of_content_words_found() -> None:
    assert verify(["Red blue green pink."], ["red, blue, green"])[0].share == 0.75
    claim, context = (
        "Spain beat Italy in Vienna and Kiev.",
        "Kiev is large. Vienna saw Italy win. Later they beat Spain.",
    )
    (found,) = verify([claim], [context])
    assert (found.share, found.supported) == (1.0, False)
    assert verify(["The tower is tall.", "The tower"], []) == [
        Support(0.0, supported=False, reason="the contexts do not mention tower, tall"),
        Support(0.0, supported=False, reason="the contexts do not mention tower"),
    ]


@given(st.lists(st.text(max_size=60), max_size=6), st.lists(st.text(max_size=60), max_size=3))
def test_a_share_is_from_0_to_1_whatever_the_text(claims: list[str], contexts: list[str]) -> None:
    assert all(0 <= verdict.share <= 1 for verdict in verify(claims, contexts))
