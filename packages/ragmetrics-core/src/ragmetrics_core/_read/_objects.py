"""Rows that are objects: pydantic models, as RAGAS, LangSmith and LlamaIndex have them, and dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._sample import Sample
from ._text import BadShape


def as_mapping(value: Any) -> Mapping[str, Any] | Sample:
    """The row as a mapping from columns to values; a sample stays as it is.

    Raises:
        InvalidInput: it cannot be a row, or it stands for a row that a reader could not make.
    """
    if isinstance(value, Sample | Mapping):
        return value
    if isinstance(value, InvalidInput):
        raise value
    if is_model(value):
        return dict(value.model_dump(exclude_none=True))
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    raise BadShape(f"a row must be a Sample or a mapping from column names to values, got {type(value).__name__}")


def is_model(value: Any) -> bool:
    """Whether it is a pydantic model; such a model can be iterated over, and gives pairs of a name and a value."""
    return callable(getattr(value, "model_dump", None)) and not isinstance(value, type)
