"""Make JSON data fit a pydantic model, before pydantic validates the data.

Keys are matched by name, then regardless of case and style, then by synonym if only one reading is possible. A list may come as a
list, as an object keyed by number, as a text, as a list of wrapped items, or in another order with numbers that give the order.
An item may come as an object or as the one value that matters. A missing value stays missing, and validation reports it.

The form of a value is flexible: true, "yes" and "1" fit a 0/1 choice, and "4" fits a number. The meaning is not: 2 is not a yes,
"maybe" is not a verdict, 1.5 is not an integer, true is not a score, and null is not a value.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from enum import Enum
from operator import itemgetter
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, RootModel

from ._items import items_in, says_nothing
from ._json_text import embedded
from ._keys import ASIDES, CONTAINERS, NUMBERED, REASONS, RELATED, WRITTEN, is_blank, is_schema, name, stem
from ._numbers import WORDS, scale_of, without_angles
from ._plan import FieldPlan, ModelPlan, bare, fields_of, is_subclass, item_hint, members, plan_of
from ._text import Misfit, Unreadable, plain, shown
from ._verdict import truth

_NUMERAL = re.compile(
    r"([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:e[+-]?\d{1,3})?)(?:\s{0,2}(?:/|out of)\s{0,2}(\d{1,6}(?:\.\d{1,3})?))?\.?"
)
_NAMED = re.compile(rf"(?:{'|'.join(sorted(NUMBERED))})s?[ _-]{{0,2}}(?:#|no\.? |nr\.? |number )?(?=\d)|#(?=\d)")
_LETTER = re.compile(r"\A(?:response|answer|option|assistant|model|choice|candidate) (?=\w\Z)")
_EDGES = " \t\r\n\"'`*_.,;:!()[]{}<>"
_TOO_LARGE = 1e308
_LONGEST_CHOICE = 500
_HEAD = re.compile(r"[^\w]*(.{1,60}?)\s*(?:[:,.;(–—]|\s-\s|-\s|$)", re.DOTALL)


def _fit_bool(data: Any) -> bool:
    said = truth(data)
    if said is None:
        raise Unreadable(f"must be true or false, not {shown(data)}")
    return said


def number_of(data: Any) -> int | None:
    """Return the item number that a value gives ("2", "claim 2"), or None if it gives no whole number."""
    value = None if isinstance(data, bool) else _number(data, "number", None)
    return value if isinstance(value, int) else None


def fit_number(data: Any, key: str, limit: float | None, *, whole: bool) -> float | int:
    """Return an int (``whole``) or a float. A text such as "4/5" needs the highest value ``limit``. Booleans and "yes" count
    only if the key names a verdict.
    """
    wanted_type = "a whole number" if whole else "a number"
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    value = _number(data, key, limit)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise Unreadable(f"must be {wanted_type}, not {shown(data)}")
    if whole and value != int(value):
        raise Unreadable(f"must be a whole number, not {value}")
    if whole:
        return int(value)
    if abs(value) >= _TOO_LARGE:
        raise Unreadable(f"must be {wanted_type} of a sensible size")
    return float(value)


def _number(data: Any, key: str, limit: float | None) -> int | float | None:
    """Return the number that a value is, or that its text says; None if there is no number."""
    if isinstance(data, str):
        value = _numeral(data, limit)
        if value is not None:
            return value
    elif not isinstance(data, bool):
        return data if isinstance(data, (int, float)) else None
    # A yes or no counts as 1 or 0 only if the key names a verdict.
    is_flag = RELATED.get(stem(key)) in (WRITTEN["verdict"], WRITTEN["noncommittal"])
    said = truth(data) if is_flag else None
    return None if said is None else int(said)


def _numeral(text: str, limit: float | None) -> int | float | None:
    if len(text) > 100:
        return None
    normal = _NAMED.sub("", without_angles(plain(text)).strip(" \t\r\n\"'`*()[]").casefold())
    if normal in WORDS:
        return WORDS[normal]
    match = _NUMERAL.fullmatch(normal.replace(",", ".") if normal.count(",") == 1 and "." not in normal else normal)
    if match is None or (match.group(2) and (limit is None or float(match.group(2)) != limit)):
        return None
    return int(match.group(1)) if match.group(1).lstrip("+-").isdigit() else float(match.group(1))


def fit_text(data: Any, key: str) -> str:
    """Return a text. Numbers become text; for a reason, a list of texts is joined into one text and null becomes an empty text."""
    is_reason = stem(key) in REASONS
    if isinstance(data, (str, int, float)) and not isinstance(data, bool):
        return str(data)
    if isinstance(data, list) and all(isinstance(item, str) for item in data) and (is_reason or len(data) == 1):
        return "; ".join(data)
    if data is None and is_reason:
        return ""
    raise Unreadable(f"must be a text, not {shown(data)}")


def _label(value: Any) -> str:
    return " ".join(re.split(r"[\s_-]+", plain(value).strip(_EDGES).casefold())) if isinstance(value, str) else ""


def is_same(option: Any, data: Any) -> bool:
    """Whether ``data`` equals an option in type and value: 1 is not true."""
    return type(option) is type(data) and option == data


def fit_choice(data: Any, options: tuple[Any, ...]) -> Any:
    """Return the option that ``data`` means, in whatever form it comes.

    Raises:
        Unreadable: ``data`` means none of the options, or could mean several.
    """
    if isinstance(data, list) and len(data) == 1:
        return fit_choice(data[0], options)
    for option in options:
        if is_same(option, data):
            return option
    for fitting in (_options_by_number, _options_by_words, _options_by_side):
        options_found = fitting(data, options)
        if len(options_found) == 1:
            return options_found[0]
    raise Unreadable(f"must be {_menu(options)}, not {shown(data)}")


def _options_by_number(data: Any, options: tuple[Any, ...]) -> list[Any]:
    numbers = tuple(option for option in options if isinstance(option, int) and not isinstance(option, bool))
    # A text with 0 or 1 may contradict its digit ("1 - not supported"), so it is read as words.
    if len(numbers) < 2 or isinstance(data, bool) or (isinstance(data, str) and set(numbers) == {0, 1}):
        return []
    try:
        return [int(scale_of(min(numbers), max(numbers), numbers).read_value(data))]
    except Unreadable:
        return []


def _options_by_words(data: Any, options: tuple[Any, ...]) -> list[Any]:
    """Return the option that a text equals, or that it begins with before an explanation."""
    if not isinstance(data, str) or len(data) >= _LONGEST_CHOICE:
        return []
    head = _HEAD.match(data)
    whole = _label(data)
    for label in (whole, _label(head.group(1)) if head else "", _LETTER.sub("", whole)):
        matching = [option for option in options if _label(option) == label and label]
        if len(matching) == 1:
            return matching
    return []


def _options_by_side(data: Any, options: tuple[Any, ...]) -> list[Any]:
    """Return the options on the same side (yes or no) as the data. Return no options if none is on the opposite side."""
    said = truth(data)
    sides = [(option, truth(option)) for option in options] if said is not None else []
    return [option for option, side in sides if side is said] if (not said) in [side for _, side in sides] else []


def _menu(options: tuple[Any, ...]) -> str:
    texts = [shown(option) for option in options[:12]]
    return " or ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]


def fit_enum(data: Any, enum: type[Enum]) -> Any:
    """Return the value of the enum member that ``data`` gives by the member's name or value."""
    by_name = {member.name: member.value for member in enum}
    try:
        return by_name[fit_choice(data, tuple(by_name))]
    except Unreadable:
        return fit_choice(data, tuple(by_name.values()))


