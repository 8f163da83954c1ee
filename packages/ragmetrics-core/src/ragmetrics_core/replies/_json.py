"""An object of a user's pydantic model.

Most replies are clean JSON in the model's own shape, so those take a short way: decode, see that every key is
known, validate strictly. All others take the long way: find what in the text is meant as the answer, fit it to the
model, validate. The short way must not be laxer than the long one, hence the check of the keys: a model full of
defaults accepts any object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from .._kernel._asked import asked_of
from .._kernel._errors import InvalidInput
from ._choose import choose, unless_doubted
from ._json_text._find import Bad, Fit, clean_json, decode, embedded, is_jsonish, views
from ._json_text._scan import Found, scan
from ._model._fit import Unrelated, fit_model
from ._model._keys import ASIDES, REASONS, WRAPPERS, is_quotation, is_schema, name, singular, stem
from ._model._plan import ModelPlan, bare, is_subclass, item_hint, plan_of
from ._model._schema import strict_schema
from ._model._shape import shape_of
from ._prose._items import read_lines
from ._prose._outline import read_block, read_numbered
from ._prose._problem import Problem, parse_or_bad_reply
from ._prose._tags import read_tags
from ._prose._turns import answer_part
from ._prose._verdict import truth

__all__ = ["JsonReply"]

M = TypeVar("M", bound=BaseModel)

_SUSPECT = re.compile(r"<|\.\.\.|…")
_BETWEEN_ITEMS = re.compile(r"[\s,;*`>-]*(?:\d{1,3}[.)])?[\s`]*")
_VERDICT_ROW = re.compile(r"[01]|[^\d:]{1,24}")
_LABEL = re.compile(r"\W{0,6}\w{1,20}\s{0,2}[:=]\s{0,2}")
_MAX_NESTING = 6
_MAX_ROWS = 500


@dataclass(frozen=True, repr=False)
class JsonReply(Generic[M]):
    """One JSON object that fits a pydantic model; its value is an instance of the model.

    Reads through fences, prose, thinking, wrappers, near-JSON, other key styles and unambiguous other keys; checks
    types and choices as strictly as the model states them.

    Raises:
        InvalidInput: ``model`` is not a pydantic model class.
    """

    model: type[M]

    def __post_init__(self) -> None:
        if not (isinstance(self.model, type) and issubclass(self.model, BaseModel)):
            raise InvalidInput(f"JsonReply: model must be a pydantic BaseModel class, not {self.model!r}")

    def __repr__(self) -> str:
        return f"JsonReply({self.model.__name__})"

    def __reduce__(self) -> tuple[Any, ...]:
        # What is worked out once per instance is worked out again where it is unpickled.
        return (type(self), (self.model,))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The model's JSON schema in the strict subset, or None for a model that it cannot express."""
        return self._schema

    @cached_property
    def _schema(self) -> Mapping[str, Any] | None:
        return strict_schema(self.model.model_json_schema())

    @cached_property
    def _plan(self) -> ModelPlan:
        return plan_of(self.model)

    def instructions(self) -> str:
        """The shape of the object, with the descriptions of the model's fields, for the system message."""
        return f"Reply with one JSON object and nothing else, in this shape:\n{shape_of(self.model)}"

    def parse(self, text: str) -> M:
        """The object in a reply.

        Raises:
            BadReply: the reply holds no such object, or several that disagree.
        """
        clean = clean_json(text)
        if clean is not None and isinstance(clean[0], dict) and not _SUSPECT.search(text) and self._knows(clean[0]):
            try:
                return self.model.model_validate(clean[0], strict=True)
            except ValidationError:
                pass  # the long way reads more forms, and words its errors for the model
        return parse_or_bad_reply(text, self._read)

    def _knows(self, data: dict[str, Any]) -> bool:
        """Whether every key of clean data is one of the model's, so that nothing in it can be overlooked."""
        plan = self._plan
        if not data or not plan.top.issuperset(data):
            return False
        known = plan.known
        if known is None:
            return True
        level: list[Any] = list(data.values())
        while level:
            inner: list[Any] = []
            for value in level:
                if type(value) is dict:
                    if not known.issuperset(value):
                        return False
                    inner.extend(value.values())
                elif type(value) is list:
                    inner.extend(value)
            level = inner
        return True

    def _read(self, text: str) -> M:
        whole = decode(text)
        if whole is not None and not isinstance(whole[0], str):
            return self._settle(self._in_value(whole[0], 0))
        if whole is not None:
            text = asked_of(text).on(str(whole[0]))
        part, doubted = answer_part(text)
        return unless_doubted(self._read_part(part), doubted, self._read_part, _same_essence)

    def _read_part(self, part: str) -> M:
        for view in views(part):
            reading = self._in_text(view)
            if reading is not None:
                return self._settle(reading)
        return self._without_json(part)

    def _settle(self, reading: Fit[M] | Bad | None) -> M:
        if isinstance(reading, Fit):
            value: M = reading.value
            return value
        if reading is None:
            fields = ", ".join(repr(field.key) for field in self._plan.fields)
            raise Problem(f"the JSON in the reply has none of the fields {fields}")
        raise Problem(reading.reason)

    def _in_text(self, view: str) -> Fit[M] | Bad | None:
        found = [item for item in scan(view) if _is_data(item, view)]
        items = self._as_items(found, view)
        if items is not None:
            return items
        reading = choose(view, found, lambda value: self._in_value(value, 0), _same_essence)
        if reading is None and found and found[-1].state in {"cut", "broken"}:
            return Bad("the JSON in the reply is cut or broken; reply with the whole object, more briefly")
        return reading

    def _as_items(self, found: list[Found], view: str) -> Fit[M] | None:
        """Several objects one after the other that are the items of the model's list."""
        if self._plan.list_field is None or len(found) < 2 or any(item.state != "whole" for item in found):
            return None
        gaps = [view[one.end : two.start] for one, two in pairwise(found)]
        if not all(_BETWEEN_ITEMS.fullmatch(gap) for gap in gaps) or not all(
            isinstance(item.value, dict) for item in found
        ):
            return None
        if any(isinstance(value, list) for value in found[0].value.values()):
            # These are whole answers, given several times.
            return None
        reading = self._validated([item.value for item in found])
        return reading if isinstance(reading, Fit) else None

    def _in_value(self, data: Any, depth: int) -> Fit[M] | Bad | None:
        """The reading of a JSON value: the model itself, or something around it."""
        if depth > _MAX_NESTING:
            return None
        if isinstance(data, str):
            inner = embedded(data)
            return self._in_value(inner, depth + 1) if not isinstance(inner, str) else None
        if isinstance(data, list) and len(data) == 1 and isinstance(data[0], (dict, list, str)):
            inner = self._in_value(data[0], depth + 1)
            if isinstance(inner, Fit):
                return inner
        reading = self._validated(data)
        if isinstance(reading, Fit) or not isinstance(data, dict):
            return reading
        inside = self._inside(data, depth)
        return inside if isinstance(inside, Fit) or reading is None else reading

    def _inside(self, data: dict[str, Any], depth: int) -> Fit[M] | Bad | None:
        schema = is_schema(data)
        readings = [
            self._in_value(value, depth + 1)
            for key, value in data.items()
            if isinstance(value, (dict, list, str)) and not schema and name(key) not in ASIDES and not is_quotation(key)
            and (singular(name(key)) in WRAPPERS or (len(data) == 1 and not _all_text(value)))
        ]  # fmt: skip
        fits = [reading for reading in readings if isinstance(reading, Fit)]
        if fits:
            same = all(_same_essence(fits[0].value, fit.value) for fit in fits[1:])
            return fits[0] if same else Bad("the reply gives two different answers; give one")
        field = self._plan.list_field
        if not schema and field is not None and data and bare(item_hint(field.hint)) is not str:
            single = self._validated([data])
            if isinstance(single, Fit):
                return single
        return next((reading for reading in readings if reading is not None), None)

    def _validated(self, data: Any) -> Fit[M] | Bad | None:
        try:
            return Fit(self.model.model_validate(fit_model(data, self.model)))
        except Unrelated as problem:
            return Bad(problem.reason) if problem.path else None
        except Problem as problem:
            return Bad(problem.reason)
        except ValidationError as error:
            return Bad(_first_error(error))

    def _without_json(self, part: str) -> M:
        """The answer in tags, in an outline, in a numbered list."""
        stripped = part.strip()
        if not is_jsonish(stripped):
            for data in self._outlines(stripped):
                reading = self._in_value(data, 0)
                if isinstance(reading, Fit):
                    return self._settle(reading)
        raise Problem("the reply holds no JSON object of the shape asked for")

    def _outlines(self, part: str) -> list[Any]:
        candidates: list[Any] = [read_tags(part), read_block(part)]
        field = self._plan.list_field
        if field is None:
            return [data for data in candidates if data]
        item = bare(item_hint(field.hint))
        if item is str:
            with suppress(Problem):
                candidates.append(read_lines(part, marked_only=True))
        elif is_subclass(item, BaseModel) and plan_of(item).scalar_field is not None:
            candidates.extend([read_numbered(part), _verdict_row(part)])
        return [data for data in candidates if data]


