"""Where a JSON value stands in a text: spacing, kinds of quotes, escapes, case, the order of keys and what stands around it aside.

The value is known, so nothing has to be parsed, and near-JSON is found too: both sides are written without blanks, quotes and
escapes, and compared part by part. That is looser than equality of JSON ("4" is 4), and stricter than any reading.
"""

from __future__ import annotations

import html
import re
import string
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from ._wording import to_json

_FILLER = re.compile(
    r"\\+u(?P<high>d[89ab][0-9a-f]{2})\\+u(?P<low>d[c-f][0-9a-f]{2})|\\+u(?P<code>[0-9a-f]{4})|\\+[nrtbf]?"
    r"|&(?:quot|apos|amp|lt|gt|#x?[0-9a-f]{2,4});|[\s\x08\"'`“”„‘’\u200b\ufeff]+",
    re.IGNORECASE,
)
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # as many characters as before
_COMMENT = re.compile(r"(?<=[{\[,\n\"\]}])[ \t]{0,40}(?://[^\n]{0,500}|/\*[^*]{0,500}\*/)")
_LEFT_OUT = re.compile(r"(?:\.\.\.|…)[\]}]{0,9}\Z")
_NO_WORD = re.compile(r"[\W_]+")
_FORM = re.compile(r"(?:the|field|key|name|value|input|data|json|ya?ml|xml|md|markdown)*")
_MAX_DEPTH = 40
_MAX_STARTS = 1000
_CUT = sys.maxsize
"""The end of a value that the text does not hold to the end."""

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
    return "".join(parts).translate(_LOWER), places


def uncommented(text: str) -> str:
    """The text with blanks in the place of comments."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text) if "//" in text or "/*" in text else text


def _written(value: Any, depth: int = 0) -> Any:
    """A JSON value with its texts squeezed: a dict of keys with their colons, a list, or the ways to write a scalar."""
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        return {_plain(str(key)) + ":": _written(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list) and depth < _MAX_DEPTH:
        return [_written(item, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return (to_json(value), str(value).lower())
    if isinstance(value, float) and value.is_integer():
        return (to_json(value), str(int(value)))
    return (_plain(value),)


def _plain(value: Any) -> str:
    return _FILLER.sub(_meant, to_json(value)).translate(_LOWER)


def _end(text: str, at: int, value: Any, stop: int) -> int:
    """Where a value ends that begins at ``at``; -1 where another one, or none, is there, ``_CUT`` where the text stops first."""
    if isinstance(value, tuple):
        end = next((at + len(way) for way in value if text.startswith(way, at)), -1)
        return _CUT if end < 0 and _are_cut(value, text, at, stop) else end
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not text.startswith(opening, at):
        return _CUT if at >= stop else -1
    at += 1
    left: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
    for item in value:
        inner = item
        if isinstance(value, dict):  # in any order
            key = next((key for key in left if text.startswith(key, at)), None)
            if key is None:
                return _CUT if _are_cut(left, text, at, stop) else -1
            at, inner = at + len(key), left.pop(key)
        at = _end(text, at, inner, stop)
        if at < 0 or at == _CUT:
            return at
        if not text.startswith((",", closing), at):
            return _CUT if at >= stop else -1
        at += text.startswith(",", at)
    return at + 1 if text.startswith(closing, at) else _CUT if at >= stop else -1


def _are_cut(ways: Iterable[str], text: str, at: int, stop: int) -> bool:
    """Whether the text stops within one of these ways to go on."""
    if stop == _CUT:
        return False
    rest = text[at:stop]
    return any(way.startswith(rest) for way in ways)


def _goes_on(text: str, at: int, value: Any, stop: int) -> bool:
    """Whether an object that is cut has its first field, and goes on, or had no other."""
    key = next((key for key in value if text.startswith(key, at + 1)), None)
    end = -1 if key is None else _end(text, at + 1 + len(key), value[key], stop)
    return 0 < end < _CUT and (len(value) == 1 or text.startswith(",", end))


def _starts(value: Any) -> str:
    """What a value that is no scalar may begin with."""
    if isinstance(value, dict):
        return r"\{(?:" + "|".join(map(re.escape, value)) + ")"
    return r"\[" + (_starts(value[0]) if value and not isinstance(value[0], tuple) else "")


def spans_of(value: Any, text: Squeezed, *, cut: bool = False) -> list[tuple[int, int]]:
    """Where an object, or a list, stands in a text, from left to right, as positions in the text before it was squeezed.

    Args:
        value: the object or list.
        text: where it is looked for.
        cut: whether an object counts as well of which the end of the text, or "...", has cut off some fields.
    """
    squeezed, places = text
    written = _written(value)
    spans: list[tuple[int, int]] = []
    last = 0
    left_out = _LEFT_OUT.search(squeezed, max(0, len(squeezed) - 20)) if cut else None
    stop = _CUT if not cut else left_out.start() if left_out else len(squeezed)
    for match in islice(re.finditer(_starts(written), squeezed), _MAX_STARTS):
        start = match.start()
        end = _end(squeezed, start, written, stop) if start >= last else -1
        if end == _CUT:
            end = len(squeezed) if _goes_on(squeezed, start, written, stop) else -1
        if end > 0:
            spans.append((places[start], places[end - 1] + 1))
            last = end
    return spans


def stands_in(value: Any, text: Squeezed) -> bool:
    """Whether an object, or a list, stands in a text."""
    return bool(spans_of(value, text))


def says_only(fields: Mapping[str, Any], text: Squeezed) -> bool:
    """Whether a text is all these fields with their values, and nothing else: as YAML, XML, headings, a table, several objects."""
    rest = _NO_WORD.sub("", text[0])
    written = {_words(name): _words(value) for name, value in fields.items()}
    for name, value in sorted(written.items(), key=lambda item: -len(item[1])):
        if name + value not in rest:
            return False
        rest = rest.replace(name + value, " ", 1)
    for name in written:  # once more in the tags that close
        rest = rest.replace(name, " ")
    return all(map(_FORM.fullmatch, rest.split()))


def _words(value: Any) -> str:
    return _NO_WORD.sub("", _plain(value))
