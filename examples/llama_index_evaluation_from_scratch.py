"""LlamaIndex's "Building Evaluation from Scratch": documents, an index, generated questions, answers, and two judges.

Runs without a key and without a download: the language model is a scripted server on this machine, the embeddings are hashed
words. With ``OPENAI_BASE_URL`` (and ``OPENAI_API_KEY``) set, the model of your choice (``OPENAI_MODEL``) answers instead.

Prints:

    5 questions from 3 nodes
     correctness  refine_faithfulness                         response
             5.0                  1.0 Ada Lovelace was born in London.
             5.0                  1.0   Ada Lovelace was born in 1815.
             5.0                  1.0     Charles Babbage designed it.
             5.0                  1.0         Gregor Mendel bred peas.
             2.0                  0.0  Gregor Mendel worked in Vienna.
    mean correctness: 4.4
    mean refine_faithfulness: 0.8
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.llms.openai_like import OpenAILike  # type: ignore[import-untyped]

from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.metrics import Correctness, RefineFaithfulness
from ragmetrics_llama_index import evaluate_query_engine, generate_qa_pairs

TEXTS = [
    "Ada Lovelace was a mathematician. She was born in London in 1815.",
    "Charles Babbage designed the Analytical Engine, a mechanical computer.",
    "Gregor Mendel bred peas in the garden of an abbey in Brno.",
]

# What the scripted model knows: questions about each text, the right answers, and what it says when it is asked.
QUESTIONS = {
    "Ada": ["Where was Ada Lovelace born?", "When was Ada Lovelace born?"],
    "Babbage": ["Who designed the Analytical Engine?"],
    "Mendel": ["What did Gregor Mendel breed?", "Where did Gregor Mendel work?"],
}
ANSWERS = {
    "Where was Ada Lovelace born?": "Ada Lovelace was born in London.",
    "When was Ada Lovelace born?": "Ada Lovelace was born in 1815.",
    "Who designed the Analytical Engine?": "Charles Babbage designed it.",
    "What did Gregor Mendel breed?": "Gregor Mendel bred peas.",
    "Where did Gregor Mendel work?": "Gregor Mendel worked in Brno.",
}


class LocalEmbedding(BaseEmbedding):
    """Hashed words: no model, no download. Any embedding model of LlamaIndex does better."""

    def _get_text_embedding(self, text: str) -> list[float]:
        (vector,) = HashingEmbeddings().embed([text]).value
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def scripted(body: dict[str, Any]) -> str:
    """What the pretended model replies; it believes that Mendel worked in Vienna."""
    text = body["messages"][-1]["content"]
    try:
        data = json.loads(text)
    except ValueError:  # the query engine's own prompt: the question stands at its end
        question = next(question for question in ANSWERS if question in text)
        return ANSWERS[question].replace("Brno", "Vienna")
    if "number_of_questions" in data:
        name = next(name for name in QUESTIONS if name in data["document"])
        return "\n".join(f"{number}. {question}" for number, question in enumerate(QUESTIONS[name], 1))
    if "document" in data:
        return json.dumps({"evidence": data["document"], "answer": ANSWERS[data["question"]]})
    if "generated_answer" in data:
        right = data["generated_answer"] == data["reference_answer"]
        return "5\nIt says the same as the reference." if right else "2\nIt contradicts the reference."
    return "NO" if "Vienna" in data["information"] else "YES"


@contextmanager
def language_model() -> Iterator[OpenAILike]:
    """The model that ``OPENAI_BASE_URL`` names, else a scripted one; its connections are closed after every call."""
    if "OPENAI_BASE_URL" in os.environ:
        name, key = os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), os.environ.get("OPENAI_API_KEY", "none")
        base_url = os.environ["OPENAI_BASE_URL"]
        yield OpenAILike(model=name, api_base=base_url, api_key=key, is_chat_model=True, reuse_client=False)
        return
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    with importlib.import_module("loopback").OpenAIServer(scripted) as server:
        base_url = server.base_url
        yield OpenAILike(model="scripted", api_base=base_url, api_key="none", is_chat_model=True, reuse_client=False)


def main() -> None:
    with language_model() as llm:
        documents = [Document(text=text, id_=f"text-{number}") for number, text in enumerate(TEXTS, 1)]
        nodes = TokenTextSplitter(chunk_size=256, chunk_overlap=0).get_nodes_from_documents(documents)
        index = VectorStoreIndex(nodes, embed_model=LocalEmbedding())

        testset = generate_qa_pairs(nodes, llm, num_questions_per_chunk=2)
        print(f"{len(testset)} questions from {len(nodes)} nodes")

        engine = index.as_query_engine(llm=llm, similarity_top_k=2)
        metrics = [Correctness(), RefineFaithfulness()]
        evaluation = evaluate_query_engine(testset, engine, metrics, llm=llm, progress=False)

    frame = evaluation.to_pandas()
    print(frame[["correctness", "refine_faithfulness", "response"]].to_string(index=False))
    for metric in metrics:
        print(f"mean {metric.name}: {frame[metric.name].mean():.3g}")


if __name__ == "__main__":
    main()
