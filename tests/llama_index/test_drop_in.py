"""The classes that take the places of LlamaIndex's own: their signatures, their conventions, without their defects."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from llama_index.core import evaluation as theirs
from llama_index.core.evaluation import guideline as their_guideline
from llama_index.core.evaluation.eval_utils import default_parser
from llama_index.core.output_parsers import PydanticOutputParser
from llama_index.core.prompts import PromptTemplate
from llama_index.core.schema import MetadataMode

import ragmetrics_llama_index as ours
from llama_index.doubles import Completions, HashingEmbedding
from ragmetrics_core import InvalidInput, MissingInput

NAMES = [
    "AnswerRelevancyEvaluator",
    "ContextRelevancyEvaluator",
    "CorrectnessEvaluator",
    "FaithfulnessEvaluator",
    "GuidelineEvaluator",
    "PairwiseComparisonEvaluator",
    "QueryResponseEvaluator",
    "RelevancyEvaluator",
    "ResponseEvaluator",
    "SemanticSimilarityEvaluator",
]
READS_CONTEXTS = {
    "ContextRelevancyEvaluator",
    "FaithfulnessEvaluator",
    "QueryResponseEvaluator",
    "RelevancyEvaluator",
    "ResponseEvaluator",
}
CASE: dict[str, Any] = {"query": "Where?", "response": "In Paris.", "contexts": ["It is in Paris."]}


@pytest.mark.parametrize("name", NAMES)
def test_constructors_are_those_of_llama_index(name: str) -> None:
    def arguments(cls: Any) -> list[tuple[str, Any]]:
        parameters = inspect.signature(cls.__init__).parameters.values()
        return [(item.name, item.default if not callable(item.default) else None) for item in parameters]

    more: list[tuple[str, Any]] = [("on_error", "raise")]
    if name in READS_CONTEXTS:
        more.append(("metadata_mode", MetadataMode.NONE))
    assert arguments(getattr(ours, name)) == [*arguments(getattr(theirs, name)), *more]
    for argument, _ in more:
        assert inspect.signature(getattr(ours, name)).parameters[argument].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("name", NAMES)
def test_what_llama_index_takes_by_position(name: str) -> None:
    *before, _ = inspect.signature(getattr(theirs, name).aevaluate).parameters
    assert before[:4] == ["self", "query", "response", "contexts"]
    assert list(getattr(ours, name).positional) == before[4:]


def test_arguments_by_position() -> None:
    graded = ours.CorrectnessEvaluator(
        Completions(lambda prompt: "5\nx" if '"reference_answer": "R"' in prompt else "1\nx")
    )
    assert asyncio.run(graded.aevaluate("q", "r", None, "R")).score == 5.0
    assert asyncio.run(graded.aevaluate("q", "r", None, "R", 0)).score == 5.0
    assert asyncio.run(graded.aevaluate("q", "r", None, reference="S")).score == 1.0
    with pytest.raises(
        TypeError, match="CorrectnessEvaluator.aevaluate got 'reference' twice, by position and by name"
    ):
        asyncio.run(graded.aevaluate("q", "r", None, "R", reference="S"))
    with pytest.raises(TypeError, match="takes 2 arguments by position after contexts, got 3"):
        asyncio.run(graded.aevaluate("q", "r", None, "R", 0, 1))

    class Mine(ours.PairwiseComparisonEvaluator):
        async def aevaluate(self, query: Any, response: Any, contexts: Any, second_response: Any, **more: Any) -> Any:  # type: ignore[override]
            return await super().aevaluate(query, response, contexts, second_response, None, 0, **more)

    compared = Mine(Completions(lambda prompt: "[[A]]"), enforce_consensus=False)
    result = compared.evaluate("q", "r", None, second_response="s")
    assert (result.score, result.passing) == (1.0, True)


@pytest.mark.parametrize("name", NAMES)
def test_prompts_have_the_keys_and_variables_of_llama_index(name: str) -> None:
    if name == "SemanticSimilarityEvaluator":
        assert ours.SemanticSimilarityEvaluator(HashingEmbedding()).get_prompts() == {}
        return
    own = getattr(ours, name)(llm=Completions()).get_prompts()
    if name == "AnswerRelevancyEvaluator":  # theirs raises an AttributeError
        assert set(own["eval_template"].template_vars) == {"query", "response"}
        return
    other = getattr(theirs, name)(llm=Completions()).get_prompts()
    assert {key: set(item.template_vars) for key, item in own.items()} == {
        key: set(item.template_vars) for key, item in other.items()
    }


def judged(name: str, reply: Any, **settings: Any) -> Any:
    case = {**CASE, "reference": "Paris.", "second_response": "In Rome."}
    return getattr(ours, name)(llm=Completions(reply), **settings).evaluate(**case)


@pytest.mark.parametrize("name", ["FaithfulnessEvaluator", "RelevancyEvaluator"])
@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("YES", 1.0),
        ("yes.", 1.0),
        ("NO", 0.0),
        ("No, this was announced yesterday", 0.0),
        ("**No.** (eyes only)", 0.0),
        ("NO - the response says 'yes'", 0.0),
        ("Supported: True", 1.0),
        ('{"reason": "it says so", "answer": "yes"}', 1.0),
        ("", None),
        ("I cannot tell.", None),
    ],
)
def test_yes_and_no(name: str, reply: str, score: float | None) -> None:
    result = judged(name, reply)
    assert result.score == score
    assert result.passing is (None if score is None else bool(score))
    assert result.invalid_result is (score is None)
    assert (result.query, result.response, result.contexts) == (CASE["query"], CASE["response"], CASE["contexts"])
    if score is not None:
        assert result.feedback == ("YES" if score else "NO")


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("4.0\nGood.", 4.0),
        ("4.5", 4.5),
        ("\n4.0\nGood.", 4.0),
        ("Score: 4", 4.0),
        ("4/5", 4.0),
        ("**4**", 4.0),
        ('```json\n{"reason": "fine", "score": 4}\n```', 4.0),
        ("3.5\nMistakes.", 3.5),
        ("9", None),
        ("nan", None),
        ("Great answer!", None),
    ],
)
def test_grades(reply: str, score: float | None) -> None:
    result = judged("CorrectnessEvaluator", reply)
    assert (result.score, result.invalid_result) == (score, score is None)
    assert result.passing is (None if score is None else score >= 4)
    assert result.feedback


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Both. [RESULT] 2", 1.0),
        ("[RESULT] 2", 1.0),
        ("[RESULT]: 2", 1.0),
        ("**[RESULT]** 2", 1.0),
        ("One of two.\n[RESULT] 1", 0.5),
        ('{"reason": "neither", "score": 0}', 0.0),
        ("[RESULT] 1.5", 0.75),
        ("[RESULT] 10", None),
        ("Fine.", None),
    ],
)
def test_points_for_the_answer(reply: str, score: float | None) -> None:
    result = judged("AnswerRelevancyEvaluator", reply)
    assert (result.score, result.invalid_result) == (score, score is None)
    assert result.passing is (None if score is None else score == 1.0)


@pytest.mark.parametrize(
    ("reply", "score"),
    [("All there.\n[RESULT] 3.5.", 0.875), ("[RESULT] 4.0", 1.0), ("[RESULT] 8", None), ("[RESULT] 2.25", 0.5625)],
)
def test_points_for_the_contexts(reply: str, score: float | None) -> None:
    result = judged("ContextRelevancyEvaluator", reply)
    assert (result.score, result.invalid_result) == (score, score is None)
    assert result.response == CASE["response"]


def test_the_threshold_of_points_is_what_makes_a_full_score() -> None:
    half = judged("AnswerRelevancyEvaluator", "[RESULT] 1", score_threshold=1.0)
    assert (half.score, half.passing, half.scale) == (1.0, True, None)
    assert judged("ContextRelevancyEvaluator", "[RESULT] 2", score_threshold=2.0).score == 1.0


@pytest.mark.parametrize(
    ("reply", "passing"),
    [
        ('{"passing": true, "feedback": "Good."}', True),
        ('Here you are: {"feedback": "Vague.", "passing": false}', False),
        ("I like it.", None),
    ],
)
def test_guidelines(reply: str, passing: bool | None) -> None:
    result = judged("GuidelineEvaluator", reply, guidelines="Be short.")
    assert (result.passing, result.invalid_result) == (passing, passing is None)
    assert result.feedback


def test_guidelines_of_llama_index_by_default() -> None:
    llm = Completions('{"passing": true, "feedback": "Good."}')
    ours.GuidelineEvaluator(llm).evaluate(**CASE)
    assert "The response should fully answer the query." in llm.prompts[0]


def by_place(first: str, second: str) -> Any:
    """Replies by which response is shown first, whatever the order of the calls."""

    def reply(prompt: str) -> str:
        return first if prompt.index("In Paris.") < prompt.index("In Rome.") else second

    return reply


@pytest.mark.parametrize(
    ("original", "flipped", "score", "passing", "source"),
    [
        ("It quotes [[B]] but is better. [[A]]", "[[B]]", 1.0, True, "original"),
        ("[[B]]", "[[A]]", 0.0, False, "original"),
        ("[[C]]", "[[B]]", 1.0, True, "flipped"),
        ("[[C]]", "[[A]]", 0.0, False, "flipped"),
        ("[[A]]", "[[A]]", 0.5, None, "neither"),
        ("[[C]]", "[[C]]", 0.5, None, "original"),
    ],
)
def test_pairs(original: str, flipped: str, score: float, passing: bool | None, source: str) -> None:
    result = judged("PairwiseComparisonEvaluator", by_place(original, flipped))
    assert (result.score, result.passing, result.pairwise_source) == (score, passing, source)
    assert not result.invalid_result
    assert result.response == "In Paris."


def test_one_order_is_enough_on_request() -> None:
    llm = Completions("[[A]]")
    result = ours.PairwiseComparisonEvaluator(llm, enforce_consensus=False).evaluate(**CASE, second_response="In Rome.")
    assert (result.score, len(llm.prompts)) == (1.0, 1)
    assert judged("PairwiseComparisonEvaluator", "Hm.").invalid_result
    with pytest.raises(MissingInput, match="'second_response'"):
        ours.PairwiseComparisonEvaluator(llm).evaluate(**CASE)


TEMPLATES = {
    "FaithfulnessEvaluator": ("Supported? {query_str} by {context_str}", "Supported? In Paris. by It is in Paris."),
    "RelevancyEvaluator": (
        "In line? {query_str} with {context_str}",
        "In line? Question: Where?\nResponse: In Paris. with It is in Paris.",
    ),
    "CorrectnessEvaluator": (
        "{query} {generated_answer} {reference_answer}",
        "Where? In Paris. (NO REFERENCE ANSWER SUPPLIED)",
    ),
    "AnswerRelevancyEvaluator": ("{query} {response}", "Where? In Paris."),
    "ContextRelevancyEvaluator": ("{query_str} {context_str}", "Where? It is in Paris."),
    "GuidelineEvaluator": ("{query} {response}: {guidelines}", "Where? In Paris.: Be short."),
    "PairwiseComparisonEvaluator": ("{query} {answer_1} {answer_2}{reference}", "Where? In Paris. In Rome."),
}
REPLIES = {"GuidelineEvaluator": '{"passing": true, "feedback": "Good."}', "PairwiseComparisonEvaluator": "[[A]]"}


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("form", ["text", "template", "updated", "updated with text"])
def test_templates_with_the_variables_of_llama_index(name: str, form: str) -> None:
    """A text is silently ignored by LlamaIndex's own FaithfulnessEvaluator."""
    text, rendered = TEMPLATES[name]
    llm = Completions(REPLIES.get(name, "Yes. 1"))
    settings = {"guidelines": "Be short."} if name == "GuidelineEvaluator" else {}
    template = text if "text" in form else PromptTemplate(text)
    cls = getattr(ours, name)
    if "updated" in form:
        evaluator = cls(llm, **settings)
        evaluator.update_prompts({"eval_template": template})
    else:
        evaluator = cls(llm, eval_template=template, **settings)
    evaluator.evaluate(**CASE, second_response="In Rome.")
    form_of_reply = llm.prompts[0].removeprefix(rendered)
    assert llm.prompts[0].startswith(rendered)
    assert bool(form_of_reply) is (name == "GuidelineEvaluator"), "only guidelines add how to reply, as in LlamaIndex"


