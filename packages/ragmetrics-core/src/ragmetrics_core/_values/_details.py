"""The evidence of scores: plain JSON values, validated and copied once. Evidence that several scores share is read-only.

The verdicts on the claims of a text are evidence for a dozen metrics. To validate and copy them for each score would take more time
than everything else, and a shared list must not be writable. So shared evidence consists of mapping proxies and tuples. When the
details of a score are read, these become dicts and lists, and the keys that ``extras`` computes are added.

`Texts` are the lists of texts that the metrics of a row get; they carry a cache that these metrics share.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, cast

from ._plain import PLAIN_TYPES, Shown, plain
from ._requests import NO_USAGE, Usage


class Texts(list[str]):
    """A list of texts as ``measure`` gets it: a new list for each metric, with a cache that the metrics of the row share.

    Attributes:
        found: the cache: results worth keeping while the row is scored, by a key of everything they depend on. Keep only values
            that cannot be changed.
    """

    __slots__ = ("found",)

    found: dict[Hashable, Any]

    @classmethod
    def of(cls, texts: Iterable[str], found: dict[Hashable, Any]) -> Texts:
        """Return the texts with the given cache."""
        made = cls(texts)
        made.found = found
        return made

    def copy(self) -> Texts:
        """Return another list of the same texts, with the same cache."""
        return Texts.of(self, self.found)


JUST_TEXT = frozenset({str})
LISTS = frozenset({list, tuple, Texts})


def texts_in(inputs: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Any, ...]] | None:
    """Return the names and the values of inputs, to be used as a key; lists of texts become tuples.

    None if a value is neither a text, a list of texts nor None: as keys, 1 and True would be equal.
    """
    values: list[Any] = []
    for value in inputs.values():
        if type(value) is str or value is None:
            values.append(value)
        elif type(value) in LISTS and JUST_TEXT.issuperset(map(type, value)):
            values.append(tuple(value))
        else:
            return None
    return tuple(inputs), tuple(values)


Extras = Callable[[], Iterable[Mapping[str, Any]]]


class Evidence(Shown[Mapping[str, Any]]):
    """Items of evidence, such as the verdicts on claims, as read-only mappings; lists in them become tuples.

    In the details of a score, evidence appears as a list of dicts: ``Score(value, details={"verdicts": Evidence(rows)})``. A copied
    or pickled ``Evidence`` becomes such a list.

    Args:
        items: the items that metrics read. If they are another ``Evidence``, its ``extras`` is kept unless a new one is given.
        extras: returns a mapping for each item, with keys to add to this item in the details. It is called when the details are
            read, from any thread, so it costs nothing as long as the details of a score are not read. Items read from the
            ``Evidence`` itself lack these keys.

    Raises:
        TypeError: an item is not a mapping, or holds a value that JSON does not have. The values from ``extras`` are checked when
            the details are read.
        ValueError: a number is not finite. When the details are read: ``extras`` returns more or fewer mappings than there are
            items, or a key that the item already has.
    """

    extras: Extras | None

    def __new__(cls, items: Iterable[Mapping[str, Any]] = (), extras: Extras | None = None) -> Evidence:  # noqa: PYI034  not in 3.10
        if isinstance(items, Evidence):
            extras = extras or items.extras
        return cls.of_closed(map(_closed_item, items), extras)

    @classmethod
    def of_closed(cls, items: Iterable[Mapping[str, Any]], extras: Extras | None = None) -> Evidence:
        """Return evidence of items that are already read-only: each a ``MappingProxyType`` of a dict that no other code holds.

        Nothing is validated: the caller guarantees that the items hold only texts, whole numbers, bools, None and tuples of these.
        """
        made = super().__new__(cls, items)
        made.extras = extras
        return made

    def shown(self) -> list[Any]:
        """Return the items as dicts, with the keys that ``extras`` adds."""
        # faster than dict(item), which looks up each key
        rows: list[Any] = [item.copy() for item in cast("Iterable[Any]", self)]
        if self.extras is not None:
            try:
                additions = list(self.extras())
            except AttributeError as error:  # it would look as if the score had no attribute `details`
                raise TypeError(f"extras() of the evidence failed: {error}") from error
            for row, more in zip(rows, additions, strict=True):
                added = plain(dict(more))
                if twice := row.keys() & added.keys():
                    raise ValueError(f"extras() adds the key {min(twice)!r}, which the item already has: rename it")
                row.update(added)
        return rows

    def __reduce__(self) -> tuple[Any, ...]:
        # read-only mappings and most functions can be neither copied nor pickled
        return (list, (plain(self),))


def _closed_item(item: Mapping[str, Any]) -> Mapping[str, Any]:
    closed: Any = _closed(item if type(item) is dict else plain(item))
    if type(closed) is not MappingProxyType:
        raise TypeError(f"an item of evidence must be a mapping, got {type(item).__name__}")
    return closed


def _closed(value: Any) -> Any:
    """Return the value as read-only plain JSON values."""
    if type(value) in PLAIN_TYPES:
        return value
    if isinstance(value, list | tuple):
        return tuple(value) if PLAIN_TYPES.issuperset(map(type, value)) else tuple(map(_closed, value))
    if type(value) is dict:
        return MappingProxyType({str(key): _closed(item) for key, item in value.items()})
    value = plain(value)
    return _closed(value) if isinstance(value, list | dict) else value


class Details(dict[str, Any]):
    """Evidence as plain JSON values, validated and copied once, so that several scores can share it.

    It is built like a dict: from keywords, as in ``Details(ranks=[1, 3], relevant=2)``, from a mapping, or from pairs.

    Raises:
        ValueError: a number is not finite.
        TypeError: JSON does not have such a value.
    """

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None, /, **named: Any) -> None:
        given = dict(values, **named) if values else named
        super().__init__({str(key): plain(item) for key, item in given.items()})


def unread_details(values: Mapping[str, Any] | None) -> Details:
    """Return details in the form that a score keeps until they are read: validated and copied, except ``Evidence``."""
    if type(values) is Details:
        return values
    made = Details()
    if values:
        made.update({str(key): item if type(item) is Evidence else plain(item) for key, item in values.items()})
    return made


def with_prompts(details: Details, prompts: Mapping[str, str]) -> Details:
    """Return a copy of the details with the versions of the prompts added."""
    made = Details()
    made.update(details, prompts=dict(prompts))
    return made


State = Literal["scored", "unscored", "failed"]


@dataclass(frozen=True, init=False)
class ScoreFields:
    """The fields of a ``Score``, which describes them."""

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
    """The details before they are read, which may still contain ``Evidence``; set on each instance."""

    @property
    def state(self) -> State:
        """``scored``, ``unscored`` or ``failed``."""
        if self.value is not None:
            return "scored"
        return "unscored" if self.error is None else "failed"
