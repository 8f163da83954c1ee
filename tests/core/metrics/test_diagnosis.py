"""Diagnosis: its recorded exchange, the words it asks with, and each of its labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from core.metrics.claim_calls import (
    EXTRACT_REFERENCE,
    EXTRACT_RESPONSE,
    R1,
    R2,
    REFERENCE_BY_CONTEXTS,
    REFERENCE_BY_RESPONSE,
    RESPONSE_BY_REFERENCE,
    WORDS,
    sides,
    verify,
)
from core.metrics.contract import MetricContract
from core.metrics.test_answer_or_abstain import WORDS as ABSTENTION_WORDS
from core.metrics.test_answer_or_abstain import abstention_reply as abstention
from ragmetrics_core import Ask, BadReply, Score
from ragmetrics_core.metrics import Diagnosis
from recording import CONTEXTS, QUESTION, RESPONSE, Call, Exchange

ABSTENTION = Call(
    "judge_abstention", {"question": QUESTION, "contexts": CONTEXTS, "response": RESPONSE}, abstention("yes", "no")
)

EXCHANGES = [
    # all of the reference is said, nothing contradicts it, and no passage supports the second claim
    Exchange(
        Diagnosis(),
        [
            ABSTENTION,
            EXTRACT_RESPONSE,
            EXTRACT_REFERENCE,
            verify(CONTEXTS, [R1, R2], sides([1], [])),
            RESPONSE_BY_REFERENCE,
            REFERENCE_BY_CONTEXTS,
            REFERENCE_BY_RESPONSE,
        ],
        1.0,
        passing=True,
    ),
]


ALL_WORDS = {**WORDS, **ABSTENTION_WORDS}


class TestDiagnosis(MetricContract):
    exchanges = EXCHANGES
    words = ALL_WORDS
    judges_as_a_whole = False


class Truth:
    """A judge that knows which text says what of which claim: ``+`` supports it, ``-`` contradicts it."""

    instant = True

    def __init__(
        self, said: Sequence[str], wanted: Sequence[str], signs: Mapping[tuple[str, str], str], declines: str = "no"
    ) -> None:
        self.claims, self.signs, self.declines = {"said": said, "wanted": wanted}, signs, declines
        self.calls = 0

    def generate(self, ask: Ask) -> str:
        self.calls += 1
        if ask.prompt.name == "judge_abstention":
            return abstention("yes" if ask.inputs["contexts"] else "no", self.declines)
        if ask.prompt.name == "extract_claims":
            return json.dumps({"claims": self.claims[ask.inputs["answer"]]})
        contexts = list(enumerate(ask.inputs["contexts"], 1))
        signs = [
            {sign: [at for at, text in contexts if self.sign(claim, number, text) == sign] for sign in "+-"}
            for number, claim in enumerate(ask.inputs["claims"], 1)
        ]
        against = {number: sign["-"] for number, sign in enumerate(signs, 1)}
        return sides(*(sign["+"] for sign in signs), against=against)

    def sign(self, claim: str, number: int, text: str) -> str | None:
        """What the text says of the claim of this number: ``a#2`` is about the second claim, if it is ``a``."""
        return self.signs.get((f"{claim}#{number}", text), self.signs.get((claim, text)))


RIGHT = {("a", "wanted"): "+", ("d", "said"): "+"}
WRONG = {("a", "wanted"): "-", ("d", "said"): "-"}

CASES: dict[str, tuple[dict[tuple[str, str], str], list[str]]] = {
    "right": ({**RIGHT, ("a", "one"): "+"}, []),
    "right_unsupported": (RIGHT, ["a"]),
    "contradicted": ({**WRONG, ("a", "one"): "-", ("d", "one"): "+"}, ["a"]),
    "misled": ({**WRONG, ("a", "two"): "+", ("d", "one"): "+"}, ["a"]),
    "not_retrieved": (WRONG, ["d"]),
    "not_used": ({("d", "two"): "+", ("a", "two"): "+"}, ["d"]),
    "own_knowledge": ({("a", "wanted"): "-", ("d", "said"): "+", ("d", "one"): "+"}, ["a"]),
}


def diagnosed(judge: Truth, contexts: Sequence[str] = ("one", "two"), **settings: bool) -> Score:
    row = {"user_input": "q", "response": "said", "reference": "wanted", "retrieved_contexts": list(contexts)}
    return Diagnosis(llm=judge, **settings).score(row)  # type: ignore[arg-type]


@pytest.mark.parametrize("per_passage", [False, True])
@pytest.mark.parametrize(("label", "signs", "because"), [(name, *case) for name, case in CASES.items()])
def test_the_label_says_whose_fault_it_is(
    label: str, signs: dict[tuple[str, str], str], because: list[str], *, per_passage: bool
) -> None:
    judge = Truth(["a"], ["d"], signs)
    score = diagnosed(judge, per_passage=per_passage)
    assert (score.label, score.details["because"]) == (label, because)
    assert (score.value, score.passing) == (float(label.startswith("right")), label.startswith("right"))
    assert score.explain().replace(", but", "").replace(" ", "_").startswith(label)
    assert judge.calls == (9 if per_passage else 7)


