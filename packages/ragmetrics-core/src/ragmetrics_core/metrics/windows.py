"""Packing contexts into windows that fit a model, in order and without loss.

Tokens are estimated, not counted: a tokenizer would tie a metric to one model. The estimate goes by kinds of characters, since
a token is four letters of a word but one digit, one sign or less than one Chinese character. It lies at or above what the
common tokenizers count on prose, tables, JSON, logs, addresses and code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from ragmetrics_core import InvalidInput, Metric, Prompt

__all__ = ["fit_window", "pack", "pack_numbered", "tokens"]

M = TypeVar("M", bound=Metric)

BOUNDARIES = (re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+"), re.compile(r"\s+"))
"""What stands between two sentences, and between two words."""

PADDING = 200
"""Tokens for the frame of the messages and for the complaint of a second attempt."""

SHARE = 0.95
"""Of what is left, as quotes and line breaks take more tokens in JSON. No more is needed: tokens are estimated too high already."""

WORDS = re.compile(r"[A-Za-z]+")

# In eighths of a token: what one character counts, and what the characters of two groups of scripts count in addition.
TOKEN, CAPITAL, LETTER, BLANK = 8, 5, 2, 1
FAR, RARE = 4, 16
LONG = 5
"""The number of letters from which a tokenizer rarely knows a word as a whole."""


def tokens(text: str) -> int:
    """Estimated number of tokens: rather too high than too low.

    Four letters of a word are one token, two beyond the fifth or where capitals are mixed in; every digit, sign and line break
    is one token, and so are eight blanks. In other scripts a character is one token, one and a half from the Indian scripts to
    Chinese; an emoji is three.
    """
    units = sum(map(_word, WORDS.findall(text)))
    rest = WORDS.sub("", text)
    blanks = rest.count(" ")
    units += BLANK * blanks + TOKEN * (len(rest) - blanks)
    if not rest.isascii():
        units += sum(FAR if character < "\U00010000" else RARE for character in rest if character > "\u07ff")
    return -(-units // TOKEN)


def _word(word: str) -> int:
    size = len(word)
    if not word[1:].islower() and size > 1:
        return max(TOKEN, CAPITAL * size)
    return max(TOKEN, LETTER * size + LETTER * max(0, size - LONG))


def fit_window(metric: M, texts: Iterable[Any], room: int, *, fill: bool = False) -> M:
    """The metric with a window that its judge can read.

    Args:
        metric: one that packs contexts, and so has a setting ``window``.
        texts: the other inputs, which every call shows; values that are not text are left out.
        room: tokens of the judge's context window that are left for a question.
        fill: whether a smaller window grows to what the judge can read.

    Raises:
        InvalidInput: there are no tokens left for contexts.
    """
    settings = [getattr(metric, item.name) for item in fields(metric)]
    overhead = PADDING + max((tokens(item.system) for item in settings if isinstance(item, Prompt)), default=0)
    # claims, reasons and earlier answers repeat the inputs
    overhead += 2 * sum(tokens(text) for text in texts if isinstance(text, str))
    window = int((room - overhead) * SHARE)
    if window < 1:
        raise InvalidInput(
            f"{metric.name}: the judge's context window leaves {room} tokens for a question, but the prompt and the inputs take "
            f"{overhead} without any context: give a judge with a longer context_window, or correct its metadata"
        )
    current: int | None = getattr(metric, "window", None)
    changes: dict[str, Any] = {"window": window if current is None or fill else min(window, current)}
    return replace(metric, **changes)


def pack(texts: Sequence[str], window: int) -> list[list[str]]:
    """The texts in windows of at most ``window`` estimated tokens, in order.

    A text longer than a window is split between sentences, else between words, else anywhere; nothing is dropped.
    """
    return [[piece for _, piece in pieces] for pieces in pack_numbered(enumerate(texts, 1), window)]


def pack_numbered(texts: Iterable[tuple[int, str]], window: int) -> list[list[tuple[int, str]]]:
    """As ``pack``; each piece keeps the number of the text that it is a piece of."""
    return _packed(((number, piece) for number, text in texts for piece in _pieces(text, window)), window)


def _packed(pieces: Iterable[tuple[int, str]], window: int) -> list[list[tuple[int, str]]]:
    """Neighbours together, as long as they fit."""
    windows: list[list[tuple[int, str]]] = []
    room = 0
    for number, piece in pieces:
        size = tokens(piece)
        if not windows or size > room:
            windows.append([])
            room = window
        windows[-1].append((number, piece))
        room -= size
    return windows


def _pieces(text: str, window: int) -> list[str]:
    if tokens(text) <= window:
        return [text]
    for boundary in BOUNDARIES:
        starts = [0, *(match.end() for match in boundary.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in pairwise(starts) if end > start]
        if len(parts) > 1:
            groups = _packed(enumerate(parts), window)
            joined = ["".join(part for _, part in group) for group in groups]
            return [piece for text in joined for piece in _pieces(text, window)]
    return list(_cut(text, window))


def _cut(text: str, window: int) -> Iterator[str]:
    """Pieces that are as long as the window allows; one character at least."""
    start = 0
    while start < len(text):
        ends = range(start + 1, min(len(text), start + TOKEN * window) + 1)
        end = start + max(1, bisect_right(ends, window, key=partial(_size, text, start)))
        yield text[start:end]
        start = end


def _size(text: str, start: int, end: int) -> int:
    return tokens(text[start:end])
