"""Values written so that no file can change their order.

Strategy. What a mapping holds reaches a model in its order (an example of a prompt: first the reason, then the verdict), but files
do not keep it: YAML writers, Haystack's among them, and JSON stores sort the keys. So a mapping is written as one JSON text, which
nobody sorts, under a key that says so. Mappings written plainly, as by hand or by earlier versions, are read as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._plain import plain

__all__ = ["in_order", "read_in_order"]

TEXT = "json_text"
"""The only key of a mapping that was written as a text."""


def in_order(value: Any) -> Any:
    """The value as plain JSON values, with each mapping that is not empty as ``{"json_text": ...}``.

    Raises:
        TypeError: JSON has no such value.
        ValueError: a number is not finite.
    """
    if isinstance(value, Mapping) and value:
        return {TEXT: _text(plain(value))}
    if isinstance(value, list | tuple):
        return [in_order(item) for item in value]
    return plain(value)


def read_in_order(value: Any) -> Any:
    """What ``in_order`` wrote, with its mappings in their order.

    Raises:
        ValueError: a text is no JSON.
    """
    if isinstance(value, Mapping) and value.keys() == {TEXT} and isinstance(value[TEXT], str):
        return json.loads(value[TEXT])
    if isinstance(value, list | tuple):
        return [read_in_order(item) for item in value]
    return value


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates cannot stand in a file, but their escapes can
        return json.dumps(value)
    return text
