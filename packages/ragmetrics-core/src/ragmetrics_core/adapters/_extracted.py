"""What functions find in a finished call of an application: the question, the answer, the contexts.

Strategy. The built-in ones read the call at once, because the caller may change its messages afterwards. One of the user's runs in
the background, and may raise or return anything. If its result cannot be used, the field stays empty, and the problem says what it
returned and what it should return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._background import settled
from ._value_samples import SampleReader

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
            told = str(error) if isinstance(error, Unusable) else f"raised {type(error).__name__}: {error}"
            self._problems.append(f"the extractor of the {name} {told}")

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
