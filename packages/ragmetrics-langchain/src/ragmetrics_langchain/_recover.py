"""From a finished run to the sample that it stands for: the default extractors, and the references that came with the config.

Contexts are looked for where they are surest: what the chain itself returns as its context (the generator saw just that, also
after a reranking), then what the retrievers found, then what tools left in the messages of this turn, then any documents in
the output, then any that a step returned, then what the caller put in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.documents import Document

from ragmetrics_core import Sample

from ._documents import contexts_and_documents, distinct, document_lists
from ._fields import REFERENCES, answer_in, mapping_of, question_in, returned
from ._messages import is_pending, this_turn, turns_in
from ._runs import FinishedRun

__all__ = ["answer_of", "contexts_of", "is_waiting", "question_of", "sample_of_run"]

FROM_METADATA = frozenset({*REFERENCES, "reference_contexts", "reference_documents", "rubric"})


def question_of(run: FinishedRun) -> str | None:
    """The user's question: from the inputs, else (a resumed graph has none) from the messages that came out, else the first
    search.
    """
    if run.kind == "llm":
        return _asked(run.inputs)
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
    """The final answer, as far as it came."""
    return None if run.kind == "retriever" else answer_in(run.outputs, run.inputs)


def contexts_of(run: FinishedRun) -> Sequence[Document | str] | None:
    """The contexts that the answer rests on, as documents where there are documents; None if nothing tells."""
    documents, texts = returned(run.outputs)
    found: Sequence[Document | str] | None = (
        documents or run.documents or _artifacts(run) or _anywhere(run) or run.listed
    )
    if not found:
        given, written = returned(run.inputs)
        found = given or texts or written
    return found or run.documents


def _artifacts(run: FinishedRun) -> list[Document] | None:
    turns = turns_in((mapping_of(run.outputs) or {}).get("messages"))
    said = this_turn(turns or ())
    found = distinct(document for turn in said for documents in document_lists(turn.artifact) for document in documents)
    return found or None


def _anywhere(run: FinishedRun) -> list[Document] | None:
    return next(document_lists(mapping_of(run.outputs) or run.outputs), None)


def is_waiting(run: FinishedRun) -> bool:
    """Whether a graph has stopped before the tools that its last message calls, as ``interrupt_before`` makes it."""
    outputs = mapping_of(run.outputs)
    turns = turns_in(outputs.get("messages")) if outputs is not None else None
    return turns is not None and is_pending(turns)


Extractor = Callable[[FinishedRun], Any]


def sample_of_run(run: FinishedRun, question: Extractor, answer: Extractor, contexts: Extractor) -> Sample:
    """The sample that a run stands for; a reference, a rubric and an id come from the run's metadata, which is kept."""
    found = contexts(run)
    texts, documents = (None, None) if found is None else contexts_and_documents(found)
    known = {name: value for name, value in run.metadata.items() if name in FROM_METADATA}
    row = Sample.from_mapping(known).updated(
        {
            "user_input": question(run),
            "response": answer(run),
            "retrieved_contexts": texts,
            "retrieved_documents": documents,
            "metadata": {name: value for name, value in run.metadata.items() if name not in FROM_METADATA},
        }
    )
    example = run.metadata.get("example_id")
    return row if example is None else row.updated({"id": str(example)})
