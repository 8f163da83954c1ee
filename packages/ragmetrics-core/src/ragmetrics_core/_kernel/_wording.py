"""What the words of a prompt are made of: instructions, worked examples, the form of the reply; and how data is written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._plain import plain
from ._protocols import ReplyFormat

encode = json.JSONEncoder(ensure_ascii=False, default=plain).encode
"""Made once: ``json.dumps`` makes an encoder at each call that has settings."""

SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Example:
    """One worked example: the data, and the reply that is right for it (a str, or JSON values, or a pydantic object)."""

    inputs: Mapping[str, Any]
    output: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", plain(self.inputs))
        object.__setattr__(self, "output", _as_asked(self.output))

    def __eq__(self, other: object) -> bool:
        # what a model is shown counts, and it is shown keys in their order
        return self._shown == other._shown if isinstance(other, Example) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._shown)

    @property
    def _shown(self) -> tuple[str, str]:
        return to_json(self.inputs), reply_text(self.output)


def _as_asked(output: Any) -> Any:
    """The reply with the keys that the form of the reply asks for, as plain JSON values."""
    return output.model_dump(mode="json", by_alias=True) if hasattr(output, "model_dump") else plain(output)


class Words(NamedTuple):
    """Everything that the words of a system message are made of."""

    instructions: str
    examples: tuple[Example, ...]
    notice: str
    reply: ReplyFormat[Any]

    def same_as(self, other: Words) -> bool:
        """Whether the model reads the same."""
        return self[:3] == other[:3] and self._same_form(other)

    def tag(self, other: Words) -> str:
        """A hash of these words; the form of the reply counts only where it differs from the other's."""
        shown = [[to_json(item.inputs), reply_text(item.output)] for item in self.examples]
        wording = [self.instructions, shown, self.notice]
        form = [] if self._same_form(other) else [self.reply.instructions()]
        return hashlib.sha256(to_json(wording + form).encode()).hexdigest()[:6]

    def _same_form(self, other: Words) -> bool:
        # writing out a form may cost time, and most copies share the form of their original
        return self.reply is other.reply or self.reply.instructions() == other.reply.instructions()


def to_json(data: Any) -> str:
    """The data as one line of JSON that any transport can carry and that decodes back to exactly the data.

    One exception: two lone surrogates in a row that would form a pair come back as the character they form, as JSON has it.
    """
    return _carried(encode(data))


class Written(str):
    """The JSON of a value."""

    __slots__ = ()

    @classmethod
    def of(cls, value: Any) -> Written:
        """The JSON of this value."""
        return cls(encode(value))


def object_json(members: Mapping[str, Any]) -> str:
    """The JSON of an object, as ``to_json`` has it; what is ``Written`` is not written once more."""
    if Written not in map(type, members.values()):
        return to_json(members)
    parts = [f"{encode(name)}: {value if type(value) is Written else encode(value)}" for name, value in members.items()]
    return _carried(f"{{{', '.join(parts)}}}")


def _carried(text: str) -> str:
    if text.isascii():  # every str knows this of itself, so asking costs nothing
        return text
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates cannot travel as UTF-8, but their escapes can
        text = SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text


def reply_text(output: Any) -> str:
    return output if isinstance(output, str) else to_json(output)
