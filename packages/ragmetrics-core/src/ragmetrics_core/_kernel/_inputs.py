"""The inputs that a metric needs from a sample, taken from the signature of its ``measure`` method, and their validation.

The kind of an input follows from its name if it is a sample field (or another common name of one), and from its annotation if it is
another column. All inputs are validated before the first question is asked, so a bad sample costs nothing. Every message names the
metric, the field and the item inside it.

Empty is not the same as missing. A missing field is an error in the data. But if a system retrieved nothing, or answered nothing,
this is its result: the row is unscored, with a label that summaries count, unless the metric has a value for this case (as rankings
have).

``Reading`` is one row as its metrics read it: an input that several metrics have is read and validated once. This matters most for
documents: tens of thousands of rankings are scored in a second, by several metrics that take the same documents.
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
"""The keys of a rubric: a whole number, or the name that RAGAS gives to the description of a score."""


def checked_rubric(path: str, value: Any) -> dict[int, str]:
    """Return a rubric with whole numbers as keys, in ascending order, and texts as values.

    Numbers may be given as texts, as in JSON; the keys of RAGAS, such as ``score1_description``, are understood too.

    Raises:
        InvalidInput: the value is not a rubric; the message starts with ``path``.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{path} must be a mapping from scores to descriptions, got {type(value).__name__}")
    rubric: dict[int, str] = {}
    for key, text in value.items():
        match = None if isinstance(key, bool | float) else RUBRIC_KEY.fullmatch(str(key).strip())
        if match is None:
            raise InvalidInput(f"{path}: the score {key!r} must be a whole number")
        score = int(match[1] or match[2])
        if score in rubric:
            raise InvalidInput(f"{path} has the score {score} twice")
        if not isinstance(text, str):
            raise InvalidInput(f"{path}[{key!r}] must be a str, got {type(text).__name__}")
        rubric[score] = text
    return dict(sorted(rubric.items()))


ROLES = ("user", "assistant", "system", "tool")


def checked_history(path: str, value: Any) -> list[dict[str, Any]]:
    """Return earlier turns, each with its role, its text and, if it has any, its contexts; other keys are left out.

    Raises:
        InvalidInput: the value is not a list of such turns; the message starts with ``path``.
    """
    if not isinstance(value, list | tuple):
        cure = 'write [{"role": "user", "content": "..."}, ...], or rename the column if it means something else'
        raise InvalidInput(f"{path} must be a list of earlier turns, got {type(value).__name__}: {cure}")
    turns = []
    for index, item in enumerate(value):
        where = f"{path}[{index}]"
        if not isinstance(item, Mapping):
            raise InvalidInput(f'{where} must be {{"role": "user", "content": "..."}}, got {type(item).__name__}')
        if item.get("role") not in ROLES:
            raise InvalidInput(f"{where}.role must be user, assistant, system or tool, got {item.get('role')!r}")
        turn = {"role": item["role"], "content": _text(f"{where}.content", item.get("content"))}
        if item.get("retrieved_contexts") is not None:
            turn["retrieved_contexts"] = _texts(f"{where}.retrieved_contexts", item["retrieved_contexts"])
        turns.append(turn)
    return turns


Kind = Literal["text", "texts", "documents", "rubric", "turns", "any"]

FIELD_KINDS: dict[str, Kind] = {
    "user_input": "text",
    "response": "text",
    "reference": "text",
    "retrieved_contexts": "texts",
    "reference_contexts": "texts",
    "retrieved_documents": "documents",
    "reference_documents": "documents",
    "rubric": "rubric",
    "history": "turns",
}


SILENCE = {"retrieved_contexts": "no_retrieval", "response": "no_answer"}
"""The label of the score for an empty field. If both fields are empty, the first label counts, because retrieval comes first."""

DOCUMENT_TYPES = frozenset({Document, str})

COMMON = frozenset({str, list, tuple, type(None)})
"""Types of values that are never arrays."""


