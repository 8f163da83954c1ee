"""Texts as every embedding model can read them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ._errors import InvalidInput

SURROGATE = re.compile("[\ud800-\udfff]")


def readable_texts(texts: Iterable[str]) -> list[str]:
    """The texts, with lone surrogates replaced by U+FFFD, the replacement character: no model can read them.

    Raises:
        InvalidInput: a lone text instead of a list, or an item that is no text.
    """
    if isinstance(texts, str):
        raise InvalidInput("embed takes a list of texts, got one str: write [text]")
    items = list(texts)
    for index, item in enumerate(items):
        if not isinstance(item, str):
            raise InvalidInput(f"embed: text [{index}] must be a str, got {type(item).__name__}")
    return [SURROGATE.sub("\ufffd", item) for item in items]
