"""Read an object of a user's pydantic model.

Most replies are clean JSON in the exact shape of the model. They take the short path: decode, check every key, validate strictly.
All other replies take the long path: find the answer in the text (JSON, JSON inside other JSON, tags, an outline, a list), fit it
to the model, and validate. The short path must not be laxer than the long path. It checks the keys because a model whose fields
all have defaults would accept any object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from json import JSONDecoder
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from .._kernel._wording import question_of
from .._support._strict_schema import strict_schema
from .._values._errors import InvalidInput
from ._fit import Unrelated, fit_model
from ._items import is_chat, read_lines
from ._json_text import Found, clean_json, decoder_of, embedded, is_jsonish
from ._keys import ASIDES, REASONS, RELATED, WRAPPERS, WRITTEN, is_quotation, is_schema, name, singular, stem
from ._markup import lines_of_table, read_block, read_numbered, read_table, read_tags
from ._pipeline import TWO_ANSWERS, Bad, Fit, Reader, Reading, read_reply
from ._plan import ModelPlan, fields_of, is_subclass, plan_of, shape_of
from ._text import Unreadable, ticked, unboxed
from ._verdict import read_verdict, truth

M = TypeVar("M", bound=BaseModel)

_BETWEEN_ITEMS = re.compile(
    r"[\s,;*`>#-]{0,20}(?:\d{1,3}[.)]|(?:[^\W\d]{1,12} )?\d{1,3}\**[:：]?)?[\s`*]{0,20}(?:```json\w?\s{0,9})?",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\W{0,6}\w{1,20}\s{0,2}[:=]\s{0,2}")
_MAX_NESTING = 6
_BRIEF = 20
"""The most characters of an answer that stands alone."""


@dataclass(frozen=True)
class ModelReader(Reader[M]):
    """Reads an instance of a pydantic model."""

    model: type[M]

    @property
    def plan(self) -> ModelPlan:
        """The plan of the model."""
        return plan_of(self.model)

    @property
    def missing(self) -> str:
        fields = ", ".join(repr(field.key) for field in self.plan.fields)
        return f"the JSON in the reply has none of the fields {fields}"

    def same(self, one: M, two: M) -> bool:
        """Whether two answers differ at most in their reasons."""
        return one == two or _essence(one.model_dump()) == _essence(two.model_dump())

    def candidates(self, found: list[Found], view: str) -> list[Found]:
        return [item for item in found if _is_data(item, view)]

    def together(self, found: list[Found], view: str) -> Fit[M] | None:
        """Read several consecutive objects as the items of the model's list."""
        if self.plan.list_field is None or len(found) < 2:
            return None
        if not all(item.state == "whole" and isinstance(item.value, dict) for item in found):
            return None
        # Objects that contain the model's list may be repeated whole answers and not items.
        lists = [key for key, value in found[0].value.items() if isinstance(value, list)]
        are_items = all(any(field.is_named(key) for field in fields_of(self.plan.item)) for key in lists)
        if not are_items or not all(_BETWEEN_ITEMS.fullmatch(view, one.end, two.start) for one, two in pairwise(found)):
            return None
        reading = self._validated([item.value for item in found])
        return reading if isinstance(reading, Fit) else None

    def in_value(self, data: Any, depth: int = 0) -> Reading[M]:
        """Read a JSON value that is the model, or that contains the model."""
        if depth > _MAX_NESTING:
            return None
        if isinstance(data, str):
            inner = embedded(data)
            return None if isinstance(inner, str) else self.in_value(inner, depth + 1)
        if isinstance(data, list) and len(data) == 1 and isinstance(data[0], (dict, list, str)):
            only = self.in_value(data[0], depth + 1)
            if isinstance(only, Fit):
                return only
        reading = self._validated(data)
        if isinstance(reading, Fit) or not isinstance(data, dict):
            return reading
        inside = self._inside(data, depth)
        return inside if isinstance(inside, Fit) or reading is None else reading

    def _inside(self, data: dict[str, Any], depth: int) -> Reading[M]:
        """Look for the model in the values of an object; else read the object as the only item of the model's list."""
        if is_schema(data):
            return None
        is_only_key = len(data) == 1
        inner = [value for key, value in data.items() if _may_hold_answer(key, value, alone=is_only_key)]
        readings = [self.in_value(value, depth + 1) for value in inner]
        fits = [reading for reading in readings if isinstance(reading, Fit)]
        if fits:
            return fits[0] if all(self.same(fits[0].value, fit.value) for fit in fits[1:]) else TWO_ANSWERS
        if self.plan.list_field is not None and data and self.plan.item is not str:
            single = self._validated([data])
            if isinstance(single, Fit):
                return single
        return next((reading for reading in readings if reading is not None), None)

    def _validated(self, data: Any) -> Reading[M]:
        try:
            return Fit(self.model.model_validate(fit_model(data, self.model)))
        except Unrelated as unreadable:
            return Bad(unreadable.reason) if unreadable.path else None
        except Unreadable as unreadable:
            return Bad(unreadable.reason)
        except ValidationError as error:
            return Bad(_first_error(error))

    def in_words(self, part: str) -> M:
        """Read the answer from tags, an outline, a table or a numbered list."""
        stripped = question_of(part).on(unboxed(ticked(part)).strip())
        if not is_jsonish(stripped):
            for data in self._outlines(stripped):
                reading = self.in_value(data) if data and not self._is_chat(data) else None
                if isinstance(reading, Fit):
                    return reading.value
        raise Unreadable("the reply holds no JSON object of the shape asked for")

    def _is_chat(self, data: Any) -> bool:
        """Whether claims were asked for and all lines are greetings or questions."""
        field = self.plan.list_field
        if field is None or not isinstance(data, list) or RELATED.get(stem(field.name)) is not WRITTEN["claim"]:
            return False
        return all(isinstance(item, str) and is_chat(item) for item in data)

    def _outlines(self, part: str) -> Iterator[Any]:
        yield read_tags(part)
        scalar = self.plan.scalar_field
        if scalar and scalar.hint is bool:
            with suppress(Unreadable):
                yield {scalar.key: read_verdict(part)}
        elif scalar and scalar.is_choice and len(part) <= _BRIEF:
            yield {scalar.key: part.strip("*`.")}
        block = read_block(lines_of_table(part))
        if scalar is None or not _says_both(block):
            yield block
        if self.plan.list_field is not None:
            yield read_table(part)
        if self.plan.item is str:
            with suppress(Unreadable):
                yield read_lines(part, marked_only=True)
        elif is_subclass(self.plan.item, BaseModel) and plan_of(self.plan.item).scalar_field is not None:
            yield read_numbered(part)


