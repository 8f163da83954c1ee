"""Replies are read as Haystack reads them, and as the core does where Haystack gives up.

Strategy. A reply that is the JSON object that was asked for is taken as it is, together with keys that nobody asked for, as in
Haystack. Everything else (fences, prose, near-JSON) is left to the reply formats of the core. Each row has a reply format of its
own that carries the row's number, so equal rows stay separate questions, and it is known which row a reply belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

from ragmetrics_core import BadReply
from ragmetrics_core.replies import ObjectReply, ReplyFormat

__all__ = ["NamedValues", "OfRow", "clean_object", "raise_as_haystack"]

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class NamedValues(ObjectReply):
    """One JSON object that has at least these keys, whatever their values, NaN included; without keys, any object will do."""

    def __post_init__(self) -> None:
        if self.keys:
            super().__post_init__()

    def instructions(self) -> str:
        """The shape of the object."""
        return super().instructions() if self.keys else "Reply with one JSON object and nothing else."

    def parse(self, text: str) -> dict[str, Any]:
        """The object.

        Raises:
            BadReply: the reply holds no object with these keys.
        """
        found = clean_object(text)
        if found is not None and found.keys() >= set(self.keys):
            return found
        if not self.keys:
            raise BadReply("the reply is not one JSON object", text)
        return super().parse(text)


@dataclass(frozen=True)
class OfRow(Generic[T]):
    """The reply format of one row.

    Attributes:
        form: reads the reply.
        number: number of the row, from 0.
        lists: keys whose values must be lists; in clean JSON a lone text such as "none" is refused there.
        words: the whole question, if the user's own template makes it.
    """

    form: ReplyFormat[T]
    number: int
    lists: tuple[str, ...] = ()
    words: str | None = None

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of ``form``."""
        return self.form.schema

    def instructions(self) -> str:
        """The instructions of ``form``."""
        return self.form.instructions()

    def parse(self, text: str) -> T:
        """What ``form`` reads.

        Raises:
            BadReply: ``form`` cannot read it, or it is JSON, but not an object with lists where they must be.
        """
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return self.form.parse(text)
        if not isinstance(found, dict):
            raise BadReply(f"the reply must be a JSON object, got {type(found).__name__}", text)
        for key in self.lists:
            if not isinstance(found.get(key, []), list):
                raise BadReply(f"{key} must be a list, got {found[key]!r}", text)
        return self.form.parse(text)


def clean_object(text: str) -> dict[str, Any] | None:
    """The text as a JSON object, as Haystack reads it (NaN is a number); None if it is anything else."""
    try:
        found = json.loads(text.strip())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def raise_as_haystack(error: BadReply, outputs: Sequence[str]) -> NoReturn:
    """Raise what Haystack raises over an unreadable reply.

    Raises:
        ValueError: always; a ``JSONDecodeError`` if the reply is no JSON at all.
    """
    if error.raw:
        try:
            found = json.loads(error.raw[-1].strip())
        except RecursionError:
            raise ValueError("The reply of the chat generator is nested too deeply to be read") from error
        if not isinstance(found, dict):
            raise ValueError(
                f"Expected a JSON object containing a dictionary but got {type(found).__name__}"
            ) from error
        missing = [name for name in outputs if name not in found]
        if missing:
            raise ValueError(f"Missing expected keys in JSON: {missing}. Got keys: {list(found)}") from error
    raise ValueError(f"The reply of the chat generator cannot be used: {error.reason}") from error
