"""Find JSON in a text, as models write it, and decode it tolerantly.

Models write almost-JSON: comments, single quotes, apostrophes inside single quotes, Python literals, missing or trailing
commas, raw newlines, unquoted keys, brackets that are never closed. A regular expression cannot repair that, and a
retry at every bracket takes quadratic time. So one iterative scanner with an explicit stack reads the text from
left to right and never goes back. If a value fails, the search for the next value continues at the point of failure.

The scanner is tolerant of form only. It closes brackets that the end of the text left open. A string, key or item that is cut in
the middle is reported as ``cut``, and a value that stops being JSON half way as ``broken``. Nothing is completed.

The hard question is where a string ends if quotes inside it are not escaped (``'the harbour's depth'``, ``"says
"no" twice"``). A quote closes its string only if the text after it can follow a value there: a closing bracket, the
end, or a comma and then another key or item. Every look-ahead is bounded, so the reading time stays linear.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from .._kernel._wording import question_of

_BLANK = r"[\s\u200b\u200e\u200f\u2060\ufeff]"
_GAP = rf"{_BLANK}{{0,200}}(?:(?<=\n)>{_BLANK}{{0,20}})?(?:(?://|\#)[^\n]{{0,200}}{_BLANK}{{0,200}}|/\*[^*]{{0,200}}\*/{_BLANK}{{0,200}})?"
_OPEN = "\"'“‘„”’"
_QUOTED_KEY = rf"[{_OPEN}][^\"'“”‘’\n]{{1,80}}[\"'”’“]{_BLANK}{{0,50}}:"
_BARE_KEY = rf"[^\W\d][\w .-]{{0,40}}{_BLANK}{{0,50}}:"
_CUT_KEY = rf"[{_OPEN}][^\"'“”‘’\n]{{0,80}}[\"'”’]?{_BLANK}{{0,50}}\Z"
_STOP = r"```|~~~|</|<\||\[/?INST\]"
_ITEM = rf"[{_OPEN}\[{{(]|-?\d[\d.]{{0,20}}{_BLANK}{{0,50}}[,\]]|(?:true|false|null|None|True|False)\b"

SPACE = re.compile(rf"(?:{_BLANK}+|//[^\n]*|\#[^\n]*|/\*[^*]{{0,300}}\*+/|(?<=\n)>)*")
STOP = re.compile(_STOP)

_AFTER_IN_OBJECT = re.compile(
    rf"{_GAP}(?:\Z|[}}\])]|(?:[,;]{_GAP})+(?:\Z|[}}\]]|{_QUOTED_KEY}|{_BARE_KEY}|{_CUT_KEY})|{_STOP}|(?<=\s){_QUOTED_KEY}|\n{_BARE_KEY})"
)
_AFTER_IN_LIST = re.compile(
    rf"{_GAP}(?:\Z|[}}\])]|(?:[,;]{_GAP})+(?:\Z|[}}\]]|{_ITEM}|\.\.\.|…)|{_STOP}|(?<=\s)[{_OPEN}]\w)"
)
_AFTER_KEY = re.compile(rf"{_BLANK}{{0,50}}(?::|=>?)")
_AFTER_BARE = re.compile(rf"{_GAP}(?:\Z|[,;}}\])]|{_STOP}|{_QUOTED_KEY}|(?<=\n){_BARE_KEY})")

_QUOTE = re.compile(rf"[{_OPEN}]")
_CLOSING = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "„": '“”"', "‘": "’'", "’": "’'"}
# For each opening quote, what may end the string: a closing quote, or a backslash before the next character.
_NEXT = {opening: re.compile(rf"[{closing}\\]") for opening, closing in _CLOSING.items()}
_PLAIN_KEY = re.compile(r"([^\W][\w .()/-]{0,60}?)\s{0,50}(?::|=>?)")
# The end of a sentence: the open brace was part of prose.
_PROSE = re.compile(r"\w{2}\.\s+\w")
_BARE = re.compile(r"[^\s,\]}{\[:\"'][^,;\]}{\[\n\"“]{0,80}")
# A closing quote: after a word and before a space. A quotation inside an item would begin with an opening quote.
_ENDED = re.compile(r"\S[\"“”](?=[\s,;])")
_COMMENT = re.compile(r"\s+(?://|#)|\s*/\*")
_INTEGER = re.compile(r"[+-]?\d{1,300}\Z")
_FLOAT = re.compile(r"[+-]?(?:\d{1,300}\.\d{0,300}|\.\d{1,300}|\d{1,300})(?:[eE][+-]?\d{1,4})?\Z")
_LITERALS: dict[str, Any] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "None": None, "nil": None, "undefined": None, "NULL": None,
    "NaN": float("nan"), "nan": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"),
}  # fmt: skip

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MAX_KEY = 200


class Stopped(Exception):
    """The text is not JSON from ``position`` on. If ``cut``, the text ends inside the string ``value``."""

    def __init__(self, position: int, *, cut: bool = False, value: str = "") -> None:
        super().__init__(position)
        self.position = position
        self.cut = cut
        self.value = value


def _one_escape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))
    if code in _ESCAPED:
        return _ESCAPED[code]
    # An unknown escape of a letter is most likely LaTeX; an escape of punctuation is superfluous.
    return match.group() if code.isalnum() else code


def unescape(text: str) -> str:
    """Undo backslash escapes. In illegal escapes, punctuation loses its backslash and letters keep it."""
    if "\\" not in text:
        return text
    # two escapes may be the two halves of one character, which UTF-16 joins
    return _ESCAPE.sub(_one_escape, text).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def read_string(text: str, position: int, *, in_object: bool) -> tuple[str, int] | None:
    """Return the quoted string at ``position`` and the position after it; None if there is no quote at ``position``."""
    if not _QUOTE.match(text, position):
        return None
    after = _AFTER_IN_OBJECT if in_object else _AFTER_IN_LIST
    following = _NEXT[text[position]]
    start = index = position + 1
    first = True
    while match := following.search(text, index):
        index = match.end()
        if match.group() == "\\":
            index += 1
        elif after.match(text, index):
            return unescape(text[start : match.start()]), index
        elif first and not in_object and match.group() not in "'’" and _ENDED.match(text, max(start, index - 2)):
            # the item has ended and stray words follow; the next quoted text is not its second half
            raise Stopped(index)
        else:
            first = False
    raise Stopped(len(text), cut=True, value=unescape(text[start:]))


def read_key(text: str, position: int) -> tuple[str, int]:
    """Return the key at ``position``, quoted or not, and the position after its colon."""
    if not _QUOTE.match(text, position):
        match = _PLAIN_KEY.match(text, position)
        if match is None or _PROSE.search(match.group(1)):
            raise Stopped(position)
        return match.group(1), match.end()
    following = _NEXT[text[position]]
    start = index = position + 1
    limit = start + _MAX_KEY
    while match := following.search(text, index, limit):
        index = match.end()
        if match.group() == "\\":
            index += 1
        elif colon := _AFTER_KEY.match(text, index):
            return unescape(text[start : match.start()]), colon.end()
    if limit >= len(text):
        raise Stopped(len(text), cut=True, value=text[start:])
    raise Stopped(min(limit, index))


def read_bare(text: str, position: int, *, in_object: bool) -> tuple[Any, int]:
    """Return a number, a literal or (as a value in an object) unquoted words, and the position after it."""
    match = _BARE.match(text, position)
    if match is None:
        raise Stopped(position)
    token = _COMMENT.split(match.group(), maxsplit=1)[0].strip()
    if token in {"...", "…"}:
        raise Stopped(position, cut=True)
    end = position + len(token)
    if not _AFTER_BARE.match(text, end):
        raise Stopped(end)
    if token in _LITERALS:
        return _LITERALS[token], end
    if _INTEGER.match(token):
        return int(token), end
    if _FLOAT.match(token):
        return float(token), end
    if in_object:
        return token, end
    raise Stopped(position)


MAX_DEPTH = 64
OPENER = re.compile(r"[{\[]")
CLOSERS = {"{": "}", "[": "]", "(": ")"}
ENDS = frozenset("}])")

State = Literal["whole", "closed", "open", "cut", "broken"]


class Found(NamedTuple):
    """A JSON-like value in a text.

    ``state`` is ``whole``; ``closed`` (only closing brackets of objects were missing); ``open`` (a list was still open and may
    have had more items); ``cut`` (the text ends inside an item); or ``broken`` (the text stops being JSON, or an object gives one
    key two values). If ``cut`` or ``broken``, ``value`` is what was read until then.
    """

    value: Any
    start: int
    end: int
    state: State


class _Frame:
    """A container under construction. ``repeated``: an object in it gave one key two different values."""

    __slots__ = ("closer", "key", "need_item", "repeated", "value")

    def __init__(self, opener: str) -> None:
        self.closer = CLOSERS[opener]
        self.value: Any = {} if opener == "{" else []
        self.key: str | None = None
        self.need_item = False
        self.repeated = False

    def add(self, value: Any) -> None:
        self.need_item = False
        if self.key is None:
            self.value.append(value)
            return
        if self.key in self.value and self.value[self.key] != value:
            self.repeated = True
        self.value[self.key] = value
        self.key = None

    def finish(self) -> Any:
        """Return the container. A key without a value gets null."""
        if self.key is not None:
            self.value.setdefault(self.key, None)
        return self.value

    def separate(self) -> None:
        """Process a comma: a key without a value gets null, and another item must follow."""
        if self.key is not None:
            self.add(None)
        self.need_item = True


def scan(text: str) -> list[Found]:
    """Return all outermost JSON-like objects and lists of ``text``, in order. The time is linear in its length."""
    found: list[Found] = []
    position = 0
    while match := OPENER.search(text, position):
        item, position = _read(text, match.start())
        if item is not None:
            found.append(item)
    return found


def _read(text: str, start: int) -> tuple[Found | None, int]:
    """Return the value that opens at ``start``, and the position where the search continues."""
    stack: list[_Frame] = [_Frame(text[start])]
    position = start + 1
    try:
        while True:
            position = SPACE.match(text, position).end()  # type: ignore[union-attr]
            frame = stack[-1]
            if position >= len(text) or STOP.match(text, position):
                return _at_end(stack, start, max(position, start + 1))
            char = text[position]
            if char in ",;":
                frame.separate()
                position += 1
            elif char not in ENDS:
                position = _step(text, position, stack)
            elif char != frame.closer or frame.key is not None:
                raise Stopped(position)
            elif len(stack) > 1:
                _close(stack)
                position += 1
            else:
                state: State = "broken" if frame.repeated else "whole"
                return Found(frame.value, start, position + 1, state), position + 1
    except Stopped as stopped:
        return _at_stop(stack, start, stopped)


def _step(text: str, position: int, stack: list[_Frame]) -> int:
    """Read a key, an opening bracket or a scalar at ``position``; return the position after it."""
    frame = stack[-1]
    in_object = frame.closer == "}"
    if in_object and frame.key is None:
        frame.key, position = read_key(text, position)
        return position
    char = text[position]
    if char in CLOSERS:
        if len(stack) >= MAX_DEPTH:
            raise Stopped(position)
        stack.append(_Frame(char))
        return position + 1
    quoted = read_string(text, position, in_object=in_object)
    value, position = quoted or read_bare(text, position, in_object=in_object)
    frame.add(value)
    return position


def _close(stack: list[_Frame]) -> None:
    """Add the innermost container to its parent."""
    inner = stack.pop()
    stack[-1].repeated = stack[-1].repeated or inner.repeated
    stack[-1].add(inner.finish())


def _fold(stack: list[_Frame]) -> Any:
    """Add every open container to its parent, and return the outermost value."""
    while len(stack) > 1:
        _close(stack)
    return stack[0].finish()


def _at_end(stack: list[_Frame], start: int, position: int) -> tuple[Found | None, int]:
    """Finish the value at the end of the text or of its fence. If more than closing brackets is missing, its state is ``cut``."""
    top = stack[-1]
    complete = bool(top.value) and top.key is None and not top.need_item
    if len(stack) == 1 and top.closer == "]" and not top.value:
        return None, position
    listing = any(frame.closer == "]" for frame in stack)
    value = _fold(stack)
    state: State = "broken" if stack[0].repeated else "open" if listing else "closed"
    return Found(value, start, position, state if complete else "cut"), position


def _at_stop(stack: list[_Frame], start: int, stopped: Stopped) -> tuple[Found | None, int]:
    """Finish the value at the point where the text is cut inside a string, or stops being JSON.

    If it is cut, the value keeps the beginning of the string. If it stops being JSON, braces in prose give no value, nor does a
    bracket with numbers, which is an interval or a citation; anything else is a broken value.
    """
    top = stack[-1]
    if stopped.cut:
        if top.closer != "}" or top.key is not None:
            top.add(stopped.value)
        else:
            top.key = stopped.value
        return Found(_fold(stack), start, 2**62, "cut"), 2**62
    top.key = None
    value = _fold(stack)
    position = max(stopped.position, start + 1)
    return (Found(value, start, position, "broken") if _is_data(value) else None), position


def _is_data(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_is_data, value))
    return isinstance(value, str) or (isinstance(value, dict) and bool(value))


_FENCED = re.compile(r"\s*(?:```|~~~)[ \t]*[\w+-]{0,20}[ \t]*\r?\n(.*?)(?:```|~~~)?\s*\Z", re.DOTALL)
_JSONISH = re.compile(
    r"[\s`~>*]*(?:json\w?|javascript|python)?\s*(?:\{|\[\s*[\[{\"'“])|[^\n]{0,200}\n?```json", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:quot|apos|lbrace|lcub|lbrack|lsqb|#x?[0-9a-f]{2,4});", re.IGNORECASE)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def decoder_of(first: frozenset[str], is_known: Callable[[dict[str, Any]], bool]) -> json.JSONDecoder:
    """Make a decoder that refuses repeated keys and unknown objects. An object is known if all its keys are in ``first``, or
    ``is_known`` accepts it.
    """

    def built(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(pairs)
        if len(data) != len(pairs):
            raise ValueError("a key is repeated")
        # for most objects the first check is enough
        if not first.issuperset(data) and not is_known(data):
            raise ValueError("a key is not known")
        return data

    return json.JSONDecoder(object_pairs_hook=built, parse_float=_finite, parse_constant=_finite, strict=False)


_DECODER = decoder_of(frozenset(), lambda _: True)


def clean_json(text: str, decoder: json.JSONDecoder = _DECODER) -> tuple[Any] | None:
    """Return the value of a text that is JSON and nothing else, in a tuple (the value may be null); None for any other text.

    Repeated keys and numbers that are not finite are refused here, because the standard library accepts them silently. A value
    that the decoder refuses is not JSON either.
    """
    try:
        value = decoder.decode(text)
    except (ValueError, RecursionError):
        # ValueError: bad syntax, a value that the decoder refuses, or an integer of thousands of digits.
        # RecursionError: deeper nesting than any answer has.
        return None
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        return None
    return (value,)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a value is nested more than ``levels`` deep."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(_is_deeper(child, levels - 1) for child in inner)


def decode(text: str) -> tuple[Any] | None:
    """Return the same as ``clean_json``, but also accept JSON inside one code fence or after a byte order mark."""
    stripped = text.strip("\ufeff\u200b\u2060 \t\r\n\u00a0")
    value = clean_json(stripped)
    if value is None and (match := _FENCED.match(stripped)):
        value = clean_json(match.group(1).strip())
    return value


def unfenced(text: str) -> str:
    """Return the text inside a code fence that surrounds all of it; any other text unchanged."""
    match = _FENCED.match(text)
    # text that continues after the fence is not inside it
    return match.group(1) if match and "```" not in match.group(1) and "~~~" not in match.group(1) else text


def embedded(text: str) -> Any:
    """Return the JSON value that a string contains; any other string unchanged."""
    stripped = text.strip()
    if not stripped or stripped[0] not in '{["`':
        return text
    value = decode(stripped)
    if value is not None:
        return value[0]
    found = scan(stripped)
    return found[0].value if len(found) == 1 and found[0].state == "whole" and found[0].start < 9 else text


def is_jsonish(text: str) -> bool:
    """Whether a text begins like JSON, so that it must not be read as prose if it is not valid JSON."""
    return bool(_JSONISH.match(text))


def views(text: str) -> Iterator[str]:
    """Yield the text, then the text without HTML entities and the text without backslash escapes, if it has them."""
    yield text
    asked = question_of(text)
    if _ENTITY.search(text):
        # html.unescape on the whole text would change more than the characters of JSON syntax.
        yield asked.on(_ENTITY.sub(lambda match: html.unescape(match.group()), text))
    if '\\"' in text:
        yield asked.on(unescape(text))
