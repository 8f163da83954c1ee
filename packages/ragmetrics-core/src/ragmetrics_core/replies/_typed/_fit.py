"""JSON data made to fit a pydantic model, before pydantic validates it.

Keys are matched by name, by case and style, then by synonym where only one reading is possible. Lists come as
lists, as objects keyed by number, as lists of wrapped items, in a different order with numbers to tell it; items
come as objects or as their one telling value. What is missing stays missing: validation then says so.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, RootModel

from .._json_text._find import embedded
from .._prose._unreadable import Misfit, Unreadable
from .._prose._verdict import truth
from ._keys import REASONS, is_blank, is_schema, name, stem
from ._list_items import MAX_ITEMS, holds_list, is_numbered, items_of, telling_text
from ._plan import FieldPlan, ModelPlan, bare, is_subclass, issubclass_mapping, item_hint, members, plan_of
from ._values import fit_bool, fit_choice, fit_enum, fit_number, fit_text, is_same, number_of

_JUDGED = frozenset({"verdict", "final_verdict", "decision", "judgement", "judgment", "conclusion", "result", "answer"})
_MAX_KEYS = 200
_OPTIONAL = 2
_EXACT = (bool, int, float, str)


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
    if isinstance(data, dict) and not (plan.list_field and is_numbered(data)):
        return _fit_fields(data, plan)
    if plan.list_field is not None and isinstance(data, (list, dict)):
        return _as_list(data, plan.list_field)
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    scalar = plan.scalar_field
    if scalar is not None and not isinstance(data, list) and (isinstance(data, str) or scalar.is_choice):
        return {scalar.key: _fit_field(data, scalar)}
    raise Unrelated("must be an object")


def _as_list(data: Any, field: FieldPlan) -> dict[str, Any]:
    """The list that is all there is, as the only list of the model."""
    if isinstance(data, list) and len(data) > 1 and all(holds_list(item, field.name) for item in data):
        raise Unreadable("holds several answers; give one")
    return {field.key: _at(field.name, _fit_list, data, field.hint, field.name)}


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
    """Which key of the data belongs to which field: by its exact name, by its name in any style, by what else it may mean."""
    matched = {field.name: key for field in plan.fields for key in (field.key, field.name) if key in data}
    for related in (FieldPlan.is_named, FieldPlan.answers_to):
        rest = [key for key in data if key not in matched.values()]
        open_fields = [field for field in plan.fields if field.name not in matched] if rest else []
        pairs = [
            (field, key)
            for field in open_fields
            for key in rest
            if related(field, key) and not (field.is_number and number_of(data[key]) is None)
        ]
        fields = Counter(field.name for field, _ in pairs)
        keys = Counter(key for _, key in pairs)
        matched.update({field.name: key for field, key in pairs if fields[field.name] == 1 == keys[key]})
    return matched


def _fit_fields(data: dict[str, Any], plan: ModelPlan) -> dict[str, Any]:
    if is_schema(data):
        raise Unrelated("is a schema, not an answer")
    matched = _match({str(key): value for key, value in data.items()}, plan) if len(data) <= _MAX_KEYS else {}
    if not matched:
        raise Unrelated("has none of the fields asked for")
    used = set(matched.values())
    fitted: dict[str, Any] = {}
    for field in plan.fields:
        if field.name in matched:
            value = data[matched[field.name]]
            if value is not None or field.needs_value:
                fitted[field.key] = _fit_field(value, field)
                _check_others(data, field, fitted[field.key], used)
                _check_twins(data, field, fitted[field.key], used)
            elif item_hint(field.hint) is int:
                fitted[field.key] = []  # said, unlike a key that is missing
        elif field.required:
            raise Misfit("is missing", field.name)
    if plan.extra == "allow":
        fitted.update({key: value for key, value in data.items() if key not in used and key not in fitted})
    return fitted


def _check_others(data: dict[str, Any], field: FieldPlan, value: Any, matched: set[str]) -> None:
    """Nothing that the reply says beside a verdict may take it back: "supported": true, "verdict": "not supported"."""
    if not isinstance(value, bool):
        return
    for key, other in data.items():
        if str(key) not in matched and name(str(key)) in _JUDGED and truth(other) is (not value):
            raise Misfit(f"and {str(key)!r} say different things; give one", field.name)


def _check_twins(data: dict[str, Any], field: FieldPlan, value: Any, matched: set[str]) -> None:
    """A field that comes under two of its names has one value: "for": [1] beside "supported_by": [] would be either."""
    if len(data) <= len(matched) or stem(field.name) in REASONS:
        return
    for key, other in data.items():
        if str(key) in matched or other is None or not field.is_named(str(key)):
            continue
        if _fit_field(other, field) != value:
            raise Misfit(f"and {str(key)!r} say different things; give one", field.name)


def _fit(data: Any, hint: Any, key: str, limit: float | None = None) -> Any:
    hint, *others = members(hint)
    if others:
        return _fit_union(data, (hint, *others), key, limit)
    if hint is int or hint is float:
        return fit_number(data, key, limit, whole=hint is int)
    if hint is bool:
        return fit_bool(data)
    if hint is str:
        return _no_blank(fit_text(data, key))
    if hint is type(None):
        return _fit_null(data)
    if get_origin(hint) is Literal:
        return fit_choice(data, get_args(hint))
    return _fit_nested(data, hint, key)


def _fit_nested(data: Any, hint: Any, key: str) -> Any:
    if is_subclass(hint, BaseModel):
        return fit_model(data, hint)
    if is_subclass(hint, Enum):
        return fit_enum(data, hint)
    if item_hint(hint) is not None:
        return _fit_list(data, hint, key)
    if issubclass_mapping(get_origin(hint)) and isinstance(data, dict) and not is_schema(data):
        return {inner: _at(f"[{inner!r}]", _fit, value, get_args(hint)[1], key) for inner, value in data.items()}
    return data


def _fit_null(data: Any) -> None:
    if data is not None and not _is_null(data):
        raise Unreadable("must be null")


def _is_null(data: Any) -> bool:
    return isinstance(data, str) and data.strip().casefold() in {"", "null", "none", "n/a"}


def _no_blank(text: str) -> str:
    if is_blank(text):
        raise Unreadable("is a blank of the template, not a text")
    return text


def _is_already(data: Any, option: Any) -> bool:
    """Whether data has a plain type, or is one of the values of a Literal."""
    if get_origin(option) is Literal:
        return any(is_same(value, data) for value in get_args(option))
    return option in _EXACT and type(data) is option


def _fit_union(data: Any, options: tuple[Any, ...], key: str, limit: float | None) -> Any:
    """The value as the member of a union that it is already, else as the first that it can be made to fit."""
    if type(None) in options and (data is None or (str not in options and _is_null(data))):
        return None
    for option in options:
        if _is_already(data, option) and not (option is str and len(options) > _OPTIONAL):
            return data if get_origin(option) is Literal else _fit(data, option, key, limit)
    first: Unreadable | None = None
    for option in sorted(options, key=lambda option: (option is type(None), option is str)):
        try:
            return _fit(data, option, key, limit)
        except Unreadable as unreadable:  # noqa: PERF203  the next member may fit
            first = first or unreadable
    raise first or Unreadable("fits nothing")


def _fit_list(data: Any, hint: Any, key: str) -> list[Any]:
    item = bare(item_hint(hint))
    items = items_of(data, item, key)
    if len(items) > MAX_ITEMS:
        raise Unreadable(f"has {len(items)} items, more than any honest answer")
    return [_at(f"[{number}]", _fit_item, value, item, key) for number, value in enumerate(items)]


def _fit_item(data: Any, item: Any, key: str) -> Any:
    if item is not str or not isinstance(data, dict):
        return _fit(data, item, key)
    if is_schema(data):
        raise Unreadable("is a schema, not a text")
    text = telling_text(data, key)
    if text is None:
        raise Unreadable("must be a text, not an object")
    return _no_blank(text)
