"""A few rows out of many, chosen at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from .._kernel._row import Row
from ._rows import Source, least

__all__ = ["chosen"]


def chosen(source: Source, count: int, seed: int) -> Source:
    """So many rows of a source, in their order; every choice is equally likely, and the seed decides which it is.

    The source is read to its end in one pass, and no more rows are held than are chosen (Vitter 1985, ACM TOMS 11:37,
    algorithm R).
    """
    return replace(source, rows=_rows(source.rows, count, seed), count=lambda most: source.count(least(count, most)))


def _rows(rows: Iterator[Row], count: int, seed: int) -> Iterator[Row]:
    generator = random.Random(seed)  # noqa: S311  a choice that can be repeated, not a secret
    kept: list[Row] = []
    for number, row in enumerate(rows):
        if number < count:
            kept.append(row)
        elif (place := generator.randrange(number + 1)) < count:
            kept[place] = row
    for index, row in enumerate(sorted(kept, key=lambda row: row.index)):
        yield Row(index, row.place, row.sample, row.problem)
