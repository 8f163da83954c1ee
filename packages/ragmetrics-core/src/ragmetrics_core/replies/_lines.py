"""Read a list of short texts: questions, claims, key points.

The plain form is one text per line, numbered or with bullets. If a model sends JSON instead, it is read like a model with one
list, except that the list may have any name. Numbering, labels, introductions, closing remarks, empty lines and repetitions are
left out; the wording of an item is never changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ._items import read_lines, unique
from ._json import ModelReader
from ._json_text import is_jsonish, scan
from ._keys import ASIDES, is_quotation, is_schema, name
from ._markup import read_tags
from ._pipeline import Bad, Fit, Reading, read_reply
from ._text import Unreadable, outside


class Texts(BaseModel):
    """A list of texts under the key that most replies use."""

    questions: list[str]


class _TextsReader(ModelReader[Texts]):
    """Reads the only list of texts in a reply."""

    takes_scalars = False

    @property
    def missing(self) -> str:
        return "the JSON in the reply holds no list of texts"

    def in_words(self, part: str) -> Texts:
        if is_jsonish(part):
            raise Unreadable("the JSON in the reply cannot be read")
        tags: Any = read_tags(part)
        while isinstance(tags, dict) and len(tags) == 1:
            tags = next(iter(tags.values()))  # an element that contains only elements of one name is their list
        reading = self.in_value([tags] if isinstance(tags, str) else tags) if tags else None
        return reading.value if isinstance(reading, Fit) else Texts(questions=read_lines(_without_objects(part)))

    def in_value(self, data: Any, depth: int = 0) -> Reading[Texts]:
        reading = super().in_value(data, depth)
        if reading is not None or not isinstance(data, dict) or is_schema(data):
            return reading
        named = [value for key, value in data.items() if name(key) not in ASIDES and not is_quotation(key)]
        lists = [value for value in named if isinstance(value, list)]
        if len(lists) > 1:
            return Bad("the reply holds several lists; give one")
        return super().in_value(lists[0], depth + 1) if lists else None


def _without_objects(part: str) -> str:
    """Return the prose around objects that are not an answer, such as an echoed schema."""
    objects = [item for item in scan(part) if item.state == "whole" and isinstance(item.value, dict)]
    return outside(part, [(item.start, item.end) for item in objects], "")


@dataclass(frozen=True)
class LinesReply:
    """A list of texts, one per line. The value is a list of str without repetitions; an empty JSON list gives an empty list.

    The reader accepts numbered and bulleted lists, plain lines, JSON lists of texts, and an object that contains exactly one such
    list.
    """

    @property
    def schema(self) -> None:
        """None: the reply is plain text."""
        return None

    def instructions(self) -> str:
        """Return the shape of the reply, for the system message."""
        return "Reply with a numbered list, one item per line, and nothing else."

    def parse(self, text: str) -> list[str]:
        """Return the items, in order.

        Raises:
            BadReply: the reply lists nothing, refuses, or contains a JSON list that is cut or broken.
        """
        return unique(read_reply(text, _READER).questions)


_READER = _TextsReader(Texts)
