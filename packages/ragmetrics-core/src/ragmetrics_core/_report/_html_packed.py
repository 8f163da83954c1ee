"""Data that lies in a page without being part of it: JSON, compressed, in letters that mean nothing in HTML.

The browser unpacks it with its own DecompressionStream. No text of the data stands in the file as it is, so none can close a tag,
and none is read before it is looked at.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from .._kernel._tags import Html, element


def packed(value: Any) -> str:
    """Plain JSON values as base64 of deflated JSON."""
    return base64.b64encode(zlib.compress(_json(value), 9)).decode("ascii")


LONG = re.compile(rb"\d{16}")
MOST_EXACT = 2**53
"""Whole numbers beyond it are not told apart by a browser."""


def _json(value: Any) -> bytes:
    found = _dumped(value)
    return _dumped(_exact(value)) if LONG.search(found) else found


def _exact(value: Any) -> Any:
    """The value with whole numbers that a browser would round as texts."""
    if isinstance(value, Mapping):
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    return str(value) if isinstance(value, int) and abs(value) > MOST_EXACT else value


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:  # halves of characters, which only escapes can carry
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def data_block(name: str, content: str) -> Html:
    """An element that holds what ``packed`` made; no browser runs a script of this type."""
    return Html(element("script", Html(content), type="application/octet-stream", id=name) + "\n")
