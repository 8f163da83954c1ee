"""The sample that a value of a LangChain program stands for: what a ``MetricRunnable`` or an evaluator is given.

Strategy. Unlike the output of a chain, a row is written for a metric. So it is read key by key, as the core reads rows, and two
keys for one field must agree. Documents fill two fields, ``retrieved_contexts`` and ``retrieved_documents``; the one that was not
named gives way to a value of its own. ``messages`` fill what nothing else has filled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import PromptValue

from ragmetrics_core import InvalidInput, Sample

from ._contexts import are_texts, contexts_in, found_by_tools, with_contexts
from ._messages import last_answer, last_question, messages_in
from ._names import ANSWERS, CONTEXTS, QUESTIONS, REFERENCES, mapping_of
from ._texts import Answer, answer_in, find_answer, question_in, reference_in

__all__ = ["sample_of"]

RESPONSES = tuple(name for name in ANSWERS if name != "text")
"""Names of the response in a row, where a ``text`` may be anything."""

UNKNOWN_TO_CORE = Sample.from_mapping(dict.fromkeys([*RESPONSES, *CONTEXTS])).metadata.keys()
"""Names that LangChain programs use and the core would file under metadata."""


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
    answers = (find_answer(found[name]) for name in RESPONSES if name in found)
    answer = next((answer for answer in answers if answer is not None), None)
    for name, item in _without_copies(found).items():
        key, written, derived = _field(name, item, answer)
        if row.get(key) is not None and written is not None and row[key] != written:
            raise InvalidInput(f"the keys of the input disagree about {key!r}: keep one of them")
        if key not in row or written is not None:
            row[key] = written
        spare.update(derived)
    messages = messages_in(found.get("messages"))
    if messages is not None:
        del row["messages"]
        spare = {**_from_messages(messages), **spare}
    sample = Sample.from_mapping(row)
    return sample.updated({name: item for name, item in spare.items() if sample.get(name) is None and item is not None})


def _field(name: str, item: Any, answer: Answer | None) -> tuple[str, Any, dict[str, Any]]:
    """One key as the core knows it: its name there, its value, and the other field that the value fills."""
    if name in CONTEXTS or name == "reference_documents":
        return _contexts(name, item)
    if name in QUESTIONS and not isinstance(item, str):
        item = question_in(item)
    if name in REFERENCES and not isinstance(item, str):
        item = reference_in(name, item, answer)
    if name in RESPONSES:
        return "response" if name in UNKNOWN_TO_CORE else name, answer_in(item), {}
    return name, item, {}


def _contexts(name: str, item: Any) -> tuple[str, Any, dict[str, Any]]:
    found = contexts_in(item)
    is_known = name not in UNKNOWN_TO_CORE
    key = name if is_known or found is None else "retrieved_contexts"
    if not found or (is_known and are_texts(found)):
        return key, found if found and isinstance(item, Mapping) else item, {}
    both = with_contexts(found)
    if name.endswith("_documents") and is_known:
        return name, both.pop("retrieved_documents"), both if name == "retrieved_documents" else {}
    return key, both.pop("retrieved_contexts"), {} if are_texts(found) else both


def _without_copies(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without texts that only repeat the documents, such as a ``context`` that was joined from them for the prompt."""
    written = {name: contexts_in(found[name]) or [] for name in CONTEXTS if name in found}
    copies = {name for name, items in written.items() if are_texts(items)} - {"retrieved_contexts"}
    if all(map(are_texts, written.values())):
        return found
    return {name: item for name, item in found.items() if name not in copies}


def _from_messages(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Question, answer and contexts of the last turn."""
    contexts = found_by_tools(messages)
    fields = {"retrieved_contexts": contexts or None} if are_texts(contexts) else with_contexts(contexts)
    return {"user_input": last_question(messages), "response": last_answer(messages), **fields}
