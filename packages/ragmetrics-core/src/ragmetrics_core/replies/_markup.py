"""Read data that are written as tags (``<answer>no</answer>``), as a Markdown table, or as an outline in the style of YAML.

A tag counts only if it or an enclosing tag is closed; tags that format text do not count. A tag that is left open ends with its
parent. A text is read as a table or an outline only if every line belongs to it. If it has any other line, it is prose, and prose
is not turned into data.
"""

from __future__ import annotations

import html
import re
from typing import Any, NamedTuple

from ._text import outside, tidy, without_tokens
from ._words import word_set

_TAG = re.compile(r"<(?P<close>/?)(?P<tag>[A-Za-z_][\w.-]{0,40})(?:\s[^<>]{0,200})?(?P<empty>/?)>")
_MARKUP = word_set(
    "b i u s em strong code br p span sub sup mark small tt pre a hr font center div h1 h2 h3 h4 h5 h6 q "
    "blockquote html body"
)
_MOST_TAGS_DEEP = 20


class _Element:
    """An open tag: its children by name, and the text between them."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.children: dict[str, list[Any]] = {}
        self.text = ""

    def as_object(self) -> dict[str, Any]:
        return {tag: values[0] if len(values) == 1 else values for tag, values in self.children.items()}


def read_tags(text: str) -> dict[str, Any] | None:
    """Return the elements of ``text`` as an object; None if it has no elements. Text outside the tags is left out."""
    if "</" not in text:
        return None
    stack = [_Element("")]
    position = 0
    for match in _TAG.finditer(text):
        tag = match["tag"].casefold()
        if tag in _MARKUP:
            continue
        stack[-1].text += text[position : match.start()]
        position = match.end()
        if match["empty"]:
            continue
        if not match["close"]:
            if len(stack) > _MOST_TAGS_DEEP:
                return None
            stack.append(_Element(tag))
        elif any(element.tag == tag for element in stack[1:]):
            _close(stack, tag)
    # Tags that are still open here were never closed; they are not elements.
    return stack[0].as_object() or None


def outside_tags(text: str) -> str:
    """Return the text outside all closed elements."""
    spans: list[tuple[int, int]] = []
    for match in _TAG.finditer(text):
        is_inside = bool(spans) and match.start() < spans[-1][1]
        if match["close"] or match["empty"] or is_inside or match["tag"].casefold() in _MARKUP:
            continue
        end = text.find(f"</{match['tag']}>", match.end())
        if end >= 0:
            spans.append((match.start(), end + len(match["tag"]) + 3))
    return outside(text, spans)


def _close(stack: list[_Element], tag: str) -> None:
    while True:
        element = stack.pop()
        value = element.as_object() or html.unescape(element.text).strip()
        stack[-1].children.setdefault(element.tag, []).append(value)
        if element.tag == tag:
            return


_RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|){1,20}(?:[ \t]*:?-{2,}:?)?[ \t]*$", re.MULTILINE)


def _cells(line: str) -> list[str]:
    return [cell.strip(" \t*`") for cell in line.strip().strip("|").split("|")]


def _parts(text: str) -> tuple[str, list[str], list[list[str]], str] | None:
    """Return the text before a table, the cells of its header, the cells of its rows, and the text after it."""
    rule = _RULE.search(text) if "|" in text and "--" in text else None
    before, _, head = (text[: rule.start()].rstrip() if rule else "").rpartition("\n")
    if rule is None or "|" not in head:
        return None
    lines = text[rule.end() :].strip("\n").split("\n")
    count = next((number for number, line in enumerate(lines) if "|" not in line), len(lines))
    return before, _cells(head), [_cells(line) for line in lines[:count]], "\n".join(lines[count:])


def read_table(text: str) -> list[dict[str, str | None]] | None:
    """Return the rows of a text that is one table; None for any other text."""
    before, head, rows, after = _parts(text) or (text, [], [], "")
    if before.strip() or after.strip() or any(len(row) != len(head) for row in rows):
        return None
    return [dict(zip(head, (cell or None for cell in row), strict=True)) for row in rows]


def lines_of_table(text: str) -> str:
    """Replace a table of criteria by lines such as "Accuracy: 4", and a table with a single row by lines such as "Answer: yes"."""
    parts = _parts(text)
    if parts is None:
        return text
    before, head, rows, after = parts
    if len(rows) == 1 and len(rows[0]) == len(head):
        pairs = list(zip(head, rows[0], strict=True))
    elif all(len(row) == 2 for row in rows):
        pairs = [(row[0], row[1]) for row in rows]
    else:
        return text
    return "\n".join([before, *(f"{label}: {cell}" for label, cell in pairs), after]).strip()


_ENTRY = re.compile(r"(?P<key>[\"'*]{0,3}[^\W\d][\w ()/-]{0,40}[\"'*]{0,3})\s?[:：]\**(?:\s(?P<value>.*)|\s*)$")
_MAX_LINES = 2000
_MAX_DEPTH = 12
_MARK = re.compile(
    r"(?:^|\n|(?<=[.;!?,。；]) )[\s*#(\[\"'•-]{0,6}(?:(?:statement|claim|item|fact|sentence|verdict|question|aussage|"
    r"affirmation|陈述|声明)s?[\s#*]{0,2})?(\d{1,3})\**\s?(?:[:.)\]：、]|-|–|—|=|→|\bis\b)\**\s?",
    re.IGNORECASE,
)
_MAX_INTRO = 200


class _Line(NamedTuple):
    indent: int
    text: str


def read_block(text: str) -> Any:
    """Return the data of a YAML-like text (mappings, lists of mappings, scalars as text); None for any other text."""
    every = without_tokens(text).expandtabs(4).splitlines()
    kept = [line for line in every if line.strip() and not line.strip().startswith(("```", "~~~", "---"))]
    lines = [_Line(len(line) - len(line.lstrip()), line.strip()) for line in kept]
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
    """Return the texts after the numbers 1, 2, 3 ..., sorted by number; None if the text is not numbered from 1 without gaps."""
    normal = tidy(text)
    marks = list(_MARK.finditer(normal))
    numbers = [int(mark[1]) for mark in marks]
    counts = sorted(numbers) == list(range(1, len(marks) + 1))
    if not marks or len(marks) > _MAX_LINES or marks[0].start() > _MAX_INTRO or not counts:
        return None
    return [said.strip() for _, said in sorted(zip(numbers, behind_each(marks), strict=True))]


def behind_each(marks: list[re.Match[str]]) -> list[str]:
    """Return the text after each mark, up to the next mark."""
    text = marks[0].string
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