MAX_ITEMS = 5000
_AND = re.compile(r"[,;\n&]|\b(?:and|und|et|y|e|en|и|und)\b|和|と")
_NUMBERED = re.compile(r"\D{0,30}?(\d{1,4})\D{0,3}")


def items_of(data: Any, item: Any, key: str) -> list[Any]:
    """Return the items of the list under ``key``, in order, in whatever form the list comes. ``item``: the type of the items.

    Raises:
        Unreadable: there is no list, or the numbers of its items do not give an order.
    """
    if isinstance(data, str):
        data = embedded(data)
    items: list[Any] | None = None
    if isinstance(data, list):
        items = _flattened(data, key) if item is str else data
        if item is int and len(items) == 1 and isinstance(items[0], str):
            items = _numbers_in(items[0])
    elif isinstance(data, dict) and not is_schema(data):
        items = _items_of_object(data, item, key)
    elif isinstance(data, str):
        items = _numbers_in(data) if item is int else _items_of_text(data, item)
    elif isinstance(data, (bool, int)) and item is not str:
        items = [data]
    if items is None:
        raise Unreadable("must be a list")
    return _ordered(items, item)


def is_numbered(data: dict[str, Any]) -> bool:
    """Whether an object represents a list, because all its keys are numbers."""
    return bool(data) and all(_NUMBERED.fullmatch(str(key)) for key in data)


