"""Runs over the data sets that LlamaIndex used to write, and over test sets.

LlamaIndex removed its own classes for these files; the core reads them. A run asks the query engine or the retriever, several
questions at a time, and hands the samples to the core's ``evaluate``, so summary and export are the core's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import MetadataMode

from ragmetrics_core import Evaluation, InvalidInput, Metric, Sample, Testset, evaluate
from ragmetrics_core.adapters import run_blocking

from ._embeddings import scorer_of
from ._llm import judge_of
from ._responses import answer_of, contexts_of, document_of, settle

__all__ = ["evaluate_query_engine", "evaluate_retriever"]

Source = str | os.PathLike[str]


def evaluate_query_engine(
    dataset: Source | Iterable[Sample],
    query_engine: BaseQueryEngine,
    metrics: Metric | Iterable[Metric],
    *,
    llm: Any = None,
    embed_model: Any = None,
    workers: int = 4,
    **options: Any,
) -> Evaluation:
    """Ask a query engine every question of a data set, and score its answers.

    Args:
        dataset: the JSON file (.json) of a ``LabelledRagDataset``, the file of a test set (.jsonl, .csv, .parquet), or samples.
        query_engine: answers the questions.
        metrics: what to score.
        llm: the judge; None: ``Settings.llm``.
        embed_model: embeds for the metrics that need it; None: ``Settings.embed_model``.
        workers: questions that are asked at the same time.
        options: passed to ``ragmetrics_core.evaluate``, such as ``max_concurrency``.

    Whatever the query engine raises ends the run.
    """
    samples = _samples(dataset, Testset.from_labelled_rag_dataset)

    def asked(sample: Sample) -> Sample:
        answer = answer_of(run_blocking(partial(settle, query_engine.query(_question(sample)))), MetadataMode.NONE)
        assert answer is not None
        return replace(
            sample, response=answer.text, retrieved_contexts=answer.contexts, retrieved_documents=answer.documents
        )

    rows = _several(asked, samples, workers)
    return evaluate(rows, metrics, llm=judge_of(llm), embeddings=scorer_of(embed_model), **options)


def evaluate_retriever(
    dataset: Source | Iterable[Sample],
    retriever: BaseRetriever,
    metrics: Metric | Iterable[Metric],
    *,
    llm: Any = None,
    embed_model: Any = None,
    workers: int = 4,
    **options: Any,
) -> Evaluation:
    """Ask a retriever every question of a data set, and score what it finds.

    Ranking metrics compare nodes by identifier with ``field="id"``, and by text with ``field="content"``.

    Args:
        dataset: the JSON file of an ``EmbeddingQAFinetuneDataset``, the file of a test set, or samples with
            ``reference_documents``.
        retriever: finds the nodes.
        metrics: what to score.
        llm: the judge of the metrics that need one; None: ``Settings.llm``.
        embed_model: embeds for the metrics that need it; None: ``Settings.embed_model``.
        workers: questions that are asked at the same time.
        options: passed to ``ragmetrics_core.evaluate``.
    """
    samples = _samples(dataset, Testset.from_embedding_qa_dataset)

    def found(sample: Sample) -> Sample:
        nodes = retriever.retrieve(_question(sample))
        documents = [document_of(node) for node in nodes]
        contexts = contexts_of(nodes, MetadataMode.NONE)
        return replace(sample, retrieved_documents=documents, retrieved_contexts=contexts)

    rows = _several(found, samples, workers)
    return evaluate(rows, metrics, llm=judge_of(llm), embeddings=scorer_of(embed_model), **options)


def _samples(dataset: Source | Iterable[Sample], read: Callable[[Source], Testset]) -> list[Sample]:
    if not isinstance(dataset, str | os.PathLike):
        return list(dataset)
    # LlamaIndex wrote its data sets as one JSON object; what a test set is saved as has other names
    return list(read(dataset) if Path(dataset).suffix == ".json" else Testset.load(dataset))


def _several(work: Callable[[Sample], Sample], samples: list[Sample], workers: int) -> list[Sample]:
    with ThreadPoolExecutor(workers, "ragmetrics-queries") as pool:
        jobs = [pool.submit(copy_context().run, work, sample) for sample in samples]
        return [job.result() for job in jobs]


def _question(sample: Sample) -> str:
    if not sample.user_input:
        raise InvalidInput(f"sample {sample.id!r} has no user_input to ask")
    return sample.user_input
