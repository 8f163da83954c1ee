"""Estimate the number of tokens of a text without a vocabulary or a download.

Vocabularies differ from model to model, and servers report the exact numbers; an estimate of the price needs only the approximate
size. So words, numbers and marks have weights; letters of other scripts have a weight for their script. The weights are from a
least squares fit to o200k_base, the vocabulary of OpenAI's models since 2024, over prompts, retrieved passages, replies of judges
and the messages of programs in 29 languages. Of a few hundred texts of a kind, the guess is off by 1 % (English prompts and
passages), by up to 14 % in most other languages, and by 15 to 21 % in the worst (Finnish, Polish, Czech and Hungarian have more
tokens, Vietnamese has fewer).
"""

from __future__ import annotations

import re
from math import ceil

PARTS = re.compile(r"(?P<word>[^\W\d_]+)|(?P<number>\d+)|(?P<newlines>\n+)|(?P<marks>[^\w\s]+|_+)")

WORD, LONGER, ACCENT, NUMBER, NEWLINES, MARKS = 0.89, 0.244, 0.75, 1.58, 1.99, 0.9
"""A word in Latin letters; each of its letters beyond the sixth; each letter that is not ASCII; three digits; an end of line; two
marks in ASCII, or one that is not."""

SHORT = 6

OTHER = 1.64
"""A letter of any script that is not in the table."""

SCRIPTS = (
    *((0x250, None), (0x370, OTHER)),  # Latin
    *((0x400, 0.394), (0x530, 0.325), (0x590, OTHER)),  # Greek, Cyrillic
    *((0x600, 0.473), (0x780, 0.359), (0x900, OTHER)),  # Hebrew, Arabic
    *((0xE00, 0.058), (0xE80, 0.269), (0x1100, OTHER)),  # of India, whose vowel signs count as marks; Thai
    *((0x1200, 0.675), (0x1E00, OTHER), (0x1F00, None)),  # Hangul, Latin
    *((0x3040, OTHER), (0x3100, 0.636), (0x3400, OTHER)),  # Kana
    *((0xA000, 0.801), (0xAC00, OTHER), (0xD7B0, 0.675)),  # Han, Hangul
)
"""The end of each range of characters, and the weight of one of its letters; None: whole words are weighed."""


def tokens_in(text: str) -> float:
    """Estimate the number of tokens in a text."""
    total = 0.0
    for part in PARTS.finditer(text):
        length = part.end() - part.start()
        kind = part.lastgroup
        if kind == "word":
            total += _word(part[0])
        elif kind == "number":
            total += NUMBER * ceil(length / 3)
        elif kind == "newlines":
            total += NEWLINES
        else:
            total += MARKS * (ceil(length / 2) if part[0].isascii() else length)
    return total


def _word(word: str) -> float:
    if word.isascii():
        return WORD + LONGER * max(0, len(word) - SHORT)
    weights = [_weight(ord(letter)) for letter in word]
    total = sum(weight for weight in weights if weight is not None)
    if latin := weights.count(None):
        accents = sum(weight is None and not letter.isascii() for letter, weight in zip(word, weights, strict=True))
        total += WORD + LONGER * max(0, latin - SHORT) + ACCENT * accents
    return total


def _weight(character: int) -> float | None:
    return next((weight for end, weight in SCRIPTS if character < end), OTHER)
