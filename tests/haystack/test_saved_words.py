"""A pipeline that was saved and loaded sends byte-identical messages: Haystack's YAML sorts the keys of everything."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from haystack.components.embedders import MockTextEmbedder
from haystack.components.evaluators import FaithfulnessEvaluator as HaystackFaithfulnessEvaluator
from haystack.components.generators.chat import MockChatGenerator

from exchanges import EXCHANGES, WITH_EMBEDDINGS, Exchange, with_own_words
from haystack import Pipeline, component
from ragmetrics_core import Metric
from ragmetrics_core.metrics import SinglePassFaithfulness, catalogue
from ragmetrics_haystack import ContextRelevanceEvaluator, FaithfulnessEvaluator, LLMEvaluator, MetricEvaluator

pytestmark = pytest.mark.slow

ASKED: list[str] = []


@component
class Listener:
    """A chat generator that notes what it is sent and answers nothing that can be read."""

    def run(self, messages: list[Any]) -> dict[str, Any]:
        ASKED.append("\n---\n".join(f"{message.role.value}: {message.text}" for message in messages))
        return MockChatGenerator("?").run(messages=messages)


def asked(evaluator: Any, inputs: dict[str, Any]) -> list[str]:
    ASKED.clear()
    evaluator.run(**inputs)
    assert ASKED
    return sorted(ASKED)


def by_yaml(evaluator: Any) -> Any:
    pipeline = Pipeline()
    pipeline.add_component("it", evaluator)
    text = pipeline.dumps()
    again = Pipeline.loads(text, allowed_modules=[__name__])
    assert again.dumps() == text
    return again.get_component("it")


def by_json(evaluator: Any) -> Any:
    return type(evaluator).from_dict(json.loads(json.dumps(evaluator.to_dict(), sort_keys=True)))


@pytest.fixture(autouse=True)
def trusted() -> Any:
    from haystack.core.serialization import allow_deserialization_module

    allow_deserialization_module(__name__)


def evaluator_of(metric: Metric) -> MetricEvaluator:
    return MetricEvaluator(
        metric, chat_generator=Listener(), embedder=MockTextEmbedder([1.0]), progress_bar=False, raise_on_failure=False
    )


@pytest.mark.parametrize("saved", [by_yaml, by_json])
@pytest.mark.parametrize("own", [False, True], ids=["built_in_words", "own_words"])
@pytest.mark.parametrize("exchange", [*EXCHANGES, WITH_EMBEDDINGS], ids=lambda exchange: exchange.name)
def test_every_metric_of_the_catalogue(exchange: Exchange, own: bool, saved: Callable[[Any], Any]) -> None:
    evaluator = evaluator_of(with_own_words(exchange.metric) if own else exchange.metric)
    inputs = {name: [exchange.sample[name]] for name in evaluator.metric.inputs if name in exchange.sample}
    again = saved(evaluator)
    assert again.metric == evaluator.metric
    assert asked(again, inputs) == asked(evaluator, inputs)


@pytest.mark.parametrize("entry", [item for item in catalogue() if item.calls == "none"], ids=lambda entry: entry.name)
def test_every_metric_that_asks_nothing(entry: Any) -> None:
    assert by_yaml(evaluator_of(entry.cls())).metric == entry.cls()


def test_the_order_of_a_built_in_example() -> None:
    again = by_yaml(evaluator_of(SinglePassFaithfulness()))
    assert list(again.metric.judge.examples[0].output) == ["statements", "reasons", "statement_scores"]
    assert again.to_dict()["init_parameters"]["metric"] == {"metric": "SinglePassFaithfulness", "settings": {}}


FAITHFULNESS = {"questions": ["q"], "contexts": [["c"]], "predicted_answers": ["a"]}
OWN = {
    "inputs": {"questions": "Q", "contexts": ["C"], "predicted_answers": "A"},
    "outputs": {"statements": ["A."], "statement_scores": [1]},
}
NESTED = {
    "inputs": {"questions": "Q", "contexts": [{"text": "C", "by": "me"}], "predicted_answers": "A"},
    "outputs": {"statements": ["A."], "statement_scores": [1], "extra": {"why": {"z": 1, "a": 2}}},
}


def drop_ins() -> dict[str, tuple[Any, dict[str, Any]]]:
    settings: dict[str, Any] = {"chat_generator": Listener(), "progress_bar": False, "raise_on_failure": False}
    relevance = {"inputs": {"questions": "Q", "contexts": ["C"]}, "outputs": {"relevant_statements": ["C"]}}
    judge: dict[str, Any] = {"inputs": [("texts", list[str]), ("by", list[str])], "outputs": ["why", "score"]}
    taught = {
        "inputs": {"texts": "t", "by": "b"},
        "outputs": {"why": {"first": 1, "and": {"z": 1, "a": 2}}, "score": 1},
    }
    texts = {"texts": ["t"], "by": ["b"]}
    two = {"questions": ["q"], "contexts": [["c"]]}
    return {
        "faithfulness": (FaithfulnessEvaluator(**settings), FAITHFULNESS),
        "faithfulness_own": (FaithfulnessEvaluator([OWN], **settings), FAITHFULNESS),
        "faithfulness_nested": (FaithfulnessEvaluator([OWN, NESTED], **settings), FAITHFULNESS),
        "relevance": (ContextRelevanceEvaluator(**settings), two),
        "relevance_own": (ContextRelevanceEvaluator([relevance], **settings), two),
        "judge": (LLMEvaluator("Is it so?", **judge, examples=[taught], **settings), texts),
    }


@pytest.mark.parametrize("saved", [by_yaml, by_json])
@pytest.mark.parametrize("name", drop_ins())
def test_every_drop_in(name: str, saved: Callable[[Any], Any]) -> None:
    evaluator, inputs = drop_ins()[name]
    before = asked(evaluator, inputs)
    assert asked(saved(evaluator), inputs) == before


def test_keys_of_own_examples_are_shown_in_the_order_of_the_names() -> None:
    turned = {
        "outputs": dict(reversed(OWN["outputs"].items())),
        "inputs": dict(reversed(OWN["inputs"].items())),
    }
    one, other = (FaithfulnessEvaluator([item], chat_generator=Listener()) for item in (OWN, turned))
    assert one._row_metric().prompt.system == other._row_metric().prompt.system
    (example,) = one._row_metric().prompt.examples
    assert list(example.inputs) == ["question", "contexts", "answer"]
    assert list(example.output) == ["statements", "statement_scores"]


def test_plain_examples_are_saved_as_haystack_saves_them() -> None:
    own = FaithfulnessEvaluator([OWN], chat_generator=MockChatGenerator("?"))
    theirs = HaystackFaithfulnessEvaluator([OWN], chat_generator=MockChatGenerator("?"))
    assert own.to_dict()["init_parameters"] == theirs.to_dict()["init_parameters"]
    nested = FaithfulnessEvaluator([NESTED], chat_generator=MockChatGenerator("?"))
    assert nested.to_dict()["init_parameters"]["examples"] == [{"json_text": json.dumps(NESTED)}]
    assert FaithfulnessEvaluator.from_dict(nested.to_dict()).examples == [NESTED]
