"""One answer (a yes or no, a number) with or without a reason, in any of the shapes models give it.

The readers of words (``_verdict``) and of numbers (``_marks``) know what an answer is; this module knows where it
can stand: as a JSON value, in an object beside its reason, in an object inside others, in tags, in prose. A
``Want`` is what one reply format looks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._kernel._asked import Asked, asked_of
from ._choose import choose, unless_doubted
from ._json_text._find import Bad, Fit, decode, embedded, views
from ._json_text._scan import scan
from ._model._keys import ASIDES, REASONS, WRAPPERS, is_count, is_no_answer, is_schema, is_template, name, singular
from ._prose._around import close_tag, without_role
from ._prose._problem import Problem, shown
from ._prose._tags import outside_tags, read_tags
from ._prose._turns import answer_part
from ._prose._whose import QUOTED, declines, speaks_of_another

__all__ = ["Answer", "Want", "read_scalar"]

T = TypeVar("T")
_MAX_NESTING = 6
# An object of one key that lost its colon.
_NO_COLON = re.compile(
    r"""\s*\{\s*(?P<key>"[A-Za-z_]{1,40}")\s{1,9}(?P<value>-?[\d.]{1,9}|"[^"\\]{1,40}"|true|false|yes|no)\s*\}\s*"""
)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """An answer and its reason (empty when none was given)."""

    value: T
    reason: str


@dataclass(frozen=True)
class Want(Generic[T]):
    """What a format looks for: how keys rank, and how a value or a text is read (both raise ``Problem``)."""

    rank: Callable[[str], int]  # 1 is the surest name for the answer, 0 is none
    weak: int  # from this rank on, a value that cannot be read was not meant as the answer
    read: Callable[[Any], T]
    read_text: Callable[[str], Answer[T]]
    wanted: str
    # Whether keys of any rank may not contradict each other; scores of parts may differ from the whole.
    single: bool = False
    # The key that the instructions ask for; it decides, and other names count where it is absent.
    asked: str = ""


def read_scalar(text: str, want: Want[T]) -> Answer[T]:
    """The one answer in a reply.

    Raises:
        Problem: there is none, or several that disagree.
    """
    whole = decode(text)
    if whole is not None and not isinstance(whole[0], str):
        return _settle(_in_value(whole[0], want), want)
    if whole is not None:
        text = asked_of(text).on(str(whole[0]))
    part, doubted = answer_part(text)
    return unless_doubted(
        _read_part(part, want),
        doubted,
        lambda other: _read_part(other, want),
        lambda one, two: one.value == two.value,
    )


def _read_part(part: str, want: Want[T]) -> Answer[T]:
    if lost := _NO_COLON.fullmatch(part):
        part = f"{{{lost['key']}: {lost['value']}}}"
    for view in views(part):
        reading, outside = _in_text(view, want)
        if isinstance(reading, Fit):
            return _unless_corrected(reading.value, outside, want, asked_of(part))
        if reading is not None:
            raise Problem(reading.reason)
    closed, tag = close_tag(part)
    tags = read_tags(closed if want.single and tag and 0 < want.rank(tag) < want.weak + 1 else part)
    reading = _in_object(_once(tags), want, 0) if tags is not None else None
    if reading is not None:
        around = outside_tags(closed)
        if speaks_of_another(around) or declines(around):
            raise Problem(QUOTED)
        return _unless_corrected(_settle(reading, want), (around, ""), want, asked_of(part))
    return want.read_text(asked_of(part).on(without_role(part)))


def _once(tags: Any) -> Any:
    """Tags that say the same twice, as if they said it once."""
    if isinstance(tags, dict):
        return {tag: _once(inside) for tag, inside in tags.items()}
    return tags[0] if isinstance(tags, list) and all(item == tags[0] for item in tags) else tags


def _settle(reading: Fit[Answer[T]] | Bad | None, want: Want[T]) -> Answer[T]:
    if isinstance(reading, Fit):
        answer: Answer[T] = reading.value
        return answer
    raise Problem(reading.reason if reading else f"the JSON in the reply holds no answer; give {want.wanted}")


def _in_text(view: str, want: Want[T]) -> tuple[Fit[Answer[T]] | Bad | None, tuple[str, str]]:
    stripped = view.strip(" \t\r\n`*>$.")
    found = [item for item in scan(view) if isinstance(item.value, dict) or item.end - item.start >= len(stripped) - 8]
    lists = [item for item in found if isinstance(item.value, list)]
    if lists and (len(found) > 1 or "[[" in stripped[:2]):
        found = [item for item in found if isinstance(item.value, dict)]
    reading = choose(view, found, lambda value: _in_value(value, want), lambda one, two: one.value == two.value)
    outside = (view[: found[0].start], view[found[-1].end :]) if found else ("", "")
    return reading, outside


def _unless_corrected(answer: Answer[T], outside: tuple[str, str], want: Want[T], asked: Asked) -> Answer[T]:
    """The answer of an object, unless the words around it give another one."""
    for text in outside:
        if not text.strip():
            continue
        try:
            other = want.read_text(asked.on(text))
        except Problem:
            continue
        if other.value != answer.value:
            raise Problem("the reply gives two different answers; give one")
    return answer


def _in_value(data: Any, want: Want[T], depth: int = 0) -> Fit[Answer[T]] | Bad | None:
    if depth > _MAX_NESTING:
        return None
    if isinstance(data, dict):
        return _in_object(data, want, depth)
    if isinstance(data, list):
        return _in_list(data, want, depth)
    if isinstance(data, str):
        inner = embedded(data)
        if not isinstance(inner, str):
            return _in_value(inner, want, depth + 1)
        try:
            return Fit(want.read_text(answer_part(data).text))
        except Problem as problem:
            return Bad(problem.reason) if depth == 0 else None
    try:
        return Fit(Answer(want.read(data), ""))
    except Problem as problem:
        return Bad(problem.reason)


