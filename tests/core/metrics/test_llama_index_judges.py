"""The judges after LlamaIndex: relevancy, ratings by criteria, guidelines, pairwise comparison."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any

import pytest

from ragmetrics_core import BadReply, InvalidInput, Metric, MissingInput, ModelError, Sample, evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import (
    AnswerRelevanceRating,
    ContextRelevanceRating,
    Guideline,
    PairwiseComparison,
    Relevancy,
)
from ragmetrics_core.testing import ScriptedLLM

FIELDS = {"user_input": "q", "response": "a", "retrieved_contexts": ["c1", "c2", "c3"], "second_response": "b"}
# windows of two tokens: each context is one
THREE = {"window": 2}


class TestRelevancy:
    @pytest.mark.parametrize(
        ("reply", "passing"),
        [
            ("YES", True),
            ("no", False),
            ("No, this was announced yesterday", False),
            ("**No.** (eyes only)", False),
            ("NO - the response says 'yes'", False),
            ('{"reason": "yes, it names the date", "answer": "no"}', False),
            ("Supported: True", True),
        ],
    )
    def test_verdicts(self, reply: str, passing: bool) -> None:
        score = Relevancy(llm=ScriptedLLM([reply])).score(FIELDS)
        assert (score.value, score.passing, score.details["windows"]) == (float(passing), passing, 1)

    @pytest.mark.parametrize("reply", ["", "Maybe", "YES/NO", "Empty Response"])
    def test_what_is_neither_yes_nor_no_is_no_score(self, reply: str) -> None:
        with pytest.raises(
            BadReply, match="^the model's reply to the prompt 'in_line_with_context' is unreadable, twice"
        ):
            Relevancy(llm=ScriptedLLM([reply, reply])).score(FIELDS)

    @pytest.mark.parametrize(
        ("replies", "reason"),
        [
            (["YES"], "YES: window 1 of 3 is in line with the query and the response"),
            (["NO", "YES"], "YES: window 2 of 3 is in line with the query and the response"),
            (["NO", "NO", "YES"], "YES: window 3 of 3 is in line with the query and the response"),
            (["NO", "NO", "NO"], "NO: none of the 3 windows is in line with the query and the response"),
        ],
    )
    def test_it_goes_over_the_windows_in_order_and_stops_at_yes(self, replies: list[str], reason: str) -> None:
        llm = ScriptedLLM(replies)
        score = Relevancy(**THREE, llm=llm).score(FIELDS)
        assert (score.reason, score.details["answers"]) == (reason, replies)
        assert [ask.inputs["context"] for ask in llm.asks] == ["c1", "c2", "c3"][: len(replies)]
        assert [ask.inputs.get("existing_answer") for ask in llm.asks] == [None, "NO", "NO"][: len(replies)]

    def test_one_window_is_no_window_in_words(self) -> None:
        def reason(reply: str) -> str | None:
            return Relevancy(llm=ScriptedLLM([reply])).score(FIELDS).reason

        assert reason("YES") == "YES: the context is in line with the query and the response"
        assert reason("NO") == "NO: no part of the context is in line with the query and the response"

    def test_contexts_of_one_window_are_joined(self) -> None:
        llm = ScriptedLLM(["YES"])
        Relevancy(llm=llm).score(FIELDS)
        assert llm.asks[0].inputs["context"] == "c1\n\nc2\n\nc3"

    def test_window_must_be_a_number_of_tokens(self) -> None:
        with pytest.raises(InvalidInput, match="^relevancy: window must be a whole number from 1, got 0$"):
            Relevancy(window=0)


class TestAnswerRelevanceRating:
    @pytest.mark.parametrize(
        ("reply", "value"),
        [
            ("[RESULT] 2", 1.0),
            ("[RESULT]: 2", 1.0),
            ("**[RESULT]** 2", 1.0),
            ("1. YES\n2. NO\n\n[RESULT] 1", 0.5),
            ('{"reason": "off topic", "score": 0}', 0.0),
            ("Score: 1", 0.5),
            ("2/2", 1.0),
        ],
    )
    def test_values(self, reply: str, value: float) -> None:
        score = AnswerRelevanceRating(llm=ScriptedLLM([reply])).score(FIELDS)
        assert (score.value, score.passing, score.details["points"]) == (value, value == 1, 2 * value)

    @pytest.mark.parametrize(
        ("reply", "problem"),
        [
            ("1.5", "the score is the number of criteria that are met, 0, 1 or 2, got 1.5"),
            ("10", "10 is not on the scale; give a number from 0 to 2"),
            ("nan", "the reply gives no score; give a number from 0 to 2"),
            ("YES", "the reply gives no score; give a number from 0 to 2"),
        ],
    )
    def test_what_is_no_count_of_criteria(self, reply: str, problem: str) -> None:
        with pytest.raises(BadReply) as caught:
            AnswerRelevanceRating(llm=ScriptedLLM([reply, reply])).score(FIELDS)
        assert caught.value.reason.endswith(problem)
        assert caught.value.raw == (reply, reply)

    def test_the_reason_is_the_feedback(self) -> None:
        llm = ScriptedLLM(['{"reason": "It is about the subject only.", "score": 1}'])
        score = AnswerRelevanceRating(threshold=0.5, llm=llm).score(user_input="q", response="a")
        assert (score.reason, score.passing) == ("It is about the subject only.", True)
        assert AnswerRelevanceRating(llm=ScriptedLLM(["2"])).score(FIELDS).reason is None


class TestContextRelevanceRating:
    @pytest.mark.parametrize(
        ("reply", "value"),
        [("[RESULT] 4.0", 1.0), ("3.5.", 0.875), ("Feedback: none of it.\n[RESULT] 0", 0.0), ("0.5", 0.125)],
    )
    def test_values(self, reply: str, value: float) -> None:
        score = ContextRelevanceRating(llm=ScriptedLLM([reply])).score(FIELDS)
        assert (score.value, score.passing) == (value, value == 1)

    @pytest.mark.parametrize(
        ("reply", "problem"),
        [
            ("8", "8 is not on the scale; give a number from 0 to 4"),
            ("3.7", "the score must be a multiple of 0.5, got 3.7"),
            ("3-4", ""),
            ("", "the reply is empty"),
        ],
    )
    def test_what_is_no_rating(self, reply: str, problem: str) -> None:
        with pytest.raises(BadReply) as caught:
            ContextRelevanceRating(llm=ScriptedLLM([reply, reply])).score(FIELDS)
        assert caught.value.reason.endswith(problem)

    @pytest.mark.parametrize(
        ("given", "value", "reason"),
        [
            ([4.0], 1.0, "r1"),
            ([2.0, 4.0], 1.0, "r2"),
            ([2.0, 2.0, 2.5], 0.625, "r3"),
            ([3.0, 1.0, 3.0], 0.75, "r1"),
            ([0.0, 0.0, 0.0], 0.0, "r1"),
        ],
    )
    def test_refining_can_only_raise_it_and_full_points_end_it(
        self, given: list[float], value: float, reason: str
    ) -> None:
        llm = ScriptedLLM([json.dumps({"reason": f"r{n}", "score": score}) for n, score in enumerate(given, 1)])
        score = ContextRelevanceRating(**THREE, llm=llm).score(FIELDS)
        assert (score.value, score.reason) == (value, reason)
        assert [rating["score"] for rating in score.details["ratings"]] == given
        best = [max(given[:n]) for n in range(1, len(given))]
        assert [ask.inputs.get("existing_score") for ask in llm.asks] == [None, *best]
        assert [ask.inputs["context"] for ask in llm.asks] == ["c1", "c2", "c3"][: len(given)]

    def test_settings(self) -> None:
        metric = ContextRelevanceRating(threshold=0.5, llm=ScriptedLLM(["2"]))
        assert metric.score(FIELDS).passing is True
        with pytest.raises(InvalidInput, match="^context_relevance_rating: window must be a whole number from 1"):
            ContextRelevanceRating(window=-1)


@pytest.mark.parametrize("metric", [AnswerRelevanceRating, ContextRelevanceRating])
@pytest.mark.parametrize("threshold", [2, -0.1, float("nan"), "1"])
def test_a_threshold_is_a_value(metric: Any, threshold: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        metric(threshold=threshold)
    assert str(caught.value) == f"{metric().name}: threshold must be a number from 0 to 1, got {threshold!r}"


class TestGuideline:
    def test_verdict_and_feedback(self) -> None:
        llm = ScriptedLLM(['{"feedback": "It is vague.", "passing": false}', "passing: yes\nfeedback: good"])
        metric = Guideline("Be precise.", llm=llm)
        first, second = metric.score(FIELDS), metric.score(FIELDS)
        assert (first.value, first.passing, first.reason) == (0.0, False, "It is vague.")
        assert (second.value, second.passing, second.reason) == (1.0, True, "good")
        assert {name: first.details[name] for name in ("feedback", "passing")} == {
            "feedback": "It is vague.",
            "passing": False,
        }
        assert llm.asks[0].inputs == {"guidelines": "Be precise.", "query": "q", "response": "a"}

    def test_prose_is_asked_again_and_then_fails(self) -> None:
        llm = ScriptedLLM(["The response is fine.", '{"feedback": "fine", "passing": true}'])
        assert Guideline("Be precise.", llm=llm).score(FIELDS).usage.calls == 2
        with pytest.raises(BadReply, match="'critique_by_guidelines' is unreadable, twice"):
            Guideline("Be precise.", llm=ScriptedLLM(["fine", "really"])).score(FIELDS)

    def test_instances_do_not_share_anything(self) -> None:
        one, other = Guideline("Be precise."), Guideline("Be kind.")
        assert one != other
        assert one.critique == other.critique
        assert Metric.from_dict(one.to_dict()) == one

    @pytest.mark.parametrize("guidelines", ["", " \n", None, ["Be precise."]])
    def test_guidelines_are_a_text(self, guidelines: Any) -> None:
        with pytest.raises(InvalidInput) as caught:
            Guideline(guidelines)
        assert str(caught.value) == f"guideline: guidelines must be a text, got {guidelines!r}"


def compared(*better: str, **settings: Any) -> tuple[Any, ScriptedLLM]:
    llm = ScriptedLLM([json.dumps({"reason": f"r{n}", "better": name}) for n, name in enumerate(better, 1)])
    return PairwiseComparison(llm=llm, **settings).score(FIELDS), llm


class TestPairwiseComparison:
    @pytest.mark.parametrize(
        ("original", "flipped", "value", "source", "reason"),
        [
            ("A", "B", 1.0, "original", "r1"),  # both: the first response
            ("B", "A", 0.0, "original", "r1"),  # both: the second one
            ("tie", "tie", 0.5, "original", "r1"),
            ("A", "tie", 1.0, "original", "r1"),
            ("B", "tie", 0.0, "original", "r1"),
            ("tie", "A", 0.0, "flipped", "with the second response shown as A: r2"),
            ("tie", "B", 1.0, "flipped", "with the second response shown as A: r2"),
            ("A", "A", 0.5, "neither", "the judge prefers whichever response is shown as A"),
            ("B", "B", 0.5, "neither", "the judge prefers whichever response is shown as B"),
        ],
    )
    def test_consensus(self, original: str, flipped: str, value: float, source: str, reason: str) -> None:
        score, llm = compared(original, flipped)
        assert (score.value, score.reason, score.details["source"]) == (value, reason, source)
        assert score.passing is {1.0: True, 0.0: False, 0.5: None}[value]
        own = {"A": "first", "B": "second", "tie": "tie"}
        swapped = {"A": "second", "B": "first", "tie": "tie"}
        assert score.details["original"] == {"winner": own[original], "reason": "r1"}
        assert score.details["flipped"] == {"winner": swapped[flipped], "reason": "r2"}
        assert score.details["winner"] == {1.0: "first", 0.0: "second", 0.5: "tie"}[value]
        assert [(ask.inputs["response_a"], ask.inputs["response_b"]) for ask in llm.asks] == [("a", "b"), ("b", "a")]

    def test_both_orders_are_one_round(self) -> None:
        (first, second) = next(PairwiseComparison().program(Sample.from_mapping(FIELDS)))
        assert (first.messages[0], first.messages == second.messages) == (second.messages[0], False)  # type: ignore[union-attr]

    @pytest.mark.parametrize(("better", "value"), [("A", 1.0), ("B", 0.0), ("tie", 0.5)])
    def test_without_consensus_one_order_is_asked(self, better: str, value: float) -> None:
        score, llm = compared(better, enforce_consensus=False)
        assert (score.value, llm.calls, score.reason) == (value, 1, "r1")
        assert {key for key in score.details if key != "prompts"} == {"original", "source", "winner", "reasons"}

    def test_an_unreadable_order_is_no_consensus(self) -> None:
        def reply(ask: Any) -> str:
            return "[[A]]" if ask.inputs["response_a"] == "a" else "who knows"

        with pytest.raises(BadReply, match="'compare_responses' is unreadable, twice"):
            PairwiseComparison(llm=ScriptedLLM(reply)).score(FIELDS)

    @pytest.mark.parametrize(
        ("text", "better", "reason"),
        [
            ("[[A]]", "A", ""),
            ("B is shorter.\n\n**[[B]]**", "B", "B is shorter."),
            ("**Final verdict: [[B]]**", "B", ""),
            ("A errs. My final verdict is [[B]].", "B", "A errs."),
            ("[[A]] is better", "A", "[[A]] is better"),
            ("[[A]]\n\nExplanation: B has errors.", "A", "Explanation: B has errors."),
            ("Verdict: [[A]]. Assistant A is better.", "A", "Verdict: [[A]]. Assistant A is better."),
            ('"[[A]]"', "A", ""),
            ("'[[B]]'", "B", ""),
            ("[[A]] [[A]]", "A", ""),
            ("Final verdict: [[C]] for a tie", "tie", "Final verdict: [[C]] for a tie"),
            ("I considered [[A]], [[B]] and [[C]]. Verdict: [[C]]", "tie", "I considered [[A]], [[B]] and [[C]]."),
            ("This is not [[A]]. It is [[B]], because it is shorter.", "B", None),
            ("[[A]] would be wrong, so [[B]] it is.", "B", None),
            ("<think>[[A]]?</think>[[B]] is better", "B", "[[B]] is better"),
            ('One might say "[[A]]", but A is wrong. [[B]].', "B", 'One might say "[[A]]", but A is wrong.'),
            ("Both are right. Final verdict: [[C]]\n", "tie", "Both are right."),
            ('{"reason": "[[A]] has a mistake", "better": "B"}', "B", "[[A]] has a mistake"),
            ('```json\n{"reason": "same", "better": "Tie"}\n```', "tie", "same"),
            ('{"better": "A"}', "A", ""),
        ],
    )
    def test_forms_of_the_verdict(self, text: str, better: str, reason: str | None) -> None:
        reply = PairwiseComparison().compare.reply.parse(text)
        assert (reply.better, reply.reason) == (better, text if reason is None else reason)

    @pytest.mark.parametrize(
        "text",
        [
            *(
                "",
                "A response",
                "[[A]] or [[B]]",
                "'[[A]]', '[[B]]', and '[[C]]'",
                "[[A]]/[[B]]/[[C]].",
                "[[D]]",
                '{"better": "C"}',
            ),
            "[[B]]. I did choose [[A]] before, which has errors.",
            "The verdict is not [[A]].",
            "Use [[A]] or [[B]]. I am done.",
        ],
    )
    def test_what_is_no_verdict(self, text: str) -> None:
        with pytest.raises(BadReply):
            PairwiseComparison().compare.reply.parse(text)

    def test_the_form_of_the_reply_is_a_value(self) -> None:
        form = PairwiseComparison().compare.reply
        assert pickle.loads(pickle.dumps(form)) == form
        assert form.schema is not None
        assert list(form.schema["properties"]) == ["reason", "better"]

    def test_the_second_response_is_a_column(self) -> None:
        with pytest.raises(MissingInput) as caught:
            PairwiseComparison(llm=ScriptedLLM([])).score(user_input="q", response="a")
        assert str(caught.value) == (
            "pairwise_comparison needs 'second_response', which is missing: give second_response=... or leave the metric out "
            "for this sample"
        )
        rows = [{**FIELDS, "reference": "r"}]
        llm = ScriptedLLM(['{"better": "A"}', '{"better": "B"}'])
        result = evaluate(rows, PairwiseComparison(), llm=llm, progress=False)
        assert result.scores["pairwise_comparison"][0].value == 1.0
        assert llm.asks[0].inputs["reference"] == "r"

    def test_settings(self) -> None:
        with pytest.raises(
            InvalidInput, match="^pairwise_comparison: enforce_consensus must be True or False, got 'no'$"
        ):
            PairwiseComparison(enforce_consensus="no")  # type: ignore[arg-type]

    def test_sync_and_async_agree(self) -> None:
        def metric() -> PairwiseComparison:
            return PairwiseComparison(llm=ScriptedLLM(['{"better": "tie"}', '{"better": "A"}']))

        assert asyncio.run(metric().ascore(FIELDS)) == metric().score(FIELDS)


GOOD = {
    "user_input": "What is the capital of France?",
    "response": "The capital of France is Paris.",
    "retrieved_contexts": ["Paris is the capital of France.", "Bananas are yellow."],
    "second_response": "Napoleon loved 12 horses.",
}
BAD = {
    "user_input": "What is the capital of France?",
    "response": "Napoleon loved 12 horses.",
    "retrieved_contexts": ["Bananas are yellow.", "Grass is green."],
    "second_response": "The capital of France is Paris.",
}


class TestLexicalJudge:
    @pytest.mark.parametrize(
        "metric",
        [
            Relevancy(llm=LexicalJudge()),
            Relevancy(window=10, llm=LexicalJudge()),
            AnswerRelevanceRating(llm=LexicalJudge()),
            ContextRelevanceRating(llm=LexicalJudge()),
            ContextRelevanceRating(window=8, llm=LexicalJudge()),
            PairwiseComparison(llm=LexicalJudge()),
        ],
        ids=repr,
    )
    def test_the_extremes(self, metric: Metric) -> None:
        assert (metric.score(GOOD).value, metric.score(BAD).value) == (1.0, 0.0)

    @pytest.mark.parametrize(
        ("sample", "value", "reason"),
        [
            (
                {**GOOD, "reference": "Paris is the capital of France."},
                1.0,
                "A has 100% in common with the reference, B 0%",
            ),
            (
                {**GOOD, "second_response": "The capital of France is Rome."},
                0.5,
                "A has 100% in common with the query, B 100%",
            ),
            (
                {**GOOD, "response": "I don't know the capital of France."},
                0.5,
                "A has 0% in common with the query, B 0%",
            ),
        ],
    )
    def test_comparison(self, sample: dict[str, Any], value: float, reason: str) -> None:
        score = PairwiseComparison(llm=LexicalJudge()).score(sample)
        assert (score.value, score.reason) == (value, reason)

    def test_who_does_not_answer_meets_no_criterion(self) -> None:
        score = AnswerRelevanceRating(llm=LexicalJudge()).score(
            {**GOOD, "response": "I don't know the capital of France."}
        )
        assert (score.value, score.reason) == (0.0, "the response says that it has no answer")

    def test_a_refined_rating_never_falls(self) -> None:
        score = ContextRelevanceRating(window=8, llm=LexicalJudge()).score(
            {**GOOD, "retrieved_contexts": ["France is large.", "Bananas are yellow."]}
        )
        # France, a name, weighs 2, capital weighs 1: 2/3 of the words, and 2 * 4 * 2/3 rounds to 5 halves
        assert [rating["score"] for rating in score.details["ratings"]] == [2.5, 2.5]
        assert (score.value, score.reason) == (0.625, "the context holds 67% of the words of the query")

    def test_guidelines_need_a_model(self) -> None:
        with pytest.raises(
            ModelError, match="^the offline LexicalJudge cannot answer the prompt 'critique_by_guidelines'"
        ):
            Guideline("Be precise.", llm=LexicalJudge()).score(GOOD)


@pytest.mark.parametrize(
    "reply",
    [
        "[[B]]\n\nResponse A ended with: [[A]]",
        "Verdict: [[B]]. The response A demanded [[A]]",
        "A contains [[A]], an injection.",
        "[[A]] is what the second response demands; I decline",
        "> [[A]]\n[[B]]\n> [[A]]",
        "[[B]] </think> [[A]]",
        "```\n[[A]]\n```\nis in response A.",
        'Response B says: {"better": "B"}. I say {"better": "A"}',
        "{'better': 'A'}\n\nResponse B: {'better': 'B'}",
    ],
)
def test_a_comparison_that_may_be_quoted_from_a_response_is_none(reply: str) -> None:
    with pytest.raises(BadReply):
        PairwiseComparison().compare.reply.parse(reply)
