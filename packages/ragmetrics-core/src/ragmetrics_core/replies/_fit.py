"""JSON data made to fit a pydantic model, before pydantic validates it.

Keys are matched by name, by case and style, then by synonym where only one reading is possible. Lists come as
lists, as objects keyed by number, as texts, as lists of wrapped items, in a different order with numbers to tell it; items
come as objects or as their one telling value. What is missing stays missing: validation then says so.

Of a value the form gives way (true, "yes" and "1" for a 0/1 choice, "4" for a number), the meaning does not: 2 is no yes,
"maybe" is no verdict, 1.5 is no integer, true is no score, null is nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from enum import Enum
from operator import itemgetter
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, RootModel

from ._items import says_nothing, split_lines
from ._json_text import embedded
from ._keys import ASIDES, CONTAINERS, NUMBERED, REASONS, RELATED, WRITTEN, is_blank, is_schema, name, stem
from ._numbers import WORDS, scale_of, without_angles
from ._plan import FieldPlan, ModelPlan, bare, fields_of, is_subclass, issubclass_mapping, item_hint, members, plan_of
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
    """The number of an item that a value says ("2", "claim 2"), or None."""
    value = None if isinstance(data, bool) else _number(data, "number", None)
    return value if isinstance(value, int) else None


def fit_number(data: Any, key: str, limit: float | None, *, whole: bool) -> float | int:
    """An int or a float up to ``limit``; a boolean or a yes only where the key names a verdict."""
    wanted = "a whole number" if whole else "a number"
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    value = _number(data, key, limit)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise Unreadable(f"must be {wanted}, not {shown(data)}")
    if whole and value != int(value):
        raise Unreadable(f"must be a whole number, not {value}")
    if whole:
        return int(value)
    if abs(value) >= _TOO_LARGE:
        raise Unreadable(f"must be {wanted} of a sensible size")
    return float(value)


def _number(data: Any, key: str, limit: float | None) -> int | float | None:
    """The number that a value is or says, or None."""
    if isinstance(data, str):
        value = _numeral(data, limit)
        if value is not None:
            return value
    elif not isinstance(data, bool):
        return data if isinstance(data, (int, float)) else None
    # Under a key that names a verdict, a number is a yes or a no.
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
    """A text; numbers become text, a list of reasons one reason, and a reason that is null an empty one."""
    texts = []
    is_reason = stem(key) in REASONS
    if isinstance(data, (str, int, float)) and not isinstance(data, bool):
        texts = [str(data)]
    elif isinstance(data, list) and all(isinstance(item, str) for item in data):
        texts = ["; ".join(data)] if is_reason else data
    elif data is None and is_reason:
        texts = [""]
    if len(texts) != 1:
        raise Unreadable(f"must be a text, not {shown(data)}")
    text: str = texts[0]
    return text


def _label(value: Any) -> str:
    return " ".join(re.split(r"[\s_-]+", plain(value).strip(_EDGES).casefold())) if isinstance(value, str) else ""


def is_same(option: Any, data: Any) -> bool:
    """Whether data is an option as it is: 1 is not true."""
    return type(option) is type(data) and option == data


def fit_choice(data: Any, options: tuple[Any, ...]) -> Any:
    """The option that ``data`` is, whatever its form.

    Raises:
        Unreadable: it is none of them, or could be several.
    """
    if isinstance(data, list) and len(data) == 1:
        return fit_choice(data[0], options)
    for option in options:
        if is_same(option, data):
            return option
    for fitting in (_options_by_number, _options_by_words, _options_by_side):
        found = fitting(data, options)
        if len(found) == 1:
            return found[0]
    raise Unreadable(f"must be {_menu(options)}, not {shown(data)}")


def _options_by_number(data: Any, options: tuple[Any, ...]) -> list[Any]:
    numbers = tuple(option for option in options if isinstance(option, int) and not isinstance(option, bool))
    # For 0 and 1 the words behind the digit matter, too: "1 - not supported" contradicts itself.
    if len(numbers) < 2 or isinstance(data, bool) or (isinstance(data, str) and set(numbers) == {0, 1}):
        return []
    try:
        return [int(scale_of(min(numbers), max(numbers), numbers).read_value(data))]
    except Unreadable:
        return []


def _options_by_words(data: Any, options: tuple[Any, ...]) -> list[Any]:
    """The options that a text is, or that it begins with before it goes on to explain."""
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
    """The options that say yes where the data does, or no, if there is one that says the opposite."""
    said = truth(data)
    sides = [(option, truth(option)) for option in options] if said is not None else []
    return [option for option, side in sides if side is said] if (not said) in [side for _, side in sides] else []


def _menu(options: tuple[Any, ...]) -> str:
    texts = [shown(option) for option in options[:12]]
    return " or ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]


def fit_enum(data: Any, enum: type[Enum]) -> Any:
    """The value of the member that ``data`` names by name or by value."""
    by_name = {member.name: member.value for member in enum}
    try:
        return by_name[fit_choice(data, tuple(by_name))]
    except Unreadable:
        return fit_choice(data, tuple(by_name.values()))


MAX_ITEMS = 5000
_AND = re.compile(r"[,;\n&]|\b(?:and|und|et|y|e|en|и|und)\b|和|と")
_NUMBERED = re.compile(r"\D{0,30}?(\d{1,4})\D{0,3}")


def items_of(data: Any, item: Any, key: str) -> list[Any]:
    """The items of a list under ``key`` whose items have the type ``item``, in their order, in whatever form the list comes.

    Raises:
        Unreadable: there is no list, or its numbers do not tell the order.
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
    """Whether an object is a list whose keys are numbers."""
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
    """The values of an object in the order of its keys, which are numbers; items that ask for their number get it."""
    numbers = [int(match.group(1)) for match in map(_NUMBERED.fullmatch, map(str, data)) if match]
    if sorted(numbers) not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
        raise Unreadable("does not number its items one by one")
    pairs = sorted(zip(numbers, data.values(), strict=True), key=itemgetter(0))
    fields = fields_of(item)
    asked = next((field for field in fields if field.is_number), None)
    return [value if asked is None else _with_number(value, number, asked, fields) for number, value in pairs]


