"""Test sets from the nodes of an index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode

from ragmetrics_core import Document, InvalidInput, Testset, agenerate_testset, generate_testset

from .._llm import judge_of
from ._responses import mode_of

__all__ = ["agenerate_qa_pairs", "generate_qa_pairs"]


def generate_qa_pairs(
    nodes: Iterable[BaseNode],
    llm: Any = None,
    num_questions_per_chunk: int = 10,
    *,
    metadata_mode: MetadataMode | str = MetadataMode.NONE,
    **options: Any,
) -> Testset:
    """Write questions with reference answers from nodes, each from its node alone.

    Args:
        nodes: documents or nodes with text; the identifier of each is kept with its questions.
        llm: writes questions and answers: an LLM of LlamaIndex or of ``ragmetrics_core``; None: ``Settings.llm``.
        num_questions_per_chunk: most questions per node.
        metadata_mode: which metadata of a node the LLM reads with its text; with ``"all"`` or ``"llm"`` it asks about them too.
        options: passed to ``ragmetrics_core.generate_testset``, such as ``max_concurrency``.

    Returns:
        Samples with ``user_input``, ``reference``, ``reference_contexts`` (what the LLM read) and ``reference_documents`` (the node
        with its identifier, for ``evaluate_retriever`` with ``field="id"``); ``save`` writes them as JSON lines.

    Raises:
        InvalidInput: there are no nodes, or one of them is none.
        ModelError: the model refuses in a way that every further call would meet.
    """
    documents = documents_of(nodes, mode_of("generate_qa_pairs", metadata_mode))
    return generate_testset(documents, judge_of(llm), num_questions_per_chunk, **options)


async def agenerate_qa_pairs(
    nodes: Iterable[BaseNode],
    llm: Any = None,
    num_questions_per_chunk: int = 10,
    *,
    metadata_mode: MetadataMode | str = MetadataMode.NONE,
    **options: Any,
) -> Testset:
    """The same without blocking the running loop."""
    documents = documents_of(nodes, mode_of("agenerate_qa_pairs", metadata_mode))
    return await agenerate_testset(documents, judge_of(llm), num_questions_per_chunk, **options)


def documents_of(nodes: Iterable[BaseNode], mode: MetadataMode) -> list[Document]:
    """The nodes as documents of the core."""
    documents = []
    for number, node in enumerate(nodes):
        if not isinstance(node, BaseNode):
            raise InvalidInput(f"nodes[{number}] must be a node of LlamaIndex, got {type(node).__name__}")
        documents.append(Document(content=node.get_content(metadata_mode=mode), id=node.node_id))
    return documents
