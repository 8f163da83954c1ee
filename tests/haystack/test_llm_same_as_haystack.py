"""The LLM evaluators against Haystack's own, on replies that both can read and on failures that both know."""

from __future__ import annotations

import asyncio
import copy
import json
import math
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
from haystack.components import evaluators as haystack_evaluators
from haystack.components.generators.chat import MockChatGenerator, OpenAIChatGenerator
from haystack.dataclasses import ChatMessage

import ragmetrics_haystack

# what is compared is what this release and its successors do
HAYSTACK = tuple(int(part) for part in version("haystack-ai").split(".")[:2])
pytestmark = pytest.mark.skipif(HAYSTACK < (3, 4), reason="Haystack's own evaluators did other things before 3.4")

EXAMPLES = [{"inputs": {"predicted_answers": "Football is popular."}, "outputs": {"score": 0}}]
LLM = {
    "instructions": "Is it so?",
    "inputs": [("predicted_answers", list[str])],
    "outputs": ["score"],
    "examples": EXAMPLES,
    "progress_bar": False,
}
QUIET = {"progress_bar": False}
ROWS = {
    "LLMEvaluator": {"predicted_answers": ["row 0", "row 1", "row 2", "row 3"]},
    "FaithfulnessEvaluator": {
        "questions": ["row 0", "row 1", "row 2", "row 3"],
        "contexts": [["c"], ["c", "d"], [], [""]],
        "predicted_answers": ["a", "", "c", "{{ d }}"],
    },
    "ContextRelevanceEvaluator": {
        "questions": ["row 0", "row 1", "row 2", "row 3"],
        "contexts": [["c"], ["c"], [], [""]],
    },
}
NAMES = sorted(ROWS)
READABLE = {
    "LLMEvaluator": [
        '{"score": 0}',
        ' {"score": 0.5}\n',
        '{"score": "very good", "because": ["a", {"b": null}]}',
        '{"score": null, "score2": 5}',
    ],
    "FaithfulnessEvaluator": [
        '{"statements": ["a", "b"], "statement_scores": [1, 0]}',
        '{"statements": [], "statement_scores": []}',
        '{"statements": ["a"], "statement_scores": [1], "score": 0.3, "status": "?", "more": {"x": 1}}',
        '{"statements": ["a", "b", "c"], "statement_scores": [0, 0, 1]}',
    ],
    "ContextRelevanceEvaluator": [
        '{"relevant_statements": ["a", "b"], "score": 1}',
        '{"relevant_statements": []}',
        '{"relevant_statements": ["a"], "more": 3}',
        '{"relevant_statements": ["é {{ x }}"]}',
    ],
}


def both(name: str, **settings: Any) -> tuple[Any, Any]:
    settings = {**(LLM if name == "LLMEvaluator" else QUIET), **settings}
    return getattr(haystack_evaluators, name)(**settings), getattr(ragmetrics_haystack, name)(**settings)


def per_row(*said: Any) -> Callable[[str], Any]:
    """What the row that a message is about is answered."""
    return lambda text: next(said[number] for number in range(len(said)) if f"row {number}" in text)


