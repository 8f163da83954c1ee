"""Formulas and edge rules of the claim metrics; the recorded exchanges hold the ordinary cases."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.claim_calls import claims, verdicts
from core.metrics.useful_calls import useful
from ragmetrics_core import Ask, BadReply, InvalidInput, Score
from ragmetrics_core.metrics import (
    AnswerCorrectness,
    ContextPrecision,
    ContextRecall,
    FactualCorrectness,
    Faithfulness,
    RefineFaithfulness,
    SinglePassFaithfulness,
)
from ragmetrics_core.testing import ScriptedEmbeddings, ScriptedLLM

FIELDS = {"user_input": "q", "response": "a", "reference": "r", "retrieved_contexts": ["c1", "c2"]}


def script(**replies: Sequence[str]) -> ScriptedLLM:
    return ScriptedLLM({name: list(texts) for name, texts in replies.items()})


def test_no_claims_is_unscored_and_costs_one_call() -> None:
    score = Faithfulness(llm=script(extract_claims=[claims()])).score(FIELDS)
    assert (score.state, score.reason, score.usage.calls) == ("unscored", "the response makes no claims", 1)
    score = ContextRecall(llm=script(extract_claims=[claims()])).score(FIELDS)
    assert (score.state, score.reason, score.usage.calls) == ("unscored", "the reference makes no claims", 1)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (verdicts(True), r"exactly one verdict is needed for each of the claims 1 to 2, got numbers \[1\]"),
        (verdicts(True, True, True), r"got numbers \[1, 2, 3\]"),
        (
            json.dumps({"verdicts": [{"number": 1, "reason": "", "supported": True}] * 2}),
            r"got numbers \[1, 1\]",
        ),
        (
            json.dumps({"verdicts": [{"number": n, "reason": "", "supported": True} for n in (0, 1)]}),
            r"got numbers \[0, 1\]",
        ),
    ],
)
def test_a_miscount_is_asked_again_and_then_fails(reply: str, problem: str) -> None:
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[reply, reply])
    with pytest.raises(BadReply, match=problem) as caught:
        Faithfulness(llm=llm).score(FIELDS)
    assert caught.value.raw == (reply, reply)
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[reply, verdicts(False, True)])
    score = Faithfulness(llm=llm).score(FIELDS)
    assert (score.value, score.usage.calls) == (0.5, 3)


def test_verdicts_in_another_order_find_their_claims() -> None:
    rows = [{"number": 2, "reason": "two", "supported": True}, {"number": 1, "reason": "one", "supported": False}]
    llm = script(extract_claims=[claims("x", "y")], verify_claims=[json.dumps({"verdicts": rows})])
    score = Faithfulness(llm=llm).score(FIELDS)
    assert score.details["verdicts"] == [
        {"claim": "x", "supported": False, "reason": "one"},
        {"claim": "y", "supported": True, "reason": "two"},
    ]


def test_any_window_can_support_a_claim() -> None:
    long = "word " * 12  # 12 * (1 + 1/8) tokens
    llm = script(
        extract_claims=[claims("x", "y", "z")],
        verify_claims=[verdicts(False, False, True), verdicts(False, True, False)],
    )
    score = Faithfulness(window=16, llm=llm).score({**FIELDS, "retrieved_contexts": [long, long]})
    assert score.value == 2 / 3
    assert score.details["verdicts"] == [
        {"claim": "x", "supported": False, "reason": "reason 1 / reason 1"},
        {"claim": "y", "supported": True, "reason": "reason 2", "window": 2},
        {"claim": "z", "supported": True, "reason": "reason 3", "window": 1},
    ]


class Numbers:
    """A judge that does what the prompt says: what any context supports is supported, and contradicted if another one says else."""

    instant = True

    def generate(self, ask: Ask) -> str:
        if ask.prompt.name == "extract_claims":
            return claims("It is 330 m tall.", "It is 300 m tall.", "It is red.")
        rows = []
        for number, claim in enumerate(ask.inputs["claims"], 1):
            stated = [context for context in ask.inputs["contexts"] if " m" in context and " m" in claim]
            supported = claim in stated
            row = {"number": number, "reason": "", "contradicted": len(stated) > supported, "supported": supported}
            rows.append(row)
        return json.dumps({"verdicts": rows})


@pytest.mark.parametrize(
    "contexts", [["It is 330 m tall.", "It is 324 m tall."], ["It is 324 m tall.", "It is 330 m tall."]]
)
def test_contexts_that_contradict_each_other_mean_the_same_in_windows_and_in_one_call(contexts: list[str]) -> None:
    fields = {**FIELDS, "retrieved_contexts": contexts}
    whole, cut = (Faithfulness(window=window, llm=Numbers()).score(fields) for window in (None, 9))
    assert (whole.usage.calls, cut.usage.calls) == (2, 3)
    for score in (whole, cut):
        assert score.value == 1 / 3
        assert [
            {k: v for k, v in verdict.items() if k not in {"window", "reason"}} for verdict in score.details["verdicts"]
        ] == [
            {"claim": "It is 330 m tall.", "supported": True, "verdict": "supported", "contradicted": True},
            {"claim": "It is 300 m tall.", "supported": False, "verdict": "contradicted", "contradicted": True},
            {"claim": "It is red.", "supported": False, "verdict": "not stated"},
        ]
        assert score.explain() == (
            "1 of 3 claims supported; not supported: 'It is 300 m tall.', 'It is red.'; "
            "supported but contradicted: 'It is 330 m tall.'"
        )


def test_a_verdict_in_the_old_form_is_still_one() -> None:
    """Prompts that a user reworded and saved ask for no more than number, reason and supported."""
    reply = '{"verdicts": [{"number": 1, "reason": "stated", "supported": true}]}'
    llm = script(extract_claims=[claims("x")], verify_claims=[reply])
    score = Faithfulness(llm=llm).score(FIELDS)
    assert score.details["verdicts"] == [{"claim": "x", "supported": True, "reason": "stated"}]


NOTHING = [
    '{"claims": ["None"]}',
    '{"claims": ["N/A."]}',
    '{"claims": "none"}',
    '{"claims": ["No claims."]}',
    '{"claims": ["keine"]}',
]


@pytest.mark.parametrize("reply", NOTHING)
def test_a_remark_that_there_are_no_claims_is_no_claim(reply: str) -> None:
    score = Faithfulness(llm=script(extract_claims=[reply])).score(FIELDS)
    assert (score.state, score.reason, score.usage.calls) == ("unscored", "the response makes no claims", 1)
    score = ContextRecall(llm=script(extract_claims=[reply])).score(FIELDS)
    assert (score.state, score.reason) == ("unscored", "the reference makes no claims")
    score = FactualCorrectness(llm=script(extract_claims=[claims("x"), reply])).score(FIELDS)
    assert (score.state, score.reason) == ("unscored", "the reference makes no claims")


@pytest.mark.parametrize("scores", [[], [0], [1]])
def test_a_remark_that_there_are_no_statements_is_no_statement(scores: list[int]) -> None:
    reply = json.dumps({"statements": ["None"], "reasons": [], "statement_scores": scores})
    score = SinglePassFaithfulness(llm=ScriptedLLM([reply])).score(FIELDS)
    assert (score.state, score.reason) == ("unscored", "the response makes no statements")


@pytest.mark.parametrize("window", [0, -1, 2.5, True, "100"])
def test_a_window_is_a_sensible_number_of_tokens(window: Any) -> None:
    with pytest.raises(InvalidInput, match=r"faithfulness: window must be a whole number from 1 or None, got"):
        Faithfulness(window=window)
    for refused in (window, None):
        with pytest.raises(InvalidInput, match="refine_faithfulness: window must be"):
            RefineFaithfulness(window=refused)


def test_single_pass_checks_that_scores_and_statements_match() -> None:
    bad = json.dumps({"statements": ["x", "y"], "reasons": [], "statement_scores": [1]})
    with pytest.raises(BadReply, match="there must be one score per statement, got 2 statements and 1 scores"):
        SinglePassFaithfulness(llm=ScriptedLLM([bad, bad])).score(FIELDS)
    five = json.dumps({"statements": ["x"], "reasons": [], "statement_scores": [5]})
    with pytest.raises(BadReply):
        SinglePassFaithfulness(llm=ScriptedLLM([five, five])).score(FIELDS)
    empty = json.dumps({"statements": [], "reasons": [], "statement_scores": []})
    score = SinglePassFaithfulness(llm=ScriptedLLM([empty])).score(FIELDS)
    assert (score.state, score.reason) == ("unscored", "the response makes no statements")
    without_reasons = json.dumps({"statements": ["x", "y"], "statement_scores": [1, 0]})
    assert SinglePassFaithfulness(llm=ScriptedLLM([without_reasons])).score(FIELDS).value == 0.5


LONG = ["one " * 15, "two " * 15, "three " * 10]


@pytest.mark.parametrize(
    ("replies", "value", "answers"),
    [
        (["YES"], 1.0, ["YES"]),
        (["NO", "YES"], 1.0, ["NO", "YES"]),
        (["NO", "NO", "NO"], 0.0, ["NO", "NO", "NO"]),
    ],
)
def test_refine_stops_at_yes(replies: list[str], value: float, answers: list[str]) -> None:
    score = RefineFaithfulness(window=17, llm=ScriptedLLM(replies)).score(response="a", retrieved_contexts=LONG)
    assert (score.value, score.passing, score.usage.calls) == (value, bool(value), len(answers))
    assert score.details["answers"] == answers
    assert score.details["windows"] == 3


def precision_of(*flags: bool) -> Score:
    llm = ScriptedLLM([useful(flag) for flag in flags])
    return ContextPrecision(llm=llm).score({**FIELDS, "retrieved_contexts": [f"c{n}" for n in range(len(flags))]})


@pytest.mark.parametrize(
    ("flags", "value"),
    [
        ((True,), 1.0),
        ((True, True, True), 1.0),
        ((False, False), 0.0),
        ((True, False, True), (1 + 2 / 3) / 2),
        ((False, False, True), 1 / 3),
        ((False, True, True), (1 / 2 + 2 / 3) / 2),
    ],
)
def test_average_precision_by_hand(flags: tuple[bool, ...], value: float) -> None:
    score = precision_of(*flags)
    assert score.value == value
    assert score.usage.calls == len(flags)
    assert [verdict["useful"] for verdict in score.details["verdicts"]] == list(flags)


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_average_precision_is_bounded_and_perfect_only_with_the_useful_ones_first(flags: list[bool]) -> None:
    value = precision_of(*flags).value
    assert value is not None
    assert 0.0 <= value <= 1.0
    assert (value == 1.0) == (any(flags) and flags == sorted(flags, reverse=True))


def factual(extracted: list[str], checked: list[str], **settings: Any) -> Score:
    llm = script(extract_claims=extracted, verify_claims=checked)
    return FactualCorrectness(llm=llm, **settings).score(FIELDS)


@pytest.mark.parametrize(
    ("supported", "recalled", "beta", "value"),
    [
        # P = 1/2, R = 1/3: F1 = 2 * (1/6) / (5/6) = 0.4
        ((True, False), (True, False, False), 1.0, 0.4),
        # beta 2 weighs recall: 5 * (1/6) / (4 * 1/2 + 1/3) = (5/6) / (7/3)
        ((True, False), (True, False, False), 2.0, 5 / 14),
        ((True, True), (True,), 1.0, 1.0),
        ((False,), (False,), 1.0, 0.0),
        ((True,), (False,), 1.0, 0.0),
    ],
)
def test_f_beta_by_hand(supported: tuple[bool, ...], recalled: tuple[bool, ...], beta: float, value: float) -> None:
    extracted = [claims(*"abcdef"[: len(supported)]), claims(*"uvwxyz"[: len(recalled)])]
    score = factual(extracted, [verdicts(*supported), verdicts(*recalled)], beta=beta)
    assert score.value == pytest.approx(value, abs=1e-15)
    assert score.details["precision"] == sum(supported) / len(supported)
    assert score.details["recall"] == sum(recalled) / len(recalled)


def test_the_two_directions_never_mix_their_denominators() -> None:
    """Three response claims supported, one reference claim missed: recall is 0/1, not 3/4."""
    score = factual([claims("a", "b", "c"), claims("z")], [verdicts(True, True, True), verdicts(False)])
    assert (score.details["recall"], score.value) == (0.0, 0.0)


def test_factual_correctness_without_claims() -> None:
    score = factual([claims("a"), claims()], [])
    assert (score.state, score.reason, score.usage.calls) == ("unscored", "the reference makes no claims", 2)
    score = factual([claims(), claims("z")], [])
    assert (score.value, score.reason) == (0.0, "the response makes no claims")
    score = factual([claims(), claims()], [])
    assert score.state == "unscored"
    score = factual([claims()], [], mode="precision")
    assert (score.state, score.reason, score.usage.calls) == ("unscored", "the response makes no claims", 1)
    # precision never takes the reference apart: one that supports nothing gives 0.0
    score = factual([claims("a")], [verdicts(False)], mode="precision")
    assert (score.value, score.usage.calls) == (0.0, 2)
    score = factual([claims()], [], mode="recall")
    assert (score.state, score.reason) == ("unscored", "the reference makes no claims")


def test_blank_claims_are_no_claims() -> None:
    llm = script(extract_claims=[claims("", " ")])
    assert Faithfulness(llm=llm).score(FIELDS).state == "unscored"
    llm = script(extract_claims=[claims("", "x")], verify_claims=[verdicts(True)])
    assert Faithfulness(llm=llm).score(FIELDS).value == 1.0
    blank = json.dumps({"statements": ["x", " "], "reasons": [], "statement_scores": [1, 0]})
    with pytest.raises(BadReply, match="a statement is blank"):
        SinglePassFaithfulness(llm=ScriptedLLM([blank, blank])).score(FIELDS)


def test_the_claims_of_the_other_side_stay_in_the_evidence() -> None:
    score = factual([claims("a"), claims()], [])
    assert (score.details["response_claims"], score.details["reference_claims"]) == (["a"], [])


FLAGS = st.lists(st.booleans(), min_size=1, max_size=8)


@given(FLAGS, FLAGS, st.floats(0.01, 100))
def test_f_beta_lies_between_its_parts(supported: list[bool], recalled: list[bool], beta: float) -> None:
    extracted = [claims(*"abcdefgh"[: len(supported)]), claims(*"stuvwxyz"[: len(recalled)])]
    precision, recall = sum(supported) / len(supported), sum(recalled) / len(recalled)
    value = factual(extracted, [verdicts(*supported), verdicts(*recalled)], beta=beta).value
    assert value is not None
    assert min(precision, recall) - 1e-12 <= value <= max(precision, recall) + 1e-12
    extreme = factual(extracted, [verdicts(*supported), verdicts(*recalled)], beta=1e200)
    assert extreme.value in (recall, 0.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "f2"}, "factual_correctness: mode must be 'f1' or 'precision' or 'recall', got 'f2'"),
        ({"beta": 0}, "factual_correctness: beta must be a positive number, got 0"),
        ({"beta": math.inf}, "beta must be a positive number, got inf"),
        ({"beta": True}, "beta must be a positive number, got True"),
    ],
)
def test_wrong_settings_of_factual_correctness(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        FactualCorrectness(**settings)


def correctness(weights: tuple[float, float], vectors: dict[str, list[float]], *, empty: bool = False) -> Score:
    llm = script(
        extract_claims=[claims() if empty else claims("a", "b"), claims("z")],
        verify_claims=[] if empty else [verdicts(True, False), verdicts(True)],
    )
    return AnswerCorrectness(weights, llm=llm, embeddings=ScriptedEmbeddings(vectors)).score(FIELDS)


def test_answer_correctness_by_hand() -> None:
    # F1 = 2/3, cosine 0.6: 0.75 * 2/3 + 0.25 * 0.6 = 0.65
    score = correctness((0.75, 0.25), {"a": [1.0, 0.0], "r": [0.6, 0.8]})
    assert score.value == pytest.approx(0.65)
    assert (score.details["factual"], score.details["similarity"]) == (pytest.approx(2 / 3), pytest.approx(0.6))
    assert score.usage.calls == 5
    # weights need not add up to 1: (3 * 2/3 + 1 * 0.6) / 4
    assert correctness((3, 1), {"a": [1.0, 0.0], "r": [0.6, 0.8]}).value == pytest.approx(0.65)


def test_a_negative_cosine_counts_as_zero() -> None:
    assert correctness((1, 1), {"a": [1.0], "r": [-1.0]}).value == pytest.approx(1 / 3)


def test_a_part_without_weight_costs_nothing() -> None:
    score = AnswerCorrectness((0, 1), embeddings=ScriptedEmbeddings({"a": [1.0, 0.0], "r": [0.6, 0.8]})).score(FIELDS)
    assert (score.value, score.usage.calls) == (pytest.approx(0.6), 1)
    llm = script(extract_claims=[claims("a"), claims("z")], verify_claims=[verdicts(True), verdicts(True)])
    assert AnswerCorrectness((2, 0), llm=llm).score(FIELDS).value == 1.0


def test_answer_correctness_without_claims() -> None:
    score = correctness((0.5, 0.5), {"a": [1.0], "r": [1.0]}, empty=True)
    assert score.value == 0.5
    llm = script(extract_claims=[claims("a"), claims()])
    score = AnswerCorrectness((1, 0), llm=llm).score(FIELDS)
    assert (score.state, score.reason) == ("unscored", "the reference makes no claims")


@pytest.mark.parametrize("weights", [(0, 0), (-1, 2), (1,), (1, 2, 3), (math.nan, 1), ("a", 1)])
def test_wrong_weights(weights: Any) -> None:
    with pytest.raises(InvalidInput, match="answer_correctness: weights must be two numbers from 0, not both 0"):
        AnswerCorrectness(weights)


def test_beta_of_answer_correctness_is_checked() -> None:
    with pytest.raises(InvalidInput, match="answer_correctness: beta must be a positive number, got -1"):
        AnswerCorrectness(beta=-1)


def test_metrics_of_one_sample_ask_the_same_extraction() -> None:
    """Equal requests are what lets a run ask once for all claim metrics."""
    seen: list[Any] = []

    def answer(ask: Any) -> str:
        seen.append(ask)
        return claims("x") if ask.prompt.name == "extract_claims" else verdicts(True)

    llm = ScriptedLLM(answer)
    metrics = [
        Faithfulness(llm=llm),
        ContextRecall(llm=llm),
        FactualCorrectness(llm=llm),
        AnswerCorrectness((1, 0), llm=llm),
    ]
    for metric in metrics:
        metric.score(FIELDS)
    assert (len(seen), len(set(seen))) == (12, 5)  # response vs contexts, reference vs contexts are equal claims here
