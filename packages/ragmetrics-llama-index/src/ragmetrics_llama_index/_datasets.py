"""Generate test sets from nodes, and evaluate engines and retrievers over test sets, including data sets in LlamaIndex's older
formats.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

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
    read_samples,
)
from ragmetrics_core.adapters import asked_rows, in_own_thread, run_blocking, with_arguments_of

from ._models import judge_of, scorer_of
from ._responses import answer_of, contexts_of, document_of, mode_of, settle

Source = str | os.PathLike[str]
OnError = Literal["record", "raise"]
Ask = Callable[[str], Awaitable[dict[str, Any]]]
Metrics = Metric | Iterable[Metric]

OF_THE_RUN = frozenset({"run_dir", "replace", "progress"})
"""Options that are left out when the other options are checked by a run over no rows, because the check must not write or show
anything.
"""


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
        dataset: the JSON file (.json) of a ``LabelledRagDataset``, the file of a test set (.jsonl, .csv, .parquet), or samples or
            mappings.
        query_engine: answers the questions.
        metrics: one metric or several.
        llm: the judge; None: ``Settings.llm``.
        embed_model: embeds for the metrics that need it; None: ``Settings.embed_model``.
        workers: how many questions are asked at the same time.
        on_error: ``"record"``: if the engine or the judge fails, only that question's scores fail; ``"raise"``: the run ends.
        metadata_mode: which metadata of the source nodes the judge reads with their text; by default what the generator saw.
        options: passed to ``ragmetrics_core.evaluate``, such as ``max_concurrency``.
    """
    run = over_engine(awaited=False, **locals())
    return evaluate(run_blocking(run.rows), run.metrics, **run.settings)


@with_arguments_of(evaluate_query_engine)
async def aevaluate_query_engine(**arguments: Any) -> Evaluation:
    """Do the same as ``evaluate_query_engine``, with ``aquery`` or ``achat``, without blocking the running loop."""
    run = over_engine(awaited=True, **arguments)
    return await aevaluate(await run.rows(), run.metrics, **run.settings)


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
    """Ask a retriever every question of a data set and score what it finds; arguments as in ``evaluate_query_engine``.

    The data set is the JSON file of an ``EmbeddingQAFinetuneDataset``, the file of a test set, or samples with
    ``reference_documents``, as ``generate_qa_pairs`` makes them. Ranking metrics compare nodes by identifier (``field="id"``) or
    by text without metadata (``field="content"``).
    """
    run = over_retriever(awaited=False, **locals())
    return evaluate(run_blocking(run.rows), run.metrics, **run.settings)


@with_arguments_of(evaluate_retriever)
async def aevaluate_retriever(**arguments: Any) -> Evaluation:
    """Do the same as ``evaluate_retriever``, with the retriever's ``aretrieve``, without blocking the running loop."""
    run = over_retriever(awaited=True, **arguments)
    return await aevaluate(await run.rows(), run.metrics, **run.settings)


class Run:
    """A run over a data set; all is checked before the first question is asked, so that a mistake costs no answers.

    Args:
        who: the name of the engine or retriever in messages.
        ask: takes a question and returns the new fields of the sample.
        read: reads a data set of LlamaIndex.
        dataset, metrics, llm, embed_model, workers, on_error, options: as for ``evaluate_query_engine``.
    """

    def __init__(
        self,
        who: str,
        ask: Ask,
        read: Callable[[Source], Testset],
        *,
        dataset: Source | Iterable[Sample],
        metrics: Metrics,
        llm: Any,
        embed_model: Any,
        workers: int,
        on_error: OnError,
        options: Mapping[str, Any],
    ) -> None:
        self.metrics = metrics if isinstance(metrics, Metric | str) else list(metrics)
        models = {"llm": judge_of(llm), "embeddings": scorer_of(embed_model)}
        self.settings: dict[str, Any] = {**models, "on_error": on_error, **options}
        checked = {name: value for name, value in self.settings.items() if name not in OF_THE_RUN}
        evaluate([], self.metrics, **checked, progress=False)
        if isinstance(dataset, str | os.PathLike):
            # the data sets of LlamaIndex are .json files, the core's are not
            dataset = read(dataset) if Path(dataset).suffix == ".json" else Testset.load(dataset)
        samples = read_samples(islice(dataset, self.settings.get("limit")))
        self.rows = partial(asked_rows, samples, ask, who=who, workers=workers, record=on_error == "record")
        """The samples with their answers, in order; an ``InvalidInput`` for each question without an answer."""


def over_engine(query_engine: Any, metadata_mode: MetadataMode | str, *, awaited: bool, **arguments: Any) -> Run:
    """Return a run over a query engine or a chat engine."""
    mode = mode_of("evaluate_query_engine", metadata_mode)
    is_chat = not callable(getattr(query_engine, "query", None))
    if is_chat and not callable(getattr(query_engine, "chat", None)):
        kind = type(query_engine).__name__
        raise InvalidInput(f"evaluate_query_engine takes a query engine or a chat engine, got {kind}")
    method = getattr(query_engine, f"{'a' if awaited else ''}{'chat' if is_chat else 'query'}")

    async def ask(question: str) -> dict[str, Any]:
        if is_chat:
            query_engine.reset()
        response = await (method(question) if awaited else in_own_thread(partial(method, question)))
        # reading a stream may take time
        answer = await in_own_thread(partial(answer_of, await settle(response), mode))
        if answer is None:
            raise InvalidInput("it answered with None")
        return {name: getattr(answer, name) for name in ("response", "retrieved_contexts", "retrieved_documents")}

    if is_chat:
        arguments["workers"] = 1  # a chat engine has only one memory
    return Run("chat engine" if is_chat else "query engine", ask, Testset.from_labelled_rag_dataset, **arguments)


def over_retriever(retriever: Any, metadata_mode: MetadataMode | str, *, awaited: bool, **arguments: Any) -> Run:
    """Return a run over a retriever."""
    mode = mode_of("evaluate_retriever", metadata_mode)

    async def ask(question: str) -> dict[str, Any]:
        nodes: Sequence[NodeWithScore] = await (
            retriever.aretrieve(question) if awaited else in_own_thread(partial(retriever.retrieve, question))
        )
        documents, contexts = [document_of(node) for node in nodes], contexts_of(nodes, mode)
        return {"retrieved_documents": documents, "retrieved_contexts": contexts}

    return Run("retriever", ask, Testset.from_embedding_qa_dataset, **arguments)


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
    return generate_testset(*from_nodes("generate_qa_pairs", **locals()), **options)


@with_arguments_of(generate_qa_pairs)
async def agenerate_qa_pairs(**arguments: Any) -> Testset:
    """Do the same as ``generate_qa_pairs`` without blocking the running loop."""
    return await agenerate_testset(*from_nodes("agenerate_qa_pairs", **arguments), **arguments["options"])


def from_nodes(
    who: str, nodes: Iterable[BaseNode], llm: Any, num_questions_per_chunk: int, metadata_mode: Any, **_: Any
) -> tuple[list[Document], Any, int]:
    """Return the nodes as documents of the core, the LLM that writes about them, and the number of questions."""
    mode = mode_of(who, metadata_mode)
    documents = []
    for number, node in enumerate(nodes):
        if not isinstance(node, BaseNode):
            raise InvalidInput(f"nodes[{number}] must be a node of LlamaIndex, got {type(node).__name__}")
        documents.append(Document(content=node.get_content(metadata_mode=mode), id=node.node_id))
    return documents, judge_of(llm), num_questions_per_chunk