def same(ours: Any, theirs: Any) -> bool:
    """Equality in which NaN equals NaN and a float equals the float nearest to it."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, float):
        return (math.isnan(theirs) and math.isnan(ours)) or ours == pytest.approx(theirs, abs=1e-12)
    return bool(ours == theirs)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_outputs(name: str, judge: Any, *, asynchronous: bool) -> None:
    said = [ChatMessage.from_assistant(text, meta={"number": n}) for n, text in enumerate(READABLE[name])]
    outputs = []
    for evaluator in both(name, chat_generator=judge(per_row(*said))):
        inputs = copy.deepcopy(ROWS[name])
        outputs.append(asyncio.run(evaluator.run_async(**inputs)) if asynchronous else evaluator.run(**inputs))
        assert inputs == ROWS[name]
    theirs, ours = outputs
    assert same(ours, theirs), (ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_no_meta_is_none(name: str, judge: Any) -> None:
    theirs, ours = (item.run(**ROWS[name]) for item in both(name, chat_generator=judge(READABLE[name][0])))
    assert theirs["meta"] is None
    assert same(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "bad", [Exception("no luck"), ValueError("no"), TypeError("bug"), "not json", "[1]", "{}", '"a"', "", "null"]
)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_failures_that_are_recorded(name: str, judge: Any, bad: Any, caplog: Any, *, asynchronous: bool) -> None:
    said = [READABLE[name][0], bad, READABLE[name][2], READABLE[name][3]]
    outputs, warnings = [], []
    for evaluator in both(name, chat_generator=judge(per_row(*said)), raise_on_failure=False):
        caplog.clear()
        outputs.append(asyncio.run(evaluator.run_async(**ROWS[name])) if asynchronous else evaluator.run(**ROWS[name]))
        warnings.append(caplog.text)
    theirs, ours = outputs
    assert same(ours, theirs), (ours, theirs)
    assert theirs["results"][1] is None or theirs["results"][1]["status"] == "error"
    for text in warnings:
        assert f"{name} failed for 1 out of 4 inputs. The results for these inputs are None." in text
        kind = (
            "failed during chat generation"
            if isinstance(bad, Exception)
            else "failed to parse the ChatGenerator response"
        )
        assert f"{name} {kind}" in text
        assert ("1 query(s) failed and were excluded from the score." in text) is (name != "LLMEvaluator")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", ["not json", "[1]", '{"other": 1}', '"a"', "", "null", "{"])
def test_replies_that_are_raised(name: str, judge: Any, bad: str) -> None:
    errors = []
    for evaluator in both(name, chat_generator=judge(bad)):
        with pytest.raises(ValueError) as caught:
            evaluator.run(**ROWS[name])
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]
    assert errors[0][0] in (ValueError, json.JSONDecodeError)


@pytest.mark.parametrize("name", NAMES)
def test_exceptions_that_are_raised(name: str, judge: Any) -> None:
    problem = RuntimeError("the server is down")
    for evaluator in both(name, chat_generator=judge(problem)):
        with pytest.raises(
            ValueError, match="(?s)^Error while generating response for prompt: .*Error: the server is down$"
        ) as caught:
            evaluator.run(**{key: values[:1] for key, values in ROWS[name].items()})
        assert caught.value.__cause__ is problem
        with pytest.raises(ValueError, match="Error while generating response for prompt") as caught:
            asyncio.run(evaluator.run_async(**ROWS[name]))
        assert caught.value.__cause__ is problem


BAD_INPUTS: list[dict[str, Any]] = [
    {},
    {"predicted_answers": "text"},
    {"predicted_answers": ("a",)},
    {"predicted_answers": None},
    {"questions": ["a"]},
    {"predicted_answers": ["a", "b"], "more": ["c"]},
    {"predicted_answers": ["a"], "more": "b"},
    {"questions": ["a"], "contexts": [["c"]], "predicted_answers": ["a", "b"]},
    {"questions": ["a"], "contexts": (["c"],), "predicted_answers": ["a"]},
    {"questions": [], "contexts": [["c"]], "predicted_answers": []},
]


def outcome(evaluator: Any, inputs: dict[str, Any]) -> Any:
    """What came of it: the outputs, or the error as type and text."""
    try:
        return evaluator.run(**inputs)
    except ValueError as error:
        with pytest.raises(ValueError):
            asyncio.run(evaluator.run_async(**inputs))
        return type(error), str(error)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("inputs", BAD_INPUTS, ids=str)
@pytest.mark.parametrize("raising", [True, False])
def test_inputs_that_are_refused(name: str, judge: Any, inputs: dict[str, Any], *, raising: bool) -> None:
    theirs, ours = (
        outcome(evaluator, inputs)
        for evaluator in both(name, chat_generator=judge(READABLE[name][0]), raise_on_failure=raising)
    )
    assert ours == theirs or same(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_no_rows(name: str, judge: Any) -> None:
    generator = judge(AssertionError("no question is expected"))
    for evaluator in both(name, chat_generator=generator):
        outputs = evaluator.run(**{key: [] for key in ROWS[name]})
        assert outputs["results"] == []
        assert outputs["meta"] is None
        assert name == "LLMEvaluator" or (math.isnan(outputs["score"]) and outputs["individual_scores"] == [])
    assert generator.conversations == []


BAD_SETTINGS: list[dict[str, Any]] = [
    {"inputs": {("predicted_answers", list[str])}},
    {"inputs": [("predicted_answers", list)]},
    {"inputs": [["predicted_answers", list[str]]]},
    {"inputs": [(1, list[str])]},
    {"inputs": [("a", list[str], 3)]},
    {"inputs": "text"},
    {"outputs": {"score"}},
    {"outputs": [1]},
    {"outputs": "score"},
    {"examples": {"inputs": {}, "outputs": {}}},
    {"examples": ["text"]},
    {"examples": [{"inputs": {}}]},
    {"examples": [{"inputs": {}, "outputs": {}, "more": {}}]},
    {"examples": [{"wrong": {}, "outputs": {}}]},
    {"examples": [{"inputs": [], "outputs": {}}]},
    {"examples": [{"inputs": {1: "a"}, "outputs": {}}]},
    {"examples": [{"inputs": {}, "outputs": {1: 2}}]},
]


@pytest.mark.parametrize("wrong", BAD_SETTINGS, ids=str)
def test_settings_that_are_refused(wrong: dict[str, Any]) -> None:
    errors = []
    for module in (haystack_evaluators, ragmetrics_haystack):
        with pytest.raises(ValueError, match="^LLM evaluator expects ") as caught:
            module.LLMEvaluator(**{**LLM, **wrong})  # type: ignore[attr-defined]
        errors.append(str(caught.value))
        parts = {key: {**LLM, **wrong}[key] for key in ("inputs", "outputs", "examples")}
        with pytest.raises(ValueError, match="^LLM evaluator expects "):
            module.LLMEvaluator.validate_init_parameters(**parts)  # type: ignore[attr-defined]
    assert errors[0] == errors[1]


def retyped(data: dict[str, Any]) -> dict[str, Any]:
    name = data["type"].rpartition(".")[2]
    return {**data, "type": f"haystack_integrations.components.evaluators.ragmetrics.{name}"}


OWN_EXAMPLES = [{"inputs": {"questions": "q", "contexts": ["c"]}, "outputs": {"relevant_statements": ["c"]}}]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "settings", [{}, {"raise_on_failure": False, "progress_bar": True}, {"examples": OWN_EXAMPLES}]
)
@pytest.mark.parametrize("generator", [None, OpenAIChatGenerator(model="m"), MockChatGenerator("{}")])
def test_saved_form(name: str, settings: dict[str, Any], generator: Any) -> None:
    theirs, ours = both(name, chat_generator=generator, **settings)
    data = ours.to_dict()
    assert data == retyped(theirs.to_dict())
    before = copy.deepcopy(data)
    again = type(ours).from_dict(data)
    assert data == before
    assert again.to_dict() == data
    assert type(again._chat_generator) is (OpenAIChatGenerator if generator is None else type(generator))
    for part in ("instructions", "inputs", "outputs", "examples", "progress_bar", "raise_on_failure"):
        assert getattr(again, part) == getattr(ours, part) == getattr(theirs, part)
    assert again.prepare_template() == theirs.prepare_template()


@pytest.mark.parametrize("name", NAMES)
def test_saved_form_without_a_generator(name: str) -> None:
    data = both(name)[1].to_dict()
    del data["init_parameters"]["chat_generator"]
    again = getattr(ragmetrics_haystack, name).from_dict(data)
    assert again._chat_generator.generation_kwargs == {"response_format": {"type": "json_object"}, "seed": 42}


def test_all_the_other_components_are_saved_as_haystack_saves_them() -> None:
    for name, settings in [
        ("DocumentMAPEvaluator", {"document_comparison_field": "meta.a.b"}),
        ("DocumentMRREvaluator", {}),
        ("DocumentNDCGEvaluator", {"document_comparison_field": "id"}),
        ("DocumentRecallEvaluator", {"mode": "multi_hit"}),
        (
            "DocumentRecallEvaluator",
            {"mode": ragmetrics_haystack.RecallMode.SINGLE_HIT, "document_comparison_field": "id"},
        ),
    ]:
        theirs, ours = getattr(haystack_evaluators, name)(**settings), getattr(ragmetrics_haystack, name)(**settings)
        assert ours.to_dict() == retyped(theirs.to_dict())


@pytest.mark.parametrize("name", NAMES)
def test_sockets(name: str) -> None:
    theirs, ours = both(name, chat_generator=MockChatGenerator("{}"))
    for part in ("__haystack_input__", "__haystack_output__"):
        mine, own = getattr(ours, part)._sockets_dict, getattr(theirs, part)._sockets_dict
        assert {key: item.type for key, item in mine.items()} == {key: item.type for key, item in own.items()}
