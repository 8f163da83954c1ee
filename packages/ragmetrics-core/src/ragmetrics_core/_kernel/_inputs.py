"""What a metric needs of a sample, read off the signature of its ``measure`` method, and the checks at that border.

Strategy. The kind of an input follows from its name for the fixed sample fields (under any of their common names), and from its
annotation for a metric's own columns. Every check happens before the first question is asked, so a bad sample costs nothing, and
every message names the metric, the field and the item inside it. A row is read once for all of its metrics, see ``_row_inputs``.

Empty is not missing. An absent field is a fault of the data, and an error. But that a system retrieved nothing, or said
nothing, is its result: such a row is unscored, with a label that summaries count, unless the metric has a value for it
(rankings do).

A rubric: what each score means, in whichever form it is given.

One row as its metrics read it: what several of them name is read and checked once.

Documents above all: rankings are scored by the ten thousand a second, with several metrics that all take the same documents.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from .._values._details import Texts
from .._values._errors import InvalidInput, MissingInput
from .._values._sample import ALIASES, Document, Documents, Sample
from .._values._score import Score

RUBRIC_KEY = re.compile(r"(-?\d+)|score(\d+)_description")
"""What may stand for a score: a whole number, or the name that RAGAS gives to its description."""


def checked_rubric(path: str, value: Any) -> dict[int, str]:
    """A rubric with whole numbers as keys and a text for each, in ascending order.

    Numerals in text count, as in JSON, and so do the keys of RAGAS, ``score1_description``.

    Raises:
        InvalidInput: it is not a rubric; the message starts with ``path``.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{path} must be a mapping from scores to descriptions, got {type(value).__name__}")
    rubric: dict[int, str] = {}
    for key, text in value.items():
        found = None if isinstance(key, bool | float) else RUBRIC_KEY.fullmatch(str(key).strip())
        if found is None:
            raise InvalidInput(f"{path}: the score {key!r} must be a whole number")
        score = int(found[1] or found[2])
        if score in rubric:
            raise InvalidInput(f"{path} has the score {score} twice")
        if not isinstance(text, str):
            raise InvalidInput(f"{path}[{key!r}] must be a str, got {type(text).__name__}")
        rubric[score] = text
    return dict(sorted(rubric.items()))


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


SILENCE = {"retrieved_contexts": "no_retrieval", "response": "no_answer"}
"""What an empty field means, as the label of the score. Where both are empty, the first of them happened first."""

COMMON = frozenset({str, list, tuple, type(None)})
"""Types that need no further look."""


class Input(str):
    """One input of a metric: its name, a str that also tells what is expected under that name.

    It equals its name, as every str does; ``kind`` and ``required`` take no part in comparisons.

    Attributes:
        name: the sample field, or a column of the metric's own.
        kind: ``text``, ``texts``, ``documents``, ``rubric`` or ``any`` (passed through unchecked).
        required: False where the metric works without it.
        takes_empty: whether the metric has a value where nothing was retrieved or answered, and so takes an empty list or text.
    """

    __slots__ = ("kind", "name", "required", "takes_empty")

    name: str
    kind: Kind
    required: bool
    takes_empty: bool

    def __new__(  # noqa: PYI034  Self needs 3.11
        cls, name: str, kind: Kind = "any", *, required: bool = True, takes_empty: bool = False
    ) -> Input:
        self = super().__new__(cls, name)
        self.name = str(name)
        self.kind = kind
        self.required = required
        self.takes_empty = takes_empty
        return self

    @classmethod
    def named(cls, name: str, hint: Any = None, *, required: bool = True) -> Input:
        """An input of that name; its kind follows from the name, else from the annotation (``str``, ``list[str]``)."""
        return cls(name, FIELD_KINDS.get(ALIASES.get(name, name)) or _kind_of(hint), required=required)

    def to_dict(self) -> dict[str, Any]:
        """Name, kind and whether it is required; ``Input(**data)`` reads it back."""
        empty = {"takes_empty": True} if self.takes_empty else {}
        return {"name": self.name, "kind": self.kind, "required": self.required, **empty}

    def read(self, metric: str, sample: Sample) -> Any:
        """The checked value; None for an optional input that is absent; an unscored ``Score`` where the system was silent.

        Raises:
            MissingInput: the input is required and absent or None; blank or an empty list, unless that is silence.
            InvalidInput: the value has the wrong type; the message holds the path.
        """
        value: Any = sample.get(self.name)
        if self.kind == "documents" and type(value) is list and value and _are_documents(value):
            return Documents.of(value)  # as nearly always: nothing more to check
        as_list: Any = None if type(value) in COMMON else getattr(value, "tolist", None)
        if as_list is not None:  # numpy arrays and scalars, as Parquet files give
            value = as_list()
        problem = "is missing" if value is None else self._emptiness(value)
        if problem and not (self.takes_empty and value is not None):
            if value is not None and self._means_silence():
                return Score.unscored(f"{self.name} {problem}", label=SILENCE[self._field])
            if self.required:
                raise MissingInput(metric, self.name, problem)
            return None
        return CHECKS[self.kind](f"{metric}: {self.name}", value)

    @property
    def _field(self) -> str:
        """The sample field that is meant, whatever the metric calls it."""
        return ALIASES.get(self.name, self.name)

    def _means_silence(self) -> bool:
        """Whether the evaluated system left this empty: always so for an answer, and for contexts that the metric needs."""
        return self._field == "response" or (self._field in SILENCE and self.required)

    def _emptiness(self, value: Any) -> str:
        """How the value is empty, in words; an empty text where it is not."""
        if isinstance(value, str):
            return "" if value and not value.isspace() else "is blank"
        if isinstance(value, list | tuple | Mapping) and not value:
            # an empty result list is a legitimate outcome of retrieval
            return "" if self.name == "retrieved_documents" else "is an empty list"
        if self.kind == "texts" and isinstance(value, list | tuple) and all(map(_is_blank, value)):
            return "holds only blank texts"
        return ""

    def __repr__(self) -> str:
        flags = "" if self.required else ", required=False"
        return f"Input({self.name!r}, {self.kind!r}{flags}{', takes_empty=True' if self.takes_empty else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_input, (self.name, self.kind, self.required, self.takes_empty))


