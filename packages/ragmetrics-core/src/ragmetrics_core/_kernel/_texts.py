"""Texts on their way from a row through metrics to prompts: what metrics of a row share about them, and when they are the same."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

__all__ = ["Texts", "texts_in"]


class Texts(list[str]):
    """Texts as ``measure`` gets them: a list of its own, with what the metrics of one row found out.

    Attributes:
        found: results that are worth keeping while the row is being scored, by whatever they depend on; all metrics have the same.
            Nobody may be able to change what is kept here.
    """

    __slots__ = ("found",)

    found: dict[Hashable, Any]

    @classmethod
    def of(cls, texts: list[str], found: dict[Hashable, Any]) -> Texts:
        """The texts, with what was found out so far."""
        made = cls(texts)
        made.found = found
        return made


JUST_TEXT = frozenset({str})
LISTS = frozenset({list, Texts})


def texts_in(inputs: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Names and values in turn, where all values are texts, lists of texts or None; lists as tuples, so that they stay as they are.

    Inputs with equal ones are written out alike. None where there is anything else: 1 equals True, but looks different.
    """
    parts: list[Any] = []
    for name, value in inputs.items():
        if type(value) in LISTS:
            if not JUST_TEXT.issuperset(map(type, value)):
                return None
            parts += (name, tuple(value))
        elif type(value) is str or value is None:
            parts += (name, value)
        else:
            return None
    return tuple(parts)
