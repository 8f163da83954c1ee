"""Test sets from nodes, and runs over them and over the data sets that LlamaIndex used to write.

LlamaIndex removed its own classes for these files; the core reads them. A run asks the engine or the retriever several questions
at a time and passes the samples to the core's ``evaluate``, so summary and export are those of the core.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.schema import BaseNode, MetadataMode

from ragmetrics_core import (
    Document,
    Evaluation,
    InvalidInput,
    Metric,
    Sample,
    Testset,
    aevaluate,
    agenerate_testset,
    evaluate,
    generate_testset,
)
from ragmetrics_core.adapters import run_blocking

from .._model._embeddings import scorer_of
from .._model._llm import judge_of
from ._asking import asking_engine, asking_retriever
from ._responses import mode_of

__all__ = [
    "aevaluate_query_engine",
    "aevaluate_retriever",
    "agenerate_qa_pairs",
    "evaluate_query_engine",
    "evaluate_retriever",
    "generate_qa_pairs",
]

Source = str | os.PathLike[str]
OnError = Literal["record", "raise"]
Metrics = Metric | Iterable[Metric]

OF_THE_RUN = frozenset({"run_dir", "replace", "progress"})
"""Options that the check, a run over no rows, leaves out, as it must leave nothing behind."""


def evaluate_query_engine(
    dataset: Source | Iterable[Sample],
    query_engine: BaseQueryEngine | BaseChatEngine,
    metrics: Metrics,
    *,
    llm: Any = None,
    embed_model: Any = None,
    workers: int = 4,
    on_error: OnError = "record",
    metadata_mode: MetadataMode | str = MetadataMode.LLM,
    **options: Any,
) -> Evaluation:
    """Ask a query engine or a chat engine every question of a data set and score its answers.

    A chat engine is reset before each question and asked one at a time, so that no answer depends on another question.

    Args:
        dataset: the JSON file (.json) of a ``LabelledRagDataset``, the file of a test set (.jsonl, .csv, .parquet), or samples.
        query_engine: answers the questions.
        metrics: one metric or several.
        llm: the judge; None: ``Settings.llm``.
        embed_model: embeds for the metrics that need it; None: ``Settings.embed_model``.
        workers: how many questions are asked at the same time.
        on_error: ``"record"``: if the engine or the judge fails, only that question's scores fail; ``"raise"``: the run ends.
        metadata_mode: which metadata of the source nodes the judge reads with their text; by default what the generator saw.
        options: passed to ``ragmetrics_core.evaluate``, such as ``max_concurrency``.
    """
    asking = asking_engine(query_engine, workers, on_error, metadata_mode, awaited=False)
    run = Scoring(metrics, llm, embed_model, on_error, options)
    samples = run.samples(dataset, Testset.from_labelled_rag_dataset)
    return evaluate(run_blocking(lambda: asking.rows(samples)), run.metrics, **run.settings)


async def aevaluate_query_engine(
    dataset: Source | Iterable[Sample],
    query_engine: BaseQueryEngine | BaseChatEngine,
    metrics: Metrics,
    *,
    llm: Any = None,
    embed_model: Any = None,
    workers: int = 4,
    on_error: OnError = "record",
    metadata_mode: MetadataMode | str = MetadataMode.LLM,
    **options: Any,
) -> Evaluation:
    """The same without blocking the running loop, with the engine's ``aquery`` or ``achat``."""
    asking = asking_engine(query_engine, workers, on_error, metadata_mode, awaited=True)
    run = Scoring(metrics, llm, embed_model, on_error, options)
    rows = await asking.rows(run.samples(dataset, Testset.from_labelled_rag_dataset))
    return await aevaluate(rows, run.metrics, **run.settings)