def _all_text(value: Any) -> bool:
    """Texts under a key that nobody asked for are something else ("errors", "sources")."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _verdict_row(part: str) -> list[str] | None:
    """Verdicts that stand alone, one per line or one after the other."""
    rows = [row.strip() for row in re.split(r"[\n,;]", part, maxsplit=_MAX_ROWS) if row.strip()]
    return (
        rows
        if 1 < len(rows) <= _MAX_ROWS and all(_VERDICT_ROW.fullmatch(row) and truth(row) is not None for row in rows)
        else None
    )


def _is_data(item: Found, view: str) -> bool:
    """Objects, and lists that are no citation or interval: of texts or objects, or all there is."""
    if isinstance(item.value, dict) or any(isinstance(value, (str, dict)) for value in item.value):
        return True
    # An empty list counts where the reply begins with it, whatever explanation follows.
    label = _LABEL.match(view)
    rest = view[label.end() if label else 0 :].strip(" \t\r\n`*>$.")
    return len(rest) - (item.end - item.start) < 9 or not (item.value or view[: item.start].strip())


def _same_essence(one: BaseModel, two: BaseModel) -> bool:
    """Whether two answers differ in nothing but their reasons."""
    return one == two or _essence(one.model_dump()) == _essence(two.model_dump())


def _essence(data: Any) -> Any:
    if isinstance(data, dict):
        return {
            key: _essence(value) for key, value in data.items() if not (isinstance(key, str) and stem(key) in REASONS)
        }
    return [_essence(value) for value in data] if isinstance(data, list) else data


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ""
    for part in first["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    message = first["msg"][:1].lower() + first["msg"][1:]
    return f"{path or 'the object'}: {message[:200]}"
