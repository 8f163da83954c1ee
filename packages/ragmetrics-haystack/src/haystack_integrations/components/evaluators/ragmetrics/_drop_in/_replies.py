"""What goes into a question and a saved pipeline as JSON, and what comes out of a reply: as Haystack reads it, and as the core does
where Haystack gives up.

Strategy. A reply that is the JSON object that was asked for is taken as it is, together with keys that nobody asked for, as in
Haystack. Everything else (fences, prose, near-JSON) is left to the reply formats of the core. Each row has a reply format of its
own that carries the row's number, so equal rows stay separate questions, and it is known which row a reply belongs to.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

from haystack import Document
from ragmetrics_core import BadReply, Example
from ragmetrics_core.adapters import in_order, json_walk
from ragmetrics_core.replies import ObjectReply, ReplyFormat

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


def as_examples(
    examples: Sequence[Mapping[str, Any]],
    inputs: Iterable[str],
    outputs: Iterable[str],
    names: Mapping[str, str] | None = None,
) -> tuple[Example, ...]:
    """Examples of Haystack as examples of a prompt.

    Args:
        examples: as the user gave them, or as a file gave them, which may have sorted their keys.
        inputs: names of the inputs in the order in which they are shown; others follow in alphabetical order.
        outputs: the same for the outputs.
        names: what the prompt calls an input, where that is not Haystack's name.
    """
    names = names or {}
    return tuple(
        Example(
            {str(names.get(name, name)): value for name, value in _shown(item["inputs"], inputs).items()},
            _shown(item["outputs"], outputs),
        )
        for item in examples
    )


def _shown(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    known = [name for name in names if name in values]
    return {name: readable(values[name]) for name in [*known, *sorted(values.keys() - set(known))]}


def saved_examples(examples: list[dict[str, Any]]) -> list[Any]:
    """The examples as Haystack saves them; an example with mappings among its values is saved so that no file can reorder it."""
    return [
        in_order(readable(item)) if any(_holds_mapping(list(part.values())) for part in item.values()) else item
        for item in examples
    ]


def _holds_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(_holds_mapping, value)))


def _as_text(value: Any) -> Any:
    if isinstance(value, Document) and value.content is not None:
        return value.content
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    as_list = getattr(value, "tolist", None)
    return str(value) if as_list is None or isinstance(value, float) else readable(as_list())


readable = json_walk(_as_text)
"""The value as JSON; what JSON cannot hold becomes text, as in Haystack."""
