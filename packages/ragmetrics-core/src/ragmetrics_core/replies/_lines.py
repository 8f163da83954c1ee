"""A list of short texts: questions, claims, key points.

The plain form is one per line, numbered or with bullets; models also send JSON lists or an object around one.
Numbering, labels, introductions, closing remarks, empty lines and repetitions are left out; the wording of an item
is never touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._items import read_lines, split_lines, unique
from ._json_text import Found, embedded, is_jsonish, scan
from ._keys import (
    ASIDES,
    CONTAINERS,
    REASONS,
    RELATED,
    WRAPPERS,
    WRITTEN,
    is_blank,
    is_quotation,
    is_schema,
    is_template,
    name,
    singular,
    stem,
)
from ._markup import read_tags
from ._pipeline import Bad, Fit, Reader, Reading, read_reply
from ._text import Unreadable, outside

_ENVELOPES = ("choices", "tool_calls", "candidates")
_MAX_NESTING = 5
_SEVERAL = Bad("the reply holds several lists; give one")
_NO_TEXTS = Bad("the items of the list are no texts")


class _TextsReader(Reader[list[str]]):
    """Reads the one list of texts."""

    takes_scalars = False

    @property
    def missing(self) -> str:
        return "the JSON in the reply holds no list of texts"

    def candidates(self, found: list[Found], view: str) -> list[Found]:
        """Objects, lists of texts or objects, and an empty list that the reply begins with."""
        return [item for item in found if _is_data(item.value) or not (item.value or view[: item.start].strip())]

    def in_words(self, part: str) -> list[str]:
        if is_jsonish(part):
            raise Unreadable("the JSON in the reply cannot be read")
        tags = read_tags(part)
        reading = self.in_value(_untagged(tags)) if tags else None
        return reading.value if isinstance(reading, Fit) else read_lines(_without_objects(part))

    def in_value(self, data: Any, depth: int = 0) -> Reading[list[str]]:
        if depth > _MAX_NESTING:
            return None
        if isinstance(data, str):
            inner = embedded(data)
            return None if isinstance(inner, str) else self.in_value(inner, depth + 1)
        if isinstance(data, list):
            return self._in_list(data, depth)
        return self._in_object(data, depth) if isinstance(data, dict) and not is_schema(data) else None

    def _in_object(self, data: dict[str, Any], depth: int) -> Reading[list[str]]:
        if isinstance(data.get("properties"), dict):
            return self.in_value(data["properties"], depth + 1)
        data = _opened(data)
        lists = _lists(data)
        if len(lists) > 1:
            return _SEVERAL
        if lists:
            return self._in_list(lists[0], depth + 1)
        texts = [value for key, value in data.items() if isinstance(value, str) and _names_text(key)]
        if len(texts) != 1:
            return self._inside(data, depth)
        inner = self.in_value(texts[0], depth + 1)
        if inner is None and not is_template(texts[0]):
            return Fit(split_lines(texts[0]))
        return inner

    def _inside(self, data: dict[str, Any], depth: int) -> Fit[list[str]] | None:
        """What is in the one value that wraps a list."""
        readings = [
            self.in_value(value, depth + 1)
            for key, value in data.items()
            if isinstance(value, (dict, str))
            and not is_quotation(key)
            and (len(data) == 1 or singular(name(key)) in WRAPPERS)
        ]
        fits = [reading for reading in readings if isinstance(reading, Fit)]
        return fits[0] if len(fits) == 1 else None

    def _in_list(self, data: list[Any], depth: int) -> Reading[list[str]]:
        if depth == 0 and len(data) > 1 and all(isinstance(item, dict) and _lists(item) for item in data):
            return _SEVERAL
        texts: list[str] = []
        for item in data:
            reading = self._in_item(item, depth)
            if not isinstance(reading, Fit):
                return reading
            texts.extend(reading.value)
        return Fit(unique(texts))

    def _in_item(self, item: Any, depth: int) -> Reading[list[str]]:
        if isinstance(item, dict) and any(isinstance(value, (list, dict)) for value in item.values()):
            return self.in_value(item, depth + 1)
        text = _telling_text(item) if isinstance(item, dict) else item
        if not isinstance(text, str):
            return _NO_TEXTS
        return None if is_blank(text) else Fit([text])


def _opened(data: dict[str, Any]) -> dict[str, Any]:
    """The part of a server's envelope that holds the answer; other objects as they are."""
    parts = {key: data[key] for key in _ENVELOPES if key in data}
    holds_objects = any(isinstance(value, list) and value and isinstance(value[0], dict) for value in parts.values())
    return parts if holds_objects and len(data) > 1 else data


def _lists(data: dict[str, Any]) -> list[list[Any]]:
    return [
        value
        for key, value in data.items()
        if isinstance(value, list) and name(key) not in ASIDES and not is_quotation(key)
    ]


def _names_text(key: str) -> bool:
    return RELATED.get(stem(key)) in (WRITTEN["question"], WRITTEN["claim"])


def _telling_text(item: dict[str, Any]) -> str | None:
    """The text that an item of a list stands for: the one under a telling name, or the only one but for its reason."""
    if is_schema(item):
        return None
    texts = [(key, value) for key, value in item.items() if isinstance(value, str)]
    named = [value for key, value in texts if _names_text(key) or stem(key) in CONTAINERS]
    others = [value for key, value in texts if name(key) not in REASONS]
    return next((values[0] for values in (named, others) if len(values) == 1), None)


def _without_objects(part: str) -> str:
    """The prose around objects that are no answer, such as an echoed schema."""
    objects = [item for item in scan(part) if item.state == "whole" and isinstance(item.value, dict)]
    return outside(part, [(item.start, item.end) for item in objects], "")


def _is_data(value: Any) -> bool:
    return isinstance(value, dict) or (bool(value) and all(isinstance(item, (str, dict)) for item in value))


def _untagged(data: Any) -> Any:
    """Tags as lists: an element that holds only repeated elements of one kind is their list."""
    while isinstance(data, dict) and len(data) == 1:
        data = next(iter(data.values()))
    return [data] if isinstance(data, str) else data


@dataclass(frozen=True)
class LinesReply:
    """A list of texts, one per line; its value is a list of str without repetitions, possibly empty for an empty JSON list.

    Reads numbered and bulleted lists, plain lines, JSON lists of texts, and an object that holds exactly one such
    list.
    """

    @property
    def schema(self) -> None:
        """None: the reply is plain text."""
        return None

    def instructions(self) -> str:
        """The shape of the reply, for the system message."""
        return "Reply with a numbered list, one item per line, and nothing else."

    def parse(self, text: str) -> list[str]:
        """The items, in order.

        Raises:
            BadReply: the reply lists nothing, refuses, or holds a JSON list that is cut or broken.
        """
        return read_reply(text, _READER)


_READER = _TextsReader()