@pytest.mark.parametrize("name", ["FaithfulnessEvaluator", "RelevancyEvaluator", "ContextRelevancyEvaluator"])
def test_refining_templates(name: str) -> None:
    llm = Completions("1" if name.startswith("Context") else "NO", context_window=700)
    refine = "{query_str} | {existing_answer} | {context_msg}"
    evaluator = getattr(ours, name)(llm, eval_template="{query_str} {context_str}", refine_template=refine)
    evaluator.evaluate(query="q", response="r", contexts=["word " * 400, "end " * 400])
    assert len(llm.prompts) > 2
    assert all(prompt.count(" | ") == 2 for prompt in llm.prompts[1:])
    assert {prompt.split(" | ")[1] for prompt in llm.prompts[1:]} <= {"NO", "1.0"}


def test_refining_shows_every_piece_once_in_order_and_stops_at_yes() -> None:
    texts = [f"w{number}" for number in range(1500)]
    llm = Completions("no", context_window=1200)
    evaluator = ours.FaithfulnessEvaluator(
        llm, eval_template="{query_str}:{context_str}", refine_template="{query_str}:{context_msg}"
    )
    result = evaluator.evaluate(response="r", contexts=[" ".join(texts[:1000]), " ".join(texts[1000:])])
    shown = " ".join(prompt.partition(":")[2] for prompt in llm.prompts).split()
    assert shown == texts
    assert result.details["windows"] == len(llm.prompts) > 2
    llm = Completions(["no", "yes"], context_window=2000)
    stopped = ours.FaithfulnessEvaluator(llm).evaluate(response="r", contexts=[" ".join(texts)])
    assert (stopped.score, len(llm.prompts)) == (1.0, 2)