def _items_of_object(data: dict[str, Any], item: Any, key: str) -> list[Any] | None:
    if is_numbered(data):
        return _by_number(data, item)
    if len(data) == 1:
        ((only, inner),) = data.items()
        if isinstance(inner, list):
            return inner
        if item is str and stem(only) in {stem(key), "item", "li", *RELATED.get(stem(key), ())}:
            return [inner]
    return [data] if is_subclass(item, BaseModel) else None


def _by_number(data: dict[str, Any], item: Any) -> list[Any]:
    """Return the values of an object in the order of its numeric keys. If the item type has a number field, add the key to each
    item.
    """
    numbers = [int(match.group(1)) for match in map(_NUMBERED.fullmatch, map(str, data)) if match]
    if sorted(numbers) not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
        raise Unreadable("must number its items consecutively, starting at 0 or 1")
    pairs = sorted(zip(numbers, data.values(), strict=True), key=itemgetter(0))
    fields = fields_of(item)
    asked = next((field for field in fields if field.is_number), None)
    return [value if asked is None else _with_number(value, number, asked, fields) for number, value in pairs]


def _with_number(value: Any, number: int, asked: FieldPlan, fields: tuple[FieldPlan, ...]) -> Any:
    """Return an item with its number in the list. A bare value becomes the only other required field of the item."""
    if not isinstance(value, dict):
        others = [field for field in fields if field.required and field is not asked]
        return {asked.key: number, others[0].key: value} if len(others) == 1 else value
    named = {number_of(said) for key, said in value.items() if asked.answers_to(key)} - {None}
    if named - {number}:
        raise Unreadable("gives an item two numbers")
    return value if named else {asked.key: number, **value}


def _numbers_in(data: str) -> list[str] | None:
    """Return the numbers that a text lists ("1, 3", "contexts 1 and 3"); [] if the text says that there are none; None for any
    other text.
    """
    if not data.strip() or (data.strip().isalpha() and says_nothing(data)):
        return []
    return [part for part in _AND.split(data) if part.strip()] if any(map(str.isdigit, data)) else None


def _items_of_text(data: str, item: Any) -> list[Any] | None:
    if item is str:
        return items_in(data)[0] if data.strip() and not is_blank(data.strip()) else None
    parts = re.split(r"[,;\n]", data, maxsplit=MAX_ITEMS)
    return [part.strip() for part in parts if part.strip()] if len(parts) > 1 else None


def holds_list(data: Any, key: str) -> bool:
    """Whether ``data`` is an object that has a list under this key."""
    return isinstance(data, dict) and any(stem(inner) == stem(key) and isinstance(data[inner], list) for inner in data)


def _flattened(data: list[Any], key: str) -> list[Any]:
    """Flatten the items of a list of texts that come grouped in lists, such as one list per sentence."""
    flat: list[Any] = []
    for value in data:
        lists = [inner for inner in value.values() if isinstance(inner, list)] if isinstance(value, dict) else []
        if len(data) == 1 and holds_list(value, key):
            raise Unreadable("contains the whole object again; give the list alone")
        flat.extend(lists[0] if len(lists) == 1 else [value])
    return flat


