"""The evidence for claims: which passages support and which contradict them, in one call, in windows, and passage by passage."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import BaseModel

from core.metrics.claim_calls import claims, sides, verdicts
from ragmetrics_core import BadReply, Example, InvalidInput
from ragmetrics_core.metrics import ContextRecall, FactualCorrectness, Faithfulness, PassagePrecision
from ragmetrics_core.metrics.claims import VERIFY_CLAIMS, Verdict, Verdicts
from ragmetrics_core.replies import JsonReply
from ragmetrics_core.testing import ScriptedLLM

FIELDS = {
    "user_input": "q",
    "response": "It is tall. It is red.",
    "reference": "r",
    "retrieved_contexts": ["c1", "c2", "c3"],
}


def script(**replies: list[str]) -> ScriptedLLM:
    return ScriptedLLM({name: list(texts) for name, texts in replies.items()})


def test_the_evidence_names_the_passages_and_the_place_in_the_answer() -> None:
    llm = script(
        extract_claims=[claims("It is tall.", "The tower is red.", "It is old.")],
        verify_claims=[sides([1, 3], [], [], against={1: [2], 2: [3, 2]})],
    )
    score = Faithfulness(llm=llm).score(FIELDS)
    assert score.value == 1 / 3
    assert score.details["verdicts"] == [
        {
            "claim": "It is tall.",
            "supported": True,
            "reason": "reason 1",
            "verdict": "supported",
            "supported_by": [1, 3],
            "contradicted_by": [2],
            "contradicted": True,
            "span": [0, 10],
        },
        {
            "claim": "The tower is red.",
            "supported": False,
            "reason": "reason 2",
            "verdict": "contradicted",
            "supported_by": [],
            "contradicted_by": [2, 3],
            "contradicted": True,
            "span": [12, 22],
        },
        {
            "claim": "It is old.",
            "supported": False,
            "reason": "reason 3",
            "verdict": "not stated",
            "supported_by": [],
            "contradicted_by": [],
        },
    ]
    assert score.explain() == (
        "1 of 3 claims supported; not supported: 'The tower is red.' (reason 2), 'It is old.' (reason 3); "
        "supported but contradicted: 'It is tall.' (reason 1)"
    )


def test_the_question_is_shown_and_claims_and_contexts_have_numbers() -> None:
    llm = script(extract_claims=[claims("x")], verify_claims=[sides([1])])
    Faithfulness(llm=llm).score(FIELDS)
    assert json.loads(llm.asks[1].messages[1].content) == {
        "question": "q",
        "contexts": {"1": "c1", "2": "c2", "3": "c3"},
        "claims": {"1": "x"},
    }


def test_passage_by_passage_the_numbers_are_those_of_the_passages() -> None:
    llm = script(
        extract_claims=[claims("x", "y")],
        verify_claims=[sides([], [], against={2: [1]}), sides([1], []), sides([1], [], against={2: [1]})],
    )
    score = Faithfulness(per_passage=True, llm=llm).score(FIELDS)
    assert (score.value, score.usage.calls) == (0.5, 4)
    assert [ask.inputs["contexts"] for ask in llm.asks[1:]] == [["c1"], ["c2"], ["c3"]]
    first, second = score.details["verdicts"]
    assert (first["supported_by"], first["contradicted_by"], first["verdict"]) == ([2, 3], [], "supported")
    assert (second["supported_by"], second["contradicted_by"], second["verdict"]) == ([], [1, 3], "contradicted")
    assert second["reason"] == "reason 2 / reason 2"  # of the two that contradict it
    assert "window" not in first


def test_pieces_of_a_passage_have_its_number() -> None:
    long = "one two three four. five six seven eight."
    llm = script(extract_claims=[claims("x")], verify_claims=[sides([]), sides([1]), sides([1])])
    score = ContextRecall(window=6, llm=llm).score({**FIELDS, "retrieved_contexts": ["short one", long]})
    assert [ask.inputs["contexts"] for ask in llm.asks[1:]] == [
        ["short one"],
        ["one two three four. "],
        ["five six seven eight."],
    ]
    (verdict,) = score.details["verdicts"]
    assert (verdict["supported_by"], verdict["window"]) == ([2], 2)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a context that was not sent": (
        {"supported_by": [4], "contradicted_by": [], "supported": True},
        "claim 1: context 4 is named, but the contexts are 1 to 3",
    ),
    "context 0": (
        {"supported_by": [1], "contradicted_by": [0], "supported": True},
        "claim 1: context 0 is named, but the contexts are 1 to 3",
    ),
    "supported by nothing": (
        {"supported_by": [], "contradicted_by": [2], "supported": True},
        "claim 1 is said to be supported, but no context is named for it",
    ),
    "not supported by something": (
        {"supported_by": [2, 3], "contradicted_by": [], "supported": False},
        "claim 1 is said to be not supported, but context 2, 3 is named for it",
    ),
    "contradicted by nothing": (
        {"for": [], "against": [], "contradicted": True},
        "claim 1 is said to be contradicted, but no context is named against it",
    ),
    "not contradicted by something": (
        {"supported_by": [], "contradicted_by": [1, 2], "contradicted": False, "supported": False},
        "claim 1 is said to be not contradicted, but context 1, 2 is named against it",
    ),
    "one context for and against it": (
        {"for": [1, 2], "against": [2, 3]},
        "claim 1: context 2 is both for and against it; name it on one side only",
    ),
    "two lists for it": (
        {"for": [1], "supported_by": [], "against": []},
        "verdicts[0].supported_by and 'for' say different things; give one",
    ),
    "two lists against it": (
        {"for": [], "against": [], "contradicted_by": [3]},
        "verdicts[0].contradicted_by and 'against' say different things; give one",
    ),
    "not a word on what is against it": ({"for": [1]}, "against is missing"),
}


@pytest.mark.parametrize(("verdict", "complaint"), REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_fit_together_is_asked_once_more(verdict: dict[str, Any], complaint: str) -> None:
    bad = json.dumps({"verdicts": [{"number": 1, "reason": "r", **verdict}]})
    llm = script(extract_claims=[claims("x")], verify_claims=[bad, sides([2])])
    score = Faithfulness(llm=llm).score(FIELDS)
    assert (score.value, score.usage.calls) == (1.0, 3)
    assert complaint in llm.asks[2].messages[-1].content
    with pytest.raises(BadReply, match=re.escape(complaint)):
        Faithfulness(llm=script(extract_claims=[claims("x")], verify_claims=[bad, bad])).score(FIELDS)


@pytest.mark.parametrize("end", ["[", "[]", "[1", "[1]", "[], "])
def test_a_reply_that_ends_before_it_says_what_is_against_a_claim_is_no_verdict(end: str) -> None:
    """A server that does not say that it cut the reply must not turn contradicted claims into claims that are not stated."""
    cut = '{"verdicts": [{"number": 1, "reason": "r", "for": ' + end
    llm = script(extract_claims=[claims("x")], verify_claims=[cut, sides([], against={1: [2]})])
    score = Faithfulness(llm=llm).score(FIELDS)
    assert (score.details["verdicts"][0]["verdict"], score.usage.calls) == ("contradicted", 3)


def test_with_one_context_there_is_no_doubt_which_one_supports() -> None:
    reply = json.dumps({"verdicts": [{"number": 1, "supported_by": [], "contradicted_by": [], "supported": True}]})
    llm = script(extract_claims=[claims("x")], verify_claims=[reply])
    score = FactualCorrectness(mode="precision", llm=llm).score(FIELDS)
    assert score.details["response_claims"][0]["supported_by"] == [1]


def test_with_one_context_there_is_no_doubt_which_one_contradicts() -> None:
    reply = json.dumps({"verdicts": [{"number": 1, "for": [], "against": [], "contradicted": True}]})
    llm = script(extract_claims=[claims("x")], verify_claims=[reply])
    (row,) = FactualCorrectness(mode="precision", llm=llm).score(FIELDS).details["response_claims"]
    assert (row["verdict"], row["contradicted_by"]) == ("contradicted", [1])


def test_what_one_of_several_calls_leaves_open_is_open() -> None:
    """Replies of two forms to the calls for one claim: the claim may be contradicted, and its support may be elsewhere as well."""
    llm = script(extract_claims=[claims("x")], verify_claims=[sides([]), verdicts(False), sides([])])
    (row,) = Faithfulness(llm=llm, per_passage=True).score(FIELDS).details["verdicts"]
    assert row == {"claim": "x", "supported": False, "reason": "reason 1 / reason 1 / reason 1"}
    llm = script(extract_claims=[claims("x")], verify_claims=[sides([1]), verdicts(True), sides([])])
    with pytest.raises(BadReply, match="passage_precision needs the passages that support a claim"):
        PassagePrecision(llm=llm, per_passage=True).score(FIELDS)


def test_a_model_of_your_own_needs_no_more_than_number_and_supported() -> None:
    class Plain(BaseModel):
        number: int
        supported: bool

    class Plains(BaseModel):
        verdicts: list[Plain]

    verify: Any = VERIFY_CLAIMS.replace(reply=JsonReply(Plains))  # with the check of the built-in prompt
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[verdicts(True, False)])
    score = Faithfulness(llm=llm, verify=verify).score(FIELDS)
    assert score.details["verdicts"] == [
        {"claim": "x", "supported": True, "reason": ""},
        {"claim": "y", "supported": False, "reason": ""},
    ]


def test_an_example_shows_a_verdict_as_it_is_asked_for() -> None:
    verdict = Verdict(number=1, reason="r", supported_by=[1], contradicted_by=[])
    example = Example({"claims": ["x"]}, Verdicts(verdicts=[verdict]))
    assert example.output == {"verdicts": [{"number": 1, "reason": "r", "for": [1], "against": []}]}
    assert verdict.model_dump()["supported"] is True  # as evidence, a verdict tells all that it knows
    old = Example({"claims": ["x"]}, Verdicts(verdicts=[Verdict(number=1, reason="r", supported=False)]))
    assert old.output == {"verdicts": [{"number": 1, "reason": "r", "for": [], "against": [], "supported": False}]}
    for shown in (example, old):
        assert VERIFY_CLAIMS.reply.parse(json.dumps(shown.output)).verdicts[0].supported is (shown is example)


def test_replies_of_the_old_form_name_no_passages() -> None:
    """Faithfulness needs none; a metric of passages says what it lacks, and makes up nothing."""
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[verdicts(True, False)])
    assert Faithfulness(llm=llm).score(FIELDS).value == 0.5
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[verdicts(True, False)])
    with pytest.raises(
        BadReply,
        match="passage_precision needs the passages that support a claim, but the judge's verdicts name none: ask for them, "
        "as the built-in prompt does",
    ):
        PassagePrecision(llm=llm).score(FIELDS)
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[verdicts(False, False)])
    assert PassagePrecision(llm=llm).score(FIELDS).value == 0.0


OLD_FORMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "version 1": ({"supported": False}, {"supported": False}),
    "version 2": (
        {"supported": False, "contradicted": True},
        {"supported": False, "verdict": "contradicted", "contradicted": True},
    ),
    "version 2, silent": (
        {"supported": False, "contradicted": False},
        {"supported": False, "verdict": "not stated"},
    ),
    "version 4": (
        {"supported_by": [2], "contradicted_by": [1, 3], "supported": True},
        {
            "supported": True,
            "verdict": "supported",
            "supported_by": [2],
            "contradicted_by": [1, 3],
            "contradicted": True,
        },
    ),
    "version 5": (
        {"for": [], "against": [3]},
        {
            "supported": False,
            "verdict": "contradicted",
            "supported_by": [],
            "contradicted_by": [3],
            "contradicted": True,
        },
    ),
}


@pytest.mark.parametrize(("verdict", "row"), OLD_FORMS.values(), ids=OLD_FORMS.keys())
def test_replies_of_every_form_stay_valid(verdict: dict[str, Any], row: dict[str, Any]) -> None:
    """A row says as much as the reply did."""
    reply = json.dumps({"verdicts": [{"number": 1, "reason": "r", **verdict}]})
    score = Faithfulness(llm=script(extract_claims=[claims("x")], verify_claims=[reply])).score(FIELDS)
    assert score.details["verdicts"] == [{"claim": "x", "reason": "r", **row}]


def test_a_verdict_that_says_neither_is_asked_for_once_more() -> None:
    silent = json.dumps({"verdicts": [{"number": 1, "reason": "r", "against": []}]})
    llm = script(extract_claims=[claims("x")], verify_claims=[silent, sides([1])])
    assert Faithfulness(llm=llm).score(FIELDS).value == 1.0
    assert "for is missing" in llm.asks[2].messages[-1].content


def test_what_is_not_asked_for_is_not_in_the_words() -> None:
    for text in (VERIFY_CLAIMS.reply.instructions(), json.dumps(VERIFY_CLAIMS.reply.schema)):
        assert '"for"' in text
        assert "supported" not in text


def test_the_old_flag_is_read_and_not_asked_for() -> None:
    assert VERIFY_CLAIMS.reply.parse(
        '{"verdicts": [{"number": 1, "reason": "r", "contradicted": true, "supported": true}]}'
    ).verdicts == [Verdict(number=1, reason="r", contradicted=True, supported=True)]
    assert '"contradicted"' not in VERIFY_CLAIMS.reply.instructions()
    assert '"contradicted"' not in json.dumps(VERIFY_CLAIMS.reply.schema)


def test_settings_are_checked() -> None:
    with pytest.raises(InvalidInput, match="faithfulness: per_passage must be True or False, got 1"):
        Faithfulness(per_passage=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="context_recall: window must be a whole number from 1 or None, got 0"):
        ContextRecall(window=0)
