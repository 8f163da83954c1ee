"""Packing contexts into windows that fit a model, in order and without loss.

Tokens are estimated, not counted: a tokenizer would tie a metric to one model. Four characters of ASCII, or one of any other
script, count as one token, which is at or above what the common tokenizers count on prose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ragmetrics_core import InvalidInput

__all__ = ["check_window", "pack", "tokens"]

SENTENCE_ENDS = (re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+"), re.compile(r"\s+"))


def tokens(text: str) -> int:
    """Estimated number of tokens."""
    wide = sum(character > "\x7f" for character in text)
    return wide + -(-(len(text) - wide) // 4)


def check_window(metric: str, window: int) -> None:
    """A window is a positive number of tokens.

    Raises:
        InvalidInput: it is not.
    """
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise InvalidInput(f"{metric}: window must be a whole number of tokens, at least 1, got {window!r}")


def pack(texts: Sequence[str], window: int) -> list[list[str]]:
    """The texts in windows of at most ``window`` estimated tokens, in order.

    A text longer than a window is split between sentences, else between words, else anywhere; nothing is dropped.
    """
    windows: list[list[str]] = []
    room = 0
    for text in texts:
        for piece in _pieces(text, window):
            size = tokens(piece)
            if not windows or size > room:
                windows.append([])
                room = window
            windows[-1].append(piece)
            room -= size
    return windows


def _pieces(text: str, window: int) -> list[str]:
    if tokens(text) <= window:
        return [text]
    for boundary in SENTENCE_ENDS:
        starts = [0, *(match.end() for match in boundary.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in pairwise(starts) if end > start]
        if len(parts) > 1:
            return [piece for joined in _joined(parts, window) for piece in _pieces(joined, window)]
    step = 4 * window if text.isascii() else window
    return [text[start : start + step] for start in range(0, len(text), step)]


def _joined(parts: Sequence[str], window: int) -> list[str]:
    """Neighbouring parts put together again as long as they fit."""
    groups: list[list[str]] = []
    room = 0
    for part in parts:
        size = tokens(part)
        if not groups or size > room:
            groups.append([])
            room = window
        groups[-1].append(part)
        room -= size
    return ["".join(group) for group in groups]
