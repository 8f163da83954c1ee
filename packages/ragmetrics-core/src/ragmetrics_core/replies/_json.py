"""An object of a user's pydantic model.

Most replies are clean JSON in the model's own shape, so those take a short way: decode, looking at
every key, validate strictly. All others take the long way: find what in the text is meant as the answer, fit it to the
model, validate. The short way must not be laxer than the long one, hence the check of the keys: a model full of
defaults accepts any object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from json import JSONDecoder
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from .._kernel._errors import InvalidInput
from .._support._strict_schema import strict_schema
from ._json_reader import ModelReader
from ._json_text._find import clean_json, decoder_of
from ._pipeline import read_reply
from ._typed._shape import shape_of

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, repr=False)
class JsonReply(Generic[M]):
    """One JSON object that fits a pydantic model; its value is an instance of the model.

    Reads through fences, prose, thinking, wrappers, near-JSON, other key styles and unambiguous other keys; checks
    types and choices as strictly as the model states them.

    Raises:
        InvalidInput: ``model`` is not a pydantic model class.
    """

    model: type[M]

    is_json: ClassVar[bool] = True
    """It is JSON, also where the model has no strict schema."""

    def __post_init__(self) -> None:
        if not (isinstance(self.model, type) and issubclass(self.model, BaseModel)):
            raise InvalidInput(f"JsonReply: model must be a pydantic BaseModel class, not {self.model!r}")

    def __repr__(self) -> str:
        return f"JsonReply({self.model.__name__})"

    def __reduce__(self) -> tuple[Any, ...]:
        # What is worked out once per instance is worked out again where it is unpickled.
        return (type(self), (self.model,))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The model's JSON schema in the strict subset, or None for a model that it cannot express."""
        return self._schema

    @cached_property
    def _schema(self) -> Mapping[str, Any] | None:
        return strict_schema(self.model.model_json_schema(), portable=True)

    @cached_property
    def _reader(self) -> ModelReader[M]:
        return ModelReader(self.model)

    @cached_property
    def _decoder(self) -> JSONDecoder:
        return decoder_of(self._reader.plan.knows)

    def instructions(self) -> str:
        """The shape of the object, with the descriptions of the model's fields, for the system message."""
        return f"Reply in JSON:\n{shape_of(self.model)}"

    def parse(self, text: str) -> M:
        """The object in a reply.

        Raises:
            BadReply: the reply holds no such object, or several that disagree.
        """
        suspect = "<" in text or "..." in text or "…" in text
        clean = None if suspect else clean_json(text, self._decoder)
        if clean is not None and self._reader.plan.takes(clean[0]):
            try:
                return self.model.model_validate(clean[0], strict=True)
            except ValidationError:
                pass  # the long way reads more forms, and words its errors for the model
        return read_reply(text, self._reader)
