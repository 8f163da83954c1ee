"""Packing contexts into windows that fit a model, in order and without loss.

Tokens are estimated, not counted: a tokenizer would tie a metric to one model. The estimate goes by kinds of characters, since
a token is four letters of a word but one digit, one sign or less than one Chinese character. It lies at or above what the
common tokenizers count on prose, tables, JSON, logs, addresses and code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

__all__ = ["pack", "pack_numbered", "tokens"]

BOUNDARIES = (re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+"), re.compile(r"\s+"))
"""What stands between two sentences, and between two words."""

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
