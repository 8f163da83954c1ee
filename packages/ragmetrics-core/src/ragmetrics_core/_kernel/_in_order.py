"""Values written so that no file can change their order.

Strategy. A model is shown the items of a mapping in their order (an example of a prompt: first the reason, then the verdict), but
files do not keep that order: YAML writers, Haystack's among them, and JSON stores sort the keys. So a mapping is written as one
JSON text, which nothing sorts, under a key that says so. A mapping that was written plainly, by hand or by an earlier version, is
read as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._plain import json_walk, plain

TEXT = "json_text"
"""The only key of a mapping that was written as a text."""


def in_order(value: Any) -> Any:
    """The value as plain JSON values, with each mapping that is not empty as ``{"json_text": ...}``.

    Raises:
        TypeError: JSON has no such value.
        ValueError: a number is not finite.
    """
    return _WALK(value)


def read_in_order(value: Any) -> Any:
    """What ``in_order`` wrote, with its mappings in their order.

    Raises:
        ValueError: a text is not JSON.
    """
    if isinstance(value, Mapping) and value.keys() == {TEXT} and isinstance(value[TEXT], str):
        return json.loads(value[TEXT])
    if isinstance(value, list | tuple):
        return [read_in_order(item) for item in value]
    return value


def _as_text(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {TEXT: _text(plain(value))} if value else {}


_WALK = json_walk(plain, mapping=_as_text)


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates cannot stand in a file, but their escapes can
        return json.dumps(value)
    return text
