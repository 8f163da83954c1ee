"""The forms that evidence has: lists of verdicts, and lists of equal length that are about the same things.

Details have no fixed form: every metric keeps what it has, and so does a metric that somebody else wrote. So they are read by
their shapes, never by metrics: once here, for the sentence (`_explain`) and for the list (`_findings`) that are made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

REASONS = ("reason", "why", "explanation", "feedback", "comment", "rationale")
PLAIN_NAMES = frozenset({"verdicts", "results", "items", "judgements", "judgments"})
"""Names of lists that say less than the keys of their items do."""

NO_MARKS = ("number", "window")
"""Numbers of an item that are no rating of it."""


class Item(NamedTuple):
    """One entry of a list: what it is about, what was said of it, why."""

    text: str | None
    mark: Any
    why: str


def judged_items(values: Sequence[Mapping[str, Any]]) -> tuple[list[Item], str | None]:
    """The items of a list of mappings, and the key of their verdict, true or false; None where they have no common one."""
    flags = [next((key for key, item in value.items() if isinstance(item, bool)), None) for value in values]
    items = [_item(value, flag) for value, flag in zip(values, flags, strict=True)]
    return items, flags[0] if len(set(flags)) == 1 else None


def _item(value: Mapping[str, Any], flag: str | None) -> Item:
    why = next((value[key] for key in REASONS if isinstance(value.get(key), str)), "")
    text = next((item for key, item in value.items() if isinstance(item, str) and key not in REASONS), None)
    numbers = (item for key, item in value.items() if isinstance(item, int | float) and key not in NO_MARKS)
    return Item(text, value[flag] if flag else next(numbers, None), why)


def plural_name(name: str, values: Sequence[Mapping[str, Any]]) -> str:
    """What the items are, such as ``claims``; empty where nobody says so."""
    if name not in PLAIN_NAMES:
        return name
    subject = next((key for key, item in values[0].items() if isinstance(item, str) and key not in REASONS), "")
    return f"{subject.replace('_', ' ')}s" if subject else ""


def take_side_by_side(details: dict[str, Any]) -> tuple[str, list[Item], bool] | None:
    """Lists of equal length, one of which gives the reasons, are about the same things: take them out of the details together.

    Returns:
        What the items are, the items, and whether their marks are verdicts, 1 or 0; None where there are no such lists.
    """
    reasons = details.get("reasons")
    if not reasons or not _are_reasons(reasons):
        return None
    if _is_said_elsewhere(reasons, details):
        del details["reasons"]
        return None
    texts, marks = _companions(reasons, details)
    if not texts and not marks:
        return None
    columns = [_column(details, name, len(reasons)) for name in (texts, marks, "reasons")]
    items = [Item(text, mark, why or "") for text, mark, why in zip(*columns, strict=True)]
    are_verdicts = bool(texts and marks) and all(item.mark in (0, 1) for item in items)
    return (texts or marks or "").replace("_", " "), items, are_verdicts


def _are_reasons(values: Any) -> bool:
    return isinstance(values, list) and all(why is None or isinstance(why, str) for why in values)


def _companions(reasons: list[Any], details: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The names of the texts and of the marks that the reasons belong to, where there are such lists."""
    beside = [name for name, value in details.items() if name != "reasons" and _goes_with(value, reasons)]
    texts = next((name for name in beside if all(isinstance(item, str) for item in details[name])), None)
    return texts, next((name for name in beside if name != texts), None)


def _column(details: dict[str, Any], name: str | None, length: int) -> list[Any]:
    """The list of this name, taken out of the details; a blank one without a name."""
    values: list[Any] = [None] * length if name is None else details.pop(name)
    return values


def _is_said_elsewhere(reasons: list[Any], details: Mapping[str, Any]) -> bool:
    """Whether the reasons also stand beside what they explain, as the reasons of verdicts do."""
    lists = (value for value in details.values() if isinstance(value, list) and len(value) == len(reasons))
    beside_verdicts = any(
        value and all(isinstance(item, Mapping) and "reason" in item for item in value) for value in lists
    )
    return beside_verdicts or (len(reasons) == 1 and details.get("reason") == reasons[0])


def _goes_with(value: Any, reasons: list[Any]) -> bool:
    return isinstance(value, list) and len(value) == len(reasons) and not any(map(is_nested, value))


def is_nested(value: Any) -> bool:
    """Whether it is a list or a mapping."""
    return isinstance(value, list | Mapping)
