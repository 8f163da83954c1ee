"""Claims: sentences and their pieces, readable and taken from the answer word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lexical.judging import split_claims


def test_a_sentence_and_its_pieces() -> None:
    assert split_claims(None, "The Tesla Model 3 wasn't sold in the U.S. before 2017.") == [
        "The Tesla Model 3 wasn't sold in the U.S. before 2017.",
        "The Tesla Model 3",
        "wasn't sold",
        "in the U.S.",
        "before 2017.",
    ]


def test_a_short_sentence_is_one_claim() -> None:
    assert split_claims("Who?", "Virginia Wade") == ["Virginia Wade"]


def test_chinese_is_cut_at_its_own_marks() -> None:
    assert split_claims(None, "巴黎是法国的首都，也是最大的城市。它有两百万人口。") == [
        "巴黎是法国的首都，也是最大的城市。",
        "巴黎是法国的首都",
        "也是最大的城市。",
        "它有两百万人口。",
    ]


def test_german_is_cut_at_its_own_function_words() -> None:
    assert split_claims(None, "Der Turm wurde von Gustave Eiffel gebaut.")[1:] == [
        "Der Turm",
        "wurde von Gustave Eiffel",
        "gebaut.",
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "", "  \n ", "!!!", "Hello!", "Hi there! How can I help you today?", "Thank you very much.", "How about you?",
        "I don't know.", "I'm not sure.", "I cannot answer this.", "The context does not mention it.",
        "Ich weiß es leider nicht.", "Je ne sais pas.", "No lo sé.", "Non lo so.", "Não sei.", "Ik weet het niet.",
        "Я не знаю.", "我不知道。", "わかりません。", "잘 모르겠습니다.",
    ],
)  # fmt: skip
def test_no_claims(answer: str) -> None:
    assert split_claims("What is the capital of France?", answer) == []


def test_a_hedge_before_a_fact_does_not_hide_the_fact() -> None:
    assert split_claims(None, "I'm not sure, but the tower opened in 1889.")[0].endswith("the tower opened in 1889.")


def test_questions_beside_statements_claim_nothing() -> None:
    assert split_claims(None, "Paris shines. Do you like big cities?") == ["Paris shines."]


def test_a_question_that_tells_claims() -> None:
    assert split_claims(None, "Yes. Did you know that Paris has 2 million people?")[0].startswith("Did you know")


def test_an_answer_of_questions_alone_claims_what_it_takes_for_granted() -> None:
    assert split_claims(None, "Who built the tower in 1889?")[0] == "Who built the tower in 1889?"


@pytest.mark.parametrize(
    ("answer", "claim"), [("No.", "No: Is it open?"), ("yes", "yes: Is it open?"), ("Ja!", "Ja: Is it open?")]
)
def test_a_bare_yes_or_no_claims_the_question(answer: str, claim: str) -> None:
    assert split_claims("Is it open?", answer) == [claim]


@pytest.mark.parametrize("question", [None, "", "  "])
def test_without_a_question_a_bare_yes_claims_nothing(question: str | None) -> None:
    assert split_claims(question, "Yes.") == []


def test_a_title_of_small_words_is_a_claim() -> None:
    assert split_claims("Which show?", "And There's More") == ["And There's More"]


@given(st.text(), st.text())
def test_claims_come_from_the_answer(question: str, answer: str) -> None:
    claims = split_claims(question, answer)
    assert claims == split_claims(question, answer)
    for claim in claims:
        assert claim.strip()
        assert claim in answer or claim.endswith(question.strip())


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("I love it! Virginia Wade.", ["Virginia Wade."]),
        ("J'adore ce lieu.", []),
        (
            "I love jazz, which began in 1900.",
            ["I love jazz, which began in 1900.", "I love", "jazz", "which began", "in 1900."],
        ),
        ("I love that Eiffel built it.", ["I love that Eiffel built it.", "I love", "that Eiffel built it."]),
        ("Here is where Ada was born.", ["Here is where Ada was born.", "Here is where Ada", "was born."]),
        ("Here is a short summary. Virginia Wade.", ["Virginia Wade."]),
        ("Here is a list:\n- Virginia Wade", ["Virginia Wade"]),
        ("Here is the tower: 330 metres.", ["Here is the tower: 330 metres.", "Here is the tower", "330 metres."]),
    ],
)
def test_what_the_writer_likes_and_remarks_on_the_answer_are_no_claims(answer: str, claims: list[str]) -> None:
    assert split_claims(None, answer) == claims
