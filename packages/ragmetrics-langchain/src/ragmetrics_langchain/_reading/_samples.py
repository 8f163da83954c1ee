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

from ._documents import contexts_and_documents, contexts_in
from ._fields import (
    CONTEXTS,
    MISSING,
    QUESTIONS,
    REFERENCES,
    Answer,
    answer_in,
    find_answer,
    found_by_tools,
    is_guess,
    mapping_of,
    question_in,
)
from ._messages import Turn, last_answer, last_question, turns_in

__all__ = ["reference_in", "sample_of", "with_contexts"]

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
        return Sample(response=answer_in(value))
    found = {"messages": value} if isinstance(value, list | tuple | PromptValue) else mapping_of(value)
    if found is None:
        raise InvalidInput(
            f"a metric takes a mapping, a Sample, messages or a text, got {type(value).__name__}: put the fields into a mapping"
        )
    row: dict[str, Any] = {}
    spare: dict[str, Any] = {}
    answers = [find_answer(found[name]) for name in (*RESPONSES, *OWN_RESPONSES) if name in found]
    answer = next((answer for answer in answers if answer is not None), None)
    for name, item in _without_copies(found).items():
        key, written, derived = _field(name, item, answer)
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


def _field(name: str, item: Any, answer: Answer | None) -> tuple[str, Any, dict[str, Any]]:
    """One key as the core knows it: its name there, its value, and what else the value tells."""
    if name in QUESTIONS and not isinstance(item, str):
        return name, question_in(item), {}
    if name in REFERENCES and not isinstance(item, str):
        return name, reference_in(name, item, answer), {}
    if name in (*RESPONSES, *OWN_RESPONSES):
        return "response" if name in OWN_RESPONSES else name, item if isinstance(item, str) else answer_in(item), {}
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


def reference_in(where: str, value: Any, answer: Answer | None) -> str | None:
    """The reference that a value is; as JSON only where the answer is structured output too.

    Raises:
        InvalidInput: it is something else: no comparison with an answer would mean anything.
    """
    if value is None or value == {}:
        return None
    found = find_answer(value)
    if found is not None and answer is not None and _have_one_form(answer.structure, found.structure):
        found = Answer(structure=_ordered_as(answer.structure, found.structure))
    elif found is None or found.structure is not None or (found != MISSING and is_guess(value)):
        keys = mapping_of(value)
        what = type(value).__name__ if keys is None else f"{sorted(map(str, keys))}, and none of them tells which it is"
        raise InvalidInput(f"{where}: a reference is one text, got {what}: say where it is with reference_key=...")
    return None if found == MISSING else str(found)


def _have_one_form(answer: Any, reference: Any) -> bool:
    """Whether both are objects with a name in common, or both are lists: others can only differ."""
    if isinstance(answer, dict) and isinstance(reference, dict):
        return not answer.keys().isdisjoint(reference)
    return isinstance(answer, list) and isinstance(reference, list)


def _ordered_as(model: Any, value: Any) -> Any:
    """The same value, its names in the order that they have in another one: stores of data sets do not keep it."""
    if isinstance(value, dict) and isinstance(model, dict):
        names = [name for name in model if name in value] + [name for name in value if name not in model]
        return {name: _ordered_as(model.get(name), value[name]) for name in names}
    if isinstance(value, list) and isinstance(model, list):
        return [_ordered_as(model[place] if place < len(model) else None, item) for place, item in enumerate(value)]
    return value


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
    contexts = found_by_tools(turns)
    if not contexts:
        return row
    return row | (with_contexts(contexts) if not isinstance(contexts[0], str) else {"retrieved_contexts": contexts})
