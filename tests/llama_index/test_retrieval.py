"""Ranking metrics in RetrieverEvaluator, and runs over the data sets that LlamaIndex used to write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_index.doubles import Completions
from ragmetrics_core import InvalidInput, Sample, Testset
from ragmetrics_core import metrics as core
from ragmetrics_llama_index import (
    MRR,
    NDCG,
    AveragePrecision,
    HitRate,
    Precision,
    Recall,
    RetrievalMetric,
    evaluate_query_engine,
    evaluate_retriever,
    register_retrieval_metrics,
)

CLASSES = [HitRate, MRR, Precision, Recall, AveragePrecision, NDCG]
CORE = [core.HitRate, core.ReciprocalRank, core.Precision, core.Recall, core.AveragePrecision, core.NDCG]


class Fixed(BaseRetriever):
    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=f"text {name}", id_=name), score=1.0) for name in self.names]


@pytest.fixture
def registry() -> Iterator[None]:
    before = dict(METRIC_REGISTRY)
    yield
    METRIC_REGISTRY.clear()
    METRIC_REGISTRY.update(before)


@pytest.mark.parametrize(("cls", "metric"), list(zip(CLASSES, CORE, strict=True)), ids=lambda item: item.__name__)
@pytest.mark.parametrize("retrieved", [["a", "x", "b"], ["a", "a", "b", "b"], ["x"], []])
def test_values_are_those_of_the_core(cls: Any, metric: Any, retrieved: list[str]) -> None:
    for k in (None, 2):
        expected = metric(k=k, field="id").score(retrieved_documents=retrieved, reference_documents=["a", "b"]).value
        found = cls(k=k).compute("?", ["a", "b"], retrieved, None, [f"text {name}" for name in retrieved])
        assert found.score == expected
        assert 0.0 <= found.score <= 1.0
        assert found.metadata["retrieved"] <= len(retrieved)


RANKINGS = [["a", "x", "b"], ["x", "b", "a"], ["x", "y"], ["b"], ["a", "b", "c", "x"]]


@pytest.mark.parametrize("retrieved", RANKINGS)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("hit_rate", {}),
        ("hit_rate", {"use_granular_hit_rate": True}),
        ("mrr", {}),
        ("mrr", {"use_granular_mrr": True}),
        ("ndcg", {"mode": "linear"}),
        ("ndcg", {"mode": "exponential"}),
        ("precision", {}),
        ("recall", {}),
        ("ap", {}),
    ],
)
def test_settings_and_values_are_those_of_llama_index(name: str, settings: Any, retrieved: list[str]) -> None:
    ours = next(cls for cls in CLASSES if cls.metric_name == name)
    values = [
        cls(**settings).compute("?", ["a", "b", "c"], retrieved, ["A", "B", "C"], ["text"] * len(retrieved)).score
        for cls in (METRIC_REGISTRY[name], ours)
    ]
    assert values[1] == pytest.approx(values[0])


def test_granular_values_never_exceed_1() -> None:
    """A node that is retrieved twice makes LlamaIndex's hit rate 2.0."""
    assert HitRate(use_granular_hit_rate=True).compute("?", ["a"], ["a", "a"]).score == 1.0
    assert MRR(use_granular_mrr=True).compute("?", ["a"], ["a", "a"]).score == 1.0
    assert HitRate(use_granular_hit_rate=True, k=1).compute("?", ["a", "b"], ["a", "b"]).score == 0.5


@pytest.mark.parametrize("cls", [*CLASSES, RetrievalMetric])
def test_unknown_settings_are_refused(cls: Any) -> None:
    with pytest.raises(ValueError, match=r"use_granular\n +Extra inputs are not permitted"):
        cls(use_granular=True)
    with pytest.raises(ValueError, match="Input should be 'linear' or 'exponential'"):
        NDCG(mode="log")  # type: ignore[arg-type]


def test_a_metric_by_name_takes_no_other_metric() -> None:
    with pytest.raises(ValueError, match=r"HitRate is created with HitRate\(k=\.\.\.\): for another metric write Retr"):
        HitRate(metric=core.NDCG(field="id"))


async def test_the_same_metric_with_other_settings_has_another_name() -> None:
    several = [
        HitRate(),
        HitRate(k=1),
        HitRate(k=3),
        RetrievalMetric(metric=core.Recall(field="id")),
        RetrievalMetric(metric=core.Recall(k=2, field="id")),
        RetrievalMetric(metric=core.Recall(k=2, field="id", name="mine")),
    ]
    result = await RetrieverEvaluator(metrics=several, retriever=Fixed("x", "a", "b")).aevaluate("?", ["a", "b"])
    assert result.metric_vals_dict == {
        "hit_rate": 1.0,
        "hit_rate@1": 0.0,
        "hit_rate@3": 1.0,
        "recall": 1.0,
        "recall@2": 0.5,
        "mine": 0.5,
    }
    assert (HitRate.metric_name, RetrievalMetric.metric_name) == ("hit_rate", "retrieval_metric")


def test_a_perfect_ranking_cut_short_is_perfect() -> None:
    assert NDCG(k=2).compute("?", ["a", "b", "c", "d"], ["a", "b"]).score == 1.0