class OldForm(Truth):
    """The same judge, replying as the first versions of the prompt had it: ``flags`` of a verdict instead of passages."""

    flags: tuple[str, ...] = ("supported",)

    def generate(self, ask: Ask) -> str:
        reply = super().generate(ask)
        if ask.prompt.name != "verify_claims":
            return reply
        verdicts = [
            {"number": row["number"], "reason": "", "supported": bool(row["for"]), "contradicted": bool(row["against"])}
            for row in json.loads(reply)["verdicts"]
        ]
        kept = {"number", "reason", *self.flags}
        return json.dumps({"verdicts": [{key: row[key] for key in row if key in kept} for row in verdicts]})


class SecondForm(OldForm):
    flags = ("supported", "contradicted")


@pytest.mark.parametrize("per_passage", [False, True])
@pytest.mark.parametrize(("label", "signs", "because"), [(name, *case) for name, case in CASES.items()])
def test_flags_of_contradiction_are_enough(
    label: str, signs: dict[tuple[str, str], str], because: list[str], *, per_passage: bool
) -> None:
    score = diagnosed(SecondForm(["a"], ["d"], signs), per_passage=per_passage)
    assert (score.label, score.details["because"]) == (label, because)


def test_verdicts_that_do_not_tell_contradicted_from_not_stated_are_no_diagnosis() -> None:
    """An answer that nothing supports would be right, though the reference says the opposite."""
    signs = {("a", "wanted"): "-", ("d", "said"): "+", ("d", "one"): "+"}
    assert diagnosed(SecondForm(["a"], ["d"], signs)).label == "own_knowledge"
    with pytest.raises(
        BadReply, match="diagnosis needs to know which claims are contradicted, but the judge's verdicts"
    ):
        diagnosed(OldForm(["a"], ["d"], signs))
    assert diagnosed(OldForm(["a"], ["d"], {**RIGHT, ("a", "one"): "+"})).label == "right"  # nothing is left open


def test_a_response_that_declines_wholly_is_declined_whatever_else_it_says() -> None:
    score = diagnosed(Truth(["a"], ["d"], RIGHT, declines="wholly"))
    assert (score.label, score.value, score.details["because"]) == ("declined", 0.0, [])
    judge = Truth([], ["d"], {}, declines="wholly")
    assert diagnosed(judge).label == "declined"
    assert judge.calls == 5  # there are no claims of the response to check
    assert diagnosed(Truth(["a"], ["d"], {**RIGHT, ("a", "one"): "+"}, declines="partly")).label == "right"


def test_where_nothing_was_retrieved_no_passage_is_asked_about() -> None:
    judge = Truth(["a"], ["d"], WRONG)
    score = diagnosed(judge, contexts=[])
    assert (score.label, judge.calls) == ("not_retrieved", 5)
    assert diagnosed(Truth(["a"], ["d"], RIGHT), contexts=[]).label == "right_unsupported"


def test_without_claims_there_is_nothing_to_diagnose() -> None:
    for said, wanted, reason in (
        (["a"], [], "the reference makes no claims"),
        ([], ["d"], "the response makes no claims"),
    ):
        score = diagnosed(Truth(said, wanted, {}))
        assert (score.state, score.reason, score.usage.calls) == ("unscored", reason, 3)


def test_the_evidence_is_kept() -> None:
    score = diagnosed(Truth(["a"], ["d"], {**WRONG, ("a", "one"): "-"}))
    assert score.details["abstention"] == {"reason": "why", "contexts_suffice": "yes", "response_declines": "no"}
    assert [row["verdict"] for row in score.details["verdicts"]] == ["contradicted"]
    assert [row["verdict"] for row in score.details["reference_verdicts"]] == ["contradicted"]
    assert [row["verdict"] for row in score.details["reference_claims"]] == ["not stated"]
    assert [row["verdict"] for row in score.details["response_verdicts"]] == ["contradicted"]


TWICE: dict[str, tuple[dict[tuple[str, str], str], list[str]]] = {
    # the first of two equal claims is against the reference, and the contexts say different things of the two
    "contradicted": ({("a#1", "wanted"): "-", ("a#1", "one"): "-", ("a#2", "wanted"): "+", ("a#2", "one"): "+"}, ["a"]),
    "misled": ({("a#1", "wanted"): "-", ("a#1", "one"): "+", ("a#2", "wanted"): "+", ("a#2", "one"): "-"}, ["a"]),
    # the response lacks the first of two equal claims of the reference; a context holds only the other, or only this one
    "not_retrieved": ({("a#1", "wanted"): "+", ("d#2", "said"): "+", ("d#2", "one"): "+"}, ["d"]),
    "not_used": ({("a#1", "wanted"): "+", ("d#2", "said"): "+", ("d#1", "one"): "+"}, ["d"]),
}


@pytest.mark.parametrize(("label", "signs", "because"), [(name, *case) for name, case in TWICE.items()])
def test_a_claim_that_stands_twice_is_judged_by_its_own_row(
    label: str, signs: dict[tuple[str, str], str], because: list[str]
) -> None:
    if label in ("contradicted", "misled"):
        signs = {**signs, ("d", "said"): "+"}
        score = diagnosed(Truth(["a", "a"], ["d"], signs))
    else:
        score = diagnosed(Truth(["a"], ["d", "d"], signs))
    assert (score.label, score.details["because"]) == (label, because)
