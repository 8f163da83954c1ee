"""Embeddings without a model: hashed words and character n-grams, for tests, demonstrations and offline baselines.

Strategy. Every word, and every run of three to five characters of a word, adds to one component of the vector. A hash that is the
same in every process chooses the component and the sign; with random signs, collisions cancel out on average (Weinberger et al.
2009, arXiv:0902.2206). Counts are damped by a square root. Texts that share words, or word stems, are similar; the meaning of
words plays no part.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from .._kernel._model_traits import readable_texts
from .._values._errors import InvalidInput
from .._values._requests import Reply

WORD = re.compile(r"\w+")
NGRAMS = (3, 4, 5)
NGRAM_WEIGHT = 0.3
"""The weight of an n-gram relative to a whole word. It is below 1 because a word has many n-grams."""


@dataclass(frozen=True)
class HashingEmbeddings:
    """Unit vectors from hashed words and character n-grams; deterministic, instant, no download.

    Args:
        dimensions: length of the vectors, at least 16. More dimensions mean fewer collisions.

    Raises:
        InvalidInput: fewer than 16 dimensions.
    """

    instant = True
    caveat = (
        "Similarities by hashing are a lexical baseline: they compare words and letters, not meaning. "
        "Use an embedding model (openai:MODEL or sentence-transformers:MODEL)."
    )

    dimensions: int = 512

    def __post_init__(self) -> None:
        if not isinstance(self.dimensions, int) or self.dimensions < 16:
            raise InvalidInput(f"dimensions must be an integer of at least 16, got {self.dimensions!r}")

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a vector."""
        return {"provider": "hashing", "version": 1, "dimensions": self.dimensions}

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Return one unit vector per text. No text gives a zero vector.

        Raises:
            InvalidInput: an item is not a text.
        """
        return Reply([self._vector(text) for text in readable_texts(texts)])

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Return what ``embed`` returns. No thread is used, because the computation takes less time than a thread switch."""
        return self.embed(texts)

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for feature, count in Counter(_features(text)).items():
            weight = math.sqrt(count) * (1.0 if feature[0] == "w" else NGRAM_WEIGHT)
            index, sign = self._place(feature)
            vector[index] += sign * weight
        if not any(vector):  # there are no features, or they cancel each other out
            vector[self._place(f"t{text}")[0]] = 1.0
        length = math.hypot(*vector)
        return [number / length for number in vector]

    def _place(self, feature: str) -> tuple[int, int]:
        number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")
        return (number >> 1) % self.dimensions, 1 if number & 1 else -1


def _features(text: str) -> Iterator[str]:
    """Return words and n-grams, marked by kind; for a text without words, its single characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    words = WORD.findall(plain) or list("".join(plain.split()))
    for word in words:
        yield f"w{word}"
        padded = f" {word} "
        for size in NGRAMS:
            for start in range(len(padded) - size + 1):
                yield f"n{padded[start : start + size]}"
