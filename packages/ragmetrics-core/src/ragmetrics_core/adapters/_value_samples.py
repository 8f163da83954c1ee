"""The sample that a value of a program stands for: what an evaluator of a framework is given.

Strategy. Unlike the output of a program, a row is written for a metric. So it is read key by key, as the core reads rows, and two
keys for one field must agree. Documents fill two fields, ``retrieved_contexts`` and ``retrieved_documents``; the one that was not
named gives way to a value of its own. ``messages`` fill what nothing else has filled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._inputs import Input
from .._kernel._sample import Sample
from ._background import settled
from ._value_names import FieldNames
from ._value_texts import Answer, TextReader

RESPONSES = tuple(name for name in FieldNames.answers if name != "text")
"""Names of the response in a row, where a ``text`` may be anything."""

UNKNOWN_TO_ROWS = Sample.from_mapping(dict.fromkeys([*RESPONSES, *FieldNames.contexts])).metadata.keys()
"""Names that programs use and ``Sample.from_mapping`` would file under metadata."""


class SampleReader(TextReader):
    """What sample a value stands for."""

    def sample_of(self, value: Any) -> Sample:
        """The sample that any value stands for: a sample, a mapping, a list of messages, a text or a message (the response).

        Fields may have the core's names or those that are usual in programs: ``input``, ``question``, ``output``, ``answer``,
        ``result``, ``context`` and ``source_documents`` (documents or texts), ``messages``. Unknown keys become metadata.

        Raises:
            InvalidInput: two keys name the same field and differ, or the value is of another kind.
        """
        if isinstance(value, Sample):
            return value
        if isinstance(value, (str, self.message)):
            return Sample(response=self.answer_in(value))
        found = {"messages": value} if isinstance(value, self.conversations) else self.mapping_of(value)
        if found is None:
            raise InvalidInput(
                f"a metric takes a mapping, a Sample, messages or a text, got {type(value).__name__}: put the fields into a mapping"
            )
        row: dict[str, Any] = {}
        spare: dict[str, Any] = {}
        answers = (self.find_answer(found[name]) for name in RESPONSES if name in found)
        answer = next((answer for answer in answers if answer is not None), None)
        for name, item in self._without_copies(found).items():
            key, written, derived = self._field(name, item, answer)
            if row.get(key) is not None and written is not None and row[key] != written:
                raise InvalidInput(f"the keys of the input disagree about {key!r}: keep one of them")
            if key not in row or written is not None:
                row[key] = written
            spare.update(derived)
        messages = self.messages_in(found.get("messages"))
        if messages is not None:
            del row["messages"]
            spare = {**self._from_messages(messages), **spare}
        sample = Sample.from_mapping(row)
        gaps = {name: item for name, item in spare.items() if sample.get(name) is None and item is not None}
        return sample.updated(gaps)

    def _field(self, name: str, item: Any, answer: Answer | None) -> tuple[str, Any, dict[str, Any]]:
        """One key as the core knows it: its name there, its value, and the other field that the value fills."""
        if name in self.contexts or name == "reference_documents":
            return self._contexts(name, item)
        if name in self.questions and not isinstance(item, str):
            item = self.question_in(item)
        if name in self.references and not isinstance(item, str):
            item = self.reference_in(name, item, answer)
        if name in RESPONSES:
            return "response" if name in UNKNOWN_TO_ROWS else name, self.answer_in(item), {}
        return name, item, {}

    def _contexts(self, name: str, item: Any) -> tuple[str, Any, dict[str, Any]]:
        found = self.contexts_in(item)
        is_known = name not in UNKNOWN_TO_ROWS
        key = name if is_known or found is None else "retrieved_contexts"
        if not found or (is_known and self.are_texts(found)):
            return key, found if found and isinstance(item, Mapping) else item, {}
        both = self.with_contexts(found)
        if name.endswith("_documents") and is_known:
            return name, both.pop("retrieved_documents"), both if name == "retrieved_documents" else {}
        return key, both.pop("retrieved_contexts"), {} if self.are_texts(found) else both

    def _without_copies(self, found: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without texts that only repeat the documents, such as a ``context`` that was joined from them for the prompt."""
        written = {name: self.contexts_in(found[name]) or [] for name in self.contexts if name in found}
        copies = {name for name, items in written.items() if self.are_texts(items)} - {"retrieved_contexts"}
        if all(map(self.are_texts, written.values())):
            return found
        return {name: item for name, item in found.items() if name not in copies}

    def _from_messages(self, messages: Sequence[Any]) -> dict[str, Any]:
        """Question, answer and contexts of the last turn."""
        contexts = self.found_by_tools(messages)
        fields = {"retrieved_contexts": contexts or None} if self.are_texts(contexts) else self.with_contexts(contexts)
        return {"user_input": self.last_question(messages), "response": self.last_answer(messages), **fields}

    def sample_in_metadata(self, metadata: Mapping[str, Any]) -> tuple[Sample, list[str]]:
        """The references that stand in the metadata of a live call, beside its other metadata, and what is wrong with the rest.

        Nobody is there to catch an error, so a bad reference costs only itself. Nothing is searched as in the outputs of a
        program: the metadata are written for the evaluation, so what stands there is meant as it is.
        """
        fields: dict[str, Any] = {}
        problems: list[str] = []
        for field, names in {"reference": self.references, **{name: (name,) for name in self.expected}}.items():
            given = {name: self._plain(metadata[name]) for name in names if metadata.get(name) is not None}
            outcome = settled(partial(_checked, field, given))
            error = outcome.exception()
            if error is not None:
                problems.append(f"{type(error).__name__}: {error}")
            elif given:
                fields[field] = outcome.result()
        rest = {name: value for name, value in metadata.items() if name not in (*self.references, *self.expected)}
        return Sample(metadata=rest, **fields), problems

    def _plain(self, value: Any) -> Any:
        """A message as its text, the framework's documents as the core's."""
        if isinstance(value, self.message):
            return self.said_in(value)
        if isinstance(value, list | tuple) and any(isinstance(item, self.document) for item in value):
            return self.core_documents(value)
        return value


def _checked(field: str, given: Mapping[str, Any]) -> Any:
    sample = Sample.from_mapping(given)
    Input.named(field, required=False).read("the run's metadata", sample)
    return getattr(sample, field)