def _input(name: str, kind: Kind, required: bool, takes_empty: bool = False) -> Input:
    return Input(name, kind, required=required, takes_empty=takes_empty)


_shared_input = cache(_input)
"""The same input for all signatures that name it in the same way: a field is read once for them."""


@cache
def inputs_of(measure: Callable[..., Any], taken_empty: tuple[str, ...] = ()) -> tuple[Input, ...]:
    """The inputs that the parameters of ``measure`` name; a parameter with a default is optional."""
    inputs = []
    for parameter in list(inspect.signature(measure).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise TypeError(
                f"{measure.__qualname__}: the parameters are the sample fields the metric needs, so *args and **kwargs need an "
                "`inputs` property that names them"
            )
        required = parameter.default is parameter.empty
        item = Input.named(parameter.name, _resolved(parameter.annotation, measure), required=required)
        inputs.append(_shared_input(item.name, item.kind, required, item.name in taken_empty))
    return tuple(inputs)


def _resolved(annotation: Any, measure: Callable[..., Any]) -> Any:
    """The type that an annotation means; None if it names something that is imported for type checkers only."""
    holder = types.SimpleNamespace(__annotations__={"value": annotation})
    try:
        return typing.get_type_hints(holder, getattr(measure, "__globals__", {}))["value"]
    except (NameError, TypeError):
        # the fixed sample fields need no annotation, and a column of another type is passed through
        return None


def _kind_of(hint: Any) -> Kind:
    if hint is str:
        return "text"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        kinds: list[Kind] = [_kind_of(argument) for argument in arguments if argument is not type(None)]
        return kinds[0] if len(set(kinds)) == 1 else "any"
    if isinstance(origin, type) and issubclass(origin, Iterable) and arguments[:1] == (str,):
        return "any" if issubclass(origin, Mapping) else "texts"
    return "any"


def _are_documents(items: list[Any]) -> bool:
    """Whether each item is a document or a text, and of no type derived from these."""
    for item in items:  # noqa: SIM110  a generator takes twice as long
        if type(item) is not Document and type(item) is not str:
            return False
    return True


def _is_blank(item: Any) -> bool:
    return isinstance(item, str) and not item.strip()


def _text(path: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{path} must be a str, got {type(value).__name__}")
    return value


def _items(path: str, value: Any, what: str) -> Sequence[Any]:
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


def _documents(path: str, value: Any) -> Documents:
    return Documents.of(
        [
            item if isinstance(item, Document | str) else Document.of(item, f"{path}[{index}]")
            for index, item in enumerate(_items(path, value, "documents"))
        ]
    )


CHECKS: dict[Kind, Callable[[str, Any], Any]] = {
    "text": _text,
    "texts": _texts,
    "documents": _documents,
    "rubric": checked_rubric,
    "any": lambda _, value: value,
}


READ_ONCE = frozenset({str, list, Documents})
"""Types of values that are the same for all metrics of a row."""


class Reading:
    """One row as its metrics read it. It lives while the row is scored, so that a sample changed afterwards is read anew.

    Args:
        sample: what the row holds.
    """

    __slots__ = ("_found", "_read", "_sample")

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._read: dict[int, tuple[Input, Any]] = {}  # by the ids of inputs, which are held, so that they stay theirs
        self._found: dict[Hashable, Any] = {}

    def bound(self, metric: str, inputs: tuple[Input, ...]) -> Mapping[str, Any] | Score:
        """The arguments for the ``measure`` of a metric with these inputs; ``metric`` is its name, for messages.

        Or the unscored score, where the system retrieved or answered nothing. Of a list each metric has a copy, which it may
        change as it likes.

        Raises:
            MissingInput: see ``Input.read``.
            InvalidInput: see ``Input.read``.
        """
        bound: dict[str, Any] = {}
        silent: list[Score] = []
        for item in inputs:
            known = self._read.get(id(item))
            value = item.read(metric, self._sample) if known is None else known[1]
            kind = type(value)
            if known is None and kind in READ_ONCE:
                self._read[id(item)] = (item, value)
            if kind is Score:
                silent.append(value)
            elif value is not None or item.required:  # else it is left to the default in the signature
                bound[item.name] = Texts.of(value, self._found) if type(value) is list else value
        if silent:
            return min(silent, key=lambda score: list(SILENCE.values()).index(score.label or ""))
        return bound
