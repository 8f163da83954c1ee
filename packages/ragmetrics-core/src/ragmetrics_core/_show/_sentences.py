"""The sentences that results begin with: numbers as they are read out, with two decimals where these say enough, and lists."""

from __future__ import annotations

from collections.abc import Sequence

from .._values._counts import count_of
from ._tables import cut_middle

LONGEST_NAME = 40
"""The number of columns of a name in a sentence."""

MOST_NAMED = 3
"""The number of metrics that a sentence names; the rest is counted."""

DECIMALS = range(2, 10)


def spoken(*values: float, sign: str = "") -> list[str]:
    """Return numbers with two decimals. There are more decimals if two different numbers would look equal, or if a number would
    look whole but is not: 0.997 is not 1.00, and a limit just above 0 is not 0.00. ``sign`` is "+" for differences.
    """
    exact = [round(value, DECIMALS[-1]) + 0.0 for value in values]  # -0.0 becomes 0.0
    texts = [""]
    for decimals in DECIMALS:
        texts = [f"{value:{sign},.{decimals}f}" for value in exact]
        shown = [float(text.replace(",", "")) for text in texts]
        looks_whole = (seen.is_integer() and not value.is_integer() for seen, value in zip(shown, exact, strict=True))
        if not any(looks_whole) and len(set(shown)) == len(set(exact)):
            break
    return texts


def shares(*values: float) -> list[str]:
    """Return shares as whole per cents, or with as many decimals as keep different ones apart and no share looking like none or
    all.
    """
    texts = [""]
    for decimals in range(8):
        texts = [f"{100 * value:.{decimals}f}" for value in values]
        ends = (
            float(text) in {0.0, 100.0} and value not in {0.0, 1.0} for text, value in zip(texts, values, strict=True)
        )
        if len(set(texts)) == len(set(values)) and not any(ends):
            break
    return texts


def in_words(name: str) -> str:
    """Return the name of a metric as it is read out: ``context_recall`` is *context recall*."""
    return cut_middle(name.replace("_", " ").strip() or name, LONGEST_NAME)


def names_in_words(names: Sequence[str]) -> str:
    """Return the first names as a list in words, and the number of the others."""
    return listed([in_words(name) for name in names])


def listed(parts: Sequence[str]) -> str:
    """Return the first parts, each about a metric, as a list in words: ``a, b and c``, ``a, b, c and 2 other metrics``."""
    shown, more = list(parts[:MOST_NAMED]), len(parts) - MOST_NAMED
    if more > 0:
        shown.append(count_of(more, "other metric"))
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last


def as_sentence(text: str) -> str:
    """Return a text with a capital letter at its beginning and a full stop at its end."""
    return f"{text[:1].upper()}{text[1:]}."
