"""Parses JSON with the fast parser of pydantic, which also refuses very deep nesting."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json


def parsed_json(text: str | bytes) -> Any:
    """Return the value of a text of JSON.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    try:
        return from_json(text, cache_strings="keys")
    except TypeError:  # half of a surrogate pair, which is no text
        raise ValueError("not Unicode") from None


def parsed_or_none(value: Any) -> Any:
    """Return the value of a text of JSON, or another value unchanged; None if the text is cut off."""
    try:
        return parsed_json(value) if isinstance(value, str) else value
    except ValueError:
        return None