def _ordered(items: list[Any], item: Any) -> list[Any]:
    """Sort items by their numbers, if each item has a number that the model does not ask for."""
    if not items or not all(isinstance(value, dict) for value in items):
        return items
    asked = {name(field.name) for field in fields_of(item)}
    for key in items[0]:
        numbers = [number_of(value.get(key)) for value in items]
        if name(key) not in WRITTEN["number"] or name(key) in asked or None in numbers:
            continue
        if len(set(numbers)) < len(numbers):
            raise Unreadable(f"gives the same {key} twice")
        return [value for _, value in sorted(zip(numbers, items, strict=True), key=lambda pair: pair[0] or 0)]
    return items


def text_in_object(data: dict[str, Any], key: str) -> str | None:
    """Return the text that an object represents: the text under a key with the right meaning, else the only text that is not a
    reason or remark.
    """
    mine = stem(key)
    text_keys = {mine, "text", "content"} | RELATED.get(mine, CONTAINERS)
    texts = [(inner, value) for inner, value in data.items() if isinstance(value, str)]
    named = next((value for inner, value in texts if stem(inner) in text_keys), None)
    if named is not None or any(isinstance(value, (dict, list)) for value in data.values()):
        return named
    others = [value for inner, value in texts if name(inner) not in REASONS | ASIDES]
    return others[0] if len(others) == 1 else None


_JUDGED = frozenset({"verdict", "final_verdict", "decision", "judgement", "judgment", "conclusion", "result", "answer"})
_MAX_KEYS = 200
_EXACT = (bool, int, float, str)


class Unrelated(Misfit):
    """The data have nothing in common with the model."""


def fit_model(data: Any, model: type[BaseModel]) -> Any:
    """Return ``data`` with the keys and value types of ``model``.

    Raises:
        Unrelated: the data have no key of the model.
        Unreadable: a value cannot be read; the reason starts with the path of the value.
    """
    plan = plan_of(model)
    if issubclass(model, RootModel):
        return _fit(data, model.model_fields["root"].annotation, "root", None)
    if isinstance(data, str):
        data = embedded(data)
    if isinstance(data, dict) and not (plan.list_field and is_numbered(data)):
        return _fit_fields(data, plan)
    if (field := plan.list_field) is not None and isinstance(data, (list, dict)):
        if isinstance(data, list) and len(data) > 1 and all(holds_list(item, field.name) for item in data):
            raise Unreadable("holds several answers; give one")
        return {field.key: _at(field.name, _fit_list, data, field.hint, field.name)}  # the reply is only the list
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    scalar = plan.scalar_field
    if scalar is not None and not isinstance(data, list) and (isinstance(data, str) or scalar.is_choice):
        return {scalar.key: _fit_field(data, scalar)}
    raise Unrelated("must be an object")


def _at(path: str, fit: Any, *arguments: Any) -> Any:
    """Call ``fit``. If it raises a ``Misfit``, put ``path`` in front of the path that this error names."""
    try:
        return fit(*arguments)
    except Unreadable as unreadable:
        misfit = unreadable if isinstance(unreadable, Misfit) else Misfit(unreadable.reason)
        raise misfit.under(path) from None


def _fit_field(data: Any, field: FieldPlan) -> Any:
    return _at(field.name, _fit, data, field.hint, field.name, field.limit)


