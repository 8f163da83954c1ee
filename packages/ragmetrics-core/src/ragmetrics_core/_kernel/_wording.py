"""The text of a prompt and of its reply: instructions, worked examples, the form of the reply, and how data is written.

A judge may quote what it judges. The words of a reply alone seldom tell whether a verdict in it is quoted, but the data does: a
verdict that is in the data was there before the judge spoke. So a prompt passes its data on with the text of the reply, as a
``ReplyText``, which is an ordinary str elsewhere.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from .._values._plain import plain
from .._values._requests import ReplyFormat

# What a quotation may lose or gain on its way: blanks, quotes, escapes, emphasis.
_LOOSE = re.compile(r"[\s\"'`\\*_>#~|“”‘’„‟‚«»‹›「」『』\u200b-\u200f\u2060\ufeff]+")


_MAX_DEPTH = 12


def _squeezed(text: str) -> str:
    plain = html.unescape(text) if "&" in text else text
    return _LOOSE.sub("", unicodedata.normalize("NFKC", plain).casefold())


def _texts(data: Any, depth: int = 0) -> Iterator[str]:
    """Every text in the inputs of a prompt."""
    if isinstance(data, str):
        yield data
    elif depth < _MAX_DEPTH:
        inner = data.values() if isinstance(data, Mapping) else data if isinstance(data, (list, tuple)) else ()
        for item in inner:
            yield from _texts(item, depth + 1)


class Asked:
    """What is known of the question: the inputs of the prompt, and the number of items that the reply must list (None: any).

    Nothing is worked out before it is needed: most replies are clean JSON, and need none of it.
    """

    def __init__(self, inputs: Mapping[str, Any] | None = None, count: int | None = None) -> None:
        self._inputs = inputs or {}
        self.count = count

    @cached_property
    def data(self) -> list[str]:
        """Every text that was sent."""
        return [text for text in _texts(self._inputs) if text]

    @property
    def has_braces(self) -> bool:
        """Whether an object may stand in a text that was sent."""
        for value in self._inputs.values():
            if type(value) is str:
                if "{" in value:
                    return True
            elif isinstance(value, (list, tuple)):
                for item in value:
                    if type(item) is not str or "{" in item:
                        return True
            elif isinstance(value, Mapping):
                return True
        return False

    @cached_property
    def _sent(self) -> str:
        return "\n".join(map(_squeezed, self.data))

    @cached_property
    def _joined(self) -> str:
        return "\n".join(self.data)

    @cached_property
    def _plain(self) -> str:
        return self._joined.casefold()

    @property
    def known(self) -> bool:
        """Whether the data is known at all."""
        return bool(self._inputs)

    def holds_mark(self, mark: str) -> bool:
        """Whether the data holds a mark such as ``</think>``."""
        return bool(self._inputs) and mark.casefold() in self._plain

    def holds(self, text: str) -> bool:
        """Whether the data holds ``text``, without regard to blanks, quotes and emphasis."""
        wanted = _squeezed(text)
        return bool(wanted and self._inputs) and wanted in self._sent

    def holds_saying(self, text: str) -> bool:
        """Whether the data holds a phrase of at least two words; a single word may be there by chance."""
        return bool(self._inputs) and len(re.findall(r"\w+", text)) > 1 and self.holds(text)

    def on(self, text: str) -> str:
        """A part of the reply, with what is known of the question."""
        return ReplyText(text, self)


NOTHING = Asked()


class ReplyText(str):
    """The text of a reply, with what is known of the question."""

    __slots__ = ("asked",)
    asked: Asked

    def __new__(cls, text: str, asked: Asked) -> ReplyText:  # noqa: PYI034  Self is not in Python 3.10
        self = super().__new__(cls, text)
        self.asked = asked
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # a copy or a pickled reply is a plain str: what was asked is needed only where the reply is read
        return (str, (str(self),))


def asked_of(text: str) -> Asked:
    """What is known of the question that ``text`` answers."""
    return text.asked if isinstance(text, ReplyText) else NOTHING


encode = json.JSONEncoder(ensure_ascii=False, default=plain).encode
"""Made once: ``json.dumps`` makes an encoder at each call that has settings."""


quote = encode_basestring
"""The JSON of a text; ``encode`` gives the same, with one call more."""

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

    @classmethod
    def of_texts(cls, texts: Iterable[str], *, numbered: bool) -> Written:
        """The JSON of a list of texts, or of a mapping that has them under their numbers, from 1."""
        quoted: Iterator[str] = map(quote, texts)
        if numbered:
            quoted = (f'"{number}": {text}' for number, text in enumerate(quoted, 1))
            return cls(f"{{{', '.join(quoted)}}}")
        return cls(f"[{', '.join(quoted)}]")


def object_json(members: Mapping[str, Any]) -> str:
    """The JSON of an object, as ``to_json`` has it; what is ``Written`` is not written once more."""
    parts = [
        f"{quote(name)}: {value if type(value) is Written else quote(value) if type(value) is str else encode(value)}"
        for name, value in members.items()
    ]
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