class Input(str):
    """One input of a metric: a str with its name, and attributes that describe the value.

    Like every str, it is compared only by its text: ``kind``, ``required`` and ``takes_empty`` do not count.

    Attributes:
        name: the name of a sample field, or of another column.
        kind: ``text``, ``texts``, ``documents``, ``rubric``, ``turns`` or ``any`` (passed to the metric without validation).
        required: False if the metric works without this input.
        takes_empty: whether the metric has a value if nothing was retrieved or answered, and so accepts an empty list or text.
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
        """Return the input of this name; its kind follows from the name or else from the annotation (``str``, ``list[str]``).

        A column ``history`` may hold something other than earlier turns, so its annotation decides.
        """
        kind, hinted = FIELD_KINDS.get(ALIASES.get(name, name)), _kind_of(hint)
        if kind is None or (kind == "turns" and hinted != "any"):
            kind = hinted
        return cls(name, kind, required=required)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as JSON values; ``Input(**data)`` reads them back."""
        empty = {"takes_empty": True} if self.takes_empty else {}
        return {"name": self.name, "kind": self.kind, "required": self.required, **empty}

    def read(self, metric: str, sample: Sample) -> Any:
        """Return the validated value of this input in a sample.

        None for an optional input that is absent; an unscored ``Score`` if the system retrieved or answered nothing.

        Raises:
            MissingInput: a required input is absent or None; or it is blank or an empty list, and the system did not leave it
                empty.
            InvalidInput: the value has the wrong type; the message contains the path of the wrong value.
        """
        value: Any = sample.get(self.name)
        if self.kind == "documents" and type(value) is list and value and DOCUMENT_TYPES.issuperset(map(type, value)):
            return Documents.of(value)  # the usual case: nothing more to validate
        as_list: Any = None if type(value) in COMMON else getattr(value, "tolist", None)
        if as_list is not None:  # numpy arrays and scalars, as from Parquet files
            value = as_list()
        problem = "is missing" if value is None else self._emptiness(value)
        if problem and not (self.takes_empty and value is not None):
            field = ALIASES.get(self.name, self.name)
            # an empty answer is always one of the evaluated system; empty contexts are a result of retrieval if they are required
            if value is not None and (field == "response" or (field in SILENCE and self.required)):
                return Score.unscored(f"{self.name} {problem}", label=SILENCE[field])
            if self.required:
                raise MissingInput(metric, self.name, problem)
            return None
        return CHECKS[self.kind](f"{metric}: {self.name}", value)

    def _emptiness(self, value: Any) -> str:
        """Return in words how the value is empty; an empty text if it is not empty."""
        if isinstance(value, str):
            return "" if value and not value.isspace() else "is blank"
        if isinstance(value, list | tuple | Mapping) and not value:
            # an empty result list is a legitimate outcome of retrieval, and a first turn has no earlier ones
            is_normal = self.name == "retrieved_documents" or (self.kind == "turns" and self.required)
            return "" if is_normal else "is an empty list"
        if self.kind == "texts" and isinstance(value, list | tuple):
            are_blank = all(isinstance(item, str) and not item.strip() for item in value)
            return "contains only blank texts" if are_blank else ""
        return ""

    def __repr__(self) -> str:
        flags = "" if self.required else ", required=False"
        return f"Input({self.name!r}, {self.kind!r}{flags}{', takes_empty=True' if self.takes_empty else ''})"

    def __getnewargs_ex__(self) -> tuple[tuple[str, Kind], dict[str, bool]]:
        return (self.name, self.kind), {"required": self.required, "takes_empty": self.takes_empty}


_shared_input = cache(Input)
"""Returns one shared object for equal inputs of all signatures, so that the field is read once for all of them."""


@cache
def inputs_of(measure: Callable[..., Any], taken_empty: tuple[str, ...] = ()) -> tuple[Input, ...]:
    """Return the inputs of a ``measure`` function: its parameters; a parameter with a default is optional."""
    inputs = []
    for parameter in list(inspect.signature(measure).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise TypeError(
                f"{measure.__qualname__}: the parameters name the sample fields that the metric needs; with *args or **kwargs, the "
                "metric must name them in a property `inputs`"
            )
        required = parameter.default is parameter.empty
        item = Input.named(parameter.name, _resolved(parameter.annotation, measure), required=required)
        takes_empty = item.name in taken_empty
        inputs.append(_shared_input(item.name, item.kind, required=required, takes_empty=takes_empty))
    return tuple(inputs)


def _resolved(annotation: Any, measure: Callable[..., Any]) -> Any:
    """Return the type that an annotation means; None if it uses a name that is imported only for type checkers."""
    holder = types.SimpleNamespace(__annotations__={"value": annotation})
    try:
        return typing.get_type_hints(holder, getattr(measure, "__globals__", {}))["value"]
    except (NameError, TypeError):
        # sample fields need no annotation, and other columns are passed on unchecked
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


def _text(path: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{path} must be a str, got {type(value).__name__}")
    return value


def _items(path: str, value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        cure = ": write a list with one item" if isinstance(value, str) else ""
        raise InvalidInput(f"{path} must be a list of {what}, got {type(value).__name__}{cure}")
    return value


def _texts(path: str, value: Any) -> list[str]:
    return [_text(f"{path}[{index}]", item) for index, item in enumerate(_items(path, value, "str"))]


def _documents(path: str, value: Any) -> Documents:
    items = enumerate(_items(path, value, "documents"))
    return Documents.of([Document.of(item, f"{path}[{index}]") for index, item in items])


CHECKS: dict[Kind, Callable[[str, Any], Any]] = {
    "text": _text,
    "texts": _texts,
    "documents": _documents,
    "rubric": checked_rubric,
    "turns": checked_history,
    "any": lambda _, value: value,
}


READ_ONCE = frozenset({str, list, Documents})
"""Types of values that all metrics of a row may share."""


class Reading:
    """One row as its metrics read it. It is used only while the row is scored, so a sample that is changed later is read again.

    Args:
        sample: the data of the row.
    """

    __slots__ = ("_found", "_read", "_sample")

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._read: dict[int, tuple[Input, Any]] = {}  # by id of the input, which the entry keeps alive
        self._found: dict[Hashable, Any] = {}

    def bound(self, metric: str, inputs: tuple[Input, ...]) -> Mapping[str, Any] | Score:
        """Return the arguments for the ``measure`` of a metric with these inputs; ``metric`` is its name, for messages.

        If the system retrieved or answered nothing, return the unscored score instead. Each metric gets its own copy of a list of
        texts, which it may change.

        Raises:
            MissingInput: see ``Input.read``.
            InvalidInput: see ``Input.read``.
        """
        bound: dict[str, Any] = {}
        silent: list[Score] = []
        for item in inputs:
            cached = self._read.get(id(item))
            value = item.read(metric, self._sample) if cached is None else cached[1]
            kind = type(value)
            if cached is None and kind in READ_ONCE:
                self._read[id(item)] = (item, value)
            if kind is Score:
                silent.append(value)
            elif value is not None or item.required:  # otherwise the default in the signature is used
                bound[item.name] = Texts.of(value, self._found) if type(value) is list else value
        if silent:
            return min(silent, key=lambda score: list(SILENCE.values()).index(score.label or ""))
        return bound
