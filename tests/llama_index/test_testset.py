"""Questions and answers from nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document, Settings
from llama_index.core.schema import TextNode

from llama_index.doubles import Completions
from ragmetrics_core import InvalidInput, Testset
from ragmetrics_core.metrics import HitRate, Recall
from ragmetrics_llama_index import agenerate_qa_pairs, evaluate_retriever, generate_qa_pairs

NODES = [TextNode(text="Ada was born in London in 1815.", id_="ada"), Document(text="Mendel bred peas.", id_="mendel")]


def write(prompt: str) -> str:
    if "number_of_questions" in prompt:
        return "1. Where was Ada born?\n2. When was Ada born?" if "Ada" in prompt else "1. What did Mendel breed?"
    return '{"evidence": "it says so", "answer": "As it says."}'


async def test_questions_and_answers_from_nodes(tmp_path: Path) -> None:
    llm = Completions(write)
    testset = generate_qa_pairs(NODES, llm, num_questions_per_chunk=2)
    assert [sample.user_input for sample in testset] == [
        "Where was Ada born?",
        "When was Ada born?",
        "What did Mendel breed?",
    ]
    assert testset[0].reference == "As it says."
    assert testset[0].reference_contexts == ["Ada was born in London in 1815."]
    assert [sample.metadata["document_id"] for sample in testset] == ["ada", "ada", "mendel"]
    assert [item.id for sample in testset for item in sample.reference_documents] == ["ada", "ada", "mendel"]
    assert any('"number_of_questions": 2' in prompt for prompt in llm.prompts)
    testset.save(tmp_path / "testset.jsonl")
    assert list(Testset.load(tmp_path / "testset.jsonl")) == list(testset)
    Settings.llm = llm
    assert list(await agenerate_qa_pairs(NODES, num_questions_per_chunk=2)) == list(testset)


def test_a_test_set_evaluates_a_retriever(tmp_path: Path, index: Any) -> None:
    nodes = [TextNode(text=f"{name} text", id_=name) for name in ("ada", "mendel")]
    testset = generate_qa_pairs(nodes, Completions(write), num_questions_per_chunk=1)
    testset.save(tmp_path / "testset.jsonl")
    for source in (testset, tmp_path / "testset.jsonl"):
        evaluation = evaluate_retriever(
            source, index.as_retriever(similarity_top_k=3), [HitRate(field="id"), Recall(field="id")], progress=False
        )
        assert [score.value for score in evaluation.scores["hit_rate"]] == [1.0, 1.0]
        assert [score.value for score in evaluation.scores["recall"]] == [1.0, 1.0]


def test_the_metadata_that_the_writer_reads() -> None:
    node = TextNode(text="Ada text.", id_="ada", metadata={"author": "Ann"})
    for mode, context in (("none", "Ada text."), ("all", "author: Ann\n\nAda text.")):
        llm = Completions(write)
        (sample,) = generate_qa_pairs([node], llm, num_questions_per_chunk=1, metadata_mode=mode)
        assert sample.reference_contexts == [context]
        assert all(("author: Ann" in prompt) == (mode == "all") for prompt in llm.prompts)
    with pytest.raises(InvalidInput, match="generate_qa_pairs: metadata_mode must be a MetadataMode or one of"):
        generate_qa_pairs([node], llm, metadata_mode="every")


def test_what_is_no_node() -> None:
    with pytest.raises(InvalidInput, match=r"nodes\[0\] must be a node of LlamaIndex, got str"):
        generate_qa_pairs(["text"], Completions())  # type: ignore[list-item]


def test_the_number_is_the_most() -> None:
    def many(prompt: str) -> str:
        if "number_of_questions" in prompt:
            return "\n".join(f"{n}. What is number {n}?" for n in range(1, 6))
        return write(prompt)

    testset: Any = generate_qa_pairs(NODES[:1], Completions(many), num_questions_per_chunk=3)
    assert len(testset) == 3
