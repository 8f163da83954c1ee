"""Pack contexts into windows that fit a model. The order is kept, and nothing is lost.

The number of tokens is estimated: a real tokenizer would tie a metric to one model. The estimate counts characters by kind. Four
letters of a word make about one token, but every digit and every sign is a token, and a Chinese character is one or more. The
estimate is not lower than what the common tokenizers count on prose, tables, JSON, logs, addresses and code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

__all__ = ["pack", "pack_numbered", "tokens"]

BOUNDARIES = (re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+"), re.compile(r"\s+"))
"""Where a text may be split: first between sentences, then between words."""

WORDS = re.compile(r"[A-Za-z]+")

# The weights of characters, in eighths of a token. FAR and RARE are added for characters of two groups of scripts.
TOKEN, CAPITAL, LETTER, BLANK = 8, 5, 2, 1
FAR, RARE = 4, 16
LONG = 5
"""Words with more letters than this are rarely one token."""


def tokens(text: str) -> int:
    """Estimate the number of tokens of a text. The estimate errs on the high side.

    A word counts one token for four letters, but at least one. Letters after the fifth count double, and so do all letters of a
    word with capitals inside. Every digit, sign and line break is one token; eight blanks are one token. In other scripts a
    character is one token, from the Indian scripts to Chinese one and a half, and an emoji is three.
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
    """Pack texts into windows of at most ``window`` estimated tokens, in order.

    A text that is longer than a window is split between sentences, if that is not enough between words, else anywhere. Nothing is
    dropped.
    """
    return [[piece for _, piece in pieces] for pieces in pack_numbered(enumerate(texts, 1), window)]


def pack_numbered(texts: Iterable[tuple[int, str]], window: int) -> list[list[tuple[int, str]]]:
    """Like ``pack``, but each piece keeps the number of the text that it comes from."""
    return _packed(((number, piece) for number, text in texts for piece in _pieces(text, window)), window)


def _packed(pieces: Iterable[tuple[int, str]], window: int) -> list[list[tuple[int, str]]]:
    """Put consecutive pieces into the same window as long as they fit; then begin the next window."""
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
    """Cut a text into pieces that are as long as the window allows, at least one character each."""
    start = 0
    while start < len(text):
        ends = range(start + 1, min(len(text), start + TOKEN * window) + 1)
        end = start + max(1, bisect_right(ends, window, key=partial(_size, text, start)))
        yield text[start:end]
        start = end


def _size(text: str, start: int, end: int) -> int:
    return tokens(text[start:end])
