"""A tolerant JSON reader that walks the text once.

Models write almost-JSON: comments, single quotes, apostrophes inside them, Python literals, missing or trailing
commas, raw newlines, unquoted keys, brackets that are never closed. A regular expression cannot repair that and a
retry at every bracket takes quadratic time, so one iterative scanner with an explicit stack reads the text from
left to right and never goes back: whatever fails, the search for the next value goes on from where it failed.

The scanner is tolerant of form only. It closes brackets that the end of the text left open, but a string, key or
item cut in the middle is reported as ``cut`` and a value that stops making sense half way as ``broken``: nothing is
completed.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from ._tokens import SPACE, STOP, Stopped, read_bare, read_key, read_string

MAX_DEPTH = 64
OPENER = re.compile(r"[{\[]")
CLOSERS = {"{": "}", "[": "]", "(": ")"}
ENDS = frozenset("}])")

State = Literal["whole", "closed", "open", "cut", "broken"]


class Found(NamedTuple):
    """A JSON-like value in a text.

    ``state``: ``whole``; ``closed`` (only closing brackets of objects were missing); ``open`` (a list was still open, which may
    have had more items); ``cut`` (the text ends inside an item) or ``broken`` (stops being JSON after at least one item), where
    ``value`` holds what was read until then.
    """

    value: Any
    start: int
    end: int
    state: State


class _Frame:
    """A container under construction; ``repeated``: an object in it gave one key two different values."""

    __slots__ = ("closer", "items", "key", "need_item", "repeated", "serious", "value")

    def __init__(self, opener: str) -> None:
        self.closer = CLOSERS[opener]
        self.value: Any = {} if opener == "{" else []
        self.key: str | None = None
        self.need_item = False
        self.repeated = False
        self.serious = False
        self.items = 0

    def add(self, value: Any) -> None:
        self.items += 1
        self.need_item = False
        if self.key is None:
            # A bracket with numbers in prose is an interval or a citation; anything quoted or nested is data.
            self.serious = self.serious or isinstance(value, (str, dict, list))
            self.value.append(value)
            return
        self.serious = True
        if self.key in self.value and self.value[self.key] != value:
            self.repeated = True
        self.value[self.key] = value
        self.key = None

    def separate(self) -> None:
        """A comma: a key without a value has null, and another item must follow."""
        if self.key is not None:
            self.add(None)
        self.need_item = True

    def partial(self) -> Any:
        if self.key is not None:
            self.value.setdefault(self.key, None)
        return self.value


def scan(text: str) -> list[Found]:
    """All outermost JSON-like objects and lists of ``text``, in order; linear in its length."""
    found: list[Found] = []
    position = 0
    while match := OPENER.search(text, position):
        item, position, open_brackets = _read(text, match.start())
        if item is not None:
            found.append(item)
            if item.state == "broken":
                position = _skip(text, position, open_brackets)
    return found


def _skip(text: str, position: int, open_brackets: int) -> int:
    """Leave a broken value behind: what stands inside its brackets is no answer of its own."""
    for match in re.compile(r"[{}\[\]]").finditer(text, position):
        open_brackets += 1 if match.group() in "{[" else -1
        if open_brackets == 0:
            return match.end()
    return len(text)


def _read(text: str, start: int) -> tuple[Found | None, int, int]:
    """The value that opens at ``start``, where to go on, and how many brackets are still open there."""
    stack: list[_Frame] = [_Frame(text[start])]
    position = start + 1
    serious = False
    while True:
        position = SPACE.match(text, position).end()  # type: ignore[union-attr]
        frame = stack[-1]
        serious = serious or frame.serious
        if position >= len(text) or STOP.match(text, position):
            return _at_end(stack, start, position)
        char = text[position]
        if char in ",;":
            frame.separate()
            position += 1
            continue
        if char in ENDS:
            if char != frame.closer or frame.key is not None:
                return _failed(stack, start, position, serious)
            position += 1
            if len(stack) == 1:
                return Found(frame.value, start, position, "broken" if frame.repeated else "whole"), position, 0
            _close(stack)
            continue
        try:
            position = _step(text, position, stack)
        except Stopped as stopped:
            if stopped.cut:
                return _cut(stack, start, stopped.value)
            return _failed(stack, start, max(stopped.position, start + 1), serious)


def _step(text: str, position: int, stack: list[_Frame]) -> int:
    """Read a key, an opening bracket or a scalar at ``position``; return the position after it."""
    frame = stack[-1]
    if frame.closer == "}" and frame.key is None:
        frame.key, position = read_key(text, position)
        return position
    char = text[position]
    if char in CLOSERS:
        if len(stack) >= MAX_DEPTH:
            raise Stopped(position)
        stack.append(_Frame(char))
        return position + 1
    in_object = frame.closer == "}"
    quoted = read_string(text, position, in_object=in_object)
    if quoted is None:
        value, position = read_bare(text, position, in_object=in_object)
    else:
        value, position = quoted
    frame.add(value)
    return position


def _close(stack: list[_Frame]) -> None:
    """Put the innermost container into the one around it."""
    inner = stack.pop()
    stack[-1].repeated = stack[-1].repeated or inner.repeated
    stack[-1].add(inner.partial())


def _fold(stack: list[_Frame]) -> Any:
    """The outermost value with every open container put into its parent."""
    while len(stack) > 1:
        _close(stack)
    return stack[0].partial()


def _at_end(stack: list[_Frame], start: int, position: int) -> tuple[Found | None, int, int]:
    """The text is over (or its fence is): a value only when nothing but closing brackets is missing."""
    top = stack[-1]
    complete = top.items > 0 and top.key is None and not top.need_item
    if len(stack) == 1 and top.closer == "]" and not top.items:
        return None, max(position, start + 1), 0
    listing = any(frame.closer == "]" for frame in stack)
    value = _fold(stack)
    if complete:
        state: State = "broken" if stack[0].repeated else "open" if listing else "closed"
    else:
        state = "cut"
    return Found(value, start, position, state), max(position, start + 1), 0


def _cut(stack: list[_Frame], start: int, value: Any) -> tuple[Found, int, int]:
    """The text ends inside a string; what was read of it stays visible to tell what the object was about."""
    top = stack[-1]
    if top.closer != "}" or top.key is not None:
        top.add(value)
    else:
        top.key = str(value)
    return Found(_fold(stack), start, 2**62, "cut"), 2**62, 0


def _failed(stack: list[_Frame], start: int, position: int, serious: bool) -> tuple[Found | None, int, int]:
    """Not JSON after all. Braces of prose leave nothing behind; a real beginning is reported as broken."""
    depth = len(stack)
    if not serious:
        return None, max(position, start + 1), 0
    return Found(_fold(stack), start, position, "broken"), position, depth
