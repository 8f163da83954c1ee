"""Where a JSON value stands in a text: spacing, kinds of quotes, escapes, the order of keys and what stands around it aside.

The value is known, so nothing has to be parsed, and near-JSON is found too: both sides are written without blanks, quotes and
escapes, and compared part by part. That is looser than equality of JSON ("4" is 4), and stricter than any reading.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from ._wording import to_json

__all__ = ["Squeezed", "spans_of", "squeeze", "stands_in"]

_FILLER = re.compile(
    r"\\+u(?P<high>d[89ab][0-9a-f]{2})\\+u(?P<low>d[c-f][0-9a-f]{2})|\\+u(?P<code>[0-9a-f]{4})|\\+[nrtbf]?"
    r"|&(?:quot|apos|amp|lt|gt|#x?[0-9a-f]{2,4});|[\s\x08\"'`“”„‘’\u200b\ufeff]+",
    re.IGNORECASE,
)
_MAX_DEPTH = 40
_MAX_STARTS = 1000

Squeezed = tuple[str, list[int]]
"""A text without blanks, quotes and escapes, and where each of its characters stood."""


def _meant(match: re.Match[str]) -> str:
    """What is left of a piece of filler: the character that an escape means, unless that is filler too."""
    if match["high"]:
        return chr(0x10000 + ((int(match["high"], 16) - 0xD800) << 10) + int(match["low"], 16) - 0xDC00)
    if match["code"]:
        meant = chr(int(match["code"], 16))
    elif match[0][0] == "&":
        meant = html.unescape(match[0])
    else:
        return ""
    return "" if meant == "\\" or _FILLER.fullmatch(meant) else meant


def squeeze(text: str) -> Squeezed:
    """The text without what copying changes."""
    parts: list[str] = []
    places: list[int] = []
    at = 0
    for match in _FILLER.finditer(text):
        meant = _meant(match)
        parts += (text[at : match.start()], meant)
        places.extend(range(at, match.start()))
        places.extend([match.start()] * len(meant))
        at = match.end()
    parts.append(text[at:])
    places.extend(range(at, len(text)))
    return "".join(parts), places


def _written(value: Any, depth: int = 0) -> Any:
    """A JSON value with its texts squeezed: a dict of keys with their colons, a list, or the ways to write a scalar."""
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        return {_plain(str(key)) + ":": _written(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list) and depth < _MAX_DEPTH:
        return [_written(item, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return (to_json(value), str(value))
    if isinstance(value, float) and value.is_integer():
        return (to_json(value), str(int(value)))
    return (_plain(value) if isinstance(value, str) else _FILLER.sub(_meant, to_json(value)),)


def _plain(text: str) -> str:
    return _FILLER.sub(_meant, to_json(text))


def _end(text: str, at: int, value: Any) -> int:
    """Where a value ends that begins at ``at``; -1 where another one, or none, stands there."""
    if isinstance(value, tuple):
        return next((at + len(way) for way in value if text.startswith(way, at)), -1)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not text.startswith(opening, at):
        return -1
    at += 1
    left: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
    for item in value:
        inner = item
        if isinstance(value, dict):  # in any order
            key = next((key for key in left if text.startswith(key, at)), None)
            if key is None:
                return -1
            at, inner = at + len(key), left.pop(key)
        at = _end(text, at, inner)
        if at < 0 or not text.startswith((",", closing), at):
            return -1
        at += text.startswith(",", at)
    return at + 1 if text.startswith(closing, at) else -1


def _starts(value: Any) -> str:
    """What a value that is no scalar may begin with."""
    if isinstance(value, dict):
        return r"\{(?:" + "|".join(map(re.escape, value)) + ")"
    return r"\[" + (_starts(value[0]) if value and not isinstance(value[0], tuple) else "")


def spans_of(value: Any, text: Squeezed) -> list[tuple[int, int]]:
    """Where an object, or a list, stands in a text, from left to right, as positions in the text before it was squeezed."""
    squeezed, places = text
    written = _written(value)
    spans: list[tuple[int, int]] = []
    last = 0
    for match in islice(re.finditer(_starts(written), squeezed), _MAX_STARTS):
        if match.start() >= last and (end := _end(squeezed, match.start(), written)) > 0:
            spans.append((places[match.start()], places[end - 1] + 1))
            last = end
    return spans


def stands_in(value: Any, text: Squeezed) -> bool:
    """Whether an object, or a list, stands in a text."""
    return bool(spans_of(value, text))
