"""JSON in a text: decoded where it is clean, seen through one more layer of encoding."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..._kernel._wording import asked_of
from ._scan import MAX_DEPTH, scan
from ._tokens import unescape

_FENCED = re.compile(r"\s*(?:```|~~~)[ \t]*[\w+-]{0,20}[ \t]*\r?\n(.*?)(?:```|~~~)?\s*\Z", re.DOTALL)
_JSONISH = re.compile(
    r"[\s`~>*]*(?:json\w?|javascript|python)?\s*(?:\{|\[\s*[\[{\"'“])|[^\n]{0,200}\n?```json", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:quot|apos|lbrace|lcub|lbrack|lsqb|#x?[0-9a-f]{2,4});", re.IGNORECASE)


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("not a finite number")
    return value


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def decoder_of(is_known: Callable[[dict[str, Any]], bool] | None = None) -> json.JSONDecoder:
    """A decoder that refuses repeated keys, and objects that are not known."""

    def built(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            raise ValueError("a key is repeated")
        if is_known is not None and not is_known(made):
            raise ValueError("a key is not known")
        return made

    return json.JSONDecoder(object_pairs_hook=built, parse_float=_finite, parse_constant=_constant, strict=False)


_DECODER = decoder_of()


def clean_json(text: str, decoder: json.JSONDecoder = _DECODER) -> tuple[Any] | None:
    """The value of a text that is JSON and nothing else, in a tuple (it may be null); None for any other text.

    Repeated keys and numbers that are not finite do not count as JSON here: the standard library lets them pass
    silently. Neither does what the decoder refuses.
    """
    try:
        value = decoder.decode(text)
    except (ValueError, RecursionError):
        # A ValueError is bad syntax, what the decoder refuses, or an integer of thousands of digits; a RecursionError is nesting
        # beyond any answer.
        return None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        return None
    return (value,)


def _depth(value: Any) -> int:
    depth = 0
    level = [value]
    while level:
        depth += 1
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return depth


def decode(text: str) -> tuple[Any] | None:
    """Like ``clean_json``, also inside one code fence and behind a byte order mark."""
    stripped = text.strip("\ufeff\u200b\u2060 \t\r\n\u00a0")
    value = clean_json(stripped)
    if value is None and (match := _FENCED.match(stripped)):
        value = clean_json(match.group(1).strip())
    return value


def unfenced(text: str) -> str:
    """The text inside of one code fence, or the text itself."""
    match = _FENCED.match(text)
    # a text that goes on behind its fence is not the fence alone
    return match.group(1) if match and "```" not in match.group(1) and "~~~" not in match.group(1) else text


def embedded(text: str) -> Any:
    """The JSON value that a string holds, or the string itself."""
    stripped = text.strip()
    if not stripped or stripped[0] not in '{["`':
        return text
    value = decode(stripped)
    if value is not None:
        return value[0]
    found = scan(stripped)
    return found[0].value if len(found) == 1 and found[0].state == "whole" and found[0].start < 9 else text


def is_jsonish(text: str) -> bool:
    """Whether a text sets out to be JSON, so that it must not be read as prose when that fails."""
    return bool(_JSONISH.match(text))


def views(text: str) -> Iterator[str]:
    """The text, and the text with one more layer of encoding undone, as far as there is one."""
    yield text
    asked = asked_of(text)
    if _ENTITY.search(text):
        # html.unescape is not used: only the characters that JSON is made of matter here.
        yield asked.on(_ENTITY.sub(_one_entity, text))
    if '\\"' in text:
        yield asked.on(unescape(text))


def _one_entity(match: re.Match[str]) -> str:
    return html.unescape(match.group())
