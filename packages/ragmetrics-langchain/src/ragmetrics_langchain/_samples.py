"""The sample that a value of a LangChain program stands for: what a ``MetricRunnable`` or an evaluator is given.

Strategy. Keys are taken one by one and written as the core knows them; what two keys say about one field must agree, as the core
demands of every row. Documents fill two fields, their texts and themselves; the one that was not named gives way to a value of its
own. ``messages`` fill what nothing else has filled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import PromptValue

from ragmetrics_core import InvalidInput, Sample

from ._documents import contexts_and_documents, distinct, document_lists, documents_in, texts_in
from ._fields import CONTEXTS, QUESTIONS, REFERENCES, answer_in, mapping_of, question_in
from ._messages import Turn, last_answer, last_question, text_of, this_turn, turns_in

__all__ = ["sample_of"]

RESPONSES = ("response", "answer", "predicted_answer", "generated_answer", "output")
"""Names of the response that the core knows."""

OWN_RESPONSES = ("result", "generation", "final_answer")
OWN_CONTEXTS = ("source_documents", "documents", "docs")
"""Names that LangChain programs use and the core does not know."""


def sample_of(value: Any) -> Sample:
    """The sample that any LangChain value stands for: a sample, a mapping, a list of messages, a text or a message (the response).

    Fields may have the core's names or LangChain's: ``input``, ``question``, ``output``, ``answer``, ``result``, ``context`` and
    ``source_documents`` (documents or texts), ``messages``. Unknown keys become metadata.

    Raises:
        InvalidInput: two keys name the same field and differ, or the value is of another kind.
    """
    if isinstance(value, Sample):
        return value
    if isinstance(value, str | BaseMessage):
        return Sample(response=text_of(value))
    found = {"messages": value} if isinstance(value, list | tuple | PromptValue) else mapping_of(value)
    if found is None:
        raise InvalidInput(
            f"a metric takes a mapping, a Sample, messages or a text, got {type(value).__name__}: put the fields into a mapping"
        )
    row: dict[str, Any] = {}
    spare: dict[str, Any] = {}
    for name, item in found.items():
        key, written, derived = _field(name, item)
        if row.get(key) is not None and written is not None and row[key] != written:
            raise InvalidInput(f"the keys of the input disagree about {key!r}: keep one of them")
        if key not in row or written is not None:
            row[key] = written
        spare.update(derived)
    turns = turns_in(found.get("messages"))
    if turns is not None:
        row.pop("messages")
        spare = {**_from_messages(turns), **spare}
    return _completed(Sample.from_mapping(row), spare)


def _completed(sample: Sample, spare: Mapping[str, Any]) -> Sample:
    return sample.updated(
        {name: value for name, value in spare.items() if value is not None and sample.get(name) is None}
    )


def _field(name: str, item: Any) -> tuple[str, Any, dict[str, Any]]:
    """One key as the core knows it: its name there, its value, and what else the value tells."""
    if name in QUESTIONS and not isinstance(item, str):
        return name, question_in(item), {}
    if name in (*RESPONSES, *REFERENCES) and not isinstance(item, str):
        return name, answer_in(item), {}
    if name in OWN_RESPONSES:
        return "response", answer_in(item), {}
    documents = documents_in(item) if name in CONTEXTS or name == "reference_documents" else None
    if documents is not None:
        texts, kept = contexts_and_documents(documents)
        if name == "reference_documents":
            return name, kept, {}
        if name == "retrieved_documents":
            return name, kept, {"retrieved_contexts": texts}
        return "retrieved_contexts" if name in OWN_CONTEXTS else name, texts, {"retrieved_documents": kept}
    if name in OWN_CONTEXTS and texts_in(item) is not None:
        return "retrieved_contexts", texts_in(item), {}
    return name, item, {}


def _from_messages(turns: list[Turn]) -> dict[str, Any]:
    """Question and answer of the last turn; as contexts the documents that its tools left, else what they said."""
    row: dict[str, Any] = {"user_input": last_question(turns), "response": last_answer(turns)}
    said = [turn for turn in this_turn(turns) if turn.role == "tool"]
    documents = distinct(document for turn in said for found in document_lists(turn.artifact) for document in found)
    if documents:
        row["retrieved_contexts"], row["retrieved_documents"] = contexts_and_documents(documents)
    else:
        row["retrieved_contexts"] = [turn.text for turn in said if turn.text.strip()] or None
    return row
