"""Rows that a metric was not asked about, where a run asks different metrics of different rows.

Every row of a run has a score of every metric, so that tables and files are rectangles. Where a row is none of a metric's affair,
that score says so, and whoever counts rows leaves it out: it is neither coverage that lacks nor silence of the system.
"""

from __future__ import annotations

from ._score import Score

NOT_ASKED = "not_asked"


def not_asked(metric: str, scale: tuple[float, float] | None) -> Score:
    """The score of a row that the metric was not asked about."""
    return Score(
        None, reason="the run does not ask this metric about this row", metric=metric, scale=scale, label=NOT_ASKED
    )


def is_asked(score: Score) -> bool:
    """Whether the metric was asked about the row of this score."""
    return score.label != NOT_ASKED