def test_contexts_fill_the_window_of_the_judge() -> None:
    text = "word " * 8000
    llm = Completions("no", context_window=128_000)
    ours.FaithfulnessEvaluator(llm).evaluate(response="r", contexts=[text])
    assert len(llm.prompts) == 1


@pytest.mark.parametrize("name", ["FaithfulnessEvaluator", "RelevancyEvaluator"])
@pytest.mark.parametrize("reply", ["NO", "Hm."])
def test_raise_error_when_the_response_does_not_pass(name: str, reply: str) -> None:
    with pytest.raises(ValueError, match="^The response is invalid"):
        judged(name, reply, raise_error=True)
    assert judged(name, "YES", raise_error=True).passing


@pytest.mark.parametrize("name", ["AnswerRelevancyEvaluator", "ContextRelevancyEvaluator"])
def test_raise_error_when_the_judge_is_unreadable(name: str) -> None:
    with pytest.raises(ValueError, match="^The response is invalid"):
        judged(name, "Hm.", raise_error=True)
    assert judged(name, "[RESULT] 0", raise_error=True).passing is False


@pytest.mark.parametrize("missing", [{"response": None}, {"contexts": None}])
def test_missing_arguments_are_value_errors(missing: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is missing"):
        ours.FaithfulnessEvaluator(Completions()).evaluate(**{**CASE, **missing})


def test_parser_functions() -> None:
    def tenths(text: str) -> tuple[float | None, str | None]:
        return (float(text.split("=")[1]), "out of ten") if "=" in text else (None, None)

    result = judged("CorrectnessEvaluator", "grade=8.5", parser_function=tenths, score_threshold=8)
    assert (result.score, result.passing, result.feedback, result.scale) == (8.5, True, "out of ten", None)
    assert judged("AnswerRelevancyEvaluator", "points=5", parser_function=tenths, score_threshold=10).score == 0.5
    assert judged("ContextRelevancyEvaluator", "points=5", parser_function=tenths, score_threshold=10).score == 0.5
    for reply, reason in [("none", "Unable to parse"), ("x=nan", "nan is not a finite number"), ("x=y", "ValueError")]:
        result = judged("CorrectnessEvaluator", reply, parser_function=tenths)
        assert result.invalid_result
        assert reason in str(result.invalid_reason)


def test_the_parsers_of_llama_index_meet_the_templates_they_were_written_for() -> None:
    llm = Completions("4.0\nGood.")
    result = ours.CorrectnessEvaluator(llm, parser_function=default_parser).evaluate(**CASE)
    assert (result.score, result.feedback) == (4.0, "Good.")
    assert "You must return your response in a line with only the score." in llm.prompts[0]


def test_the_parser_function_of_pairs() -> None:
    def parse(text: str) -> tuple[bool | None, float | None, str | None]:
        return {"first": (True, 1.0, "1st"), "second": (False, 0.0, "2nd"), "same": (None, 0.5, "tie")}.get(
            text, (None, None, None)
        )

    assert judged("PairwiseComparisonEvaluator", by_place("first", "second"), parser_function=parse).score == 1.0
    assert judged("PairwiseComparisonEvaluator", by_place("second", "first"), parser_function=parse).score == 0.0
    assert judged("PairwiseComparisonEvaluator", "same", parser_function=parse).score == 0.5
    assert judged("PairwiseComparisonEvaluator", "?", parser_function=parse).invalid_result


def test_the_output_parser_of_guidelines_changes_no_template_but_its_own() -> None:
    parser = PydanticOutputParser(output_cls=their_guideline.EvaluationData)
    template = PromptTemplate("{query} {response} {guidelines}")
    shared = their_guideline.DEFAULT_EVAL_TEMPLATE.output_parser
    for settings in ({}, {"eval_template": template}):
        llm = Completions('{"passing": false, "feedback": "Vague."}')
        result = ours.GuidelineEvaluator(llm, output_parser=parser, **settings).evaluate(**CASE)
        assert (result.passing, result.feedback) == (False, "Vague.")
        assert "EvaluationData" in llm.prompts[0] or "passing" in llm.prompts[0]
    assert template.output_parser is None
    assert their_guideline.DEFAULT_EVAL_TEMPLATE.output_parser is shared
    assert judged("GuidelineEvaluator", "Hm.", output_parser=parser).invalid_result


def test_similarity() -> None:
    case = {"response": "She was born in London.", "reference": "She was born in London."}
    evaluator = ours.SemanticSimilarityEvaluator(HashingEmbedding())
    same = evaluator.evaluate(query="?", **case)
    assert (same.score, same.passing, same.query, same.response) == (1.0, True, "?", case["response"])
    assert same.feedback
    other = evaluator.evaluate(response="Peas.", reference=case["reference"])
    assert other.passing is False
    euclidean = ours.SemanticSimilarityEvaluator(
        HashingEmbedding(), similarity_mode="euclidean", similarity_threshold=-0.1
    )
    assert (euclidean.evaluate(**case).score, euclidean.evaluate(**case).passing) == (0.0, True)
    own = ours.SemanticSimilarityEvaluator(HashingEmbedding(), similarity_fn=lambda left, right: 42.0)
    result = own.evaluate(**case)
    assert (result.score, result.scale, result.details) == (42.0, None, {"similarity": 42.0})
    with pytest.raises(InvalidInput, match="Cannot specify both similarity_fn and similarity_mode"):
        ours.SemanticSimilarityEvaluator(HashingEmbedding(), similarity_fn=max, similarity_mode="cosine")


REPLIES = {
    "AnswerRelevancyEvaluator": "fine [RESULT] 2",
    "ContextRelevancyEvaluator": "fine [RESULT] 4",
    "CorrectnessEvaluator": "4.0\nfine",
    "FaithfulnessEvaluator": "YES",
    "GuidelineEvaluator": '{"passing": true, "feedback": "fine"}',
    "PairwiseComparisonEvaluator": "[[A]]",
    "RelevancyEvaluator": "YES",
}


@pytest.mark.parametrize("name", REPLIES)
def test_prompts_that_are_given_back_change_nothing(name: str) -> None:
    """Also where the reference is missing, and where the data hold quotes and braces."""
    case = {"query": 'What is "{x}"?\n', "response": "A {brace}.", "contexts": ["é\n"], "second_response": "B"}
    sent = []
    for given_back in (False, True):
        llm = Completions(REPLIES[name])
        evaluator = getattr(ours, name)(llm=llm)
        if given_back:
            evaluator.update_prompts(evaluator.get_prompts())
        assert evaluator.evaluate(**case).score is not None
        sent.append(sorted(llm.prompts))  # two that are asked at once come in any order
    assert sent[0] == sent[1]


@pytest.mark.parametrize("name", REPLIES)
def test_own_words_go_and_the_shown_ones_come_back(name: str) -> None:
    llm = Completions(REPLIES[name])
    evaluator = getattr(ours, name)(llm=llm)
    shown = evaluator.get_prompts()
    template = "MINE {" + shown["eval_template"].template_vars[0] + "}"
    evaluator.update_prompts({"eval_template": template})
    evaluator.evaluate(**CASE, second_response="B")
    evaluator.update_prompts(shown)
    evaluator.evaluate(**CASE, second_response="B")
    assert llm.prompts[0].startswith("MINE ")
    assert not any(prompt.startswith("MINE ") for prompt in llm.prompts[len(llm.prompts) // 2 :])


@pytest.mark.parametrize("name", REPLIES)
def test_a_failing_model_is_recorded_where_that_is_asked_for(name: str) -> None:
    def broken(prompt: str) -> Any:
        return RuntimeError("GPU out of memory")

    case = {**CASE, "second_response": "B"}
    result = getattr(ours, name)(llm=Completions(broken), on_error="record").evaluate(**case)
    assert (result.invalid_result, result.score) == (True, None)
    assert "GPU out of memory" in result.invalid_reason
    with pytest.raises(RuntimeError, match="GPU out of memory"):
        getattr(ours, name)(llm=Completions(broken)).evaluate(**case)


@pytest.mark.parametrize("name", ["AnswerRelevancyEvaluator", "ContextRelevancyEvaluator"])
@pytest.mark.parametrize("threshold", [0, -1, "2", None])
def test_points_are_divided_by_a_number_above_0(name: str, threshold: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        getattr(ours, name)(llm=Completions(), score_threshold=threshold)
    assert str(caught.value) == f"{name}: the threshold must be a number above 0, got {threshold!r}"


def test_the_threshold_of_grades_is_a_number() -> None:
    with pytest.raises(InvalidInput, match="CorrectnessEvaluator: the threshold must be a finite number, got 'x'"):
        ours.CorrectnessEvaluator(llm=Completions(), score_threshold="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Feedback: no 2 criteria met [RESULT] 0", 0.0),
        ("It has no answer to part 2 [RESULT] 1", 0.5),
        ("It is not the user's topic [RESULT] 0", 0.0),
        ("I would not give 1 point here. [RESULT] 2", 1.0),
    ],
)
def test_the_marked_result_counts_whatever_stands_before_it(reply: str, score: float) -> None:
    assert judged("AnswerRelevancyEvaluator", reply).score == score


def test_the_feedback_keeps_what_stands_before_the_marked_result() -> None:
    for text in ("1. YES\n2. NO\n[RESULT] 1", "2 of 2 criteria are met\n[RESULT] 2", "Yes and no\n[RESULT] 1"):
        assert judged("AnswerRelevancyEvaluator", text).feedback == text
    assert judged("CorrectnessEvaluator", "4.0\n1. Fine.\n2. Not all.").feedback == "1. Fine.\n2. Not all."
