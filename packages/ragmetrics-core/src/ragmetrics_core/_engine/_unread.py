"""Replies that proved unreadable although their score has a value: another judge of the same row made up for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HOLDERS = ("jurors", "unreadable")
"""Details that hold those of several judges: of a jury, and of a metric that asks twice in different words."""

SOME_HOLDER = frozenset(HOLDERS)


def unread_replies(details: Mapping[str, Any]) -> list[str]:
    """Their texts, from the evidence of a score."""
    found: list[str] = []
    if SOME_HOLDER.isdisjoint(details):  # as nearly always
        return found
    for holder in HOLDERS:
        judges = details.get(holder)
        for judge in judges if isinstance(judges, list) else ():
            if isinstance(judge, Mapping):
                inner = judge.get("details") if "details" in judge else judge
                found += _raw(inner) if isinstance(inner, Mapping) else []
    return found


def _raw(details: Mapping[str, Any]) -> list[str]:
    raw = details.get("raw")
    return [
        *(text for text in (raw if isinstance(raw, list) else ()) if isinstance(text, str)),
        *unread_replies(details),
    ]
