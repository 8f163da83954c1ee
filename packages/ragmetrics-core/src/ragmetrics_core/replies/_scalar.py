"""Read one answer (a yes or no, a number), with or without a reason, in any of the shapes that models give it.

The readers of words (``_verdict``) and of numbers (``_marks``) recognize an answer. This module looks for it: in a JSON value, in
an object beside its reason, in a nested object, in tags, in prose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._kernel._wording import question_of
from ._answer_part import answer_part
from ._json_text import Found, embedded
from ._keys import ASIDES, REASONS, WRAPPERS, is_count, is_no_answer, is_schema, is_template, name, singular
from ._markup import lines_of_table, outside_tags, read_tags
from ._pipeline import TWO_ANSWERS, Bad, Fit, Reader, Reading
from ._text import Unreadable, close_tag, shown, ticked, without_role, without_tokens
from ._whose import QUOTED, declines, speaks_of_another

T = TypeVar("T")
_MAX_NESTING = 6
_MAX_ITEMS = 100
_FINAL = 1
_ASKED = 1.5
"""The rank of the key that was asked for. Only a final answer ranks higher."""
_WEAK = 4
"""The rank from which on an unreadable text or list under a key was not meant as the answer."""


@dataclass(frozen=True)
class Answer(Generic[T]):
    """An answer and its reason (empty if none was given)."""

    value: T
    reason: str


@dataclass(frozen=True)
class ScalarReader(Reader[Answer[T]]):
    """Reads one answer. The formats differ in how they rank keys and how they read a value or a text."""

    key: str  # the key that the instructions ask for; other keys count only if it is absent
    rank: Callable[[str], int]  # 1: a final answer; 2: the surest other name of an answer; and so on; 0: no answer
    read: Callable[[Any], T]  # may raise Unreadable, as ``read_text`` may
    read_text: Callable[[str], Answer[T]]
    wanted: str
    # Whether the answers under all keys must agree. Scores of parts, for example, may differ from the whole.
    single: bool = False

    @property
    def missing(self) -> str:
        return f"the JSON in the reply holds no answer; give {self.wanted}"

    def same(self, one: Answer[T], two: Answer[T]) -> bool:
        return one.value == two.value

    def candidates(self, found: list[Found], view: str) -> list[Found]:
        """Return the objects, or a list that is the whole reply. "[[4]]" is a marker and not a list."""
        stripped = without_tokens(view).strip(" \t\r\n`*>$.")
        kept = [item for item in found if isinstance(item.value, dict) or item.end - item.start >= len(stripped) - 8]
        if len(kept) > 1 or "[[" in stripped[:2]:
            kept = [item for item in kept if isinstance(item.value, dict)]
        return kept

    def confirmed(self, answer: Answer[T], before: str, after: str) -> Answer[T]:
        """Return the answer, unless the words around it give a different answer."""
        for words in (before, after):
            if not words.strip():
                continue
            try:
                other = self.read_text(words)
            except Unreadable:
                continue
            if other.value != answer.value:
                raise Unreadable(TWO_ANSWERS.reason)
        return answer

    def in_words(self, part: str) -> Answer[T]:
        """Read the answer from tags or prose."""
        part = question_of(part).on(lines_of_table(ticked(part)))
        closed, tag = close_tag(part)
        tags = read_tags(closed if self.single and tag and 0 < self.rank(tag) <= _WEAK else part)
        reading = self._in_object(tags, 0) if tags is not None else None
        if reading is None:
            return self.read_text(question_of(part).on(without_role(part)))
        around = outside_tags(closed)
        if speaks_of_another(around) or declines(around):
            raise Unreadable(QUOTED)
        return self.confirmed(self.settled(reading), question_of(part).on(around), "")

    def in_value(self, data: Any, depth: int = 0) -> Reading[Answer[T]]:
        if depth > _MAX_NESTING:
            return None
        if isinstance(data, dict):
            return self._in_object(data, depth)
        if isinstance(data, list):
            return self._in_list(data, depth)
        if isinstance(data, str):
            return self._in_string(data, depth)
        try:
            return Fit(Answer(self.read(data), ""))
        except Unreadable as unreadable:
            return Bad(unreadable.reason)

    def _in_string(self, data: str, depth: int) -> Reading[Answer[T]]:
        inner = embedded(data)
        if not isinstance(inner, str):
            return self.in_value(inner, depth + 1)
        try:
            return Fit(self.read_text(answer_part(data)[0]))
        except Unreadable as unreadable:
            return Bad(unreadable.reason) if depth == 0 else None

    def _in_list(self, data: list[Any], depth: int) -> Reading[Answer[T]]:
        if not data or not (len(data) == 1 or all(isinstance(item, dict) for item in data)):
            return Bad(f"the reply is a list; give {self.wanted}")
        return _agreed([self.in_value(item, depth + 1) for item in data[:_MAX_ITEMS]])

    def _in_object(self, data: dict[str, Any], depth: int) -> Reading[Answer[T]]:
        if is_schema(data):
            return None
        ranked: dict[float, list[tuple[str, Any]]] = {}
        for key, value in data.items():
            if rank := self.rank(key):
                is_asked = rank > _FINAL and name(key) == self.key
                ranked.setdefault(_ASKED if is_asked else rank, []).append((key, value))
        reading = self._under_keys(data, ranked, depth)
        if reading is not None:
            return reading
        names = {key: name(key) for key in data}
        reading = self._in_children(data, names, depth) or self._only_candidate(data, names)
        if reading is None and depth == 0 and (ranked or REASONS.intersection(names.values())):
            if any(map(is_template, data.values())):
                return None  # a template that was not filled in
            return Bad(f"the answer is missing from the JSON; give {self.wanted}")
        return reading

    def _under_keys(
        self, data: dict[str, Any], ranked: dict[float, list[tuple[str, Any]]], depth: int
    ) -> Reading[Answer[T]]:
        """Read the value of the highest-ranking key that names an answer."""
        for rank in sorted(ranked):
            reading = _agreed([self._under(*pair, depth) for pair in ranked[rank]])
            if isinstance(reading, Fit) and self.single and rank > _ASKED:
                weaker = [self._under(*pair, depth) for other in ranked if other > rank for pair in ranked[other]]
                reading = _agreed([reading, *(other for other in weaker if isinstance(other, Fit))])
            if isinstance(reading, Fit):
                return Fit(Answer(reading.value.value, reading.value.reason or reason_in(data)))
            if reading is not None and not (rank == _FINAL and _ASKED in ranked):  # e.g. {"score": 4, "total": 10}
                return reading
        return None

    def _under(self, key: str, value: Any, depth: int) -> Reading[Answer[T]]:
        """Read the value of a key that may name the answer."""
        if isinstance(value, str) and not isinstance(inner := embedded(value), str):
            return self.in_value(inner, depth + 1)
        try:
            return Fit(Answer(self.read(value), ""))
        except Unreadable as unreadable:
            if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
                return self.in_value(value, depth + 1)
            if is_template(value) or (self.rank(key) >= _WEAK and isinstance(value, (str, list))):
                return None
            return Bad(f"{shown(key)}: {unreadable.reason}")

    def _in_children(self, data: dict[str, Any], names: dict[str, str], depth: int) -> Reading[Answer[T]]:
        """Look for the answer inside those values of the object that may contain one, one level deeper."""
        alone = len(data) == 1
        keys = [key for key in data if not is_no_answer(key) and self._opens(names[key], data[key], alone=alone)]
        return _agreed([self.in_value(data[key], depth + 1) for key in keys])

    def _opens(self, key: str, value: Any, *, alone: bool) -> bool:
        """Whether a value may contain an answer."""
        if key in REASONS:
            return False
        if key in ASIDES:
            # An object of part scores may also contain the final score.
            return key == "scores" and isinstance(value, dict) and any(self.rank(inner) == _FINAL for inner in value)
        if isinstance(value, str) and not alone:
            return "_".join(map(singular, key.split("_"))) in WRAPPERS and not value.strip().isalpha()
        if not isinstance(value, (dict, list, str)) or not value:
            return False
        return alone or singular(key) in WRAPPERS or key in WRAPPERS

    def _only_candidate(self, data: dict[str, Any], names: dict[str, str]) -> Fit[Answer[T]] | None:
        """Return the answer under an unknown key, if nothing else in the object could be the answer."""
        candidates = []
        for key, value in data.items():
            if isinstance(value, (dict, list)) or value is None or _is_aside(key, names[key]):
                continue
            try:
                candidates.append(self.read(value))
            except Unreadable:
                if not isinstance(value, str):
                    return None
        return Fit(Answer(candidates[0], reason_in(data))) if len(candidates) == 1 else None


def _is_aside(key: str, plain: str) -> bool:
    """Whether the value of a key accompanies an answer or is not an answer."""
    return plain in ASIDES or plain in REASONS or is_no_answer(key) or is_count(key)


def _agreed(readings: list[Reading[Answer[T]]]) -> Reading[Answer[T]]:
    fits = [reading for reading in readings if isinstance(reading, Fit)]
    bad = [reading for reading in readings if isinstance(reading, Bad)]
    if bad:
        return bad[0]
    if any(fit.value.value != fits[0].value.value for fit in fits[1:]):
        return TWO_ANSWERS
    return fits[0] if fits else None


def reason_in(data: dict[str, Any]) -> str:
    """Return the reason that an object gives; an empty text if it gives none."""
    for key, value in data.items():
        if name(key) in REASONS:
            if isinstance(value, list):
                return "; ".join(str(item) for item in value)
            if isinstance(value, str):
                return value.strip()
    return ""


ONE_OBJECT = "Reply with one JSON object and nothing else: "


def answer_schema(key: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with a reason and then one answer, in the strict dialect."""
    properties = {"reason": {"type": "string"}, key: answer}
    return {"type": "object", "properties": properties, "required": ["reason", key], "additionalProperties": False}
