"""Answer or abstain: its recorded exchange, the words it asks with, its four cells, and what is empty."""

from __future__ import annotations

import json

import pytest

from core.metrics.contract import MetricContract
from ragmetrics_core import BadReply
from ragmetrics_core.metrics import AnswerOrAbstain
from ragmetrics_core.testing import ScriptedLLM
from recording import CONTEXTS, QUESTION, RESPONSE, Call, Exchange

WORDS = {
    "judge_abstention": {
        "1": "b96d9f221d603ef1",
        "2": "d9550afe2ab15c0b",
        "3": "3788a81b930c097f",
        "4": "bf8e60781cca9b78",
    }
}


def abstention_reply(suffice: str, declines: str, reason: str = "why") -> str:
    return json.dumps({"reason": reason, "contexts_suffice": suffice, "response_declines": declines})


EXCHANGES = [
    Exchange(
        AnswerOrAbstain(),
        [
            Call(
                "judge_abstention",
                {"question": QUESTION, "contexts": CONTEXTS, "response": RESPONSE},
                abstention_reply("yes", "no", "A context says it."),
            )
        ],
        1.0,
        passing=True,
    ),
]


class TestAnswerOrAbstain(MetricContract):
    exchanges = EXCHANGES
    words = WORDS


@pytest.mark.parametrize(
    ("suffice", "declines", "label", "value"),
    [
        ("yes", "no", "rightly_answered", 1.0),
        ("no", "wholly", "rightly_declined", 1.0),
        ("no", "partly", "rightly_declined", 1.0),
        ("yes", "wholly", "needlessly_declined", 0.0),
        ("yes", "partly", "needlessly_declined", 0.0),
        ("no", "no", "answered_without_ground", 0.0),
    ],
)
def test_the_four_cells(suffice: str, declines: str, label: str, value: float) -> None:
    llm = ScriptedLLM([abstention_reply(suffice, declines)])
    score = AnswerOrAbstain(llm=llm).score(user_input="q", response="r", retrieved_contexts=["c"])
    assert (score.label, score.value, score.passing, score.usage.calls) == (label, value, value == 1.0, 1)
    assert score.details["response_declines"] == declines


def test_what_is_undecided_is_unscored() -> None:
    llm = ScriptedLLM([abstention_reply("unclear", "no", "They disagree."), abstention_reply("unclear", "wholly", "")])
    metric = AnswerOrAbstain(llm=llm)
    score = metric.score(user_input="q", response="r", retrieved_contexts=["c"])
    assert (score.state, score.label) == ("unscored", "undecided")
    assert score.reason == "it is unclear whether the contexts suffice to answer: They disagree."
    score = metric.score(user_input="q", response="r", retrieved_contexts=["c"])
    assert score.reason == "it is unclear whether the contexts suffice to answer"


def test_where_nothing_was_retrieved_it_is_right_to_decline() -> None:
    llm = ScriptedLLM([abstention_reply("no", "wholly"), abstention_reply("no", "no")])
    metric = AnswerOrAbstain(llm=llm)
    assert metric.score(user_input="q", response="No idea.", retrieved_contexts=[]).label == "rightly_declined"
    assert metric.score(user_input="q", response="In 1889.", retrieved_contexts=[]).label == "answered_without_ground"


def test_a_blank_response_declines() -> None:
    llm = ScriptedLLM([abstention_reply("yes", "wholly")])
    score = AnswerOrAbstain(llm=llm).score(user_input="q", response=" ", retrieved_contexts=["c"])
    assert score.label == "needlessly_declined"


@pytest.mark.parametrize(
    ("response", "contexts", "reply", "complaint"),
    [
        ("r", [], abstention_reply("yes", "no"), "there are no contexts, so contexts_suffice must be no"),
        (" ", ["c"], abstention_reply("yes", "no"), "the response is blank, so response_declines must be wholly"),
    ],
)
def test_what_cannot_be_is_asked_once_more(response: str, contexts: list[str], reply: str, complaint: str) -> None:
    with pytest.raises(BadReply, match=complaint):
        AnswerOrAbstain(llm=ScriptedLLM([reply, reply])).score(
            user_input="q", response=response, retrieved_contexts=contexts
        )
