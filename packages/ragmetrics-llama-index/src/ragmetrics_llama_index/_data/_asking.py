"""Asking an application many questions, a few at a time; an exception costs the row of its question only.

Strategy. All questions are asked from an event loop; an application that is to be called synchronously is called on threads. The
application is what is evaluated, so any exception of it is a finding and is recorded, unlike bugs in a metric.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from llama_index.core.schema import MetadataMode, NodeWithScore

from ragmetrics_core import InvalidInput, Sample
from ragmetrics_core.adapters import conceal, in_own_thread

from ._responses import answer_of, contexts_of, document_of, mode_of, settle

__all__ = ["Asking", "asking_engine", "asking_retriever"]

Row = Sample | InvalidInput


@dataclass(frozen=True)
class Asking:
    """How the questions are asked.

    Attributes:
        who: what is asked, for messages.
        ask: takes a question and returns the new fields of the sample.
        workers: how many questions are asked at the same time.
        record: whether exceptions are recorded; otherwise they are raised.
    """

    who: str
    ask: Callable[[str], Awaitable[dict[str, Any]]]
    workers: int
    record: bool

    async def rows(self, samples: Sequence[Sample]) -> list[Row]:
        """The samples with their answers, in order; an ``InvalidInput`` for each question without an answer.

        Raises:
            InvalidInput: a sample has no question; raised before the first one is asked.
        """
        questions = [_question(sample) for sample in samples]
        slots = asyncio.Semaphore(self.workers)
        tasks = [
            asyncio.create_task(self._row(sample, question, slots))
            for sample, question in zip(samples, questions, strict=True)
        ]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _row(self, sample: Sample, question: str, slots: asyncio.Semaphore) -> Row:
        async with slots:
            outcome: Any = (await asyncio.gather(self.ask(question), return_exceptions=True))[0]
        if not isinstance(outcome, BaseException):
            return replace(sample, **outcome)
        if not self.record or not isinstance(outcome, Exception):
            raise outcome
        said = conceal(" ".join(str(outcome).split()))
        problem = InvalidInput(f"the {self.who} failed: {type(outcome).__name__}{f': {said}' if said else ''}")
        vars(problem)["sample"] = sample
        return problem


def asking_engine(engine: Any, workers: int, on_error: str, mode: MetadataMode | str, *, awaited: bool) -> Asking:
    """Questions to a query engine or a chat engine.

    Raises:
        InvalidInput: it is neither, or a setting is invalid.
    """
    metadata_mode = mode_of("evaluate_query_engine", mode)
    if callable(getattr(engine, "query", None)):
        ask, who = (engine.aquery if awaited else engine.query), "query engine"
    elif callable(getattr(engine, "chat", None)):
        ask, who = (engine.achat if awaited else engine.chat), "chat engine"
    else:
        raise InvalidInput(f"evaluate_query_engine takes a query engine or a chat engine, got {type(engine).__name__}")

    async def asked(question: str) -> dict[str, Any]:
        if who == "chat engine":
            engine.reset()
        response = await (ask(question) if awaited else in_own_thread(partial(ask, question)))
        # reading a stream may take time
        answer = await in_own_thread(partial(answer_of, await settle(response), metadata_mode))
        if answer is None:
            raise InvalidInput("it answered with None")
        return {
            "response": answer.text,
            "retrieved_contexts": answer.contexts,
            "retrieved_documents": answer.documents,
        }

    # a chat engine has one memory
    return Asking(who, asked, 1 if who == "chat engine" else _checked(workers), on_error == "record")


def asking_retriever(retriever: Any, workers: int, on_error: str, mode: MetadataMode | str, *, awaited: bool) -> Asking:
    """Questions to a retriever."""
    metadata_mode = mode_of("evaluate_retriever", mode)

    async def asked(question: str) -> dict[str, Any]:
        nodes: Sequence[NodeWithScore] = await (
            retriever.aretrieve(question) if awaited else in_own_thread(partial(retriever.retrieve, question))
        )
        return {
            "retrieved_documents": [document_of(node) for node in nodes],
            "retrieved_contexts": contexts_of(nodes, metadata_mode),
        }

    return Asking("retriever", asked, _checked(workers), on_error == "record")


def _checked(workers: int) -> int:
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InvalidInput(f"workers must be a whole number from 1, got {workers!r}")
    return workers


def _question(sample: Sample) -> str:
    if not isinstance(sample.user_input, str) or not sample.user_input.strip():
        raise InvalidInput(f"sample {sample.id!r} has no user_input to ask")
    return sample.user_input
