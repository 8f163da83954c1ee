"""Rows that the judge takes for alike."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from ._labelled import LabelledRows

FEWEST = 8
"""Labels of a stratum, where the judge gives more than two values."""

MOST = 5
"""Strata: five take away more than nine tenths of what can be taken (Cochran 1968, Biometrics 24:295, table 1)."""


@dataclass(frozen=True)
class Stratum:
    """Rows with neighbouring judgements.

    Attributes:
        rows: their indices.
        labelled: which of the labels are theirs, as indices of ``LabelledRows.labels``; there may be none of a verdict.
    """

    rows: Sequence[int]
    labelled: Sequence[int]


def strata_of(rows: LabelledRows) -> list[Stratum]:
    """The strata, from low judgements to high ones; a single one where the labels do not suffice for more.

    Rows with the same judgement are in the same stratum, and the labels themselves have no say in where strata end.
    """
    tops = [min(rows.judged)] if rows.verdicts else _tops(sorted(rows.judged[place] for place in rows.places))
    members: list[list[int]] = [[] for _ in range(len(tops) + 1)]
    labelled: list[list[int]] = [[] for _ in members]
    for row, value in enumerate(rows.judged):
        members[bisect_left(tops, value)].append(row)
    for label, place in enumerate(rows.places):
        labelled[bisect_left(tops, rows.judged[place])].append(label)
    return [Stratum(*both) for both in zip(members, labelled, strict=True)]


def _tops(judged: Sequence[float]) -> list[float]:
    """The highest judgement in every stratum but the last one, given those of the labelled rows in order."""
    size = max(FEWEST, math.ceil(len(judged) / MOST))
    tops: list[float] = []
    start = 0
    while start + size <= len(judged):
        top = judged[start + size - 1]
        start += size
        while start < len(judged) and judged[start] == top:
            start += 1
        if len(judged) - start < size:
            break
        tops.append(top)
    return tops
