"""Parses JSON with the fast parser of pydantic, which also refuses very deep nesting."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json


def parsed_json(text: str | bytes) -> Any:
    """Return the value of a text of JSON.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    return from_json(text)
