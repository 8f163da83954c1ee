"""A row with its scores, as tests see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as shorten
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ragmetrics_core import Sample, Score

PARAM = "ragmetrics_row"
"""The name of the fixture, and of the parameter of marked tests."""


@dataclass(frozen=True, eq=False)
class RowParam:
    """The row of one test, before it is scored.

    Attributes:
        sample: the row.
        key: the same for rows that are the same.
        metrics: names of the metrics that score it for this test.
        number: its position among the rows of the test, from 0.
    """

    sample: Sample
    key: str
    metrics: tuple[str, ...]
    number: int


@dataclass(frozen=True, eq=False, repr=False)
class ScoredRow(Mapping[str, "Score"]):
    """A row with its scores: ``row["faithfulness"]`` is a ``Score``.

    Attributes:
        sample: the row: ``row.sample.user_input``, ``row.sample.response``.
        scores: the scores by the names of their metrics.
    """

    sample: Sample
    scores: Mapping[str, Score]

    def __getitem__(self, metric: str) -> Score:
        if metric not in self.scores:
            raise KeyError(f"no metric {metric!r} scored this row; there are {', '.join(self.scores)}")
        return self.scores[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        """Short: pytest shows it above the assertion that failed."""
        scores = ", ".join(
            f"{name}={score.state if score.value is None else f'{score.value:.3g}'}" for name, score in self.items()
        )
        what = self.sample.user_input if self.sample.id is None else self.sample.id
        return f"<row {shorten(what)}: {scores}>"


ROWS: pytest.StashKey[list[ScoredRow]] = pytest.StashKey()
"""Of a test: the rows that were scored for it."""


def check_errors(item: pytest.Item, start: int = 0) -> None:
    """Fail the test if a score of its rows failed: nobody knows how good such a row is, whatever the test looked at.

    Args:
        item: the test.
        start: how many of its rows were looked at before.

    Raises:
        pytest.fail.Exception: a score failed.
    """
    scores = [scored for row in item.stash.get(ROWS, [])[start:] for scored in row.items()]
    failed = [f"{name} {score.explain()}" for name, score in scores if score.state == "failed"]
    if failed:
        raise pytest.fail.Exception("a row in error does not pass: " + "; ".join(dict.fromkeys(failed)), pytrace=False)


def note_scores(item: pytest.Item, row: ScoredRow) -> None:
    """Keep the row with its test, and its scores as properties of the test, which JUnit reports show."""
    item.stash.setdefault(ROWS, []).append(row)
    for name, score in row.scores.items():
        item.user_properties.append((f"ragmetrics.{name}", score.state if score.value is None else score.value))
