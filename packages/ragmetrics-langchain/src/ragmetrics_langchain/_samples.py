"""Make the sample for a value of a program: a row, an example of a data set, or a finished call.

Strategy. Unlike the output of a program, a row is written for a metric. So it is read key by key, as the core reads rows, and two
keys for one field must agree. Documents fill two fields, ``retrieved_contexts`` and ``retrieved_documents``; a value given under
the name of the other field takes precedence. ``messages`` fill only fields that have no value otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import BaseMessage

from ragmetrics_core import Input, InvalidInput, Sample
from ragmetrics_core.adapters import earlier_turns, settled, turns_of

from ._texts import Answer, answer_in, find_answer, question_in, reference_in
from ._values import (
    ANSWERS,
    CONTEXTS,
    CONVERSATIONS,
    EXPECTED,
    HISTORY,
    QUESTIONS,
    REFERENCES,
    are_texts,
    contexts_in,
    core_documents,
    found_by_tools,
    last_answer,
    last_question,
    mapping_of,
    messages_in,
    said_in,
    with_contexts,
)

RESPONSES = tuple(name for name in ANSWERS if name != "text")
"""Names of the response in a row. ``text`` is not among them, because in a row it may mean anything."""

UNKNOWN_TO_ROWS = Sample.from_mapping(dict.fromkeys([*RESPONSES, *CONTEXTS])).metadata.keys()
"""Names that programs use, but that ``Sample.from_mapping`` would put into the metadata."""

Keys = Mapping[str, str | None]


def sample_of(value: Any) -> Sample:
    """Make the sample for any value: a sample, a mapping, a list of messages, a text or a message (the response).

    Fields may have the core's names or the usual names in programs: ``input``, ``question``, ``output``, ``answer``,
    ``result``, ``context`` and ``source_documents`` (documents or texts), ``messages``. Unknown keys become metadata.

    Raises:
        InvalidInput: two keys name the same field and differ, or the value is of another kind.
    """
    if isinstance(value, Sample):
        return value
    if isinstance(value, (str, BaseMessage)):
        return Sample(response=answer_in(value))
    mapping = {"messages": value} if isinstance(value, CONVERSATIONS) else mapping_of(value)
    if mapping is None:
        raise InvalidInput(
            f"a metric takes a mapping, a Sample, messages or a text, got {type(value).__name__}: put the fields into a mapping"
        )
    row: dict[str, Any] = {}
    spare: dict[str, Any] = {}
    answers = (find_answer(mapping[name]) for name in RESPONSES if name in mapping)
    answer = next((answer for answer in answers if answer is not None), None)
    for name, item in _without_copies(mapping).items():
        key, core_value, derived = _field(name, item, answer)
        if row.get(key) is not None and core_value is not None and row[key] != core_value:
            raise InvalidInput(f"two keys of the input give different values for {key!r}: keep one of them")
        if key not in row or core_value is not None:
            row[key] = core_value
        spare.update(derived)
    messages = messages_in(mapping.get("messages"))
    if messages is not None:
        del row["messages"]
        spare = {**_from_messages(messages), **spare}
    sample = Sample.from_mapping(row)
    gaps = {name: item for name, item in spare.items() if sample.get(name) is None and item is not None}
    return sample.updated(gaps)


def _field(name: str, item: Any, answer: Answer | None) -> tuple[str, Any, dict[str, Any]]:
    """Return the core's name for a key, the value in the core's form, and a second field that the value fills too."""
    if name in CONTEXTS or name == "reference_documents":
        return _contexts(name, item)
    if name in QUESTIONS and not isinstance(item, str):
        item = question_in(item)
    if name in REFERENCES and not isinstance(item, str):
        item = reference_in(name, item, answer)
    if name in RESPONSES:
        return "response" if name in UNKNOWN_TO_ROWS else name, answer_in(item), {}
    if name in HISTORY:
        return name, turns_of(item) or item, {}
    return name, item, {}


def _contexts(name: str, item: Any) -> tuple[str, Any, dict[str, Any]]:
    found = contexts_in(item)
    is_known = name not in UNKNOWN_TO_ROWS
    key = name if is_known or found is None else "retrieved_contexts"
    if not found or (is_known and are_texts(found)):
        return key, found if found and isinstance(item, Mapping) else item, {}
    both = with_contexts(found)
    if name.endswith("_documents") and is_known:
        return name, both.pop("retrieved_documents"), both if name == "retrieved_documents" else {}
    return key, both.pop("retrieved_contexts"), {} if are_texts(found) else both


def _without_copies(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Remove texts that only repeat the documents, such as a ``context`` that was joined from them for the prompt."""
    written = {name: contexts_in(found[name]) or [] for name in CONTEXTS if name in found}
    copies = {name for name, items in written.items() if are_texts(items)} - {"retrieved_contexts"}
    if all(map(are_texts, written.values())):
        return found
    return {name: item for name, item in found.items() if name not in copies}


