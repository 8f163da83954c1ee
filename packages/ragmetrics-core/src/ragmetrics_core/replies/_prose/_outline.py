"""Data written as an outline: YAML-like blocks, and verdicts listed one by one.

A text is read as an outline only if every line belongs to it; a text with anything left over is prose, and prose is not
turned into data.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ._clean import tidy, without_tokens

_ENTRY = re.compile(r"(?P<key>[\"'*]{0,3}[^\W\d][\w ()/-]{0,40}[\"'*]{0,3})\s?[:：]\**(?:\s(?P<value>.*)|\s*)$")
_MAX_LINES = 2000
_MAX_DEPTH = 12
_MARK = re.compile(
    r"(?:^|\n|(?<=[.;!?,。；]) )[\s*#(\[\"'•-]{0,6}"
    r"(?:(?:statement|claim|item|fact|sentence|verdict|question|aussage|affirmation|陈述|声明)s?[\s#*]{0,2})?"
    r"(\d{1,3})\**\s?(?:[:.)\]：、]|-|–|—|=|→|\bis\b)\**\s?",
    re.IGNORECASE,
)
_MAX_INTRO = 200


class _Line(NamedTuple):
    indent: int
    text: str


def read_block(text: str) -> Any:
    """The data of a YAML-like text (mappings, lists of them, scalars as text), or None when it is something else."""
    lines = [
        _Line(len(line) - len(line.lstrip()), line.strip())
        for line in without_tokens(text).expandtabs(4).splitlines()
        if line.strip() and not line.strip().startswith(("```", "~~~", "---"))
    ]
    if not lines or len(lines) > _MAX_LINES:
        return None
    data, rest = _block(lines, 0, lines[0].indent, 0)
    return data if rest == len(lines) else None


def _block(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[Any, int]:
    if depth > _MAX_DEPTH:
        return None, index
    if lines[index].text.startswith("- "):
        return _sequence(lines, index, indent, depth)
    return _mapping(lines, index, indent, depth)


def _sequence(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while index < len(lines) and lines[index].indent == indent and lines[index].text.startswith("- "):
        inner = lines[index].text[2:].lstrip()
        offset = indent + len(lines[index].text) - len(inner)
        if _ENTRY.match(inner):
            lines[index] = _Line(offset, inner)
            item, index = _mapping(lines, index, offset, depth + 1)
        else:
            item, index = _scalar(inner), index + 1
        items.append(item)
    return items, index


def _mapping(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[dict[str, Any], int]:
    data: dict[str, Any] = {}
    key = None
    while index < len(lines) and lines[index].indent >= indent:
        line = lines[index]
        entry = _ENTRY.match(line.text) if line.indent == indent else None
        if entry is None:
            if key is None or line.indent == indent or not isinstance(data[key], str):
                break
            data[key] = f"{data[key]} {line.text}"
            index += 1
            continue
        key = entry["key"].strip("\"'*")
        if key in data:
            break
        value = (entry["value"] or "").strip()
        index += 1
        nested = index < len(lines) and (
            lines[index].indent > indent or (lines[index].indent == indent and lines[index].text.startswith("- "))
        )
        if value or not nested:
            data[key] = _scalar(value)
        else:
            data[key], index = _block(lines, index, lines[index].indent, depth + 1)
    return data, index


def _scalar(text: str) -> Any:
    stripped = text.strip("*").strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "\"'":
        return stripped[1:-1]
    return None if stripped in {"", "null", "~"} else stripped


def read_numbered(text: str) -> list[str] | None:
    """The texts behind the numbers 1, 2, 3 ..., in that order whatever their order in the text, or None."""
    normal = tidy(text)
    marks = list(_MARK.finditer(normal))
    numbers = [int(mark[1]) for mark in marks]
    if (
        not marks
        or len(marks) > _MAX_LINES
        or marks[0].start() > _MAX_INTRO
        or sorted(numbers) != list(range(1, len(marks) + 1))
    ):
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(normal)]
    texts = {number: normal[mark.end() : end].strip() for number, mark, end in zip(numbers, marks, ends, strict=True)}
    return [texts[number] for number in sorted(texts)]
