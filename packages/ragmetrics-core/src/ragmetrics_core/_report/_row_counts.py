"""The rows of one of two runs that are compared, by what a metric made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RowCounts:
    """The rows of one run, or of a slice of it, by what a metric made of them. Repeats of a row are one row.

    Attributes:
        rows: all of them, also those that the other run has not.
        unscored: names of those in which there was nothing to score.
        failed: names of those where something went wrong.
        lost: names of those without a value here that have one in the other run.
    """

    rows: int
    unscored: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def scored(self) -> int:
        """Rows with a value."""
        return self.rows - len(self.unscored) - len(self.failed)

    @property
    def coverage(self) -> float | None:
        """Share of the rows that have a value, 0 to 1; None if there are no rows."""
        return self.scored / self.rows if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "rows": self.rows,
            "scored": self.scored,
            "coverage": self.coverage,
            "unscored": list(self.unscored),
            "failed": list(self.failed),
            "lost": list(self.lost),
        }
