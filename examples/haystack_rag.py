"""Index documents, answer questions over them, then evaluate retrieval and answers with one pipeline of any metrics.

The answers come from a stand-in for an LLM and the judge compares words only, so that no key is needed.

Prints:

    recall          1.00
    ndcg            1.00
    faithfulness    0.50
    exact_match     0.50
    no context supports: Paris, since 1990.
"""

import os

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack import Document, Pipeline
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import NDCG, ExactMatch, Faithfulness, Recall
from ragmetrics_haystack import MetricEvaluator

documents = [
    Document(content="Berlin has been the capital of Germany since 1990."),
    Document(content="Paris is the capital of France."),
    Document(content="Rome was not built in a day."),
]
questions = ["What is the capital of France?", "Since when has Berlin been the capital of Germany?"]
expected = ["Paris.", "Since 1990."]
relevant = [[documents[1]], [documents[0]]]

store = InMemoryDocumentStore()
indexing = Pipeline()
indexing.add_component("writer", DocumentWriter(store))
indexing.run({"writer": {"documents": documents}})


def answer(messages: list[ChatMessage]) -> str:
    return "Since 1990." if "Since when" in str(messages[0].text) else "Paris, since 1990."


template = "Question: {{ question }}\n{% for document in documents %}{{ document.content }}\n{% endfor %}"
rag = Pipeline()
rag.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
rag.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(template)], required_variables="*"))
rag.add_component("llm", MockChatGenerator(response_fn=answer))
rag.connect("retriever.documents", "prompt.documents")
rag.connect("prompt.prompt", "llm.messages")

retrieved, answers = [], []
for question in questions:
    outputs = rag.run(
        {"retriever": {"query": question}, "prompt": {"question": question}}, include_outputs_from={"retriever"}
    )
    retrieved.append(outputs["retriever"]["documents"])
    answers.append(outputs["llm"]["replies"][0].text)

evaluation = Pipeline()
rankings = {"retrieved_documents": retrieved, "reference_documents": relevant}
contexts = [[document.content for document in found] for found in retrieved]
inputs = {
    "recall": rankings,
    "ndcg": rankings,
    "faithfulness": {"user_input": questions, "response": answers, "retrieved_contexts": contexts},
    "exact_match": {"response": answers, "reference": expected},
}
for metric in (Recall(), NDCG(), Faithfulness(llm=LexicalJudge()), ExactMatch()):
    evaluation.add_component(metric.name, MetricEvaluator(metric))
results = evaluation.run(inputs)
for name in inputs:
    print(f"{name:15} {results[name]['score']:.2f}")
verdicts = results["faithfulness"]["results"][0]["details"]["verdicts"]
print("no context supports:", next(verdict["claim"] for verdict in verdicts if not verdict["supported"]))
