"""Documents as contexts: what a retriever gives connects to ``retrieved_contexts``, and can be passed."""

from __future__ import annotations

from typing import Any

import pytest
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack import Document, Pipeline, component
from ragmetrics_core.metrics import ContextRecall, Faithfulness, RubricScore
from ragmetrics_haystack import MetricEvaluator

ANSWERS = {"user_input": ["q", "q"], "response": ["a", "a"]}
CLAIMS = '{"claims": ["a"]}'


def say(text: str) -> str:
    verdicts = '{"verdicts": [{"number": 1, "reason": "r", "supported": true}]}'
    return verdicts if "Which contexts support each claim" in text else CLAIMS


@component
class Retriever:
    @component.output_types(documents=list[list[Document]], texts=list[list[str]])
    def run(self, queries: list[str]) -> dict[str, Any]:
        found = [[Document(content=f"about {query}"), Document(content="more")] for query in queries]
        return {"documents": found, "texts": [[document.content for document in row] for row in found]}


def evaluator(generator: Any, metric: Any = None) -> MetricEvaluator:
    return MetricEvaluator(
        metric or Faithfulness(), chat_generator=generator, progress_bar=False, raise_on_failure=False
    )


@pytest.mark.parametrize("output", ["documents", "texts"])
def test_they_connect_and_run(judge: Any, output: str) -> None:
    generator = judge(say)
    pipeline = Pipeline()
    pipeline.add_component("retriever", Retriever())
    pipeline.add_component("faithful", evaluator(generator))
    pipeline.connect(f"retriever.{output}", "faithful.retrieved_contexts")
    outputs = pipeline.run({"retriever": {"queries": ["x", "y"]}, "faithful": ANSWERS})
    assert outputs["faithful"]["individual_scores"] == [1.0, 1.0]
    data = [messages[1].text for messages in generator.conversations]
    assert sum('"contexts": {"1": "about x", "2": "more"}' in text for text in data) == 1
    assert sum('"contexts": {"1": "about y", "2": "more"}' in text for text in data) == 1


def test_they_connect_to_optional_inputs(judge: Any) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", Retriever())
    pipeline.add_component("rubric", evaluator(judge("?"), RubricScore({1: "bad", 2: "good"})))
    pipeline.connect("retriever.documents", "rubric.retrieved_contexts")
    assert pipeline.run({"retriever": {"queries": ["x"]}})["rubric"]["results"][0]["state"] == "failed"


def test_a_retriever_of_haystack(judge: Any) -> None:
    store = InMemoryDocumentStore()
    store.write_documents([Document(content="Ada was born in London.")])
    found = InMemoryBM25Retriever(store).run(query="Ada")["documents"]
    outputs = evaluator(judge(say)).run(user_input=["q"], response=["a"], retrieved_contexts=[found])
    assert outputs["score"] == 1.0


def test_they_are_the_same_as_their_texts(judge: Any) -> None:
    sent = []
    for contexts in (["c", "d"], [Document(content="c"), Document(content="d")], [Document(content="c"), "d"]):
        generator = judge(say)
        evaluator(generator, ContextRecall()).run(user_input=["q"], reference=["r"], retrieved_contexts=[contexts])
        sent.append([message.text for messages in generator.conversations for message in messages])
    assert sent[0] == sent[1] == sent[2]


def test_a_document_without_a_text_fails_its_row(judge: Any) -> None:
    contexts = [[Document(content="c")], [Document(content="c"), Document(content=None, meta={"page": 1})]]
    outputs = evaluator(judge(say)).run(**ANSWERS, retrieved_contexts=contexts)
    assert outputs["individual_scores"][0] == 1.0
    assert (
        outputs["results"][1]["error"]
        == "InvalidInput: row 2: faithfulness: retrieved_contexts[1] must be a str, got Document"
    )


def test_rows_without_contexts(judge: Any) -> None:
    outputs = evaluator(judge(say)).run(**ANSWERS, retrieved_contexts=[[], None])
    assert [row["state"] for row in outputs["results"]] == ["unscored", "failed"]
