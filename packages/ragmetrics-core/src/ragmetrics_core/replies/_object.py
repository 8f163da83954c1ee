"""Read an object whose keys are known, without a pydantic model class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from .._values._errors import BadReply, InvalidInput


@dataclass(frozen=True, repr=False)
class ObjectReply:
    """One JSON object with the given keys and any values. The value is a dict with exactly these keys, in order.

    Attributes:
        keys: the keys asked for, in the order in which the model should write them.
        meant: pairs of a key and what its value should be, in words for the model: ``(("score", "number from 1 to 5"),)``.

    Raises:
        InvalidInput: there are no keys, or one of the keys is not a text.
    """

    keys: tuple[str, ...]
    meant: tuple[tuple[str, str], ...] = ()

    is_json: ClassVar[bool] = True
    """The reply is JSON, although there is no schema for it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", tuple(self.keys))
        object.__setattr__(self, "meant", tuple((key, words) for key, words in self.meant))
        if not self.keys or not all(isinstance(key, str) and key.strip() for key in self.keys):
            raise InvalidInput(f"ObjectReply: keys must be names, got {self.keys!r}")

    def __repr__(self) -> str:
        return f"ObjectReply({self.keys!r}{f', {self.meant!r}' if self.meant else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        # the cached model class cannot be pickled; it is made again on first use
        return (type(self), (self.keys, self.meant))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """None: values of any type have no strict schema."""
        return None

    @cached_property
    def _names(self) -> dict[str, str]:
        """A field name for every key. A key that cannot be a field name gets a name with a number."""
        from pydantic import BaseModel  # noqa: PLC0415  only this format and JsonReply need it

        def can_be_field(key: str) -> bool:
            return key.isidentifier() and not key.startswith("_") and not hasattr(BaseModel, key)

        return {key if can_be_field(key) else f"value_{number}": key for number, key in enumerate(self.keys)}

    @cached_property
    def _json(self) -> Any:
        from pydantic import Field, create_model  # noqa: PLC0415

        from ._json import JsonReply  # noqa: PLC0415

        words = dict(self.meant)
        fields: dict[str, Any] = {
            name: (Any, Field(alias=key, description=words.get(key))) for name, key in self._names.items()
        }
        return JsonReply(create_model("Reply", **fields))

    def instructions(self) -> str:
        """Return the shape of the object."""
        return str(self._json.instructions())

    def parse(self, text: str) -> dict[str, Any]:
        """Return the values by key.

        Raises:
            BadReply: the reply contains no object with these keys, or a number that is not finite.
        """
        value = self._json.parse(text)
        values = {key: getattr(value, name) for name, key in self._names.items()}
        if not _is_finite(values):
            raise BadReply("the reply holds a number that is not finite", text)
        return values


def _is_finite(value: Any) -> bool:
    if isinstance(value, (Mapping, list)):
        return all(map(_is_finite, value.values() if isinstance(value, Mapping) else value))
    return not isinstance(value, float) or math.isfinite(value)
