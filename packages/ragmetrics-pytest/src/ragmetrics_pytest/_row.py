"""A row with its scores, as a test sees it, and the scorer for rows that a test makes. This module does not load the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as shorten
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import pytest

    from ragmetrics_core import Metric, Sample, Score


PARAM = "ragmetrics_row"
"""The name of the fixture, and of the parameter of marked tests."""


@dataclass(frozen=True, eq=False)
class RowParam:
    """The row of one test before it is scored.

    Attributes:
        sample: the row.
        key: a digest of the row's content; equal rows have equal keys.
        metrics: the names of the metrics that score the row for this test.
        number: the position of the row among the rows of the marked function, from 0.
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
        """A short form, because pytest shows it above the assertion that failed."""
        scores = ", ".join(
            f"{name}={score.state if score.value is None else f'{score.value:.3g}'}" for name, score in self.items()
        )
        what = self.sample.user_input if self.sample.id is None else self.sample.id
        return f"<row {shorten(what)}: {scores}>"


ROWS: pytest.StashKey[list[ScoredRow]] = pytest.StashKey()
"""The stash key of a test's scored rows."""


def check_errors(item: pytest.Item, start: int = 0) -> None:
    """Fail the test if a score of its rows failed, even if the test did not look at that score: the quality of the row is
    unknown.

    Args:
        item: the test.
        start: the number of its rows that were checked before.

    Raises:
        pytest.fail.Exception: a score failed.
    """
    scores = [scored for row in item.stash.get(ROWS, [])[start:] for scored in row.items()]
    failed = [f"{name} {score.explain()}" for name, score in scores if score.state == "failed"]
    if failed:
        raise pytest.fail.Exception("a row could not be scored: " + "; ".join(dict.fromkeys(failed)), pytrace=False)


def note_scores(item: pytest.Item, row: ScoredRow) -> None:
    """Store the row with its test, and the scores as properties of the test, which JUnit reports show."""
    item.stash.setdefault(ROWS, []).append(row)
    for name, score in row.scores.items():
        item.user_properties.append((f"ragmetrics.{name}", score.state if score.value is None else score.value))


def printable(text: str) -> str:
    """Escape every character of a text that is neither printable nor a line feed."""
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


class Scorer:
    """Score the rows that a test makes; the value of the fixture ``ragmetrics_scorer``.

    Every call is a small run with its own directory that stores the models' replies. In the next session, a call for the same
    rows reads them from there and costs nothing. The scores count in the summary and the gates of the session.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._calls = 0

    def score(self, row: Sample | Mapping[str, Any], metrics: Metric | str | Iterable[Metric | str] = ()) -> ScoredRow:
        """Score one row.

        Args:
            row: a ``Sample``, or a mapping with its fields under any of the names that ``evaluate`` accepts.
            metrics: metrics or their names; by default the metrics of the marker.

        Returns:
            the row with one score for each metric.
        """
        return self.score_all([row], metrics)[0]

    async def ascore(
        self, row: Sample | Mapping[str, Any], metrics: Metric | str | Iterable[Metric | str] = ()
    ) -> ScoredRow:
        """Like ``score``, for tests that are coroutines: the event loop keeps running while models answer."""
        return (await self.ascore_all([row], metrics))[0]

    def score_all(self, rows: Iterable[Any], metrics: Metric | str | Iterable[Metric | str] = ()) -> list[ScoredRow]:
        """Score several rows concurrently and return them in order; ``rows`` may be anything that ``evaluate`` accepts."""
        from ._scoring import Call  # noqa: PLC0415  loads the core

        return Call(self._item, self._number(), rows, metrics).run()

    async def ascore_all(
        self, rows: Iterable[Any], metrics: Metric | str | Iterable[Metric | str] = ()
    ) -> list[ScoredRow]:
        """Like ``score_all``, for tests that are coroutines."""
        from ._scoring import Call  # noqa: PLC0415  loads the core

        return await Call(self._item, self._number(), rows, metrics).arun()

    def _number(self) -> int:
        self._calls += 1
        return self._calls
