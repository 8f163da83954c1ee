"""The sample that an example of a data set stands for: inputs, what a program made of them, and what was expected.

Strategy. That is how tools that run a program over a data set hand over a row, each part a value of any form. A user may say under
which key a part has a field; otherwise it is found as everywhere. In the expected outputs, a name that means an answer means the
reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._sample import Sample
from ._value_samples import SampleReader
from ._value_texts import Answer

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
