"""Texts on their way from a row through metrics to prompts: what metrics of a row share about them, and when they are the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any


class Texts(list[str]):
    """Texts as ``measure`` gets them: a list of its own, with what the metrics of one row found out.

    Attributes:
        found: results that are worth keeping while the row is being scored, by whatever they depend on; all metrics have the same.
            Nobody may be able to change what is kept here.
    """

    __slots__ = ("found",)

    found: dict[Hashable, Any]

    @classmethod
    def of(cls, texts: Iterable[str], found: dict[Hashable, Any]) -> Texts:
        """The texts, with what was found out so far."""
        made = cls(texts)
        made.found = found
        return made

    def copy(self) -> Texts:
        """Another list of the same texts, which shares what was found out."""
        return Texts.of(self, self.found)


JUST_TEXT = frozenset({str})
LISTS = frozenset({list, tuple, Texts})


def texts_in(inputs: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The names, then the values, where all of these are texts, lists of texts (as tuples, so that they stay as they are) or None.

    Inputs with equal ones are written out alike. None where there is anything else: 1 equals True, but looks different.
    """
    values: list[Any] = []
    for value in inputs.values():
        if type(value) is str or value is None:
            values.append(value)
        elif type(value) in LISTS and JUST_TEXT.issuperset(map(type, value)):
            values.append(tuple(value))
        else:
            return None
    return (*inputs, *values)


def texts_again(told: tuple[Any, ...], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of which ``texts_in`` has told this: as they were then, whatever has become of them."""
    half = len(told) // 2
    made = dict(zip(told[:half], told[half:], strict=True))
    for name, value in made.items():
        if type(value) is tuple:
            given = inputs.get(name)
            made[name] = Texts.of(value, given.found) if type(given) is Texts else list(value)
    return made
