"""From a finished run to the sample that it stands for: the default extractors.

Contexts are taken from the first of these that has any, the surest first: what the chain itself returns as its context (exactly
what the generator saw, even after a reranking); what the retrievers found; the documents that tools left in the messages of this
turn; any documents in the output; any that a step returned; what the caller put in; what a step returned as the text of its
context; what the tools said, if nobody searched. But an empty context that the chain returns means that the generator was shown
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from .._values import VALUES
from ._tree import FinishedRun

__all__ = ["Extractor", "answer_of", "contexts_of", "is_many", "is_waiting", "question_of"]

Extractor = Callable[[FinishedRun], Any]


def question_of(run: FinishedRun) -> str | None:
    """The user's question: from the inputs, else (a resumed graph has none) from the question or messages in the outputs, else
    the first search.
    """
    if run.kind == "llm":  # the inputs of a model that was called by itself are a batch of one
        return VALUES.question_in(run.inputs[0] if isinstance(run.inputs, list | tuple) and run.inputs else run.inputs)
    if is_many(run):
        return None
    outputs = VALUES.mapping_of(run.outputs) or {}
    came_back = {name: outputs[name] for name in (*VALUES.questions, "messages") if name in outputs}
    return VALUES.question_in(run.inputs) or VALUES.question_in(came_back) or next(iter(run.queries), None)


def answer_of(run: FinishedRun) -> str | None:
    """The final answer, complete or not; None where a graph stopped before there was one.

    In the state that a graph returns, only what its steps wrote in this call is an answer.
    """
    if run.kind == "retriever" or run.outcome == "interrupted" or is_many(run):
        return None
    state = VALUES.mapping_of(run.outputs) if run.written is not None else None
    if state is None:
        # several answers side by side are not one structured answer
        return VALUES.answer_in(run.outputs, run.inputs, whole=not str(run.name).startswith("RunnableParallel"))
    fresh = {name: state[name] for name in state if name in (run.written or ())}
    if isinstance(fresh.get("messages"), list):
        fresh["messages"] = [item for item in fresh["messages"] if not _is_earlier(item, run)]
    has_left_answer = any(name in state and name not in fresh for name in (*VALUES.answers, "messages"))
    return VALUES.answer_in(fresh, state if has_left_answer else run.inputs, whole=False)


def _is_earlier(message: Any, run: FinishedRun) -> bool:
    """Whether a message was there before the call; the user's messages stay, because they tell where the turn begins."""
    return isinstance(message, BaseMessage) and message.type != "human" and message.id in run.earlier


def is_many(run: FinishedRun) -> bool:
    """Whether one run stands for several questions and answers, as with ``map()``, so that no single reading is right."""
    inputs, outputs = run.inputs, run.outputs
    if run.kind != "chain" or not isinstance(inputs, list) or not isinstance(outputs, list):
        return False
    return len(inputs) == len(outputs) > 1 and not any(isinstance(item, BaseMessage) for item in inputs)


def contexts_of(run: FinishedRun) -> Sequence[Any] | None:
    """The contexts that the answer rests on, as documents where there are documents; None if nothing tells."""
    if is_many(run):
        return None
    documents, texts = VALUES.returned(run.outputs)
    if documents == [] and run.written is not None and run.written.isdisjoint(VALUES.contexts):
        documents = None  # the state has always been empty there
    if documents is not None:
        return documents
    from_tools = VALUES.found_by_tools(_messages(run))
    given, written = VALUES.returned(run.inputs)
    surest_first: list[Sequence[Any] | None] = [
        run.documents,
        None if VALUES.are_texts(from_tools) else from_tools,
        next(VALUES.document_lists(VALUES.mapping_of(run.outputs) or run.outputs), None),
        run.listed,
        given,
        texts,
        run.texts if run.documents is None else None,
        written,
        from_tools if run.documents is None else None,  # nobody searched: the generator knows what its tools told it
    ]
    return next(filter(None, surest_first), run.documents)


def _messages(run: FinishedRun) -> list[BaseMessage]:
    return VALUES.messages_in((VALUES.mapping_of(run.outputs) or {}).get("messages")) or []


def is_waiting(run: FinishedRun) -> bool:
    """Whether a graph has stopped before the tools that its last message calls, as ``interrupt_before`` makes it."""
    return any(map(VALUES.calls_tools, _messages(run)[-1:]))
