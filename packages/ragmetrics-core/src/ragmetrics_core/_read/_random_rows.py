"""A few rows out of many, drawn at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from .._kernel._sample import Row
from ._rows import OpenRows, least


def sampled(opened: OpenRows, count: int, seed: int) -> OpenRows:
    """``count`` of the rows, in their order; every choice is equally likely, and the seed decides which one is made.

    The rows are read to their end in one pass, and no more of them are held than are drawn (Vitter 1985, ACM TOMS 11:37,
    algorithm R).
    """
    return replace(opened, rows=_rows(opened.rows, count, seed), count=lambda most: opened.count(least(count, most)))


def _rows(rows: Iterator[Row], count: int, seed: int) -> Iterator[Row]:
    generator = random.Random(seed)  # noqa: S311  a choice that can be repeated, not a secret
    kept: list[Row] = []
    for number, row in enumerate(rows):
        if number < count:
            kept.append(row)
        elif (slot := generator.randrange(number + 1)) < count:
            kept[slot] = row
    for index, row in enumerate(sorted(kept, key=lambda row: row.index)):
        yield Row(index, row.place, row.sample, row.problem)