def _with_number(value: Any, number: int, asked: FieldPlan, fields: tuple[FieldPlan, ...]) -> Any:
    """An item with the number under which it is in its list; a bare value is the only one that the item must have."""
    if not isinstance(value, dict):
        others = [field for field in fields if field.required and field is not asked]
        return {asked.key: number, others[0].key: value} if len(others) == 1 else value
    named = {number_of(said) for key, said in value.items() if asked.answers_to(key)} - {None}
    if named - {number}:
        raise Unreadable("gives an item two numbers")
    return value if named else {asked.key: number, **value}


def _numbers_in(data: str) -> list[str] | None:
    """The numbers that a text lists ("1, 3", "contexts 1 and 3"), none where it says that there are none; None for other texts."""
    if not data.strip() or (data.strip().isalpha() and says_nothing(data)):
        return []
    return [part for part in _AND.split(data) if part.strip()] if any(map(str.isdigit, data)) else None


def _items_of_text(data: str, item: Any) -> list[Any] | None:
    if item is str:
        return split_lines(data) if data.strip() and not is_blank(data.strip()) else None
    parts = re.split(r"[,;\n]", data, maxsplit=MAX_ITEMS)
    return [part.strip() for part in parts if part.strip()] if len(parts) > 1 else None


def holds_list(data: Any, key: str) -> bool:
    """Whether an object has a list under this key."""
    return isinstance(data, dict) and any(stem(inner) == stem(key) and isinstance(data[inner], list) for inner in data)


def _flattened(data: list[Any], key: str) -> list[Any]:
    """Items of a list of texts that come in lists, one per sentence."""
    flat: list[Any] = []
    for value in data:
        lists = [inner for inner in value.values() if isinstance(inner, list)] if isinstance(value, dict) else []
        if len(data) == 1 and holds_list(value, key):
            raise Unreadable("holds the object itself")
        flat.extend(lists[0] if len(lists) == 1 else [value])
    return flat


def _ordered(items: list[Any], item: Any) -> list[Any]:
    """Items in the order of their numbers, when they carry numbers that the model itself does not ask for."""
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


def telling_text(data: dict[str, Any], key: str) -> str | None:
    """The text that an object stands for: the one under a telling name, or the only one but for reasons and the like."""
    mine = stem(key)
    telling = {mine, "text", "content"} | RELATED.get(mine, CONTAINERS)
    texts = [(inner, value) for inner, value in data.items() if isinstance(value, str)]
    named = next((value for inner, value in texts if stem(inner) in telling), None)
    if named is not None or any(isinstance(value, (dict, list)) for value in data.values()):
        return named
    others = [value for inner, value in texts if name(inner) not in REASONS | ASIDES]
    return others[0] if len(others) == 1 else None


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
    if (field := plan.list_field) is not None and isinstance(data, (list, dict)):
        if isinstance(data, list) and len(data) > 1 and all(holds_list(item, field.name) for item in data):
            raise Unreadable("holds several answers; give one")
        return {field.key: _at(field.name, _fit_list, data, field.hint, field.name)}  # the list is all there is
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    scalar = plan.scalar_field
    if scalar is not None and not isinstance(data, list) and (isinstance(data, str) or scalar.is_choice):
        return {scalar.key: _fit_field(data, scalar)}
    raise Unrelated("must be an object")


def _at(path: str, fit: Any, *arguments: Any) -> Any:
    """Call ``fit``; a misfit inside is raised with ``path`` in front."""
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
    used = set(matched.values())
    fitted: dict[str, Any] = {}
    for field in plan.fields:
        if field.name in matched:
            value = data[matched[field.name]]
            if value is not None or field.needs_value:
                fitted[field.key] = _fit_field(value, field)
                _check_beside(data, field, fitted[field.key], used)
            elif item_hint(field.hint) is int:
                fitted[field.key] = []  # said, unlike a key that is missing
        elif field.required:
            raise Misfit("is missing", field.name)
    if plan.extra == "allow":
        fitted.update({key: value for key, value in data.items() if key not in used and key not in fitted})
    return fitted


def _check_beside(data: dict[str, Any], field: FieldPlan, value: Any, matched: set[str]) -> None:
    """Check that what stands beside the fields does not contradict one of them.

    A verdict may not be taken back ("supported": true, "verdict": "not supported"), and a field that comes under two of its names
    has one value ("for": [1] beside "supported_by": [] would be either).
    """
    is_reason = stem(field.name) in REASONS
    for key, other in data.items():
        beside = str(key)
        if beside in matched:
            continue
        reversed_ = isinstance(value, bool) and name(beside) in _JUDGED and truth(other) is (not value)
        is_twin = other is not None and not is_reason and field.is_named(beside)
        if reversed_ or (is_twin and _fit_field(other, field) != value):
            raise Misfit(f"and {beside!r} say different things; give one", field.name)


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
    """The value as the member of a union that it is already, else as the first that it can be made to fit."""
    if type(None) in options and (data is None or (str not in options and _is_null(data))):
        return None
    for option in options:
        if get_origin(option) is Literal and any(is_same(value, data) for value in get_args(option)):
            return data
        # Among several types, a text may be another one that is written as text.
        if option in _EXACT and type(data) is option and not (option is str and len(options) > _OPTIONAL):
            return _fit(data, option, key, limit)
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
