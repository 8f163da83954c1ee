"""One JSON value made to fit a plain type: true/"yes"/"1" for a 0/1 choice, "4" for a number, a list of reasons for a text.

The form gives way, the meaning does not: 2 is no yes, "maybe" is no verdict, 1.5 is no integer, true is no score,
null is nothing.
"""

from __future__ import annotations

import math
import re
from enum import Enum
from typing import Any

from .._prose._clean import plain
from .._prose._numbers import WORDS, scale_of, without_angles
from .._prose._unreadable import Unreadable, shown
from .._prose._verdict import truth
from ._keys import NUMBERED, REASONS, RELATED, WRITTEN, stem

_NUMERAL = re.compile(
    r"([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:e[+-]?\d{1,3})?)(?:\s{0,2}(?:/|out of)\s{0,2}(\d{1,6}(?:\.\d{1,3})?))?\.?"
)
_NAMED = re.compile(rf"(?:{'|'.join(sorted(NUMBERED))})s?[ _-]{{0,2}}(?:#|no\.? |nr\.? |number )?(?=\d)|#(?=\d)")
_LETTER = re.compile(r"\A(?:response|answer|option|assistant|model|choice|candidate) (?=\w\Z)")
_EDGES = " \t\r\n\"'`*_.,;:!()[]{}<>"
_TOO_LARGE = 1e308
_LONGEST_CHOICE = 500
_HEAD = re.compile(r"[^\w]*(.{1,60}?)\s*(?:[:,.;(–—]|\s-\s|-\s|$)", re.DOTALL)


def _is_flag(key: str) -> bool:
    """Whether a key names a verdict, so that a whole number under it is a yes or a no."""
    group = RELATED.get(stem(key))
    return group is WRITTEN["verdict"] or group is WRITTEN["noncommittal"]


def fit_bool(data: Any) -> bool:
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
    said = truth(data) if _is_flag(key) else None
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
    text = _text(data, is_reason=stem(key) in REASONS)
    if text is None:
        raise Unreadable(f"must be a text, not {shown(data)}")
    return text


def _text(data: Any, *, is_reason: bool) -> str | None:
    if isinstance(data, str):
        return data
    if isinstance(data, (int, float)) and not isinstance(data, bool):
        return str(data)
    if isinstance(data, list) and all(isinstance(item, str) for item in data):
        return "; ".join(data) if is_reason or len(data) == 1 else None
    if isinstance(data, dict):
        texts = [value for value in data.values() if isinstance(value, str)]
        return texts[0] if len(texts) == 1 else None
    return "" if data is None and is_reason else None


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
        if isinstance(data, str):
            return []
        raise Unreadable(f"must be {_menu(options)}, not {shown(data)}") from None


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
    """The value of the member that ``data`` names by value or by name."""
    values = tuple(member.value for member in enum)
    try:
        return fit_choice(data, values)
    except Unreadable:
        by_name = {member.name: member.value for member in enum}
        try:
            return by_name[fit_choice(data, tuple(by_name))]
        except Unreadable:
            raise Unreadable(f"must be {_menu(values)}, not {shown(data)}") from None
