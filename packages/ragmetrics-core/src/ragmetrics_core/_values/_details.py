"""The evidence of scores: plain JSON values, checked and copied once. Evidence that many scores share cannot be changed.

The verdicts on the claims of a text are evidence of a dozen metrics. Checking and copying them for each score would cost more than
everything else, and a shared list must not be writable. So shared evidence is read-only: mapping proxies and tuples. A score turns
them into lists and dicts when its details are read, and then adds what ``besides`` computes.

`Texts` are the lists of texts that a row gives to its metrics; they carry what one metric computed to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, cast

from ._plain import PLAIN_TYPES, Shown, plain
from ._requests import NO_USAGE, Usage


class Texts(list[str]):
    """Texts as ``measure`` gets them: a new list, with what the metrics of one row found out.

    Attributes:
        found: results that are worth keeping while the row is being scored, by whatever they depend on; all metrics have the same.
            Keep only what cannot be changed.
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


def texts_in(inputs: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Any, ...]] | None:
    """The names, and the values, where each is a text, a list of texts (as a tuple) or None; else None, as 1 equals True."""
    values: list[Any] = []
    for value in inputs.values():
        if type(value) is str or value is None:
            values.append(value)
        elif type(value) in LISTS and JUST_TEXT.issuperset(map(type, value)):
            values.append(tuple(value))
        else:
            return None
    return tuple(inputs), tuple(values)


Besides = Callable[[], Iterable[Mapping[str, Any]]]


class Evidence(Shown[Mapping[str, Any]]):
    """Items of evidence, such as the verdicts on claims, as mappings that can only be read; lists in them are tuples.

    ``Score(value, details={"verdicts": Evidence(rows)})``: the details hold a list of dicts, as if they were given one. Copied or
    pickled, evidence is such a list.

    Args:
        items: what metrics read. Those of other evidence are shown as they are there, unless ``besides`` says otherwise.
        besides: makes a mapping for each item, with what the details show in addition. It is called when the details are read, from
            any thread, so that it costs nothing for scores that are not looked into. Items that are read one by one do not have
            these additions.

    Raises:
        TypeError: an item is no mapping, or JSON has no such value. What ``besides`` makes is checked when it is shown.
        ValueError: a number is not finite. When it is shown: ``besides`` makes something for more or fewer items than there are,
            or has something that an item has as well.
    """

    besides: Besides | None

    def __new__(cls, items: Iterable[Mapping[str, Any]] = (), besides: Besides | None = None) -> Evidence:  # noqa: PYI034  not in 3.10
        if isinstance(items, Evidence):
            besides = besides or items.besides
        return cls.of_closed(map(_closed_item, items), besides)

    @classmethod
    def of_closed(cls, items: Iterable[Mapping[str, Any]], besides: Besides | None = None) -> Evidence:
        """The same of items that are closed already: each a ``MappingProxyType`` of a dict that no other code holds.

        Nothing is looked at: the caller vouches that there are only texts, whole numbers, bools, None and tuples of these in them.
        """
        made = super().__new__(cls, items)
        made.besides = besides
        return made

    def shown(self) -> list[Any]:
        """The items with what is shown in addition."""
        # their own method is faster than dict(item), which asks for each key
        rows: list[Any] = [item.copy() for item in cast("Iterable[Any]", self)]
        if self.besides is not None:
            try:
                additions = list(self.besides())
            except AttributeError as error:  # as such, a score would seem to have no details
                raise TypeError(f"what evidence shows in addition cannot be made: {error}") from error
            for row, more in zip(rows, additions, strict=True):
                added = plain(dict(more))
                if twice := row.keys() & added.keys():
                    raise ValueError(f"evidence has {min(twice)!r} already, so it cannot be shown in addition")
                row.update(added)
        return rows

    def __reduce__(self) -> tuple[Any, ...]:
        # mappings that can only be read are neither copied nor pickled, and neither are most functions
        return (list, (plain(self),))


def _closed_item(item: Mapping[str, Any]) -> Mapping[str, Any]:
    closed: Any = _closed(item if type(item) is dict else plain(item))
    if type(closed) is not MappingProxyType:
        raise TypeError(f"an item of evidence is a mapping, got {type(item).__name__}")
    return closed


def _closed(value: Any) -> Any:
    """The value as plain JSON values that can only be read."""
    if type(value) in PLAIN_TYPES:
        return value
    if isinstance(value, list | tuple):
        return tuple(value) if PLAIN_TYPES.issuperset(map(type, value)) else tuple(map(_closed, value))
    if type(value) is dict:
        return MappingProxyType({str(key): _closed(item) for key, item in value.items()})
    value = plain(value)
    return _closed(value) if isinstance(value, list | dict) else value


class Details(dict[str, Any]):
    """Evidence as plain JSON values, checked and copied once: scores that rest on the same evidence may share it.

    ``Details(ranks=[1, 3], relevant=2)``, or like any dict from a mapping or from pairs, as ``dataclasses.asdict`` gives them.

    Raises:
        ValueError: a number is not finite.
        TypeError: JSON has no such value.
    """

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None, /, **named: Any) -> None:
        given = dict(values, **named) if values else named
        super().__init__({str(key): plain(item) for key, item in given.items()})


def unread_details(values: Mapping[str, Any] | None) -> Details:
    """Details as a score keeps them until they are read: checked and copied, except ``Evidence``."""
    if type(values) is Details:
        return values
    made = Details()
    if values:
        made.update({str(key): item if type(item) is Evidence else plain(item) for key, item in values.items()})
    return made


def with_prompts(details: Details, prompts: Mapping[str, str]) -> Details:
    """The same details, with the versions of the prompts."""
    made = Details()
    made.update(details, prompts=dict(prompts))
    return made


State = Literal["scored", "unscored", "failed"]


@dataclass(frozen=True, init=False)
class ScoreFields:
    """What a ``Score`` holds; there they are described."""

    value: float | None
    passing: bool | None = None
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)
    error: str | None = None
    usage: Usage = NO_USAGE
    metric: str | None = None
    scale: tuple[float, float] | None = None
    label: str | None = None

    unread: ClassVar[Details]
    """The details as they are until they are read, with ``Evidence`` in them; each score has its own."""

    @property
    def state(self) -> State:
        """``scored``, ``unscored`` or ``failed``."""
        if self.value is not None:
            return "scored"
        return "unscored" if self.error is None else "failed"