def evaluate_retriever(
    dataset: Source | Iterable[Sample],
    retriever: BaseRetriever,
    metrics: Metrics,
    *,
    llm: Any = None,
    embed_model: Any = None,
    workers: int = 4,
    on_error: OnError = "record",
    metadata_mode: MetadataMode | str = MetadataMode.LLM,
    **options: Any,
) -> Evaluation:
    """Ask a retriever every question of a data set and score what it finds.

    Ranking metrics compare nodes by identifier (``field="id"``) or by text without metadata (``field="content"``).

    Args:
        dataset: the JSON file of an ``EmbeddingQAFinetuneDataset``, the file of a test set, or samples with
            ``reference_documents``, as ``generate_qa_pairs`` makes them.
        retriever: finds the nodes.
        metrics: one metric or several.
        llm: the judge of the metrics that need one; None: ``Settings.llm``.
        embed_model: embeds for the metrics that need it; None: ``Settings.embed_model``.
        workers: how many questions are asked at the same time.
        on_error: as in ``evaluate_query_engine``.
        metadata_mode: which metadata of the nodes a judge reads with their text.
        options: passed to ``ragmetrics_core.evaluate``.
    """
    asking = asking_retriever(retriever, workers, on_error, metadata_mode, awaited=False)
    run = Scoring(metrics, llm, embed_model, on_error, options)
    samples = run.samples(dataset, Testset.from_embedding_qa_dataset)
    return evaluate(run_blocking(lambda: asking.rows(samples)), run.metrics, **run.settings)


async def aevaluate_retriever(
    dataset: Source | Iterable[Sample],
    retriever: BaseRetriever,
    metrics: Metrics,
    *,
    llm: Any = None,
    embed_model: Any = None,
    workers: int = 4,
    on_error: OnError = "record",
    metadata_mode: MetadataMode | str = MetadataMode.LLM,
    **options: Any,
) -> Evaluation:
    """The same without blocking the running loop, with the retriever's ``aretrieve``."""
    asking = asking_retriever(retriever, workers, on_error, metadata_mode, awaited=True)
    run = Scoring(metrics, llm, embed_model, on_error, options)
    rows = await asking.rows(run.samples(dataset, Testset.from_embedding_qa_dataset))
    return await aevaluate(rows, run.metrics, **run.settings)


class Scoring:
    """How the answers will be scored; checked before the first question is asked, so that a mistake costs no answers.

    Raises:
        InvalidInput: a metric or an option is invalid.
    """

    def __init__(
        self, metrics: Metrics, llm: Any, embed_model: Any, on_error: OnError, options: Mapping[str, Any]
    ) -> None:
        self.metrics = metrics if isinstance(metrics, Metric | str) else list(metrics)
        models = {"llm": judge_of(llm), "embeddings": scorer_of(embed_model)}
        self.settings: dict[str, Any] = {**models, "on_error": on_error, **options}
        checked = {name: value for name, value in self.settings.items() if name not in OF_THE_RUN}
        evaluate([], self.metrics, **checked, progress=False)

    def samples(self, dataset: Source | Iterable[Sample], read: Callable[[Source], Testset]) -> list[Sample]:
        """The samples of a data set, up to the ``limit`` of the run."""
        if isinstance(dataset, str | os.PathLike):
            # the data sets of LlamaIndex are .json files, those of the core are not
            dataset = read(dataset) if Path(dataset).suffix == ".json" else Testset.load(dataset)
        return list(islice(dataset, self.settings.get("limit")))


def generate_qa_pairs(
    nodes: Iterable[BaseNode],
    llm: Any = None,
    num_questions_per_chunk: int = 10,
    *,
    metadata_mode: MetadataMode | str = MetadataMode.NONE,
    **options: Any,
) -> Testset:
    """Write questions with reference answers, each from one node.

    Args:
        nodes: documents or nodes with text; each question keeps the identifier of its node.
        llm: writes questions and answers: an LLM of LlamaIndex or of ``ragmetrics_core``; None: ``Settings.llm``.
        num_questions_per_chunk: how many questions there are per node at most.
        metadata_mode: which metadata of a node the LLM reads with its text, and may ask about.
        options: passed to ``ragmetrics_core.generate_testset``, such as ``max_concurrency``.

    Returns:
        Samples with ``user_input``, ``reference``, ``reference_contexts`` (what the LLM read) and ``reference_documents`` (the node
        with its identifier, for ``evaluate_retriever`` with ``field="id"``); ``save`` writes them as JSON lines.

    Raises:
        InvalidInput: there are no nodes, or an item is no node.
        ModelError: the model fails in a way that every further call would meet.
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
