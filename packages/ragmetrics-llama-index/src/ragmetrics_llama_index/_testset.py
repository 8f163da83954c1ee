"""Test sets from the nodes of an index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode

from ragmetrics_core import Document, InvalidInput, Testset, agenerate_testset, generate_testset

from ._llm import judge_of

__all__ = ["agenerate_qa_pairs", "generate_qa_pairs"]


def generate_qa_pairs(
    nodes: Iterable[BaseNode], llm: Any = None, num_questions_per_chunk: int = 10, **options: Any
) -> Testset:
    """Write questions with reference answers from nodes, each from its node alone.

    Args:
        nodes: documents or nodes with text; the identifier of each is kept with its questions.
        llm: writes questions and answers: an LLM of LlamaIndex or of ``ragmetrics_core``; None: ``Settings.llm``.
        num_questions_per_chunk: most questions per node.
        options: passed to ``ragmetrics_core.generate_testset``, such as ``max_concurrency``.

    Returns:
        Samples with ``user_input``, ``reference`` and ``reference_contexts``; ``save`` writes them as JSON lines.

    Raises:
        InvalidInput: there are no nodes, or one of them is none.
        ModelError: the model refuses in a way that every further call would meet.
    """
    return generate_testset(documents_of(nodes), judge_of(llm), num_questions_per_chunk, **options)


async def agenerate_qa_pairs(
    nodes: Iterable[BaseNode], llm: Any = None, num_questions_per_chunk: int = 10, **options: Any
) -> Testset:
    """The same without blocking the running loop."""
    return await agenerate_testset(documents_of(nodes), judge_of(llm), num_questions_per_chunk, **options)


def documents_of(nodes: Iterable[BaseNode]) -> list[Document]:
    """The nodes as documents of the core."""
    documents = []
    for number, node in enumerate(nodes):
        if not isinstance(node, BaseNode):
            raise InvalidInput(f"nodes[{number}] must be a node of LlamaIndex, got {type(node).__name__}")
        documents.append(Document(content=node.get_content(metadata_mode=MetadataMode.NONE), id=node.node_id))
    return documents
