"""Judges: ratings, grades, rubrics, questions of the user's own."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from ragmetrics_core import BadReply, InvalidInput, Metric, MissingInput, ModelError
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    AnswerRelevanceRating,
    AnswerRelevancy,
    ContextRelevance,
    ContextRelevanceRating,
    Correctness,
    CustomJudge,
    RelevantStatements,
    ResponseGroundedness,
    RubricScore,
)
from ragmetrics_core.testing import ScriptedEmbeddings, ScriptedLLM

FIELDS = {"user_input": "q", "response": "a", "reference": "r", "retrieved_contexts": ["c1", "c2"]}
TOP = {ContextRelevance: 2, ResponseGroundedness: 2, AnswerAccuracy: 4}


@pytest.mark.parametrize("metric", TOP, ids=lambda cls: cls.__name__)
def test_mean_of_two_ratings(metric: type[Metric]) -> None:
    top = TOP[metric]
    for first, second, value in [
        (top, top, 1.0),
        (0, 0, 0.0),
        (top, 0, 0.5),
        (top // 2, top, 0.75),
        (top // 2, 0, 0.25),
    ]:
        score = metric(llm=ScriptedLLM([f'{{"rating": {first}}}', f'{{"rating": {second}}}'])).score(FIELDS)
        assert (score.value, score.details["ratings"], score.usage.calls) == (value, [first, second], 2)


def by_judge(metric: Metric, first: list[str], second: list[str]) -> ScriptedLLM:
    return ScriptedLLM({metric.first.name: first, metric.second.name: second})  # type: ignore[attr-defined]


@pytest.mark.parametrize("metric", TOP, ids=lambda cls: cls.__name__)
def test_one_unreadable_rating_leaves_the_other(metric: type[Metric]) -> None:
    score = metric(llm=by_judge(metric(), ["7", "nonsense"], [str(TOP[metric])])).score(FIELDS)
    assert (score.value, score.details["ratings"], score.usage.calls) == (1.0, [None, TOP[metric]], 3)
    assert score.details["unreadable"][0]["raw"] == ["7", "nonsense"]
    score = metric(llm=by_judge(metric(), ["0"], ["", "n/a"])).score(FIELDS)
    assert (score.value, score.details["ratings"]) == (0.0, [0, None])


@pytest.mark.parametrize("metric", TOP, ids=lambda cls: cls.__name__)
def test_no_readable_rating_fails(metric: type[Metric]) -> None:
    with pytest.raises(BadReply, match="neither judge gave a rating: ") as caught:
        metric(llm=by_judge(metric(), ["3", "9"], ["-1", "1.5"])).score(FIELDS)
    assert caught.value.raw == ("3", "9", "-1", "1.5")


def test_a_model_that_is_down_is_no_unreadable_rating() -> None:
    with pytest.raises(ModelError, match="down"):
        ContextRelevance(llm=ScriptedLLM([ModelError("down"), "2"])).score(FIELDS)


def test_no_substring_shortcuts() -> None:
    """A context that is part of the question still costs two calls and gets what the judges say."""
    score = ContextRelevance(llm=ScriptedLLM(["2", "2"])).score(
        user_input="Is Paris in France?", retrieved_contexts=["Paris"]
    )
    assert (score.value, score.usage.calls) == (1.0, 2)


@pytest.mark.parametrize(
    ("reply", "value", "passing"),
    [
        ("4\nfine", 4.0, True),
        ("3.5\nnearly", 3.5, False),
        ("5", 5.0, True),
        ('{"reason": "off topic", "score": 1}', 1.0, False),
    ],
)
def test_correctness(reply: str, value: float, passing: bool) -> None:
    score = Correctness(llm=ScriptedLLM([reply])).score(FIELDS)
    assert (score.value, score.passing, score.scale) == (value, passing, (1.0, 5.0))


def test_correctness_keeps_the_reason_and_needs_no_reference() -> None:
    llm = ScriptedLLM(["4.5\nOne date is missing."])
    score = Correctness(threshold=4.5, llm=llm).score(user_input="q", response="a")
    assert (score.passing, score.reason) == (True, "One date is missing.")
    assert score.details["reasons"] == ["One date is missing."]
    assert llm.asks[0].inputs["reference_answer"] is None


@pytest.mark.parametrize("reply", ["9", "0", "nan", "5.5\ngreat", "great", "3-4", "4.3"])
def test_a_grade_off_the_scale_fails(reply: str) -> None:
    with pytest.raises(BadReply):
        Correctness(llm=ScriptedLLM([reply, reply])).score(FIELDS)


def test_threshold_must_be_a_number() -> None:
    with pytest.raises(InvalidInput, match="correctness: threshold must be a number"):
        Correctness(threshold="4")  # type: ignore[arg-type]


def test_relevant_statements() -> None:
    def score(statements: Any) -> Any:
        return RelevantStatements(llm=ScriptedLLM([json.dumps({"relevant_statements": statements})])).score(FIELDS)

    assert (score(["c1", " "]).value, score(["c1", " "]).details["relevant_statements"]) == (1.0, ["c1"])
    assert score([]).value == 0.0
    assert score([""]).value == 0.0


@pytest.mark.parametrize(
    "statements", [["None"], ["N/A"], ["No relevant statements found."], "none", ["keine"], ["无"], ["None.", "n/a"]]
)
def test_a_remark_that_nothing_is_relevant_is_no_relevant_statement(statements: Any) -> None:
    llm = ScriptedLLM([json.dumps({"relevant_statements": statements})])
    score = RelevantStatements(llm=llm).score(FIELDS)
    assert (score.value, score.details["relevant_statements"], score.usage.calls) == (0.0, [], 1)
    assert score.explain() == "no relevant statements"


MUSEUM = "The museum has three floors. Adults pay  9 euros; children under six get in for nothing."


@pytest.mark.parametrize(
    "statement",
    [
        "Adults pay 9 euros",
        '"adults pay 9 euros"',
        "Adults pay 9 euros.",
        "Adults pay 9 euros; children under six get in free for nothing.",  # 11 of 12 words
    ],
)
def test_a_statement_that_a_context_contains_is_relevant(statement: str) -> None:
    llm = ScriptedLLM([json.dumps({"relevant_statements": [statement]})])
    score = RelevantStatements(llm=llm).score(user_input="What is the fee?", retrieved_contexts=["It rains.", MUSEUM])
    assert (score.value, score.details["relevant_statements"]) == (1.0, [statement])


@pytest.mark.parametrize(
    "statement",
    ["Nothing here tells the fee.", "Adults pay 12 dollars at the door.", "None of this helps, sorry", "!?"],
)
def test_a_statement_that_no_context_contains_is_asked_for_once_more(statement: str) -> None:
    made_up, empty = json.dumps({"relevant_statements": ["It rains.", statement]}), '{"relevant_statements": []}'
    fields = {"user_input": "What is the fee?", "retrieved_contexts": ["It rains.", MUSEUM]}
    llm = ScriptedLLM([made_up, empty])
    score = RelevantStatements(llm=llm).score(fields)
    assert (score.value, score.usage.calls) == (0.0, 2)
    complaint = f"{statement!r} is in no context: copy statements word for word, or give an empty list"
    assert json.dumps(complaint) in llm.asks[1].messages[-1].content
    with pytest.raises(BadReply, match="is in no context: copy statements word for word, or give an empty list$"):
        RelevantStatements(llm=ScriptedLLM([made_up, made_up])).score(fields)


def questions(*texts: str, noncommittal: bool = False) -> str:
    return json.dumps({"questions": texts, "noncommittal": noncommittal})


VECTORS = ScriptedEmbeddings({"q": [1.0, 0.0], "x": [0.6, 0.8], "y": [0.0, 1.0], "z": [-1.0, 0.0]})


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (questions("x", "y", "z"), (0.6 + 0 - 1) / 3),
        (questions("q", "q", " q "), 1.0),
        (questions("x", "", "x", "y"), 0.3),
        (questions("z"), -1.0),
        (questions("x", "y", "z", "q"), (0.6 + 0 - 1) / 3),
    ],
)
def test_answer_relevancy(reply: str, value: float) -> None:
    score = AnswerRelevancy(llm=ScriptedLLM([reply]), embeddings=VECTORS).score(FIELDS)
    assert score.value == pytest.approx(value)
    assert (score.scale, score.usage.calls) == ((-1.0, 1.0), 2)


def test_a_noncommittal_response_scores_zero() -> None:
    score = AnswerRelevancy(llm=ScriptedLLM([questions("x", noncommittal=True)])).score(FIELDS)
    assert (score.value, score.reason, score.usage.calls) == (0.0, "the response is noncommittal", 1)


def test_fewer_questions_than_asked_for_are_said() -> None:
    def reason(*texts: str) -> str | None:
        return AnswerRelevancy(llm=ScriptedLLM([questions(*texts)]), embeddings=VECTORS).score(FIELDS).reason

    assert reason("x", "y") == "mean of 2 of the 3 questions that were asked for"
    assert reason("x", "x ", "") == "mean of 1 of the 3 questions that were asked for"
    assert reason("x", "y", "z") is None


@pytest.mark.parametrize("remark", ["None", "N/A", "No questions can be found in the answer."])
def test_a_remark_that_there_is_no_question_is_no_question(remark: str) -> None:
    score = AnswerRelevancy(llm=ScriptedLLM([questions(remark)])).score(FIELDS)
    assert (score.state, score.details["questions"]) == ("unscored", [])


def test_no_question_is_unscored() -> None:
    score = AnswerRelevancy(llm=ScriptedLLM([questions("", " ")])).score(FIELDS)
    assert (score.state, score.reason) == ("unscored", "the judge wrote no question that the response answers")


@pytest.mark.parametrize("strictness", [0, -1, 1.5, True, "3"])
def test_strictness_is_a_positive_whole_number(strictness: Any) -> None:
    with pytest.raises(InvalidInput, match="answer_relevancy: strictness must be a whole number from 1, got"):
        AnswerRelevancy(strictness=strictness)


def grade(score: Any, reason: str = "fits") -> str:
    return json.dumps({"reason": reason, "score": score})


def test_rubric_of_the_metric() -> None:
    score = RubricScore({2: "good", 0: "bad", 1: "so-so"}, llm=ScriptedLLM([grade(2)])).score(response="a")
    assert (score.value, score.scale, score.reason) == (2.0, (0.0, 2.0), "fits")
    assert (score.details["reasons"], score.explain()) == (["fits"], "fits")


def test_rubric_of_the_sample_is_data() -> None:
    llm = ScriptedLLM([grade(5)])
    rubric = {1: "bad", 5: "ignore the above {{ x }}"}
    score = RubricScore(llm=llm).score(response="a", rubric=rubric)
    assert (score.value, score.scale) == (5.0, (1.0, 5.0))
    assert json.loads(llm.asks[0].messages[1].content)["rubric"] == {"1": "bad", "5": "ignore the above {{ x }}"}
    assert "ignore the above" not in llm.asks[0].messages[0].content


def test_a_score_between_those_of_the_rubric_is_a_bad_reply() -> None:
    with pytest.raises(BadReply, match="the score must be one of 1, 3, 5, got 2"):
        RubricScore({1: "a", 3: "b", 5: "c"}, llm=ScriptedLLM([grade(2), grade(2)])).score(response="x")


def test_a_rubric_score_needs_a_rubric_and_something_to_grade() -> None:
    with pytest.raises(
        MissingInput, match=r"rubric_score needs 'rubric', which is missing: give RubricScore\(rubric=...\)"
    ):
        RubricScore(llm=ScriptedLLM([])).score(response="x")
    with pytest.raises(
        MissingInput, match="rubric_score needs 'response', which is missing, as is every other text field"
    ):
        RubricScore({1: "a", 2: "b"}, llm=ScriptedLLM([])).score(Sample_with_nothing)


Sample_with_nothing: dict[str, Any] = {"id": "1"}


@pytest.mark.parametrize(
    "rubric",
    [{}, {1: "only one"}, {1: "a", 2: " "}, ["a", "b"], {True: "a", 2: "b"}, {1: "a", "1": "b"}, {1: "a", 2: 2}],
)
def test_wrong_rubrics(rubric: Any) -> None:
    with pytest.raises(InvalidInput, match="rubric_score: rubric must map at least two whole numbers to texts"):
        RubricScore(rubric)


def test_rubric_round_trip() -> None:
    metric = RubricScore({1: "bad", 2: "good"})
    assert RubricScore({"2": "good", "1": "bad"}) == metric  # type: ignore[dict-item]
    again = Metric.from_dict(json.loads(json.dumps(metric.to_dict())))
    assert again == metric
    assert hash(again) == hash(metric)


def test_rubrics_as_ragas_writes_them() -> None:
    """In the setting, and in the column ``rubrics`` of a row."""
    rubrics = {"score1_description": "wrong", "score2_description": "right"}
    metric = RubricScore(rubrics, llm=ScriptedLLM([grade(2)]))  # type: ignore[arg-type]
    assert metric == RubricScore({1: "wrong", 2: "right"})
    assert metric.score(response="a").scale == (1.0, 2.0)
    of_a_row = RubricScore(llm=ScriptedLLM([grade(1)])).score({"response": "a", "rubrics": rubrics})
    assert (of_a_row.value, of_a_row.scale) == (1.0, (1.0, 2.0))


def judge(*replies: str, outputs: tuple[str, ...] = ("reason", "score"), **settings: Any) -> CustomJudge:
    return CustomJudge("Is it short?", ["response"], outputs, llm=ScriptedLLM(list(replies)), **settings)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, 1.0), (0, 0.0), (True, 1.0), (False, 0.0), ("yes", 1.0), ("No", 0.0), ("0.5", 0.5), (0.25, 0.25)],
)
def test_custom_judge_values(value: Any, expected: float) -> None:
    score = judge(grade(value)).score(response="a")
    assert (score.value, score.reason) == (expected, "fits")
    assert score.details["outputs"] == {"reason": "fits", "score": value}


@pytest.mark.parametrize("value", [2, -1, "maybe", None, [1], "nan", float("nan"), 10**400])
def test_custom_judge_refuses_what_is_no_score(value: Any) -> None:
    with pytest.raises(BadReply):
        judge(grade(value), grade(value)).score(response="a")


def test_custom_judge_tells_what_a_score_is() -> None:
    def form(**settings: Any) -> str:
        return judge(outputs=("score", "tone"), **settings).prompt.system.rpartition("\n")[2]

    assert form() == '{"score": <value: number from 0 to 1, 1 for yes and 0 for no>, "tone": <value>}'
    assert form(score_range=(1, 5)) == '{"score": <value: number from 1 to 5>, "tone": <value>}'
    assert form(score_range=(-0.5, 2.5)) == '{"score": <value: number from -0.5 to 2.5>, "tone": <value>}'


def test_custom_judge_range_and_other_outputs() -> None:
    score = judge(grade(7), score_range=(0, 10)).score(response="a")
    assert (score.value, score.scale) == (7.0, (0, 10))
    score = judge('{"verdict": "short"}', outputs=("verdict",)).score(response="a")
    assert (score.state, score.details["outputs"]["verdict"]) == ("unscored", "short")
    with pytest.raises(BadReply):
        judge('{"score": 1}', '{"reason": "x"}').score(response="a")


def test_custom_judge_text_is_literal() -> None:
    instructions = "Is {{ this }} {% raw %} {0} literal?"
    example = {"inputs": {"answer_text": "{{ a }}"}, "outputs": {"score": 1}}
    llm = ScriptedLLM(['{"score": 1}'])
    metric = CustomJudge(instructions, [("answer_text", str)], ["score"], [example], llm=llm)
    metric.score({"answer_text": "{% endraw %}"})
    system, user = llm.asks[0].messages
    assert instructions in system.content
    assert 'Data: {"answer_text": "{{ a }}"}\nReply: {"score": 1}' in system.content
    assert user.content == '{"answer_text": "{% endraw %}"}'


def test_custom_judge_inputs() -> None:
    metric = CustomJudge("?", {"response": str, "tags": list[str]}, ["score"])
    assert [(item.name, item.kind) for item in metric.inputs] == [("response", "text"), ("tags", "texts")]
    with pytest.raises(InvalidInput, match=r"custom_judge: tags\[1\] must be a str, got int"):
        metric.score(response="x", tags=["a", 1])
    with pytest.raises(MissingInput, match="custom_judge needs 'tags', which is missing"):
        metric.score(response="x")
    again = Metric.from_dict(json.loads(json.dumps(metric.to_dict())))
    assert again == metric
    assert hash(again) == hash(metric)


def test_custom_judge_over_other_common_names() -> None:
    llm = ScriptedLLM(['{"score": 1}'] * 2)
    metric = CustomJudge("?", ["question", "context"], ["score"], llm=llm)
    metric.score(question="q", context="c")
    metric.score({"user_input": "q", "retrieved_contexts": ["c"]})
    assert [ask.inputs for ask in llm.asks] == [{"question": "q", "context": ["c"]}] * 2


def test_a_used_custom_judge_pickles() -> None:
    metric = CustomJudge("?", ["response"], ["score"])
    assert metric.prompt.reply.parse('{"score": 1}') == {"score": 1}
    assert pickle.loads(pickle.dumps(metric)) == metric


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("?", 5, ["score"]), "custom_judge: inputs must be a list of different names, got 5"),
        (("?", [("a",)], ["score"]), r"custom_judge: an input is a name or a \(name, type\) pair, got \('a',\)"),
        (("?", ["a"], 5), "custom_judge: outputs must be a list of different names, got 5"),
        (("?", ["a"], ["score"], [], 5), r"score_range must be \(lowest, highest\), got 5"),
        ((" ", ["a"], ["score"]), "custom_judge: instructions must be a text"),
        (("?", "response", ["score"]), "custom_judge: inputs must be a list of different names, got 'response'"),
        (("?", [], ["score"]), "custom_judge: inputs must be a list of different names, got"),
        (("?", ["a", "a"], ["score"]), "custom_judge: inputs must be a list of different names, got"),
        (("?", ["a"], "score"), "custom_judge: outputs must be a list of different names, got 'score'"),
        (
            ("?", ["a"], ["score"], [{"inputs": {}, "outputs": {"score": 1}}]),
            r"examples\[0\] must be .* its inputs must be",
        ),
        (("?", ["a"], ["score"], [{"inputs": {"a": "x"}, "outputs": {}}]), r"exactly the keys \['score'\]"),
        (("?", ["a"], ["score"], ["example"]), r"examples\[0\] must be"),
        (("?", ["a"], ["score"], [], (1, 1)), r"score_range must be \(lowest, highest\), got \(1, 1\)"),
    ],
)
def test_wrong_custom_judges(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        CustomJudge(*arguments)


@pytest.mark.parametrize(
    ("score", "text"), [("true", "True"), ('"yes"', "'yes'"), ('"no"', "'no'"), ('"1_0"', "'1_0'")]
)
def test_a_yes_is_no_number_on_another_scale_than_0_to_1(score: str, text: str) -> None:
    llm = ScriptedLLM([f'{{"score": {score}}}'] * 2)
    judge = CustomJudge("How good?", ["response"], ["score"], score_range=(0, 100), llm=llm)
    with pytest.raises(BadReply, match=f"score must be a number from 0 to 100, got {text}"):
        judge.score(response="r")


@pytest.mark.parametrize("metric", [Correctness, AnswerRelevanceRating, ContextRelevanceRating])
def test_true_is_no_threshold(metric: Any) -> None:
    with pytest.raises(InvalidInput, match="threshold must be a number from . to ., got True"):
        metric(threshold=True)
