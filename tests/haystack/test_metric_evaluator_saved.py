"""Components of metrics in pipelines: saved, loaded, refused, connected."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator, OpenAIChatGenerator
from haystack.core.errors import DeserializationError, PipelineConnectError, SerializationError
from haystack.evaluation import EvaluationRunResult

from haystack import Document, Pipeline
from ragmetrics_core import InvalidInput, Metric, Score
from ragmetrics_core.metrics import (
    NDCG,
    ExactMatch,
    Faithfulness,
    Recall,
    SemanticSimilarity,
)
from ragmetrics_haystack import HaystackEmbeddings, HaystackLLM, MetricEvaluator

TYPE = "haystack_integrations.components.evaluators.ragmetrics.MetricEvaluator"


@dataclass(frozen=True)
class Length(Metric):
    """Whether the response is as short as wished for."""

    most: int = 10

    def measure(self, response: str, wishes: Sequence[str], tone: Any = None) -> Score:
        return Score(float(len(response) <= self.most), details={"wishes": list(wishes), "tone": tone})


def test_pipelines_are_saved_and_loaded() -> None:
    pipeline = Pipeline()
    generator = OpenAIChatGenerator(model="m")
    pipeline.add_component("faithful", MetricEvaluator(Faithfulness(window=500, name="f"), chat_generator=generator))
    pipeline.add_component(
        "near", MetricEvaluator(SemanticSimilarity(), embedder=MockDocumentEmbedder(dimension=4), max_concurrency=3)
    )
    pipeline.add_component("rank", MetricEvaluator(NDCG(k=3, field="id"), raise_on_failure=False, progress_bar=False))
    text = pipeline.dumps()
    again = Pipeline.loads(text)
    assert again.dumps() == text
    faithful, near, rank = (again.get_component(name) for name in ("faithful", "near", "rank"))
    assert faithful.metric == Faithfulness(window=500, name="f")
    assert faithful.chat_generator.model == "m"
    assert (near.max_concurrency, near.embedder.to_dict()["init_parameters"]["dimension"]) == (3, 4)
    assert (rank.metric, rank.raise_on_failure, rank.progress_bar) == (NDCG(k=3, field="id"), False, False)
    assert near.run(response=["a"], reference=["a"])["score"] == pytest.approx(1.0)


def test_saved_form() -> None:
    component = MetricEvaluator(NDCG(k=3))
    data = component.to_dict()
    assert data == {
        "type": TYPE,
        "init_parameters": {
            "metric": NDCG(k=3).to_dict(),
            "chat_generator": None,
            "embedder": None,
            "progress_bar": True,
            "raise_on_failure": True,
            "max_concurrency": 16,
            "max_retries": 5,
            "timeout": None,
            "json_mode": None,
        },
    }
    before = copy.deepcopy(data)
    assert MetricEvaluator.from_dict(data).to_dict() == before == data


@pytest.mark.parametrize("metric", ["os:system", "subprocess:Popen", "antigravity:x", "ragmetrics_core_evil:x"])
def test_a_saved_pipeline_can_name_no_other_module(metric: str) -> None:
    data = MetricEvaluator(NDCG()).to_dict()
    data["init_parameters"]["metric"] = {"metric": metric, "settings": {}}
    with pytest.raises(DeserializationError):
        MetricEvaluator.from_dict(data)
    text = Pipeline().dumps()
    pipeline = Pipeline()
    pipeline.add_component("rank", MetricEvaluator(NDCG()))
    text = pipeline.dumps().replace("metric: NDCG", f"metric: {metric}")
    assert metric in text
    with pytest.raises(DeserializationError):
        Pipeline.loads(text)


@pytest.mark.parametrize("metric", [None, "NDCG", {}, {"settings": {}}, {"metric": 5}], ids=str)
def test_a_saved_metric_that_cannot_be_read(metric: Any) -> None:
    saved = MetricEvaluator(NDCG()).to_dict()
    saved["init_parameters"]["metric"] = metric
    with pytest.raises(InvalidInput, match="^a saved metric must have the form "):
        MetricEvaluator.from_dict(saved)


def test_a_saved_component_without_a_metric() -> None:
    saved = MetricEvaluator(NDCG()).to_dict()
    del saved["init_parameters"]["metric"]
    with pytest.raises(InvalidInput, match="^a saved metric must have the form .*, got None$"):
        MetricEvaluator.from_dict(saved)


def test_a_metric_of_a_trusted_module_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    module = types.ModuleType("my_metrics")
    monkeypatch.setitem(sys.modules, "my_metrics", module)
    monkeypatch.setattr(Length, "__module__", "my_metrics")
    module.Length = Length  # type: ignore[attr-defined]
    pipeline = Pipeline()
    pipeline.add_component("length", MetricEvaluator(Length(most=4)))
    text = pipeline.dumps()
    with pytest.raises(DeserializationError, match="my_metrics"):
        Pipeline.loads(text)
    assert Pipeline.loads(text, allowed_modules=["my_metrics"]).get_component("length").metric == Length(most=4)


def test_connections_are_checked_by_their_types() -> None:
    from haystack import component

    @component
    class Answers:
        @component.output_types(answers=list[str], documents=list[list[Document]])
        def run(self, questions: list[str]) -> Mapping[str, Any]:
            return {"answers": questions, "documents": [[Document(content="a")] for _ in questions]}

    pipeline = Pipeline()
    pipeline.add_component("answers", Answers())
    pipeline.add_component("match", MetricEvaluator(ExactMatch()))
    pipeline.add_component("rank", MetricEvaluator(Recall()))
    pipeline.connect("answers.answers", "match.response")
    pipeline.connect("answers.documents", "rank.retrieved_documents")
    with pytest.raises(PipelineConnectError):
        pipeline.connect("answers.documents", "match.reference")
    data = {
        "answers": {"questions": ["a", "b"]},
        "match": {"reference": ["a", "c"]},
        "rank": {"reference_documents": [[Document(content="a")], [Document(content="z")]]},
    }
    outputs = pipeline.run(data)
    assert outputs["match"]["individual_scores"] == outputs["rank"]["individual_scores"] == [1.0, 0.0]
    report = EvaluationRunResult("r", {"question": ["a", "b"]}, {name: outputs[name] for name in ("match", "rank")})
    assert report.aggregated_report(output_format="json") == {"metrics": ["match", "rank"], "score": [0.5, 0.5]}


def test_life_cycle() -> None:
    names = ["run", "warm_up", "close", "warm_up_async", "close_async"]
    generator = Mock(spec=names, warm_up_async=AsyncMock(), close_async=AsyncMock())
    component = MetricEvaluator(Faithfulness(), chat_generator=generator)
    component.warm_up()
    component.close()
    asyncio.run(component.warm_up_async())
    asyncio.run(component.close_async())
    for name in names[1:]:
        getattr(generator, name).assert_called_once_with()


def test_a_metric_that_is_an_object_already() -> None:
    data = MetricEvaluator(NDCG()).to_dict()
    data["init_parameters"]["metric"] = NDCG(k=2)
    assert MetricEvaluator.from_dict(data).metric == NDCG(k=2)


def test_bridges_that_the_metric_has_are_saved_with_the_component(judge: Any) -> None:
    generator, embedder = MockChatGenerator('{"claims": []}'), MockTextEmbedder([1.0, 0.0])
    pipeline = Pipeline()
    pipeline.add_component("faithful", MetricEvaluator(Faithfulness(llm=HaystackLLM(generator))))
    pipeline.add_component("near", MetricEvaluator(SemanticSimilarity(HaystackEmbeddings(embedder))))
    again = Pipeline.loads(pipeline.dumps())
    assert again.dumps() == pipeline.dumps()
    data = {
        "faithful": {"user_input": ["q"], "response": ["a"], "retrieved_contexts": [["c"]]},
        "near": {"response": ["a"], "reference": ["b"]},
    }
    for each in (pipeline, again):
        outputs = each.run(copy.deepcopy(data))
        assert outputs["near"]["individual_scores"] == [1.0]
        assert outputs["faithful"]["results"][0]["state"] == "unscored"
    own = judge('{"claims": []}')
    component = MetricEvaluator(
        Faithfulness(llm=HaystackLLM(own)), chat_generator=judge(AssertionError("no question is expected"))
    )
    component.run(**data["faithful"])
    asyncio.run(component.run_async(**data["faithful"]))
    assert len(own.conversations) == 2
    with pytest.raises(SerializationError, match="^faithfulness has its own overlap of a HaystackLLM, which cannot"):
        MetricEvaluator(Faithfulness(llm=HaystackLLM(generator, overlap=True))).to_dict()


def test_how_calls_are_made_is_saved() -> None:
    generator = MockChatGenerator("?")
    component = MetricEvaluator(Faithfulness(), chat_generator=generator, max_retries=1, timeout=2.5, json_mode=False)
    bridge = MetricEvaluator(Faithfulness(llm=HaystackLLM(generator, json_mode=False)), max_retries=1, timeout=2.5)
    for each in (component, bridge):
        again = MetricEvaluator.from_dict(each.to_dict())
        assert (again.max_retries, again.timeout, again.json_mode) == (1, 2.5, False)
        assert again._judge.json_mode is False
        assert again.to_dict() == each.to_dict()
    old = component.to_dict()
    for name in ("max_retries", "timeout", "json_mode"):
        del old["init_parameters"][name]
    assert MetricEvaluator.from_dict(old).max_retries == 5
