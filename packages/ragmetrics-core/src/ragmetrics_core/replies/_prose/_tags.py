"""Answers in tags, such as ``<answer>no</answer>``, as the object they stand for.

Only tags that are closed somewhere count, markup of text does not, and a tag that is left open ends with its
parent. Repeated tags become a list.
"""

from __future__ import annotations

import html
import re
from typing import Any

from ._words import word_set

_TAG = re.compile(r"<(?P<close>/?)(?P<tag>[A-Za-z_][\w.-]{0,40})(?:\s[^<>]{0,200})?(?P<empty>/?)>")
_MARKUP = word_set(
    "b i u s em strong code br p span sub sup mark small tt pre a hr font center div h1 h2 h3 h4 h5 h6 q "
    "blockquote html body"
)
_MAX_DEPTH = 20


class _Element:
    """An open tag: its children by name, and the text between them."""

    __slots__ = ("children", "tag", "text")

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.children: dict[str, list[Any]] = {}
        self.text: list[str] = []

    def value(self) -> Any:
        if self.children:
            return {tag: values[0] if len(values) == 1 else values for tag, values in self.children.items()}
        return html.unescape("".join(self.text)).strip()


def read_tags(text: str) -> dict[str, Any] | None:
    """The elements of ``text`` as an object, or None when it has none; text outside of tags is left out."""
    if "</" not in text:
        return None
    stack = [_Element("")]
    position = 0
    for match in _TAG.finditer(text):
        tag = match["tag"].casefold()
        if tag in _MARKUP:
            continue
        stack[-1].text.append(text[position : match.start()])
        position = match.end()
        if match["empty"]:
            continue
        if not match["close"]:
            if len(stack) > _MAX_DEPTH:
                return None
            stack.append(_Element(tag))
        elif any(element.tag == tag for element in stack[1:]):
            _close(stack, tag)
    # What is still open was never closed by anything: not an element.
    root = stack[0]
    return {tag: values[0] if len(values) == 1 else values for tag, values in root.children.items()} or None


def outside_tags(text: str) -> str:
    """What stands outside of all closed elements."""
    parts = []
    position = 0
    for match in _TAG.finditer(text):
        if match["close"] or match["empty"] or match.start() < position or match["tag"].casefold() in _MARKUP:
            continue
        end = text.find(f"</{match['tag']}>", match.end())
        if end >= 0:
            parts.append(text[position : match.start()])
            position = end + len(match["tag"]) + 3
    return " … ".join([*parts, text[position:]])


def _close(stack: list[_Element], tag: str) -> None:
    while True:
        element = stack.pop()
        stack[-1].children.setdefault(element.tag, []).append(element.value())
        if element.tag == tag:
            return
