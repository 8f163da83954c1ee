"""The same scripted judge, asked by LlamaIndex's classes and by those that take their places."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import evaluation as theirs
from llama_index.core.prompts import PromptTemplate

import ragmetrics_llama_index as ours
from llama_index.doubles import Completions
from ragmetrics_core.metrics import RefineFaithfulness

pytestmark = pytest.mark.usefixtures("closed_loop")

CASE: dict[str, Any] = {"query": "q", "response": "r", "contexts": ["c"], "reference": "x", "second_response": "s"}
BOTH = [theirs, ours]


def both(name: str, reply: Any, **settings: Any) -> list[Any]:
    """The results of the two classes of that name; the judge says the same to both."""
    return [getattr(library, name)(llm=Completions(reply), **settings).evaluate(**CASE) for library in BOTH]


@pytest.mark.parametrize(
    ("name", "reply", "score"),
    [
        ("CorrectnessEvaluator", "4.2\nok", 4.2),
        ("CorrectnessEvaluator", "3.75\nok", 3.75),
        ("ContextRelevancyEvaluator", "Most of it.\n[RESULT] 2.3", 2.3 / 4),
        ("ContextRelevancyEvaluator", "Most of it.\n[RESULT] 3.3", 3.3 / 4),
    ],
)
def test_grades_between_the_halves(name: str, reply: str, score: float) -> None:
    for result in both(name, reply):
        assert result.score == pytest.approx(score)
        assert not result.invalid_result


@pytest.mark.parametrize(
    ("name", "template", "reply", "settings", "score", "passing"),
    [
        (
            "CorrectnessEvaluator",
            "Grade {generated_answer} from 0 to 10.",
            "8\nfine",
            {"score_threshold": 7.0},
            8,
            True,
        ),
        ("CorrectnessEvaluator", "Grade {generated_answer} from 0 to 10.", "0\nno", {"score_threshold": 7.0}, 0, False),
        (
            "CorrectnessEvaluator",
            "Grade {generated_answer} to 100.",
            "85.5\nfine",
            {"score_threshold": 90},
            85.5,
            False,
        ),
        ("AnswerRelevancyEvaluator", "{query} {response}, to 9", "Fine. [RESULT] 9", {"score_threshold": 9}, 1, True),
        (
            "ContextRelevancyEvaluator",
            "{query_str} {context_str}, to 10",
            "Fine. [RESULT] 7.5",
            {"score_threshold": 10.0},
            0.75,
            False,
        ),
    ],
)
@pytest.mark.parametrize("given", ["at once", "later"])
def test_templates_of_users_name_their_own_scale(
    name: str, template: str, reply: str, settings: dict[str, Any], score: float, passing: bool, given: str
) -> None:
    for library in BOTH:
        llm = Completions(reply)
        at_once = {"eval_template": PromptTemplate(template)} if given == "at once" else {}
        evaluator = getattr(library, name)(llm=llm, **at_once, **settings)
        if given == "later":
            evaluator.update_prompts({"eval_template": PromptTemplate(template)})
        result = evaluator.evaluate(**CASE)
        assert (result.score, len(llm.prompts)) == (pytest.approx(score), 1)
        if library is ours or name == "CorrectnessEvaluator":  # theirs leaves it open in the two others
            assert result.passing is passing
    assert ours_scale(name, template, reply, settings) is None


def ours_scale(name: str, template: str, reply: str, settings: dict[str, Any]) -> Any:
    evaluator = getattr(ours, name)(llm=Completions(reply), eval_template=template, **settings)
    result = evaluator.evaluate(**CASE)
    assert result.details["prompts"]
    return result.scale


def test_the_own_words_have_the_own_scale() -> None:
    assert ours.CorrectnessEvaluator(llm=Completions("8\nfine")).evaluate(**CASE).invalid_result
    evaluator = ours.CorrectnessEvaluator(llm=Completions("8\nfine"))
    shown = evaluator.get_prompts()
    evaluator.update_prompts({"eval_template": "{generated_answer} to 10"})
    assert evaluator.evaluate(**CASE).score == 8.0
    evaluator.update_prompts(shown)
    assert evaluator.evaluate(**CASE).invalid_result


def test_every_context_is_rated_on_the_scale_of_the_template() -> None:
    llm = Completions("Fine. [RESULT] 9", context_window=1200)
    evaluator = ours.ContextRelevancyEvaluator(
        llm=llm, eval_template="To 10: {query_str} {context_str}", score_threshold=10.0
    )
    result = evaluator.evaluate(query="q", contexts=["word " * 900, "other " * 900])
    assert result.score == pytest.approx(0.9)
    assert len(llm.prompts) > 1
    assert all(prompt.startswith("To 10: q ") for prompt in llm.prompts)


@pytest.mark.parametrize("library", BOTH, ids=["theirs", "ours"])
@pytest.mark.parametrize("way", ["subclass", "instance"])
def test_evaluate_asks_the_aevaluate_that_was_overridden(library: Any, way: str) -> None:
    own = library.CorrectnessEvaluator

    async def mine(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = await own.aevaluate(self, *args, **kwargs)
        return result.model_copy(update={"feedback": f"mine, {kwargs['reference']}"})

    if way == "subclass":
        evaluator = type("Mine", (own,), {"aevaluate": mine})(Completions("4\nx"))
    else:
        evaluator = own(Completions("4\nx"))
        evaluator.aevaluate = mine.__get__(evaluator)
    assert evaluator.evaluate(**CASE).feedback == "mine, x"
    response = theirs_response()
    assert evaluator.evaluate_response("q", response, reference="y").feedback == "mine, y"

    async def inside_a_loop() -> Any:
        return evaluator.evaluate(**CASE)

    assert asyncio.run(inside_a_loop()).feedback == "mine, x"


def theirs_response() -> Any:
    from llama_index.core.base.response.schema import Response

    return Response("r", source_nodes=[])


def test_a_class_that_overrides_nothing_needs_no_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio, "new_event_loop", None)
    assert ours.CorrectnessEvaluator(Completions("4\nx")).evaluate(**CASE).score == 4.0


@pytest.mark.parametrize("reply", ["[[A]]", "A quotes [[B]], but is better. [[A]]", "[[B]] it is"])
def test_the_words_of_a_comparison_are_those_of_the_judge(reply: str) -> None:
    """Marks included, as in LlamaIndex."""
    feedback = [item.feedback for item in both("PairwiseComparisonEvaluator", reply, enforce_consensus=False)]
    assert feedback == [reply, reply]


def test_the_words_of_a_comparison_in_json_are_its_reason() -> None:
    result = both("PairwiseComparisonEvaluator", '{"reason": "clearer", "better": "A"}', enforce_consensus=False)[1]
    assert (result.feedback, result.score) == ("clearer", 1.0)


KINDS = [
    ("FaithfulnessEvaluator", ["eval_template", "refine_template"]),
    ("RelevancyEvaluator", ["eval_template", "refine_template"]),
    ("ContextRelevancyEvaluator", ["eval_template", "refine_template"]),
    ("GuidelineEvaluator", ["eval_template"]),
    ("CorrectnessEvaluator", ["eval_template"]),
    ("PairwiseComparisonEvaluator", ["eval_template"]),
]


@pytest.mark.parametrize(("name", "keys"), KINDS)
def test_prompts_are_of_the_kind_that_llama_index_shows(name: str, keys: list[str]) -> None:
    shown = [getattr(library, name)(llm=Completions()).get_prompts() for library in BOTH]
    assert [list(prompts) for prompts in shown] == [keys, keys]
    for key in keys:
        assert type(shown[0][key]) is type(shown[1][key])
        if isinstance(shown[1][key], PromptTemplate):
            assert "JSON" in shown[1][key].template  # type: ignore[attr-defined]


def test_a_prompt_that_is_one_text_can_be_changed_and_given_back() -> None:
    own = ours.AnswerRelevancyEvaluator(llm=Completions("[RESULT] 2"))
    shown: Any = own.get_prompts()["eval_template"]
    assert isinstance(shown, PromptTemplate)
    llm = Completions("[RESULT] 2")
    evaluator = ours.AnswerRelevancyEvaluator(llm=llm)
    changed = shown.model_copy(update={"template": f"Be strict. {shown.template}"})
    evaluator.update_prompts({"eval_template": changed})
    assert evaluator.evaluate(query='a "quoted" {x}', response="r").score == 1.0
    assert llm.prompts[0].startswith("Be strict. ")
    assert llm.prompts[0].endswith('{"query": "a \\"quoted\\" {x}", "response": "r"}')


REMOVED = {
    "EmbeddingQAFinetuneDataset",
    "LabelledQADataset",
    "generate_qa_embedding_pairs",
    "generate_question_context_pairs",
}
"""What newer releases of LlamaIndex no longer have."""


def test_one_import_line_brings_what_it_brings_in_llama_index() -> None:
    names = {name for name in theirs.__all__ if hasattr(theirs, name)} - REMOVED
    assert names - set(ours.__all__) == set()
    unchanged = names - {name for name in names if name.endswith("Evaluator")} - {"HitRate", "MRR"}
    assert {name for name in unchanged if getattr(ours, name) is not getattr(theirs, name)} == set()


@pytest.mark.parametrize("name", ["FaithfulnessEvaluator", "RelevancyEvaluator"])
def test_without_contexts_nothing_is_judged(name: str) -> None:
    """One of the differences that the README names."""
    given, kept = (getattr(library, name)(llm=Completions("YES")).evaluate("q", "r", []) for library in BOTH)
    assert (given.score, given.passing, given.invalid_result) == (0.0, False, False)
    assert (kept.score, kept.passing, kept.invalid_result) == (None, None, True)
    assert (kept.label, kept.error, kept.invalid_reason) == ("no_retrieval", None, kept.feedback)


def test_the_judge_s_reason_is_kept_beside_yes_and_no() -> None:
    reply = '{"reason": "the context never mentions Rome", "answer": "no"}'
    for name in ("FaithfulnessEvaluator", "RelevancyEvaluator"):
        result = getattr(ours, name)(llm=Completions(reply)).evaluate(**CASE)
        assert (result.feedback, result.details["reasons"]) == ("NO", ["the context never mentions Rome"])
    result = ours.MetricEvaluator(RefineFaithfulness(), llm=Completions(reply)).evaluate(**CASE)
    assert "the context never mentions Rome" in str(result.feedback)
    assert not str(result.feedback).startswith("{")


def test_no_failure_is_written_into_a_question() -> None:
    from llama_index.core.indices.query.query_transform.feedback_transform import FeedbackQueryTransformation
    from llama_index.core.schema import QueryBundle

    result = ours.CorrectnessEvaluator(llm=Completions("Hm.")).evaluate(**CASE)
    assert "unreadable" in str(result.invalid_reason)
    assert (result.scale, result.error) == ((1.0, 5.0), result.invalid_reason)
    question = FeedbackQueryTransformation(llm=Completions()).run(QueryBundle("Where?"), {"evaluation": result})
    assert question.query_str == (
        "Here is a previous bad answer.\nr\nHere is some feedback from the evaluator about the response given.\n"
        "The answer could not be judged.\nNow answer the question.\nWhere?"
    )
