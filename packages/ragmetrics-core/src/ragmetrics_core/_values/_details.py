"""The evidence of scores: plain JSON values, checked and copied once. Evidence that many scores share cannot be changed.

The verdicts on the claims of a text are evidence of a dozen metrics. Checking and copying them for each score would cost more than
everything else, and a shared list must not be writable. So shared evidence is read-only: mapping proxies and tuples. A score turns
them into lists and dicts when its details are read, and adds then what was not computed before (``besides``).

`Texts` are the lists of texts that a row gives to its metrics; they carry what one metric computed to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

from ._plain import PLAIN_TYPES, Shown, plain


class Texts(list[str]):
    """Texts as ``measure`` gets them: a new list, with what the metrics of one row found out.

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


Besides = Callable[[], Iterable[Mapping[str, Any]]]


class Evidence(Shown[Mapping[str, Any]]):
    """Items of evidence, such as the verdicts on claims, as mappings that can only be read; lists in them are tuples.

    ``Score(value, details={"verdicts": Evidence(rows)})``: the details hold a list of dicts, as if they were given one.

    Args:
        items: what metrics read. Those of other evidence are shown as they are there, unless ``besides`` says otherwise.
        besides: makes a mapping for each item, of what the details have besides. It is called whenever somebody looks at them, from
            any thread: what no score depends on is not worked out for scores that nobody looks into. Those who read the items, and
            put single ones into details, do not have it.

    Raises:
        TypeError: an item is no mapping, or JSON has no such value. What ``besides`` makes is checked when it is shown.
        ValueError: a number is not finite. When it is shown: ``besides`` makes something for more or fewer items than there are,
            or has something that an item has as well.
    """

    besides: Besides | None = None

    def __new__(cls, items: Iterable[Mapping[str, Any]] = (), besides: Besides | None = None) -> Evidence:  # noqa: PYI034  not in 3.10
        if isinstance(items, Evidence) and besides is None:
            return cls.of_closed(items, items.besides)
        return cls.of_closed(map(_closed_item, items), besides)

    @classmethod
    def of_closed(cls, items: Iterable[Mapping[str, Any]], besides: Besides | None = None) -> Evidence:
        """The same of items that are closed already: each a ``MappingProxyType`` of a dict that nobody else has.

        Nothing is looked at: the caller vouches that there are only texts, whole numbers, bools, None and tuples of these in them.
        """
        made = super().__new__(cls, items)
        if besides is not None:
            if not callable(besides):
                raise TypeError(f"what evidence shows besides is made by a function, got {type(besides).__name__}")
            vars(made)["besides"] = besides
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("evidence can only be read")

    def shown(self) -> list[Any]:
        """The items with what is shown besides."""
        # their own method is faster than dict(item), which asks for each key
        rows: list[Any] = [item.copy() for item in cast("Iterable[Any]", self)]
        if self.besides is not None:
            for row, more in zip(rows, self._additions(self.besides), strict=True):
                if not row.keys().isdisjoint(more):
                    twice = min(row.keys() & more.keys())
                    raise ValueError(f"evidence has {twice!r} already, so it cannot be shown besides")
                row.update(more)
        return rows

    def _additions(self, besides: Besides) -> list[Mapping[str, Any]]:
        """What is shown besides, a mapping for each item."""
        try:
            additions = list(besides())
        except (AttributeError, TypeError) as error:  # at an AttributeError a score would seem to have no details
            raise TypeError(f"what {_named(besides)} makes cannot be shown besides evidence: {error}") from error
        if len(additions) != len(self):
            raise ValueError(f"{_named(besides)} makes {len(additions)} mappings for {len(self)} items of evidence")
        for more in additions:
            if type(more) is not dict and not isinstance(more, Mapping):
                raise TypeError(
                    f"{_named(besides)} makes a mapping for each item of evidence, got {type(more).__name__}"
                )
        return additions

    def __reduce__(self) -> tuple[Any, ...]:
        # mappings that can only be read are neither copied nor pickled, and neither are most functions
        besides = None if self.besides is None else _Told(plain(self._additions(self.besides)))
        return (type(self), ([plain(item) for item in self], besides))


def _named(function: Callable[..., object]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


class _Told(list[Mapping[str, Any]]):
    """What evidence shows besides, in a copy."""

    def __call__(self) -> _Told:
        return self


def _closed_item(item: Mapping[str, Any]) -> Mapping[str, Any]:
    closed: Any = _closed(item if type(item) is dict else plain(item))
    if type(closed) is not MappingProxyType:
        raise TypeError(f"an item of evidence is a mapping, got {type(item).__name__}")
    return closed


def _closed(value: Any) -> Any:
    kind = type(value)
    if kind in PLAIN_TYPES:
        return value
    if kind is list or kind is tuple:
        return tuple(value) if PLAIN_TYPES.issuperset(map(type, value)) else tuple(map(_closed, value))
    if kind is dict and JUST_TEXT.issuperset(map(type, value)):
        made = value.copy()
        for key, item in value.items():
            if type(item) in PLAIN_TYPES:
                continue
            if type(item) is list and (not item or PLAIN_TYPES.issuperset(map(type, item))):  # as nearly always
                made[key] = tuple(item)
            else:
                made[key] = _closed(item)
        return MappingProxyType(made)
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


class Held(dict[str, Any]):
    """Details with shared evidence in them, which nobody but a score looks at."""

    __slots__ = ()


def held(details: Mapping[str, Any] | None) -> Details | Held:
    """The details as a score keeps them: checked and copied, but for evidence that is closed."""
    if not details or Evidence not in map(type, details.values()):
        return Details(details)
    return Held({str(key): item if type(item) is Evidence else _kept(item) for key, item in details.items()})


def _kept(value: Any) -> Any:
    """The value as it is shown, but for lists of texts and whole numbers: tuples of them the garbage collector need not look at."""
    return tuple(value) if type(value) is list and PLAIN_TYPES.issuperset(map(type, value)) else plain(value)


def with_prompts(details: Mapping[str, Any], prompts: Mapping[str, str]) -> Details | Held:
    """The same details, with the versions of the prompts."""
    if type(details) is not Details and type(details) is not Held:
        return Details(details, prompts=prompts)
    if type(details) is Held:
        return Held(details, prompts=dict(prompts))
    made = Details.__new__(Details)  # what is in it was checked and copied before
    made.update(details, prompts=dict(prompts))
    return made


class Holder:
    """Has a place for details that nobody has looked at so far."""

    __slots__ = ("held",)

    held: Details | Held
