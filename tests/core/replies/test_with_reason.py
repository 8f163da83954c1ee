"""A value together with the reason that the judge gave for it."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from ragmetrics_core import BadReply, Prompt, Score
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    ContextRelevance,
    RefineFaithfulness,
    Relevancy,
    ResponseGroundedness,
)
from ragmetrics_core.replies import RatingReply, ReplyFormat, ScoreReply, WithReason, YesNoReply, value_and_reason
from ragmetrics_core.testing import ScriptedLLM

YES_NO = WithReason(YesNoReply())
RATING = WithReason(RatingReply((0, 1, 2)))
FIELDS = {"user_input": "q", "response": "a", "reference": "r", "retrieved_contexts": ["c1", "c2"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"reason": "The year is stated.", "answer": "yes"}', (True, "The year is stated.")),
        ('```json\n{"reason": " nothing ", "answer": "no"}\n```', (False, "nothing")),
        ('{"answer": "no"}', (False, "")),
        ("YES", (True, "")),
        ("Verdict: NO", (False, "")),
        ("NO\nThe year differs.", (False, "The year differs.")),
        ("No, the year differs.", (False, "No, the year differs.")),
    ],
)
def test_yes_or_no_with_its_reason(text: str, expected: tuple[bool, str]) -> None:
    assert YES_NO.parse(text) == expected
    assert YesNoReply().parse(text) is expected[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"reason": "A part is there.", "rating": 1}', (1, "A part is there.")),
        ("2", (2, "")),
        ("1\nA part.", (1, "A part.")),
    ],
)
def test_rating_with_its_reason(text: str, expected: tuple[int, str]) -> None:
    assert RATING.parse(text) == expected
    assert RatingReply((0, 1, 2)).parse(text) == expected[0]


def test_it_asks_what_the_format_inside_asks_and_refuses_what_it_refuses() -> None:
    assert YES_NO.instructions() == YesNoReply().instructions()
    assert YES_NO.schema == YesNoReply().schema
    with pytest.raises(BadReply, match="3 is not on the scale"):
        RATING.parse("3")
    assert pickle.loads(pickle.dumps(RATING)) == RATING == eval(repr(RATING))


class Word:
    """A reply format of a user, with no more than it needs."""

    schema = None

    def instructions(self) -> str:
        return "One word."

    def parse(self, text: str) -> bool:
        return text == "fine"


def test_a_format_that_knows_no_reasons_gives_an_empty_one() -> None:
    assert WithReason(Word()).parse("fine") == (True, "")
    assert WithReason(ScoreReply(0, 1)).parse("0.5\nhalf of it") == (0.5, "half of it")


def test_value_and_reason_takes_both_kinds() -> None:
    assert value_and_reason(True) == (True, "")
    assert value_and_reason((2, "because")) == (2, "because")
    assert value_and_reason((2, None)) == (2, "")


@pytest.mark.parametrize(("metric", "top"), [(AnswerAccuracy, 4), (ContextRelevance, 2), (ResponseGroundedness, 2)])
def test_two_judges_keep_their_reasons(metric: Any, top: int) -> None:
    replies = [f'{{"reason": "All of it.", "rating": {top}}}', "0"]
    score: Score = metric(llm=ScriptedLLM(replies)).score(FIELDS)
    assert (score.value, score.details["ratings"], score.details["reasons"]) == (0.5, [top, 0], ["All of it.", ""])
    assert score.explain() == f"ratings {top} (All of it), 0"


def test_an_unreadable_judge_has_no_reason() -> None:
    replies = {"rate_contexts": ["nonsense", "nonsense"], "rate_contexts_again": ['{"reason": "fine", "rating": 2}']}
    score = ContextRelevance(llm=ScriptedLLM(replies)).score(FIELDS)
    assert (score.details["ratings"], score.details["reasons"]) == ([None, 2], ["", "fine"])


def test_refined_answers_keep_the_reason_of_every_window() -> None:
    replies = ['{"reason": "Nothing.", "answer": "no"}', '{"reason": "It is said.", "answer": "yes"}']
    score = RefineFaithfulness(window=2, llm=ScriptedLLM(replies)).score(FIELDS)
    assert (score.details["answers"], score.details["reasons"]) == (["NO", "YES"], ["Nothing.", "It is said."])
    assert score.reason == "YES: window 2 of 2 supports the response: It is said."
    score = Relevancy(window=2, llm=ScriptedLLM([replies[0], "NO"])).score(FIELDS)
    assert score.reason == "NO: none of the 2 windows is in line with the query and the response: Nothing."
    assert score.details["reasons"] == ["Nothing.", ""]


@pytest.mark.parametrize(
    ("reply", "answers", "value"),
    [(YesNoReply(), ["no", "yes"], 1.0), (Word(), ["bad", "fine"], 1.0), (WithReason(YesNoReply()), ["no", "no"], 0.0)],
)
def test_prompts_of_ones_own_may_reply_with_a_bare_value(
    reply: ReplyFormat[Any], answers: list[str], value: float
) -> None:
    prompt = Prompt("Is it so?", reply, name="own")
    score = RefineFaithfulness(window=2, first=prompt, refine=prompt, llm=ScriptedLLM(answers)).score(FIELDS)
    assert (score.value, score.details["reasons"]) == (value, ["", ""])


def test_ratings_of_ones_own_may_be_bare() -> None:
    prompt = Prompt("How much?", RatingReply((0, 1, 2)), name="own")
    score = ContextRelevance(first=prompt, second=prompt, llm=ScriptedLLM(["2", "1"])).score(FIELDS)
    assert (score.value, score.details["ratings"], score.details["reasons"]) == (0.75, [2, 1], ["", ""])