def _from_messages(messages: Sequence[Any]) -> dict[str, Any]:
    """Return question, answer and contexts of the last turn."""
    contexts = found_by_tools(messages)
    fields = {"retrieved_contexts": contexts or None} if are_texts(contexts) else with_contexts(contexts)
    fields["history"] = earlier_turns((), [messages])
    return {"user_input": last_question(messages), "response": last_answer(messages), **fields}


def sample_in_metadata(metadata: Mapping[str, Any]) -> tuple[Sample, list[str]]:
    """Return the references in the metadata of a live call, the other metadata, and a description of what is wrong.

    No caller could catch an error, so a bad reference is only left out. The values are not searched as in the outputs of a
    program: the metadata are written for the evaluation, so each value is meant as the field itself.
    """
    fields: dict[str, Any] = {}
    problems: list[str] = []
    for field, names in {"reference": REFERENCES, **{name: (name,) for name in EXPECTED}}.items():
        references = {name: _plain(metadata[name]) for name in names if metadata.get(name) is not None}
        if not references:
            continue
        outcome = settled(partial(_checked, field, references))
        error = outcome.exception()
        if error is None:
            fields[field] = outcome.result()
        else:
            problems.append(f"{type(error).__name__}: {error}")
    rest = {name: value for name, value in metadata.items() if name not in (*REFERENCES, *EXPECTED)}
    return Sample(metadata=rest, **fields), problems


def _plain(value: Any) -> Any:
    """Return a message as its text, and documents of LangChain as documents of the core."""
    if isinstance(value, BaseMessage):
        return said_in(value)
    if isinstance(value, list | tuple) and any(isinstance(item, LangChainDocument) for item in value):
        return core_documents(value)
    return value


def _checked(field: str, given: Mapping[str, Any]) -> Any:
    sample = Sample.from_mapping(given)
    Input.named(field, required=False).read("the run's metadata", sample)
    return getattr(sample, field)


def sample_of_example(inputs: Any, outputs: Any, expected: Any, keys: Keys, *, needs_reference: bool) -> Sample:
    """Make the sample for an example of a data set.

    Args:
        inputs: the inputs of the program.
        outputs: the outputs of the program.
        expected: the reference outputs.
        keys: the user's keys: ``question_key`` in the inputs, ``answer_key`` and ``contexts_key`` in the outputs,
            ``reference_key`` in the expected outputs; None for a key that was not given.
        needs_reference: whether the metric reads the reference; otherwise the reference may be anything.

    Raises:
        InvalidInput: there is no such key, or its value cannot be used.
    """
    says_no_more = outputs is None or isinstance(outputs, int | float)
    produced = Sample() if says_no_more else sample_of(_with_contexts(outputs, keys))
    answer = find_answer(_at("answer_key", outputs, keys), inputs)
    input_sample = sample_of(inputs) if mapping_of(inputs) is not None else Sample()
    expected_fields = mapping_of(expected) or {}
    more = sample_of({name: expected_fields[name] for name in EXPECTED if name in expected_fields})
    return replace(
        more,
        user_input=question_in(_at("question_key", inputs, keys)) or produced.user_input,
        response=None if answer is None else answer.text,
        reference=_reference(expected, answer, keys) if needs_reference else None,
        retrieved_contexts=produced.retrieved_contexts or input_sample.retrieved_contexts,
        retrieved_documents=produced.retrieved_documents or input_sample.retrieved_documents,
        id=produced.id,
        history=produced.history or input_sample.history,
        metadata={**input_sample.metadata, **produced.metadata},
    )


def _at(setting: str, value: Any, keys: Keys) -> Any:
    """Return the value under the key that the user gave for it; without a key, the whole value."""
    key = keys[setting]
    if key is None:
        return value
    found = mapping_of(value)
    if found is None or key not in found:
        raise InvalidInput(f"there is no {key!r} in {sorted(found) if found else type(value).__name__}")
    return found[key]


def _with_contexts(outputs: Any, keys: Keys) -> Any:
    """Return the outputs. If the user gave a key for the contexts, its value is the only contexts."""
    key = keys["contexts_key"]
    if key is None:
        return outputs
    found = mapping_of(outputs) or {}
    others = {name: item for name, item in found.items() if name not in (*CONTEXTS, key)}
    return {**others, CONTEXTS[0]: _at("contexts_key", outputs, keys)}


def _reference(expected: Any, answer: Answer | None, keys: Keys) -> str | None:
    """Return the reference: under its own names, else wherever an answer could be."""
    value = _at("reference_key", expected, keys)
    found = mapping_of(value) or {}
    named = next((found[name] for name in REFERENCES if found.get(name) is not None), value)
    return reference_in("the reference outputs", named, answer)
