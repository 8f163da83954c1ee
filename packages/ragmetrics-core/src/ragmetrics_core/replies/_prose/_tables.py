"""Markdown tables: as lines with a label where they say one thing each, as objects where they list things."""

from __future__ import annotations

import re

_RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|){1,20}(?:[ \t]*:?-{2,}:?)?[ \t]*$", re.MULTILINE)
_PAIR = 2


def _cells(line: str) -> list[str]:
    return [cell.strip(" \t*`") for cell in line.strip().strip("|").split("|")]


def _parts(text: str) -> tuple[str, list[str], list[list[str]], str] | None:
    """The text before a table, the cells of its head, those of its rows, and the text behind it."""
    rule = _RULE.search(text) if "|" in text and "--" in text else None
    before, _, head = (text[: rule.start()].rstrip() if rule else "").rpartition("\n")
    if rule is None or "|" not in head:
        return None
    lines = text[rule.end() :].strip("\n").split("\n")
    count = next((number for number, line in enumerate(lines) if "|" not in line), len(lines))
    return before, _cells(head), [_cells(line) for line in lines[:count]], "\n".join(lines[count:])


def read_table(text: str) -> list[dict[str, str | None]] | None:
    """The rows of a text that is one table, or None."""
    parts = _parts(text)
    if parts is None or parts[0].strip() or parts[3].strip() or any(len(row) != len(parts[1]) for row in parts[2]):
        return None
    return [dict(zip(parts[1], (cell or None for cell in row), strict=True)) for row in parts[2]]


def lines_of_table(text: str) -> str:
    """The text with a table of criteria as lines ("Accuracy: 4"), and one with a single row as "Answer: yes"."""
    parts = _parts(text)
    if parts is None:
        return text
    before, head, rows, after = parts
    if len(rows) == 1 and len(rows[0]) == len(head):
        pairs = list(zip(head, rows[0], strict=True))
    elif all(len(row) == _PAIR for row in rows):
        pairs = [(row[0], row[1]) for row in rows]
    else:
        return text
    return "\n".join([before, *(f"{label}: {cell}" for label, cell in pairs), after]).strip()