def _match(data: dict[str, Any], plan: ModelPlan) -> dict[str, str]:
    """Assign keys of the data to fields: first by exact name, then by name in any style, then by synonym."""
    matched = {field.name: key for field in plan.fields for key in (field.key, field.name) if key in data}
    for related in (FieldPlan.is_named, FieldPlan.answers_to):
        rest = [key for key in data if key not in matched.values()]
        open_fields = [field for field in plan.fields if field.name not in matched] if rest else []
        meant = [(field, key) for field in open_fields for key in rest if related(field, key)]
        pairs = [(field, key) for field, key in meant if not (field.is_number and number_of(data[key]) is None)]
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
    used_keys = set(matched.values())
    fitted: dict[str, Any] = {}
    for field in plan.fields:
        if field.name in matched:
            value = data[matched[field.name]]
            if value is not None or field.needs_value:
                fitted[field.key] = _fit_field(value, field)
                _check_beside(data, field, fitted[field.key], used_keys)
            elif item_hint(field.hint) is int:
                fitted[field.key] = []  # null says "no items"; a missing key would not
        elif field.required:
            raise Misfit("is missing", field.name)
    if plan.extra == "allow":
        fitted.update({key: value for key, value in data.items() if key not in used_keys and key not in fitted})
    return fitted


def _check_beside(data: dict[str, Any], field: FieldPlan, value: Any, matched: set[str]) -> None:
    """Check that the other keys of an object do not contradict this field.

    A second key must not contradict a verdict ("supported": true beside "verdict": "not supported"). If a field comes under two
    of its names, both must have the same value ("for": [1] beside "supported_by": [] would be ambiguous).
    """
    is_reason = stem(field.name) in REASONS
    for key, other in data.items():
        other_key = str(key)
        if other_key in matched:
            continue
        reversed_ = isinstance(value, bool) and name(other_key) in _JUDGED and truth(other) is (not value)
        is_twin = other is not None and not is_reason and field.is_named(other_key)
        if reversed_ or (is_twin and _fit_field(other, field) != value):
            raise Misfit(f"and {other_key!r} say different things; give one", field.name)


def _fit(data: Any, hint: Any, key: str, limit: float | None = None) -> Any:
    hint, *others = members(hint)
    if others:
        return _fit_union(data, (hint, *others), key, limit)
    if hint is int or hint is float:
        return fit_number(data, key, limit, whole=hint is int)
    if hint is bool:
        return _fit_bool(data)
    if hint is str:
        return _no_blank(fit_text(data, key))
    if hint is type(None):
        if data is not None and not _is_null(data):
            raise Unreadable("must be null")
        return None
    if get_origin(hint) is Literal:
        return fit_choice(data, get_args(hint))
    if is_subclass(hint, BaseModel):
        return fit_model(data, hint)
    if is_subclass(hint, Enum):
        return fit_enum(data, hint)
    if item_hint(hint) is not None:
        return _fit_list(data, hint, key)
    if is_subclass(get_origin(hint), Mapping) and isinstance(data, dict) and not is_schema(data):
        return {inner: _at(f"[{inner!r}]", _fit, value, get_args(hint)[1], key) for inner, value in data.items()}
    return data


def _is_null(data: Any) -> bool:
    return isinstance(data, str) and data.strip().casefold() in {"", "null", "none", "n/a"}


def _no_blank(text: str) -> str:
    if is_blank(text):
        raise Unreadable("is a placeholder copied from the template: fill in a text")
    return text


def _fit_union(data: Any, options: tuple[Any, ...], key: str, limit: float | None) -> Any:
    """Return the value unchanged if it is already a member of the union; else fit it to the first member that accepts it."""
    if type(None) in options and (data is None or (str not in options and _is_null(data))):
        return None
    for option in options:
        if get_origin(option) is Literal and any(is_same(value, data) for value in get_args(option)):
            return data
        # In a union of several types, a text may be a value of another type, such as a number, written as text.
        if option in _EXACT and type(data) is option and not (option is str and len(options) > 2):
            return _fit(data, option, key, limit)
    first: Unreadable | None = None
    for option in sorted(options, key=lambda option: (option is type(None), option is str)):
        try:
            return _fit(data, option, key, limit)
        except Unreadable as unreadable:  # noqa: PERF203  the next member may fit
            first = first or unreadable
    raise first or Unreadable("fits none of the types asked for")


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
    text = text_in_object(data, key)
    if text is None:
        raise Unreadable("must be a text, not an object")
    return _no_blank(text)
