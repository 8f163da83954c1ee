"""How many questions of each kind there are to be, and which passages are visited for them, in which order. No clock, no model.

Strategy. The plan depends on the documents and the seed alone, never on which reply came first, so that the same command makes the
same calls again and finds all of them in the journal. It goes in waves: each visits as many passages as questions are missing, the
documents taking turns, and what has fallen through a check in one wave is replaced in the next by a question about the passage
whose turn it is. After ``ATTEMPTS`` times as many questions as were asked for it ends, and what is missing is missing.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain, zip_longest

from .._kernel._errors import InvalidInput
from ._chunks import Chunk
from ._kinds import Kind, Visit
from ._similar import PassageIndex
from ._values import Dropped, counted

ATTEMPTS = 3
"""Questions that are tried for each one that is asked for, at most."""

MOST_PER_VISIT = 5
"""Questions that a passage is asked for at a time, at most; there are more than one only where there are few passages."""

NAMES = {
    "one_passage": ("question", "questions"),
    "unanswerable": ("unanswerable question", "unanswerable questions"),
    "two_passages": ("question over two passages", "questions over two passages"),
}
"""What the kinds of questions are called, one of them and several."""

PARTNERS = 3
"""Passages with which a passage forms a pair, at most."""


def check_share(name: str, value: object) -> None:
    """Check that a share is a number from 0 to 1.

    Raises:
        InvalidInput: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be a share from 0 to 1, got {value!r}")


def counts_of(total: int, shares: Mapping[str, float], rest: str) -> dict[str, int]:
    """How many of ``total`` each share gets, by largest remainder; ``rest`` names who gets what no share takes.

    Raises:
        InvalidInput: the shares are more than the whole.
    """
    exact = {name: Fraction(repr(float(share))) for name, share in shares.items()}
    left = 1 - sum(exact.values())
    if left < 0:
        raise InvalidInput(f"{' and '.join(shares)} must not be more than 1 together, got {float(1 - left):g}")
    quotas = {name: share * total for name, share in {rest: left, **exact}.items()}
    counts = {name: int(quota) for name, quota in quotas.items()}
    remainders = sorted(quotas, key=lambda name: counts[name] - quotas[name])
    for name in remainders[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def in_turn(chunks: Sequence[Chunk], seed: object) -> list[Chunk]:
    """The chunks in the order in which they are visited: the documents take turns, and which chunk it is the seed decides."""
    chance = random.Random(repr(seed))  # noqa: S311  chooses passages, hides nothing
    documents: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        documents.setdefault(chunk.document, []).append(chunk)
    order = list(documents.values())
    chance.shuffle(order)
    for parts in order:
        chance.shuffle(parts)
    return [chunk for chunk in chain.from_iterable(zip_longest(*order)) if chunk is not None]


def related_pairs(order: Sequence[Chunk], index: PassageIndex, chunks: Sequence[Chunk]) -> list[tuple[Chunk, ...]]:
    """Pairs of chunks that share telling words, first each chunk with its best partner. Neighbours in a document are no pair.

    Args:
        order: the chunks in the order in which they get a partner.
        index: an index of ``chunks``.
        chunks: all chunks.
    """
    rounds: list[list[tuple[Chunk, ...]]] = [[] for _ in range(PARTNERS)]
    for chunk in order:
        partners = index.nearest(chunk.text, PARTNERS, lambda other, chunk=chunk: _apart(chunk, chunks[other]))  # type: ignore[misc]
        for place, partner in enumerate(partners):
            rounds[place].append((chunk, chunks[partner]))
    return list({frozenset(chunk.id for chunk in pair): pair for pair in reversed([*chain(*rounds)])}.values())[::-1]


def _apart(one: Chunk, other: Chunk) -> bool:
    return one.document != other.document or abs(one.index - other.index) > 1


class Course:
    """How far one kind of questions has come.

    Args:
        kind: the kind.
        asked: how many questions of it are asked for.
        spots: passages, or pairs of them, in the order of their turns.

    Attributes:
        delivered: how many questions have passed all checks.
        dropped: questions that fell through one.
    """

    def __init__(self, kind: Kind, asked: int, spots: Sequence[tuple[Chunk, ...]]) -> None:
        self.kind = kind
        self.asked = asked
        self.delivered = 0
        self.dropped: list[Dropped] = []
        self._queue = deque(spots)
        self._has_spots = bool(spots)
        self._known: dict[tuple[Chunk, ...], tuple[str, ...]] = {}
        self._tried = 0

    def next_visits(self) -> list[Visit]:
        """The visits of the next wave; none where nothing is missing, or nothing can be done about it."""
        wanted = min(self.asked - self.delivered, ATTEMPTS * self.asked - self._tried)
        if wanted <= 0 or not self._queue:
            return []
        each = min(MOST_PER_VISIT, -(-wanted // len(self._queue)))
        visits = []
        while wanted > 0 and self._queue:
            spot = self._queue.popleft()
            visits.append(Visit(spot, min(each, wanted), self._known.get(spot, ())))
            wanted -= visits[-1].wanted
            self._tried += visits[-1].wanted
        return visits

    def visited(self, visit: Visit, questions: Sequence[str]) -> None:
        """Note what was written on a visit; a passage that gives what is wanted is visited again when all others were."""
        if len(questions) >= visit.wanted:
            self._known[visit.passages] = (*visit.known, *questions)
            self._queue.append(visit.passages)

    def missing(self, stopped: str | None) -> str | None:
        """How many questions are missing and why; None: none is.

        Args:
            stopped: why the run has ended; None where it has come to its end.
        """
        if self.delivered == self.asked:
            return None
        one, several = NAMES[self.kind.name]
        left = self.asked - self.delivered
        dropped = counted(item.why for item in self.dropped)
        return (
            f"{left} of {self.asked} {one if self.asked == 1 else several} {'is' if left == 1 else 'are'} missing: "
            f"{f'{dropped}; ' if dropped else ''}{stopped or self._end}"
        )

    @property
    def _end(self) -> str:
        if self._tried == ATTEMPTS * self.asked:
            return f"{ATTEMPTS} questions were tried for each that was asked for"
        if self.kind.name == "two_passages" and not self._has_spots:
            return "no two passages have enough in common"
        return "the documents have no more passages for them"