def _in_list(data: list[Any], want: Want[T], depth: int) -> Fit[Answer[T]] | Bad | None:
    if not data or not (len(data) == 1 or all(isinstance(item, dict) for item in data)):
        return Bad(f"the reply is a list; give {want.wanted}")
    readings = [_in_value(item, want, depth + 1) for item in data[:100]]
    return _agreed(readings)


def _agreed(readings: list[Fit[Answer[T]] | Bad | None]) -> Fit[Answer[T]] | Bad | None:
    fits = [reading for reading in readings if isinstance(reading, Fit)]
    bad = [reading for reading in readings if isinstance(reading, Bad)]
    if bad:
        return bad[0]
    if any(fit.value.value != fits[0].value.value for fit in fits[1:]):
        return Bad("the reply gives two different answers; give one")
    return fits[0] if fits else None


def _in_object(data: dict[str, Any], want: Want[T], depth: int) -> Fit[Answer[T]] | Bad | None:
    if is_schema(data):
        return None
    ranked: dict[int, list[tuple[str, Any]]] = {}
    for key, value in data.items():
        if rank := want.rank(key):
            ranked.setdefault(rank, []).append((key, value))
    if (told := _under_asked_key(data, ranked, want, depth)) is not None:
        return told
    for rank in sorted(ranked):
        reading = _agreed([_under(key, value, want, depth, weak=rank >= want.weak) for key, value in ranked[rank]])
        if isinstance(reading, Fit):
            others = [_under(key, value, want, depth, weak=True) for other in ranked if want.single and other > rank > 1
                      for key, value in ranked[other]]  # fmt: skip
            agreed = _agreed([reading, *(other for other in others if isinstance(other, Fit))])
            if not isinstance(agreed, Fit):
                return agreed
            return Fit(Answer(reading.value.value, reading.value.reason or reason_in(data)))
        if reading is not None:
            return reading
    names = {key: name(key) for key in data}
    children = [
        _in_value(value, want, depth + 1)
        for key, value in data.items()
        if not is_no_answer(key)
        and _opens(names[key], value, alone=len(data) == 1, overall=_has_overall(names[key], value, want))
    ]
    reading = _agreed(children)
    if reading is None:
        reading = _only_candidate(data, names, want)
    if reading is None and depth == 0 and (set(names.values()) & REASONS or ranked) and not _blank(data):
        return Bad(f"the answer is missing from the JSON; give {want.wanted}")
    return reading


def _under_asked_key(
    data: dict[str, Any], ranked: dict[int, list[tuple[str, Any]]], want: Want[T], depth: int
) -> Fit[Answer[T]] | Bad | None:
    """What stands under the key that was asked for, unless a final answer beside it says something else."""
    asked = {rank: [pair for pair in pairs if name(pair[0]) == want.asked] for rank, pairs in ranked.items()}
    reading = _agreed(
        [_under(*pair, want, depth, weak=rank >= want.weak) for rank, pairs in asked.items() for pair in pairs]
    )
    if not isinstance(reading, Fit):
        return reading
    final = _agreed([_under(*pair, want, depth, weak=True) for pair in ranked.get(1, ())])
    value = (final if isinstance(final, Fit) else reading).value.value
    return Fit(Answer(value, reading.value.reason or reason_in(data)))


def _blank(data: dict[str, Any]) -> bool:
    return any(is_template(value) for value in data.values())


def _has_overall(key: str, value: Any, want: Want[T]) -> bool:
    """Whether an object of scores names one of them as the whole."""
    return key == "scores" and isinstance(value, dict) and any(want.rank(inner) == 1 for inner in value)


def _opens(key: str, value: Any, *, alone: bool, overall: bool = False) -> bool:
    """Whether an answer may stand inside this value."""
    if key in REASONS or (key in ASIDES and not overall):
        return False
    if key in ASIDES:
        return True
    if isinstance(value, str) and not alone:
        return "_".join(map(singular, key.split("_"))) in WRAPPERS and not value.strip().isalpha()
    return (
        isinstance(value, (dict, list, str)) and bool(value) and (alone or singular(key) in WRAPPERS or key in WRAPPERS)
    )


def _under(key: str, value: Any, want: Want[T], depth: int, *, weak: bool) -> Fit[Answer[T]] | Bad | None:
    if isinstance(value, str) and not isinstance(inner := embedded(value), str):
        return _in_value(inner, want, depth + 1)
    try:
        return Fit(Answer(want.read(value), ""))
    except Problem as problem:
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
            return _in_value(value, want, depth + 1)
        if is_template(value) or (weak and isinstance(value, (str, list))):
            return None
        return Bad(f"{shown(key)}: {problem.reason}")


def _only_candidate(data: dict[str, Any], names: dict[str, str], want: Want[T]) -> Fit[Answer[T]] | None:
    """The answer under a name of the model's own, when nothing else in the object could be it."""
    candidates = []
    for key, value in data.items():
        if (
            names[key] in ASIDES
            or names[key] in REASONS
            or is_no_answer(key)
            or is_count(key)
            or isinstance(value, (dict, list))
            or value is None
        ):
            continue
        try:
            candidates.append(want.read(value))
        except Problem:
            if not isinstance(value, str):
                return None
    return Fit(Answer(candidates[0], reason_in(data))) if len(candidates) == 1 else None


def reason_in(data: dict[str, Any]) -> str:
    """The reason that an object gives, or an empty text."""
    for key, value in data.items():
        if name(key) in REASONS:
            if isinstance(value, list):
                return "; ".join(str(item) for item in value)
            if isinstance(value, str):
                return value.strip()
    return ""
