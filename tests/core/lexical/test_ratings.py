"""Ratings: relevance, agreement, questions and refusals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lexical.judging import judged, percent

QUESTION = "What is the capital of France?"


def relevance(question: str, text: str) -> int:
    """Percent of the words of the question that the text holds."""
    return percent(judged("rate_contexts", question=question, contexts=[text]))


def agreement(answer: str, reference: str) -> int:
    """Percent to which the words of both agree."""
    return percent(judged("rate_answer", answer=answer, reference=reference))


def questions_from(answer: str, number: int) -> list[str]:
    found: list[str] = judged("questions_of_answer", answer=answer, number_of_questions=number)["questions"]
    return found


def noncommittal(answer: str) -> bool:
    return judged("questions_of_answer", answer=answer, number_of_questions=1)["noncommittal"] is True


def test_relevance_weighs_names_and_numbers_double() -> None:
    assert relevance(QUESTION, "Paris is the capital of France.") == 100
    assert relevance(QUESTION, "France is a country.") == 67
    assert relevance(QUESTION, "Every capital is a city.") == 33
    assert relevance(QUESTION, "Bananas are yellow.") == 0
    assert relevance("What is it?", "It is what it is.") == 0


def test_relevant_sentences_are_copied_in_order() -> None:
    contexts = ["France is large. Its capital is Paris. Bananas are yellow.", "Paris is the capital of France."]
    found = judged("find_relevant_statements", question=QUESTION, contexts=contexts)["relevant_statements"]
    assert found == ["France is large.", "Paris is the capital of France."]


def test_agreement_orders_answers_as_people_do() -> None:
    reference = "The capital of France is Paris."
    right = agreement("Paris is the capital of France.", reference)
    short = agreement("Paris", reference)
    wrong = agreement("The capital of France is Lyon.", reference)
    assert agreement(reference, reference) == 100
    assert 100 >= right > short > wrong > agreement("Bananas are yellow.", reference) == 0


@pytest.mark.parametrize(
    ("one", "other", "value"), [("Yes", "yes.", 100), ("No", "Yes", 0), ("巴黎", "巴黎", 100), ("Paris", "Rome", 0)]
)
def test_agreement_of_short_answers(one: str, other: str, value: int) -> None:
    assert agreement(one, other) == value


def test_a_denial_agrees_less_than_its_assertion() -> None:
    reference = "The tower is open to the public."
    assert agreement("The tower is not open to the public.", reference) < agreement(
        "The tower is open to all.", reference
    )


@given(st.text(max_size=80), st.text(max_size=80))
def test_agreement_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert 0 <= agreement(one, other) == agreement(other, one) <= 100
    assert 0 <= relevance(one, other) <= 100


def test_questions_are_the_answers_own_words() -> None:
    assert questions_from("Hello! Paris is the capital of France. It has 2 million people.", 4) == [
        "Paris is the capital of France?",
        "It has 2 million people?",
        "… is the capital of France?",
        "… people?",
    ]


def test_questions_are_different_and_at_most_n() -> None:
    assert questions_from("巴黎是法国的首都，也是最大的城市。", 3) == [
        "巴黎是法国的首都，也是最大的城市?",
        "…，也是最大的城市?",
        "巴黎是法国的首都，…?",
    ]
    assert questions_from("Paris. Paris.", 3) == ["Paris?"]
    assert questions_from("Paris", 0) == []
    assert questions_from("", 3) == []


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "I do n't know .",
        "Hi! I'm sorry, I cannot answer that.",
        "Ich weiß es nicht.",
        "Je ne sais pas.",
        "我不知道。",
        "I can't say. Could you clarify?",
    ],
)
def test_noncommittal(answer: str) -> None:
    assert noncommittal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Paris.",
        "I'm not sure, but Paris is the capital.",
        "",
        "I don't know. It opened in 1889.",
        "You know it is Paris.",
    ],
)
def test_committal(answer: str) -> None:
    assert not noncommittal(answer)
