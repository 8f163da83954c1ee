"""A list of short texts: questions, claims, key points.

The plain form is one per line, numbered or with bullets; models also send JSON lists or an object around one.
Numbering, labels, introductions, closing remarks, empty lines and repetitions are left out; the wording of an item
is never touched.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import Any

from .._kernel._asked import asked_of
from ._choose import choose, unless_doubted
from ._json_text._find import Bad, Fit, decode, embedded, is_jsonish, views
from ._json_text._scan import scan
from ._model._keys import (
    ASIDES,
    CONTAINERS,
    REASONS,
    RELATED,
    WRAPPERS,
    WRITTEN,
    is_quotation,
    is_schema,
    is_template,
    name,
    singular,
    stem,
)
from ._prose._items import read_lines, split_lines, unique
from ._prose._problem import Problem, parse_or_bad_reply
from ._prose._tags import read_tags
from ._prose._turns import answer_part

__all__ = ["LinesReply"]

_ENVELOPES = ("choices", "tool_calls", "candidates")


def _texts_in(data: Any, depth: int = 0) -> Fit[list[str]] | Bad | None:
    """The one list of texts in a JSON value."""
    if depth > 5:
        return None
    if isinstance(data, str):
        inner = embedded(data)
        return _texts_in(inner, depth + 1) if not isinstance(inner, str) else None
    if isinstance(data, list):
        return _texts_of_list(data, depth)
    if not isinstance(data, dict) or is_schema(data):
        return None
    if isinstance(data.get("properties"), dict):
        return _texts_in(data["properties"], depth + 1)
    if len(data) > 1 and any(
        isinstance(data.get(key), list) and data[key] and isinstance(data[key][0], dict) for key in _ENVELOPES
    ):
        data = {key: data[key] for key in _ENVELOPES if key in data}
    lists = _lists(data)
    if len(lists) > 1:
        return Bad("the reply holds several lists; give one")
    if lists:
        return _texts_of_list(lists[0], depth + 1)
    texts = [value for key, value in data.items() if isinstance(value, str) and _names_text(key)]
    if len(texts) == 1:
        inner = _texts_in(texts[0], depth + 1)
        return inner if inner is not None else Fit(split_lines(texts[0])) if not is_template(texts[0]) else None
    inside = [
        _texts_in(value, depth + 1)
        for key, value in data.items()
        if isinstance(value, (dict, str))
        and not is_quotation(key)
        and (len(data) == 1 or singular(name(key)) in WRAPPERS)
    ]
    fits = [reading for reading in inside if isinstance(reading, Fit)]
    return fits[0] if len(fits) == 1 else None


def _lists(data: dict[str, Any]) -> list[list[Any]]:
    return [
        value
        for key, value in data.items()
        if isinstance(value, list) and name(key) not in ASIDES and not is_quotation(key)
    ]


def _names_text(key: str) -> bool:
    group = RELATED.get(stem(key))
    return group is WRITTEN["question"] or group is WRITTEN["claim"]


def _texts_of_list(data: list[Any], depth: int) -> Fit[list[str]] | Bad | None:
    texts: list[str] = []
    if depth == 0 and len(data) > 1 and all(isinstance(item, dict) and _lists(item) for item in data):
        return Bad("the reply holds several lists; give one")
    for item in data:
        if isinstance(item, str):
            text = item
        elif isinstance(item, dict) and any(isinstance(value, (list, dict)) for value in item.values()):
            inner = _texts_in(item, depth + 1)
            if not isinstance(inner, Fit):
                return inner
            texts.extend(inner.value)
            continue
        elif isinstance(item, dict) and not is_schema(item):
            named = [
                value
                for key, value in item.items()
                if isinstance(value, str) and (_names_text(key) or stem(key) in CONTAINERS)
            ]
            others = [value for key, value in item.items() if isinstance(value, str) and name(key) not in REASONS]
            if len(named) != 1 and len(others) != 1:
                return Bad("the items of the list are no texts")
            text = (named if len(named) == 1 else others)[0]
        else:
            return Bad("the items of the list are no texts")
        if re.fullmatch(r"\s*(?:<[^<>]*>|\.{3}|…)\s*", text):
            return None
        texts.append(text)
    return Fit(unique(texts))


def _read(text: str) -> list[str]:
    whole = decode(text)
    if whole is not None:
        reading = _texts_in(whole[0])
        if isinstance(reading, Fit):
            return list(reading.value)
        if isinstance(whole[0], (dict, list)):
            raise Problem(reading.reason if reading else "the JSON in the reply holds no list of texts")
        text = asked_of(text).on(str(whole[0]))
    part, doubted = answer_part(text)
    return unless_doubted(_read_part(part), doubted, _read_part, operator.eq)


def _read_part(part: str) -> list[str]:
    for view in views(part):
        found = [item for item in scan(view) if _is_data(item.value) or not (item.value or view[: item.start].strip())]
        reading = choose(view, found, _texts_in, lambda one, two: one == two)
        if isinstance(reading, Fit):
            return list(reading.value)
        if isinstance(reading, Bad):
            raise Problem(reading.reason)
    if is_jsonish(part):
        raise Problem("the JSON in the reply cannot be read")
    tags = read_tags(part)
    reading = _texts_in(_untagged(tags)) if tags else None
    return list(reading.value) if isinstance(reading, Fit) else read_lines(_without_objects(part))


def _without_objects(part: str) -> str:
    """The prose around objects that are no answer, such as an echoed schema."""
    kept = []
    start = 0
    for item in scan(part):
        if item.state == "whole" and isinstance(item.value, dict):
            kept.append(part[start : item.start])
            start = item.end
    return "".join(kept) + part[start:]


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
        return parse_or_bad_reply(text, _read)