def _may_hold_answer(key: str, value: Any, *, alone: bool) -> bool:
    """Whether the value of a key that is not a field may contain the model."""
    if not isinstance(value, (dict, list, str)) or name(key) in ASIDES or is_quotation(key):
        return False
    # A list of texts under a key that was not asked for is not the answer ("errors", "sources").
    is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return singular(name(key)) in WRAPPERS or (alone and not is_texts)


def _says_both(block: Any) -> bool:
    """Whether an outline contains two different verdicts: "Useful: yes", "Decisive: no"."""
    values = block.values() if isinstance(block, dict) else ()
    said = {truth(value) for value in values if isinstance(value, str) and len(value) <= _BRIEF}
    return {True, False} <= said


def _is_data(item: Found, view: str) -> bool:
    """Whether a JSON value is an object, or a list that is not a citation or interval: it has texts or objects, or is the whole
    reply.
    """
    if isinstance(item.value, dict) or any(isinstance(value, (str, dict)) for value in item.value):
        return True
    # An empty list at the beginning of a reply counts, even if an explanation follows.
    label = _LABEL.match(view)
    rest = view[label.end() if label else 0 :].strip(" \t\r\n`*>$.")
    return len(rest) - (item.end - item.start) < 9 or not (item.value or view[: item.start].strip())


def _essence(data: Any) -> Any:
    """Return an answer without its reasons."""
    if isinstance(data, dict):
        return {key: _essence(value) for key, value in data.items() if stem(str(key)) not in REASONS}
    return [_essence(value) for value in data] if isinstance(data, list) else data


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ""
    for part in first["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    message = first["msg"][:1].lower() + first["msg"][1:]
    return f"{path or 'the object'}: {message[:200]}"


@dataclass(frozen=True, repr=False)
class JsonReply(Generic[M]):
    """One JSON object that fits a pydantic model. The value is an instance of the model.

    The reader accepts code fences, prose, thinking, wrapper objects, near-JSON, other key styles, and other keys that are
    unambiguous. It checks types and choices as strictly as the model states them.

    Raises:
        InvalidInput: ``model`` is not a pydantic model class.
    """

    model: type[M]

    is_json: ClassVar[bool] = True
    """The reply is JSON, even if the model has no strict schema."""

    def __post_init__(self) -> None:
        if not (isinstance(self.model, type) and issubclass(self.model, BaseModel)):
            raise InvalidInput(f"JsonReply: model must be a pydantic BaseModel class, not {self.model!r}")

    def __repr__(self) -> str:
        return f"JsonReply({self.model.__name__})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Cached properties are not pickled; they are computed again after unpickling.
        return (type(self), (self.model,))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The model's JSON schema in the strict subset; None if the strict subset cannot express the model."""
        return self._schema  # type checkers accept no cached property where a protocol has a property

    @cached_property
    def _schema(self) -> Mapping[str, Any] | None:
        return strict_schema(self.model.model_json_schema(), portable=True)

    @cached_property
    def _reader(self) -> ModelReader[M]:
        return ModelReader(self.model)

    @cached_property
    def _decoder(self) -> JSONDecoder:
        plan = self._reader.plan
        return decoder_of((plan.known or frozenset()) - plan.others, plan.knows)

    def instructions(self) -> str:
        """Return the shape of the object, with the descriptions of the model's fields, for the system message."""
        return f"Reply in JSON:\n{shape_of(self.model)}"

    def parse(self, text: str) -> M:
        """Return the object in a reply.

        Raises:
            BadReply: the reply contains no such object, or several that disagree.
        """
        suspect = "<" in text or "..." in text or "…" in text
        clean = None if suspect else clean_json(text, self._decoder)
        if clean is not None and self._reader.plan.takes(clean[0]):
            try:
                return self.model.model_validate(clean[0], strict=True)
            except ValidationError:
                pass  # the long path reads more forms, and its error messages are written for the model
        return read_reply(text, self._reader)
