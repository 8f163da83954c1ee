"""From a finished run to the sample that it stands for: the default extractors, and the references in the run's metadata.

Contexts are taken from the first of these that has any, the surest first: what the chain itself returns as its context (exactly
what the generator saw, even after a reranking); what the retrievers found; the documents that tools left in the messages of this
turn; any documents in the output; any that a step returned; what the caller put in; what a step returned as the text of its
context; what the tools said, if nobody searched. But an empty context that the chain returns means that the generator was shown
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.messages import BaseMessage

from ragmetrics_core import Input, Sample
from ragmetrics_core.adapters import settled

from .._reading._contexts import are_texts, core_documents, document_lists, found_by_tools, returned
from .._reading._messages import calls_tools, messages_in
from .._reading._names import ANSWERS, CONTEXTS, EXPECTED, QUESTIONS, REFERENCES, mapping_of
from .._reading._texts import answer_in, question_in
from ._tree import FinishedRun

__all__ = [
    "FROM_METADATA",
    "Extractor",
    "answer_of",
    "contexts_of",
    "is_many",
    "is_waiting",
    "question_of",
    "references_in",
]

Extractor = Callable[[FinishedRun], Any]

FROM_METADATA = frozenset({*REFERENCES, *EXPECTED})


def question_of(run: FinishedRun) -> str | None:
    """The user's question: from the inputs, else (a resumed graph has none) from the question or messages in the outputs, else
    the first search.
    """
    if run.kind == "llm":  # the inputs of a model that was called by itself are a batch of one
        return question_in(run.inputs[0] if isinstance(run.inputs, list | tuple) and run.inputs else run.inputs)
    if is_many(run):
        return None
    outputs = mapping_of(run.outputs) or {}
    came_back = {name: outputs[name] for name in (*QUESTIONS, "messages") if name in outputs}
    return question_in(run.inputs) or question_in(came_back) or next(iter(run.queries), None)


def answer_of(run: FinishedRun) -> str | None:
    """The final answer, complete or not; None where a graph stopped before there was one.

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
    documents, texts = returned(run.outputs)
    if documents == [] and run.written is not None and run.written.isdisjoint(CONTEXTS):
        documents = None  # the state has always been empty there
    if documents is not None:
        return documents
    from_tools = found_by_tools(_messages(run))
    given, written = returned(run.inputs)
    surest_first: list[Sequence[Any] | None] = [
        run.documents,
        None if are_texts(from_tools) else from_tools,
        next(document_lists(mapping_of(run.outputs) or run.outputs), None),
        run.listed,
        given,
        texts,
        run.texts if run.documents is None else None,
        written,
        from_tools if run.documents is None else None,  # nobody searched: the generator knows what its tools told it
    ]
    return next(filter(None, surest_first), run.documents)


def _messages(run: FinishedRun) -> list[BaseMessage]:
    return messages_in((mapping_of(run.outputs) or {}).get("messages")) or []


def is_waiting(run: FinishedRun) -> bool:
    """Whether a graph has stopped before the tools that its last message calls, as ``interrupt_before`` makes it."""
    return any(map(calls_tools, _messages(run)[-1:]))


def references_in(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The fields of the sample that stand in the metadata, and what is wrong with those that cannot be used.

    Nobody is there to catch an error, so a bad reference costs only itself. Nothing is searched as in the outputs of a chain: the
    metadata are written for the evaluation, so what stands there is meant as it is.
    """
    fields: dict[str, Any] = {}
    problems: list[str] = []
    for field, names in {"reference": REFERENCES, **{name: (name,) for name in EXPECTED}}.items():
        given = {name: _plain(metadata[name]) for name in names if metadata.get(name) is not None}
        outcome = settled(partial(_checked, field, given))
        error = outcome.exception()
        if error is not None:
            problems.append(f"{type(error).__name__}: {error}")
        elif given:
            fields[field] = outcome.result()
    return fields, problems


def _checked(field: str, given: Mapping[str, Any]) -> Any:
    sample = Sample.from_mapping(given)
    Input.named(field, required=False).read("the run's metadata", sample)
    return getattr(sample, field)


def _plain(value: Any) -> Any:
    """A message as its text, LangChain's documents as the core's."""
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, list | tuple) and any(hasattr(item, "page_content") for item in value):
        return core_documents(value)
    return value
