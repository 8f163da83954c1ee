"""The sample that a value of a program stands for: a row, an example of a data set, or a finished call.

Strategy. Unlike the output of a program, a row is written for a metric. So it is read key by key, as the core reads rows, and two
keys for one field must agree. Documents fill two fields, ``retrieved_contexts`` and ``retrieved_documents``; the one that was not
named gives way to a value that was. ``messages`` fill what nothing else has filled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .._kernel._inputs import Input
from .._values._errors import InvalidInput
from .._values._sample import Sample
from ._background import settled
from ._value_contexts import FieldNames
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

        No caller could catch an error, so a bad reference costs only itself. Nothing is searched as in the outputs of a
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


Keys = Mapping[str, str | None]


class ExampleReader(SampleReader):
    """What sample an example stands for."""

    def example(self, inputs: Any, outputs: Any, expected: Any, keys: Keys, *, needs_reference: bool) -> Sample:
        """The sample.

        Args:
            inputs: what the program was given.
            outputs: what it returned.
            expected: the reference outputs.
            keys: the user's keys: ``question_key`` in the inputs, ``answer_key`` and ``contexts_key`` in the outputs,
                ``reference_key`` in the expected ones; None: there is none.
            needs_reference: whether the metric reads the reference; otherwise it may be anything.

        Raises:
            InvalidInput: there is no such key, or a part holds something that cannot be used.
        """
        says_no_more = outputs is None or isinstance(outputs, int | float)
        produced = Sample() if says_no_more else self.sample_of(self._with_contexts(outputs, keys))
        answer = self.find_answer(self._at("answer_key", outputs, keys), inputs)
        asked = self.sample_of(inputs) if self.mapping_of(inputs) is not None else Sample()
        given = self.mapping_of(expected) or {}
        more = self.sample_of({name: given[name] for name in self.expected if name in given})
        return replace(
            more,
            user_input=self.question_in(self._at("question_key", inputs, keys)) or produced.user_input,
            response=None if answer is None else answer.text,
            reference=self._reference(expected, answer, keys) if needs_reference else None,
            retrieved_contexts=produced.retrieved_contexts or asked.retrieved_contexts,
            retrieved_documents=produced.retrieved_documents or asked.retrieved_documents,
            id=produced.id,
            metadata={**asked.metadata, **produced.metadata},
        )

    def _at(self, setting: str, value: Any, keys: Keys) -> Any:
        """What stands under the key that the user gave for it; the whole value without one."""
        key = keys[setting]
        if key is None:
            return value
        found = self.mapping_of(value)
        if found is None or key not in found:
            raise InvalidInput(f"there is no {key!r} in {sorted(found) if found else type(value).__name__}")
        return found[key]

    def _with_contexts(self, outputs: Any, keys: Keys) -> Any:
        """The outputs; with what stands under the user's key as their only contexts, if there is one."""
        key = keys["contexts_key"]
        if key is None:
            return outputs
        found = self.mapping_of(outputs) or {}
        others = {name: item for name, item in found.items() if name not in (*self.contexts, key)}
        return {**others, self.contexts[0]: self._at("contexts_key", outputs, keys)}

    def _reference(self, expected: Any, answer: Answer | None, keys: Keys) -> str | None:
        """The reference: under its own names, else wherever an answer would be."""
        value = self._at("reference_key", expected, keys)
        found = self.mapping_of(value) or {}
        named = next((found[name] for name in self.references if found.get(name) is not None), value)
        return self.reference_in("the reference outputs", named, answer)


Extractor = Callable[[Any], Any]


class Extracted:
    """The fields of a sample that extractors find in a call.

    Args:
        reader: reads what they return.
        call: what they are given.
        extractors: by ``question``, ``answer`` and ``contexts``.
        built_in: by the same names, those that are called at once.

    Attributes:
        fields: what was found, by the names of the sample's fields.
    """

    def __init__(
        self, reader: SampleReader, call: Any, extractors: Mapping[str, Extractor], built_in: Mapping[str, Extractor]
    ) -> None:
        self.fields: dict[str, Any] = {}
        self._reader = reader
        self._call = call
        self._problems: list[str] = []
        for name, extractor in extractors.items():
            if extractor is built_in[name]:
                self._read(name, extractor)
        self._missing = {name: item for name, item in extractors.items() if item is not built_in[name]}

    @property
    def is_complete(self) -> bool:
        """Whether every function of the user's has returned."""
        return not self._missing

    @property
    def problems(self) -> list[str]:
        """What went wrong, in words; while one has not returned, that it is late."""
        return self._problems + [f"the extractor of the {name} did not return in time" for name in [*self._missing][:1]]

    def complete(self) -> None:
        """Call the functions of the user's that have not been called."""
        for name in list(self._missing):
            self._read(name, self._missing[name])
            del self._missing[name]

    def _read(self, name: str, extractor: Extractor) -> None:
        outcome = settled(lambda: self._field(name, extractor(self._call)))
        error = outcome.exception()
        if error is None:
            self.fields.update(outcome.result())
        else:
            problem = str(error) if isinstance(error, Unusable) else f"raised {type(error).__name__}: {error}"
            self._problems.append(f"the extractor of the {name} {problem}")

    def _field(self, name: str, found: Any) -> dict[str, Any]:
        """What an extractor returned, as a field of the sample."""
        reader = self._reader
        if name == "contexts":
            contexts = reader.contexts_in(found)
            if contexts is None and found is not None and not isinstance(found, str):
                raise Unusable(f"returned {type(found).__name__}: return texts, documents, a list of them or None")
            return {} if contexts is None else reader.with_contexts(contexts)
        is_message = isinstance(found, reader.message)
        if found is not None and not is_message and not isinstance(found, str):
            raise Unusable(f"returned {type(found).__name__}: return a text, a message or None")
        if name == "question":
            return {"user_input": reader.text_of(found)}
        return {"response": reader.said_in(found) if is_message else found}  # blank is not missing


class Unusable(Exception):
    """What an extractor returned cannot be used, and what it should return."""
