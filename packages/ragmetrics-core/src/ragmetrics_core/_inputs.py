"""What a metric needs of a sample, read off the signature of its ``measure`` method, and the checks at that border.

Strategy. The kind of an input follows from its name for the fixed sample fields, and from its annotation for a metric's own
columns. Every check happens before the first question is asked, so a bad sample costs nothing, and every message
names the metric, the field and the place inside it.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ._errors import InvalidInput, MissingInput
from ._sample import Document, Sample

__all__ = ["Input"]

Kind = Literal["text", "texts", "documents", "rubric", "any"]

FIELD_KINDS: dict[str, Kind] = {
    "user_input": "text",
    "response": "text",
    "reference": "text",
    "retrieved_contexts": "texts",
    "reference_contexts": "texts",
    "retrieved_documents": "documents",
    "reference_documents": "documents",
    "rubric": "rubric",
}


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a metric.

    Attributes:
        name: the sample field, or a column of the metric's own.
        kind: ``text``, ``texts``, ``documents``, ``rubric`` or ``any`` (passed through unchecked).
        required: False where the metric works without it.
    """

    name: str
    kind: Kind
    required: bool = True

    @classmethod
    def named(cls, name: str, hint: Any = None) -> Input:
        """A required input of that name; its kind follows from the name, else from the annotation (``str``, ``list[str]``)."""
        return cls(name, FIELD_KINDS.get(name) or _kind_of(hint))

    def read(self, metric: str, sample: Sample) -> Any:
        """The checked value; None for an optional input that is not there.

        Raises:
            MissingInput: the input is required and absent, None, blank or an empty list.
            InvalidInput: the value has the wrong type; the message holds the path.
        """
        value = sample.get(self.name)
        problem = "is missing" if value is None else _emptiness(value, self.name)
        if problem:
            if self.required:
                raise MissingInput(metric, self.name, problem)
            return None
        return CHECKS[self.kind](f"{metric}: {self.name}", value)


@cache
def inputs_of(measure: Callable[..., Any]) -> tuple[Input, ...]:
    """The inputs that the parameters of ``measure`` name; a parameter with a default is optional."""
    hints = _hints(measure)
    inputs = []
    for parameter in list(inspect.signature(measure).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise TypeError(
                f"{measure.__qualname__}: the parameters are the sample fields the metric needs, so *args and **kwargs need an "
                "`inputs` property that names them"
            )
        kind = FIELD_KINDS.get(parameter.name) or _kind_of(hints.get(parameter.name))
        inputs.append(Input(parameter.name, kind, required=parameter.default is parameter.empty))
    return tuple(inputs)


def _hints(measure: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(measure)
    except NameError:
        # a name imported for type checkers only; the fixed sample fields need no annotation at all
        return {}


def _kind_of(hint: Any) -> Kind:
    arguments = [item for item in typing.get_args(hint) if item is not type(None)]
    if hint is str or (arguments == [str] and not _is_sequence(hint)):
        return "text"
    if _is_sequence(hint) and arguments[:1] == [str]:
        return "texts"
    for argument in arguments:
        if _is_sequence(argument):
            return _kind_of(argument)
    return "any"


def _is_sequence(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Sequence)


def _emptiness(value: Any, name: str) -> str:
    """How the value is empty, in words, or nothing. An empty result list is a legitimate outcome of retrieval."""
    if isinstance(value, str):
        return "" if value and not value.isspace() else "is blank"
    if hasattr(value, "__len__"):
        if len(value) == 0:
            return "" if name == "retrieved_documents" else "is an empty list"
        if isinstance(value, list | tuple) and all(isinstance(item, str) and not item.strip() for item in value):
            return "holds only blank texts"
    return ""


def _text(path: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{path} must be a str, got {type(value).__name__}")
    return value


def _items(path: str, value: Any, what: str) -> Sequence[Any]:
    if hasattr(value, "tolist"):  # a numpy array, as Parquet files give
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        cure = ": write a list of one" if isinstance(value, str) else ""
        raise InvalidInput(f"{path} must be a list of {what}, got {type(value).__name__}{cure}")
    return value


def _texts(path: str, value: Any) -> list[str]:
    items = _items(path, value, "str")
    for index, item in enumerate(items):
        if not isinstance(item, str):
            raise InvalidInput(f"{path}[{index}] must be a str, got {type(item).__name__}")
    return list(items)


def _documents(path: str, value: Any) -> list[Document | str]:
    return [
        item if isinstance(item, Document | str) else Document.of(item, f"{path}[{index}]")
        for index, item in enumerate(_items(path, value, "documents"))
    ]


def _rubric(path: str, value: Any) -> dict[int, str]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{path} must be a mapping from scores to descriptions, got {type(value).__name__}")
    rubric: dict[int, str] = {}
    for key, text in value.items():
        try:
            number = int(key)
        except (TypeError, ValueError):
            raise InvalidInput(f"{path}: the score {key!r} must be an integer") from None
        rubric[number] = _text(f"{path}[{key!r}]", text)
    return rubric


CHECKS: dict[Kind, Callable[[str, Any], Any]] = {
    "text": _text,
    "texts": _texts,
    "documents": _documents,
    "rubric": _rubric,
    "any": lambda _, value: value,
}
