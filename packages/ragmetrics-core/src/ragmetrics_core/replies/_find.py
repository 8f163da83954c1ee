"""Which of the things found in a reply is the answer.

A reply may hold several objects: an echoed schema, a draft, an object quoted from the text under judgement, the
answer, the answer again. A reader says of each what it is (an answer, a bad answer, or nothing of the kind) and
``choose`` decides: what all answers agree on; else the one that a cue such as "final answer" points to; else
nothing.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ._scan import MAX_DEPTH, Found, scan
from ._tokens import unescape

__all__ = ["Bad", "Fit", "Reader", "choose", "clean_json", "decode", "embedded", "is_jsonish", "unfenced", "views"]

T = TypeVar("T")


@dataclass(frozen=True)
class Fit(Generic[T]):
    """An answer."""

    value: T


class Bad(NamedTuple):
    """Something that was meant as an answer and is none."""

    reason: str


Reader = Callable[[Any], "Fit[T] | Bad | None"]

_FENCED = re.compile(r"\s*(?:```|~~~)[ \t]*[\w+-]{0,20}[ \t]*\r?\n(.*?)(?:```|~~~)?\s*\Z", re.DOTALL)
_JSONISH = re.compile(
    r"[\s`~>*]*(?:json\w?|javascript|python)?\s*(?:\{|\[\s*[\[{\"'“])|[^\n]{0,200}\n?```json", re.IGNORECASE
)
_FINAL = re.compile(
    r"(?:final|correct(?:ed|ion)|revised|updated|actual answer|so the answer|my answer|conclusion|"
    r"最终|最終|최종|endgültig|finale|définiti|definitiv|итог|окончательн|corregid|corrig|korrigiert|修正|订正|정정)"
    r"[^{}\[\]]{0,60}\Z",
    re.IGNORECASE,
)
_DRAFT = re.compile(
    r"(?:draft|first (?:guess|idea|attempt|try|version|impression)|initial(?:ly)?|example|e\.g\.|for instance|template|format|"
    r"shape|schema|previous(?:ly)?|at first|entwurf|beispiel|brouillon|exemple|borrador|ejemplo|草稿|示例|例えば|초안|예시|"
    r"(?:candidate|response|answer|submission|student|user|text|passage|document|context)[\w' ]{0,30}"
    r"\b(?:was|says?|said|wrote|contains?|quotes?|claims?|reads|ends with|includes?))[^{}\[\]]{0,60}\Z",
    re.IGNORECASE,
)
_SOFT_TURN = re.compile(
    r"^[ \t#*]{0,8}(?:question|query|context|input|passage|user input|example \d{1,3}|text|document)\**[ \t]{0,4}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_FOUND = 64
_ENTITY = re.compile(r"&(?:quot|apos|lbrace|lcub|lbrack|lsqb|#x?[0-9a-f]{2,4});", re.IGNORECASE)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise ValueError("a key is repeated")
    return built


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("not a finite number")
    return value


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_finite, parse_constant=_constant, strict=False)


def clean_json(text: str) -> tuple[Any] | None:
    """The value of a text that is JSON and nothing else, in a tuple (it may be null); None for any other text.

    Repeated keys and numbers that are not finite do not count as JSON here: the standard library lets them pass
    silently.
    """
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        # A ValueError is bad syntax or an integer of thousands of digits; a RecursionError is nesting beyond any answer.
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
    return match.group(1) if match else text


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
    if _ENTITY.search(text):
        # html.unescape is not used: only the characters that JSON is made of matter here.
        yield _ENTITY.sub(_one_entity, text)
    if '\\"' in text:
        yield unescape(text)


def _one_entity(match: re.Match[str]) -> str:
    return html.unescape(match.group())


def choose(text: str, found: list[Found], read: Reader[T], same: Callable[[T, T], bool]) -> Fit[T] | Bad | None:
    """The one answer among ``found``, or why there is none (None: nothing here is meant as an answer)."""
    if len(found) > _MAX_FOUND:
        return Bad("the reply holds too many objects; give one")
    fits: list[tuple[Found, T]] = []
    bad: list[tuple[Found, Bad]] = []
    end = 0
    for item in found:
        if fits and _SOFT_TURN.search(text, end, item.start):
            break
        reading = read(item.value if item.state in {"whole", "closed"} else _beginning(item.value))
        end = item.end
        if reading is None:
            continue
        if item.state in {"cut", "broken"}:
            bad.append((item, _unfinished(item)))
        elif isinstance(reading, Bad):
            bad.append((item, reading))
        else:
            fits.append((item, reading.value))
    return _decide(text, fits, bad, same)


def _beginning(value: Any) -> Any:
    """Enough of an unfinished value to tell what it was meant to be."""
    if isinstance(value, dict):
        return {key: _beginning(inner) for key, inner in list(value.items())[:50]}
    return [_beginning(inner) for inner in value[:3]] if isinstance(value, list) else value


def _unfinished(item: Found) -> Bad:
    if item.state == "cut":
        return Bad("the reply ends in the middle of its JSON; reply with the whole object, more briefly")
    return Bad("the JSON in the reply is broken or repeats a key with another value")


def _decide(
    text: str, fits: list[tuple[Found, T]], bad: list[tuple[Found, Bad]], same: Callable[[T, T], bool]
) -> Fit[T] | Bad | None:
    if not fits:
        return bad[-1][1] if bad else None
    everything = sorted([item for item, _ in fits] + [item for item, _ in bad], key=lambda item: item.start)
    intro = {
        item.start: text[max(before, item.start - 160) : item.start]
        for before, item in zip([0, *(item.end for item in everything)], everything, strict=False)
    }
    final = [pair for pair in fits if _FINAL.search(intro[pair[0].start])]
    if not bad and all(same(fits[0][1], value) for _, value in fits[1:]):
        return Fit(fits[0][1])
    last = everything[-1]
    if final and final[-1][0] is last and all(same(final[0][1], value) for _, value in final[1:]):
        return Fit(final[-1][1])
    settled = [pair for pair in fits if not _DRAFT.search(intro[pair[0].start])]
    still_bad = [pair for pair in bad if not _DRAFT.search(intro[pair[0].start])]
    if settled and not still_bad and all(same(settled[0][1], value) for _, value in settled[1:]):
        return Fit(settled[0][1])
    if still_bad:
        return still_bad[-1][1]
    return Bad("the reply gives two different answers; give one")
