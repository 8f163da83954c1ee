"""From a finished run to the sample that it stands for: the default extractors.

Contexts are looked for where they are surest: what the chain itself returns as its context (the generator saw just that, also
after a reranking), then what the retrievers found, then what tools left in the messages of this turn, then any documents in
the output, then any that a step returned, then what the caller put in, then what a step returned as the text of its context; where
nobody searched at all, what the tools said.
A context that the chain returns empty says that nothing was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from .._reading._documents import document_lists
from .._reading._fields import ANSWERS, CONTEXTS, answer_in, found_by_tools, mapping_of, question_in, returned
from .._reading._messages import Turn, is_pending, turns_in
from .._runs import FinishedRun

__all__ = ["Extractor", "answer_of", "contexts_of", "is_many", "is_waiting", "question_of"]


def question_of(run: FinishedRun) -> str | None:
    """The user's question: from the inputs, else (a resumed graph has none) from the messages that came out, else the first
    search.
    """
    if run.kind == "llm":
        return _asked(run.inputs)
    if is_many(run):
        return None
    found = question_in(run.inputs)
    if found is None:
        outputs = mapping_of(run.outputs)
        found = (
            None if outputs is None else question_in({name: outputs[name] for name in outputs if name in COMES_BACK})
        )
    return found or next(iter(run.queries), None)


COMES_BACK = frozenset({"user_input", "question", "query", "input", "messages"})
"""Keys under which a chain may return what it was asked."""


def _asked(inputs: Any) -> str | None:
    """The question of a model that was called by itself: its inputs are a batch of one."""
    first = inputs[0] if isinstance(inputs, list | tuple) and inputs else inputs
    return question_in(first)


def answer_of(run: FinishedRun) -> str | None:
    """The final answer, as far as it came; None where a graph stopped before there was one.

    In the state that a graph returns, only what its steps wrote in this call is an answer.
    """
    if run.kind == "retriever" or run.outcome == "interrupted" or is_many(run):
        return None
    state = mapping_of(run.outputs) if run.written is not None else None
    if state is None:
        # several answers side by side are not one structured answer
        return answer_in(run.outputs, run.inputs, whole=not str(run.name).startswith("RunnableParallel"))
    fresh = {name: state[name] for name in state if name in (run.written or ())}
    if isinstance(fresh.get("messages"), list):
        fresh["messages"] = [item for item in fresh["messages"] if not _is_earlier(item, run)]
    has_left_answer = any(name in state and name not in fresh for name in (*ANSWERS, "messages"))
    return answer_in(fresh, state if has_left_answer else run.inputs, whole=False)


def _is_earlier(message: Any, run: FinishedRun) -> bool:
    """Whether a message was there before the call; the user's own stay, as they tell where the turn begins."""
    return isinstance(message, BaseMessage) and message.type != "human" and message.id in run.earlier


def is_many(run: FinishedRun) -> bool:
    """Whether one run stands for several questions and answers, as that of ``map()``: no single reading is right."""
    inputs, outputs = run.inputs, run.outputs
    if run.kind != "chain" or not isinstance(inputs, list) or not isinstance(outputs, list):
        return False
    return len(inputs) == len(outputs) > 1 and not any(isinstance(item, BaseMessage) for item in inputs)


def contexts_of(run: FinishedRun) -> Sequence[Any] | None:
    """The contexts that the answer rests on, as documents where there are documents; None if nothing tells."""
    if is_many(run):
        return None
    documents, texts = returned(run.outputs)
    if documents == [] and run.written is not None and run.written.isdisjoint(CONTEXTS):
        documents = None  # the state has always been empty there
    if documents is not None:
        return documents
    found: Sequence[Any] | None = run.documents or _artifacts(run) or _anywhere(run) or run.listed
    if found:
        return found
    given, written = returned(run.inputs)
    found = given or texts or (run.texts if run.documents is None else None) or written or run.documents
    if found is None:  # nobody searched: the generator knows what its tools told it
        found = found_by_tools(_turns(run)) or None
    return found


def _turns(run: FinishedRun) -> list[Turn]:
    return turns_in((mapping_of(run.outputs) or {}).get("messages")) or []


def _artifacts(run: FinishedRun) -> Sequence[Document] | None:
    found = found_by_tools(_turns(run))
    return found if found and isinstance(found[0], Document) else None


def _anywhere(run: FinishedRun) -> list[Document] | None:
    return next(document_lists(mapping_of(run.outputs) or run.outputs), None)


def is_waiting(run: FinishedRun) -> bool:
    """Whether a graph has stopped before the tools that its last message calls, as ``interrupt_before`` makes it."""
    return is_pending(_turns(run))


Extractor = Callable[[FinishedRun], Any]