def test_names_are_those_of_llama_index() -> None:
    assert [cls.metric_name for cls in CLASSES] == ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"]
    for cls in CLASSES:
        assert cls.metric_name in METRIC_REGISTRY


async def test_retriever_evaluator_by_name(registry: None) -> None:
    names = register_retrieval_metrics()
    assert names[0] == "ragmetrics_hit_rate"
    evaluator = RetrieverEvaluator.from_metric_names([*names, "mrr"], retriever=Fixed("x", "a", "a"))
    result = await evaluator.aevaluate(query="?", expected_ids=["a", "b"])
    assert result.metric_vals_dict == {
        "ragmetrics_hit_rate": 1.0,
        "ragmetrics_mrr": 0.5,
        "ragmetrics_precision": 0.5,
        "ragmetrics_recall": 0.5,
        "ragmetrics_ap": 0.25,
        "ragmetrics_ndcg": pytest.approx(0.38685280723454163),
        "mrr": 0.5,
    }


def test_retriever_evaluator_in_the_place_of_the_own_metrics(registry: None) -> None:
    assert register_retrieval_metrics(prefix="")[1] == "mrr"
    evaluator = RetrieverEvaluator.from_metric_names(["hit_rate", "mrr"], retriever=Fixed())
    result = evaluator.evaluate(query="?", expected_ids=["a"])
    assert result.metric_vals_dict == {"hit_rate": 0.0, "mrr": 0.0}, "an empty result is no error"


def test_any_ranking_metric() -> None:
    metric = RetrievalMetric(metric=core.Recall(field="id", mode="single_hit"))
    assert metric.compute("?", ["a", "b"], ["b"]).score == 1.0
    with pytest.raises(ValueError, match="takes a ranking metric such as NDCG"):
        RetrievalMetric(metric=core.ExactMatch())


def test_missing_identifiers_are_value_errors() -> None:
    with pytest.raises(ValueError, match="needs 'retrieved_ids', which is missing"):
        MRR().compute("?", ["a"], None)
    with pytest.raises(ValueError, match="mrr needs 'expected_ids', which is missing: give expected_ids="):
        MRR().compute("?", None, ["a"])
    with pytest.raises(ValueError, match="mrr needs 'expected_ids', which is an empty list: give expected_ids="):
        MRR().compute("?", [], ["a"])


def test_a_run_over_a_rag_dataset(tmp_path: Path, index: Any) -> None:
    examples = [
        {"query": "Where was Ada born?", "reference_answer": "London", "reference_contexts": ["born in London"]},
        {"query": "What did Mendel breed?", "reference_answer": "peas", "reference_contexts": None},
    ]
    path = tmp_path / "rag_dataset.json"
    path.write_text(json.dumps({"examples": examples}), encoding="utf-8")
    engine = index.as_query_engine(llm=Completions(lambda prompt: "London" if "Ada born" in prompt else "cats"))
    judge = Completions("yes")
    evaluation = evaluate_query_engine(
        path, engine, [core.ExactMatch(), core.RefineFaithfulness()], llm=judge, progress=False
    )
    assert [score.value for score in evaluation.scores["exact_match"]] == [1.0, 0.0]
    assert [score.value for score in evaluation.scores["refine_faithfulness"]] == [1.0, 1.0]
    assert [row.response for row in evaluation.rows] == ["London", "cats"]


def test_a_run_over_a_retrieval_dataset(tmp_path: Path) -> None:
    data = {
        "queries": {"q1": "first?", "q2": "second?"},
        "corpus": {"a": "text a", "b": "text b"},
        "relevant_docs": {"q1": ["a"], "q2": ["b"]},
        "mode": "text",
    }
    path = tmp_path / "qa.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    for field in ("id", "content"):
        metric = core.ReciprocalRank(field=field)
        evaluation = evaluate_retriever(path, Fixed("a", "b"), metric, progress=False)
        assert [score.value for score in evaluation.scores["reciprocal_rank"]] == [1.0, 0.5]


def test_a_run_over_the_file_of_a_test_set(tmp_path: Path, index: Any) -> None:
    path = tmp_path / "testset.jsonl"
    Testset((Sample(user_input="Where?", reference="London", reference_documents=["b"]),)).save(path)
    engine = index.as_query_engine(llm=Completions("London"))
    for source in (path, str(path)):
        evaluation = evaluate_query_engine(source, engine, core.ExactMatch(), progress=False)
        assert [score.value for score in evaluation.scores["exact_match"]] == [1.0]
    found = evaluate_retriever(path, Fixed("a", "b"), core.ReciprocalRank(), progress=False)
    assert [row.user_input for row in found.rows] == ["Where?"]


def test_a_run_over_samples(index: Any) -> None:
    engine = index.as_query_engine(llm=Completions("London"))
    samples = [Sample(user_input="Where?", reference="London")]
    assert (
        evaluate_query_engine(samples, engine, core.ExactMatch(), progress=False).scores["exact_match"][0].value == 1.0
    )
    with pytest.raises(InvalidInput, match="sample 's1' has no user_input to ask"):
        evaluate_query_engine([Sample(id="s1")], engine, core.ExactMatch())
