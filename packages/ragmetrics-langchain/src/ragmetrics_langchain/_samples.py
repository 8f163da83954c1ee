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

from ._documents import contexts_and_documents, contexts_in, distinct, document_lists
from ._fields import CONTEXTS, QUESTIONS, REFERENCES, answer_in, mapping_of, question_in
from ._messages import Turn, last_answer, last_question, text_of, this_turn, turns_in

__all__ = ["sample_of", "with_contexts"]

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
    for name, item in _without_copies(found).items():
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
    if name not in CONTEXTS and name != "reference_documents":
        return name, item, {}
    found = contexts_in(item)
    if not found or (name not in OWN_CONTEXTS and all(isinstance(context, str) for context in found)):
        written = found if isinstance(item, Mapping) and found else item
        return ("retrieved_contexts" if name in OWN_CONTEXTS and found == [] else name), written, {}
    texts, kept = contexts_and_documents(found)
    if name == "reference_documents":
        return name, kept, {}
    if name == "retrieved_documents":
        return name, kept, {"retrieved_contexts": texts}
    key = "retrieved_contexts" if name in OWN_CONTEXTS else name
    return key, texts, {} if all(isinstance(context, str) for context in found) else {"retrieved_documents": kept}


def with_contexts(found: list[Any]) -> dict[str, Any]:
    """The two fields that contexts fill."""
    texts, documents = contexts_and_documents(found)
    return {"retrieved_contexts": texts, "retrieved_documents": documents}


def _without_copies(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without the texts that only repeat documents, such as the ``context`` joined from the ``documents`` for the prompt."""
    written = {name: contexts_in(found[name]) or [] for name in CONTEXTS if name in found}
    if not any(not isinstance(item, str) for items in written.values() for item in items):
        return found
    copies = {name for name, items in written.items() if all(isinstance(item, str) for item in items)}
    return {name: item for name, item in found.items() if name not in copies or name == "retrieved_contexts"}


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
