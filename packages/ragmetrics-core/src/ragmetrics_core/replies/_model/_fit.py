"""JSON data made to fit a pydantic model, before pydantic validates it.

Keys are matched by name, by case and style, then by synonym where only one reading is possible. Lists come as
lists, as objects keyed by number, as lists of wrapped items, in a different order with numbers to tell it; items
come as objects or as their one telling value. What is missing stays missing: validation then says so.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, RootModel

from .._json_text._find import embedded
from .._prose._items import split_lines
from .._prose._unreadable import Misfit, Unreadable
from .._prose._verdict import truth
from ._keys import ASIDES, CONTAINERS, REASONS, RELATED, WRITTEN, is_blank, is_schema, name, stem
from ._plan import FieldPlan, ModelPlan, bare, is_choice, is_subclass, issubclass_mapping, item_hint, members, plan_of
from ._values import fit_bool, fit_choice, fit_enum, fit_number, fit_text

__all__ = ["Unrelated", "fit_model"]

_JUDGED = frozenset({"verdict", "final_verdict", "decision", "judgement", "judgment", "conclusion", "result", "answer"})
_MAX_ITEMS = 5000
_NUMBERED = re.compile(r"\D{0,30}?(\d{1,4})\D{0,3}")


class Unrelated(Misfit):
    """The data has nothing in common with the model."""


def fit_model(data: Any, model: type[BaseModel]) -> Any:
    """``data`` with the keys and value types of ``model``.

    Raises:
        Unrelated: no key of the model is there.
        Unreadable: some value cannot be read; the reason starts with its path.
    """
    plan = plan_of(model)
    if issubclass(model, RootModel):
        return _fit(data, model.model_fields["root"].annotation, "root", None)
    if isinstance(data, str):
        data = embedded(data)
    if isinstance(data, dict) and not (plan.list_field and data and all(map(_NUMBERED.fullmatch, map(str, data)))):
        return _fit_fields(data, plan)
    if plan.list_field is not None and isinstance(data, (list, dict)):
        if isinstance(data, list) and len(data) > 1 and all(_holds_list(item, plan.list_field.name) for item in data):
            raise Unreadable("holds several answers; give one")
        return {
            plan.list_field.key: _at(plan.list_field.name, _fit_list, data, plan.list_field.hint, plan.list_field.name)
        }
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    scalar = plan.scalar_field
    if scalar is not None and not isinstance(data, list) and (isinstance(data, str) or is_choice(scalar.hint)):
        return {scalar.key: _fit_field(data, scalar)}
    raise Unrelated("must be an object")


def _at(path: str, fit: Any, *arguments: Any) -> Any:
    """Call ``fit``; a misfit inside is told with ``path`` in front."""
    try:
        return fit(*arguments)
    except Unreadable as unreadable:
        misfit = unreadable if isinstance(unreadable, Misfit) else Misfit(unreadable.reason)
        raise misfit.under(path) from None


def _fit_field(data: Any, field: FieldPlan) -> Any:
    return _at(field.name, _fit, data, field.hint, field.name, field.limit)


def _match(data: dict[str, Any], plan: ModelPlan) -> dict[str, str]:
    """Which key of the data belongs to which field."""
    matched = {field.name: key for field in plan.fields for key in (field.key, field.name) if key in data}
    rest = [key for key in data if key not in matched.values()]
    for related in (
        lambda field, key: name(field.name) == name(key) or name(field.key) == name(key),
        FieldPlan.answers_to,
    ):
        open_fields = [field for field in plan.fields if field.name not in matched]
        pairs = [(field, key) for field in open_fields for key in rest if related(field, key)]
        for field, key in pairs:
            alone = sum(other is field for other, _ in pairs) == 1 and sum(other == key for _, other in pairs) == 1
            if alone:
                matched[field.name] = key
        rest = [key for key in rest if key not in matched.values()]
    return matched


def _fit_fields(data: dict[str, Any], plan: ModelPlan) -> dict[str, Any]:
    if is_schema(data):
        raise Unrelated("is a schema, not an answer")
    matched = _match({str(key): value for key, value in data.items()}, plan) if len(data) <= 200 else {}
    if not matched:
        raise Unrelated("has none of the fields asked for")
    fitted: dict[str, Any] = {}
    for field in plan.fields:
        if field.name not in matched:
            if field.required:
                raise Misfit("is missing", field.name)
            continue
        value = data[matched[field.name]]
        if value is None and not (field.required or type(None) in members(field.hint) or is_choice(field.hint)):
            # No reason, no remark: the default. No verdict or number: an answer without its answer.
            continue
        fitted[field.key] = _fit_field(value, field)
        _check_others(data, field, fitted[field.key], set(matched.values()))
    if plan.extra == "allow":
        fitted.update({key: value for key, value in data.items() if key not in matched.values() and key not in fitted})
    return fitted


def _check_others(data: dict[str, Any], field: FieldPlan, value: Any, matched: set[str]) -> None:
    """Nothing that the reply says beside a verdict may take it back: "supported": true, "verdict": "not supported"."""
    if not isinstance(value, bool):
        return
    for key, other in data.items():
        if str(key) not in matched and name(str(key)) in _JUDGED and truth(other) is (not value):
            raise Misfit(f"and {str(key)!r} say different things; give one", field.name)


def _fit(data: Any, hint: Any, key: str, limit: float | None = None) -> Any:
    hint, *others = members(hint)
    if others:
        return _fit_union(data, (hint, *others), key, limit)
    if get_origin(hint) is Literal:
        return fit_choice(data, get_args(hint))
    if hint is bool:
        return fit_bool(data)
    if hint is int or hint is float:
        return fit_number(data, key, limit, whole=hint is int)
    if hint is str:
        return _no_blank(fit_text(data, key))
    if hint is type(None):
        if data is None or _is_null(data):
            return None
        raise Unreadable("must be null")
    if is_subclass(hint, BaseModel):
        return fit_model(data, hint)
    if is_subclass(hint, Enum):
        return fit_enum(data, hint)
    if item_hint(hint) is not None:
        return _fit_list(data, hint, key)
    if issubclass_mapping(get_origin(hint)) and isinstance(data, dict) and not is_schema(data):
        return {inner: _at(f"[{inner!r}]", _fit, value, get_args(hint)[1], key) for inner, value in data.items()}
    return data


def _is_null(data: Any) -> bool:
    return isinstance(data, str) and data.strip().casefold() in {"", "null", "none", "n/a"}


def _no_blank(text: str) -> str:
    if is_blank(text):
        raise Unreadable("is a blank of the template, not a text")
    return text


def _fit_union(data: Any, options: tuple[Any, ...], key: str, limit: float | None) -> Any:
    if type(None) in options and (data is None or (str not in options and _is_null(data))):
        return None
    exact = {bool: bool, int: int, float: float, str: str}
    for option in options:
        if type(data) is exact.get(option) and not (option is str and len(options) > 2):
            return _fit(data, option, key, limit)
        if get_origin(option) is Literal and any(
            type(data) is type(value) and data == value for value in get_args(option)
        ):
            return data
    first: Unreadable | None = None
    for option in sorted(options, key=lambda option: (option is type(None), option is str)):
        try:
            return _fit(data, option, key, limit)
        except Unreadable as unreadable:  # noqa: PERF203  the next member may fit
            first = first or unreadable
    raise first or Unreadable("fits nothing")


def _fit_list(data: Any, hint: Any, key: str) -> list[Any]:
    item = bare(item_hint(hint))
    items = _ordered(_items_of(data, item, key), item)
    if len(items) > _MAX_ITEMS:
        raise Unreadable(f"has {len(items)} items, more than any honest answer")
    return [_at(f"[{number}]", _fit_item, value, item, key) for number, value in enumerate(items)]


def _items_of(data: Any, item: Any, key: str) -> list[Any]:
    if isinstance(data, str):
        data = embedded(data)
    if isinstance(data, list):
        return _flattened(data, key) if item is str else data
    if isinstance(data, dict) and not is_schema(data):
        numbers = [_NUMBERED.fullmatch(str(inner)) for inner in data]
        if data and all(numbers):
            count = sorted(int(number.group(1)) for number in numbers if number)
            if count not in (list(range(len(count))), list(range(1, len(count) + 1))):
                raise Unreadable("does not number its items one by one")
            return [
                value
                for _, value in sorted(
                    zip([int(number.group(1)) for number in numbers if number], data.values(), strict=True),
                    key=lambda pair: pair[0],
                )
            ]
        if len(data) == 1 and isinstance(inner := next(iter(data.values())), list):
            return inner
        if (
            len(data) == 1
            and item is str
            and stem(next(iter(data))) in {stem(key), "item", "li", *RELATED.get(stem(key), ())}
        ):
            return list(data.values())
        if is_subclass(item, BaseModel):
            return [data]
    if isinstance(data, str) and item is str and data.strip():
        return split_lines(data)
    if isinstance(data, str) and item is not str and len(parts := re.split(r"[,;\n]", data, maxsplit=_MAX_ITEMS)) > 1:
        return [part.strip() for part in parts if part.strip()]
    if isinstance(data, (bool, int)) and item is not str:
        return [data]
    raise Unreadable("must be a list")


def _holds_list(data: Any, key: str) -> bool:
    return isinstance(data, dict) and any(stem(inner) == stem(key) and isinstance(data[inner], list) for inner in data)


def _flattened(data: list[Any], key: str) -> list[Any]:
    """Items of a list of texts that come in lists of their own, one per sentence."""
    flat: list[Any] = []
    for value in data:
        lists = [inner for inner in value.values() if isinstance(inner, list)] if isinstance(value, dict) else []
        if len(data) == 1 and _holds_list(value, key):
            raise Unreadable("holds the object itself")
        flat.extend(lists[0] if len(lists) == 1 else [value])
    return flat


def _ordered(items: list[Any], item: Any) -> list[Any]:
    """Items in the order of their numbers, when they carry numbers that the model itself does not ask for."""
    if not items or not all(isinstance(value, dict) for value in items):
        return items
    asked = {name(field.name) for field in plan_of(item).fields} if is_subclass(item, BaseModel) else set()
    for key in items[0]:
        if name(key) not in WRITTEN["number"] or name(key) in asked:
            continue
        numbers = [_number(value.get(key)) for value in items]
        if None in numbers:
            continue
        if len(set(numbers)) < len(numbers):
            raise Unreadable(f"gives the same {key} twice")
        return [value for _, value in sorted(zip(numbers, items, strict=True), key=lambda pair: pair[0] or 0)]
    return items


def _number(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _NUMBERED.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return int(match.group(1)) if match else None


def _fit_item(data: Any, item: Any, key: str) -> Any:
    if item is not str or not isinstance(data, dict):
        return _fit(data, item, key)
    if is_schema(data):
        raise Unreadable("is a schema, not a text")
    for inner, value in data.items():
        telling = stem(inner) in {stem(key), "text", "content"} or stem(inner) in RELATED.get(stem(key), CONTAINERS)
        if telling and isinstance(value, str):
            return _no_blank(value)
    texts = [value for inner, value in data.items() if isinstance(value, str) and name(inner) not in REASONS | ASIDES]
    if len(texts) == 1 and not any(isinstance(value, (dict, list)) for value in data.values()):
        return _no_blank(texts[0])
    raise Unreadable("must be a text, not an object")
