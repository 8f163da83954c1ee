"""Support: hand examples in several languages, and what makes a claim fail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lexical.judging import split_claims, verify
from growth import assert_linear

pytestmark = pytest.mark.slow


def supported(claim: str, *contexts: str) -> bool:
    return bool(verify([claim], list(contexts))[0]["for"])


def reason(claim: str, *contexts: str) -> str:
    return str(verify([claim], list(contexts))[0]["reason"])


def verdicts(answer: str, *contexts: str) -> dict[str, bool]:
    claims = split_claims(None, answer)
    return {claim: bool(verdict["for"]) for claim, verdict in zip(claims, verify(claims, list(contexts)), strict=True)}


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Paris is the capital of France.", "Paris is the capital and largest city of France."),
        ("Paris is the capital of France.", "The capital of France is Paris."),
        ("It has two teams of eleven players.", "A match has 2 teams of 11 players."),
        ("It was founded on July 15, 2019.", "It was founded on 2019-07-15 in Rome."),
        ("She moved to the United Kingdom.", "She moved to the UK."),
        ("She joined the WHO.", "She joined the World Health Organization."),
        ("Der Turm ist 324 Meter hoch.", "Der Turm ist heute 324 Meter hoch."),
        ("La tour est à Paris.", "La tour est à Paris, en France."),
        ("El río nace en los Andes.", "El río nace en los Andes y es largo."),
        ("巴黎是法国的首都。", "巴黎是法国的首都和最大城市。"),
        ("東京は日本の首都です。", "東京は日本の首都です。人口は多い。"),
        ("서울은 한국의 수도입니다.", "서울은 한국의 수도입니다. 한강이 흐릅니다."),
        ("Москва является столицей России.", "Город Москва является столицей России."),
        ("باريس عاصمة فرنسا", "باريس عاصمة فرنسا وأكبر مدنها"),
    ],
)
def test_all_supported(answer: str, context: str) -> None:
    assert set(verdicts(answer, context).values()) == {True}


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Paris is the capital of France.", "Berlin is the capital of Germany."),
        ("The tower is 324 m tall.", "The tower is 300 m tall."),
        ("La tour mesure 324 m.", "La tour mesure 300 m."),
        ("El puente abrió en 1937.", "El puente abrió en 1973."),
        ("柏林是德国的首都。", "巴黎是法国的首都和最大城市。"),
        ("Vienna lies in Austria.", "Sydney lies in Australia."),
        ("It opened on May 5, 2019.", "It opened on June 5, 2019."),
    ],
)
def test_the_sentence_is_not_supported(answer: str, context: str) -> None:
    assert not supported(answer, context)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The tower is open.", "The tower is not open."),
        ("The tower is open.", "The tower isn't open to the public."),
        ("The tower was ever sold.", "The tower was never ever sold."),
        ("Der Turm ist geöffnet.", "Der Turm ist nicht geöffnet."),
        ("La tour est fermée.", "La tour n'est pas fermée."),
        ("La torre está abierta.", "La torre no está abierta."),
        ("Башня была открыта.", "Башня не была открыта."),
        ("巴黎是首都。", "巴黎不是首都。"),
    ],
)
def test_a_negation_on_one_side_only(one: str, other: str) -> None:
    assert not supported(one, other)
    assert not supported(other, one)
    assert supported(one, one)
    assert supported(other, other)


def test_not_only_is_no_negation() -> None:
    assert supported("It is fast.", "It is not only fast but cheap.")


def test_a_missing_number_takes_the_pieces_beside_it_along() -> None:
    assert verdicts("The tower is 324 m tall.", "The tower is 300 m tall.") == {
        "The tower is 324 m tall.": False,
        "The tower": False,
        "is 324 m": False,
        "tall.": False,
    }


def test_a_missing_ordinary_word_takes_nothing_along() -> None:
    found = verdicts("The tower was sold to a farmer.", "The tower was sold to a baker.")
    assert found["The tower"]
    assert found["was sold"]
    assert not found["to a farmer."]


def test_the_words_in_another_connection() -> None:
    claim, context = (
        "Spain beat Italy in Vienna and Kiev.",
        "Kiev is large. Vienna saw Italy win. Later they beat Spain.",
    )
    assert not supported(claim, context)
    assert reason(claim, context) == "the contexts hold the words but in another connection (0 of 6 pairs)"


def test_the_reason_names_what_is_missing() -> None:
    found = reason("The tower in Lyon is 324 m tall.", "The tower is tall.")
    assert "Lyon" in found
    assert "324" in found
    assert "tower" not in found


def test_the_reason_counts_the_content_words_found() -> None:
    assert reason("Red blue green pink.", "red, blue, green") == "the contexts hold 3 of 4 content words"


@pytest.mark.parametrize(
    ("claim", "context", "expected"),
    [
        ("Yes: Is the tower open?", "Yes, since May.", True),
        ("Yes: Is the tower open?", "No, it is closed.", False),
        ("No: Is the tower open?", "No.", True),
        ("No: Is the tower open?", "Bananas are yellow.", False),
        ("Yes: Is the tower open?", "Bananas are yellow.", False),
        ("Yes: Is the tower open?", "The tower is open.", True),
    ],
)
def test_a_bare_yes_or_no(claim: str, context: str, expected: bool) -> None:
    assert supported(claim, context) is expected


def test_a_title_of_small_words_must_stand_word_for_word() -> None:
    assert supported("And There's More", "And There's More is a show.")
    assert not supported("And There's More", "There is more to it, and more.")


def test_no_contexts_support_nothing() -> None:
    nothing = {"for": [], "against": []}
    assert verify(["The tower is tall.", "The tower"], []) == [
        {"number": 1, "reason": "the contexts do not mention tower, tall", **nothing},
        {"number": 2, "reason": "the contexts do not mention tower", **nothing},
    ]


def test_no_claims_no_verdicts() -> None:
    assert verify([], ["text"]) == []


def test_claims_of_a_stranger_are_judged_each_by_itself() -> None:
    contexts = ["The tower is tall. It opened in 1889."]
    claims = ["The tower is tall.", "It opened in 1999.", "It opened in 1889."]
    assert [bool(verdict["for"]) for verdict in verify(claims, contexts)] == [True, False, True]


@given(st.lists(st.text(max_size=60), max_size=6), st.lists(st.text(max_size=60), max_size=3))
def test_one_verdict_per_claim_whatever_the_text(claims: list[str], contexts: list[str]) -> None:
    found = verify(claims, contexts)
    assert found == verify(claims, contexts)
    assert len(found) == len(claims)
    assert all(verdict["reason"] and verdict["number"] == number for number, verdict in enumerate(found, 1))


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize(
    "unit", ["word ", "a.", "1,", "AB ", "中", "not ", "(", "\n", "i  ", "1. ", '"', "hi ", "Is 3 b? "]
)
def test_long_texts_take_linear_time(unit: str) -> None:
    def work(size: int) -> None:
        text = unit * (size // len(unit))
        verify(split_claims("Why?", text), [text])

    assert_linear(work, 100_000)
