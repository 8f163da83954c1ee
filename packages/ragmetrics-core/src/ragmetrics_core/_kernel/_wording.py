"""The parts of a prompt and of its reply: instructions, worked examples, the reply format, and how data is written as JSON.

A judge may quote the text that it judges, and the reply alone seldom shows whether a verdict in it is a quotation. But a verdict
that is also in the data may be quoted from there. So a prompt passes its data to the parser with the text of the reply, in a
``ReplyText``, which otherwise is an ordinary str.
"""

from __future__ import annotations

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

# What a quotation may lose or gain when it is copied: blanks, quotes, escapes, emphasis.
_LOOSE = re.compile(r"[\s\"'`\\*_>#~|“”‘’„‟‚«»‹›「」『』\u200b-\u200f\u2060\ufeff]+")


_MAX_DEPTH = 12


def _squeezed(text: str) -> str:
    if "&" in text:
        import html  # noqa: PLC0415  costly to import, rarely needed

        text = html.unescape(text)
    return _LOOSE.sub("", unicodedata.normalize("NFKC", text).casefold())


def _texts(data: Any, depth: int = 0) -> Iterator[str]:
    """Yield every text in the inputs of a prompt."""
    if isinstance(data, str):
        yield data
    elif depth < _MAX_DEPTH:
        inner = data.values() if isinstance(data, Mapping) else data if isinstance(data, (list, tuple)) else ()
        for item in inner:
            yield from _texts(item, depth + 1)


class Asked:
    """The question that a reply answers.

    Everything is computed only when it is needed, because most replies are clean JSON.

    Args:
        inputs: the inputs of the prompt; None: they are not known.
        count: the number of items that the reply must list; None: any number.
    """

    def __init__(self, inputs: Mapping[str, Any] | None = None, count: int | None = None) -> None:
        self._inputs = inputs or {}
        self.count = count

    @cached_property
    def data(self) -> list[str]:
        """Every text in the data sent."""
        return [text for text in _texts(self._inputs) if text]

    @property
    def has_braces(self) -> bool:
        """Whether the data sent may contain a JSON object, in a text or as a value."""
        for value in self._inputs.values():  # generators take four times as long
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
    def _plain(self) -> str:
        return "\n".join(self.data).casefold()

    @property
    def known(self) -> bool:
        """Whether the data sent is known."""
        return bool(self._inputs)

    def holds_mark(self, mark: str) -> bool:
        """Whether the data contains a mark such as ``</think>``."""
        return bool(self._inputs) and mark.casefold() in self._plain

    def holds(self, text: str) -> bool:
        """Whether the data contains ``text``, apart from case, blanks, quotes, escapes and emphasis."""
        wanted = _squeezed(text)
        return bool(wanted and self._inputs) and wanted in self._sent

    def holds_saying(self, text: str) -> bool:
        """Whether the data contains a text of at least two words. False for a single word, which may occur there by chance."""
        return bool(self._inputs) and len(re.findall(r"\w+", text)) > 1 and self.holds(text)

    def on(self, text: str) -> str:
        """Return a part of the reply with its question attached."""
        return ReplyText(text, self)


NOTHING = Asked()


class ReplyText(str):
    """The text of a reply, with the question that it answers."""

    __slots__ = ("asked",)
    asked: Asked

    def __new__(cls, text: str, asked: Asked) -> ReplyText:  # noqa: PYI034  Self is not in Python 3.10
        self = super().__new__(cls, text)
        self.asked = asked
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # a copied or pickled reply is a plain str: the question is needed only while the reply is parsed
        return (str, (str(self),))


def question_of(text: str) -> Asked:
    """Return the question that a text answers; ``NOTHING`` if it is not known."""
    return text.asked if isinstance(text, ReplyText) else NOTHING


encode = json.JSONEncoder(ensure_ascii=False, default=plain).encode
"""Encode a value as JSON. (``json.dumps`` with options would create an encoder at each call.)"""


quote = encode_basestring
"""Encode a text as JSON; the same as ``encode``, but faster."""

SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Example:
    """One worked example: the data, and the correct reply to it (a str, JSON values or a pydantic object)."""

    inputs: Mapping[str, Any]
    output: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", plain(self.inputs))
        output = self.output
        # a model is written with the keys (aliases) that its reply format asks for
        asked = output.model_dump(mode="json", by_alias=True) if hasattr(output, "model_dump") else plain(output)
        object.__setattr__(self, "output", asked)

    def __eq__(self, other: object) -> bool:
        # examples are equal if they look equal to a model, which sees the order of keys
        return self._shown == other._shown if isinstance(other, Example) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._shown)

    @property
    def _shown(self) -> tuple[str, str]:
        return to_json(self.inputs), reply_text(self.output)


class Words(NamedTuple):
    """The parts from which the text of a system message is made."""

    instructions: str
    examples: tuple[Example, ...]
    notice: str
    reply: ReplyFormat[Any]

    def same_as(self, other: Words) -> bool:
        """Whether both give the same system message."""
        return self[:3] == other[:3] and self._same_form(other)

    def tag(self, other: Words) -> str:
        """Return a hash of this wording; the reply format is included only if it differs from the format of ``other``."""
        shown = [[to_json(item.inputs), reply_text(item.output)] for item in self.examples]
        wording = [self.instructions, shown, self.notice]
        form = [] if self._same_form(other) else [self.reply.instructions()]
        import hashlib  # noqa: PLC0415  costly to import, and not needed to import metrics

        return hashlib.sha256(to_json(wording + form).encode()).hexdigest()[:6]

    def _same_form(self, other: Words) -> bool:
        # writing the instructions may be slow, and most copies share the format of their original
        return self.reply is other.reply or self.reply.instructions() == other.reply.instructions()


def to_json(data: Any) -> str:
    """Write data as one line of JSON that can be encoded as UTF-8 and decodes to exactly the same data.

    One exception, due to JSON: two lone surrogates in a row that form a pair decode to the character of this pair.
    """
    return _carried(encode(data))


class Written(str):
    """A text that already is JSON."""

    __slots__ = ()

    @classmethod
    def of_texts(cls, texts: Iterable[str], *, numbered: bool) -> Written:
        """Write texts as a JSON list or, if ``numbered``, as a JSON object with their numbers, from 1, as keys."""
        quoted: Iterator[str] = map(quote, texts)
        if numbered:
            quoted = (f'"{number}": {text}' for number, text in enumerate(quoted, 1))
            return cls(f"{{{', '.join(quoted)}}}")
        return cls(f"[{', '.join(quoted)}]")


def object_json(members: Mapping[str, Any]) -> str:
    """Write an object as JSON, like ``to_json``; values that are ``Written`` already are inserted unchanged."""
    parts = [
        f"{quote(name)}: {value if type(value) is Written else quote(value) if type(value) is str else encode(value)}"
        for name, value in members.items()
    ]
    return _carried(f"{{{', '.join(parts)}}}")


def _carried(text: str) -> str:
    if text.isascii():  # a fast check: it reads a flag of the str
        return text
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates cannot be encoded as UTF-8, but their escapes can
        text = SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text


def reply_text(output: Any) -> str:
    return output if isinstance(output, str) else to_json(output)
