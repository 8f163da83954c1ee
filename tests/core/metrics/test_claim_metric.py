"""The evidence for claims: which passages support and which contradict them, in one call, in windows, and passage by passage."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.metrics.claim_calls import claims, told, verdicts
from ragmetrics_core import BadReply, InvalidInput
from ragmetrics_core.metrics import ContextRecall, FactualCorrectness, Faithfulness, PassagePrecision
from ragmetrics_core.metrics.claims import VERIFY_CLAIMS, Verdict
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
        verify_claims=[told([1, 3], [], [], against={1: [2], 2: [3, 2]})],
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
    llm = script(extract_claims=[claims("x")], verify_claims=[told([1])])
    Faithfulness(llm=llm).score(FIELDS)
    assert json.loads(llm.asks[1].messages[1].content) == {
        "question": "q",
        "contexts": [{"number": 1, "text": "c1"}, {"number": 2, "text": "c2"}, {"number": 3, "text": "c3"}],
        "claims": [{"number": 1, "text": "x"}],
    }


def test_passage_by_passage_the_numbers_are_those_of_the_passages() -> None:
    llm = script(
        extract_claims=[claims("x", "y")],
        verify_claims=[told([], [], against={2: [1]}), told([1], []), told([1], [], against={2: [1]})],
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
    llm = script(extract_claims=[claims("x")], verify_claims=[told([]), told([1]), told([1])])
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
        "claim 1: supported_by names context 4, but the contexts are 1 to 3",
    ),
    "context 0": (
        {"supported_by": [1], "contradicted_by": [0], "supported": True},
        "claim 1: contradicted_by names context 0, but the contexts are 1 to 3",
    ),
    "supported by nothing": (
        {"supported_by": [], "contradicted_by": [2], "supported": True},
        "claim 1 is said to be supported, but supported_by names no context",
    ),
    "not supported by something": (
        {"supported_by": [2, 3], "contradicted_by": [], "supported": False},
        "claim 1 is said to be not supported, but supported_by names context 2, 3",
    ),
}


@pytest.mark.parametrize(("verdict", "complaint"), REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_fit_together_is_asked_once_more(verdict: dict[str, Any], complaint: str) -> None:
    bad = json.dumps({"verdicts": [{"number": 1, "reason": "r", **verdict}]})
    llm = script(extract_claims=[claims("x")], verify_claims=[bad, told([2])])
    score = Faithfulness(llm=llm).score(FIELDS)
    assert (score.value, score.usage.calls) == (1.0, 3)
    assert complaint in llm.asks[2].messages[-1].content
    with pytest.raises(BadReply, match=complaint):
        Faithfulness(llm=script(extract_claims=[claims("x")], verify_claims=[bad, bad])).score(FIELDS)


def test_with_one_context_there_is_no_doubt_which_one_supports() -> None:
    reply = json.dumps({"verdicts": [{"number": 1, "supported_by": [], "contradicted_by": [], "supported": True}]})
    llm = script(extract_claims=[claims("x")], verify_claims=[reply])
    score = FactualCorrectness(mode="precision", llm=llm).score(FIELDS)
    assert score.details["response_claims"][0]["supported_by"] == [1]


def test_replies_of_the_old_form_name_no_passages() -> None:
    """Faithfulness needs none; a metric of passages says what it lacks, and makes up nothing."""
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[verdicts(True, False)])
    assert Faithfulness(llm=llm).score(FIELDS).value == 0.5
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[verdicts(True, False)])
    with pytest.raises(
        BadReply,
        match="passage_precision needs the passages that support a claim, but the judge's verdicts name none: ask for them with "
        "supported_by, as the built-in prompt does",
    ):
        PassagePrecision(llm=llm).score(FIELDS)
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[verdicts(False, False)])
    assert PassagePrecision(llm=llm).score(FIELDS).value == 0.0


def test_the_old_flag_is_read_and_not_asked_for() -> None:
    assert VERIFY_CLAIMS.reply.parse(
        '{"verdicts": [{"number": 1, "reason": "r", "contradicted": true, "supported": true}]}'
    ).verdicts == [Verdict(number=1, reason="r", contradicted=True, supported=True)]
    assert '"contradicted"' not in VERIFY_CLAIMS.reply.instructions()
    assert '"contradicted"' not in json.dumps(VERIFY_CLAIMS.reply.schema)


def test_settings_are_checked() -> None:
    with pytest.raises(InvalidInput, match="faithfulness: per_passage must be True or False, got 1"):
        Faithfulness(per_passage=1)  # type: ignore[arg-type]
    with pytest.raises(
        InvalidInput, match="context_recall: window must be a whole number of tokens, at least 1, got 0"
    ):
        ContextRecall(window=0)
