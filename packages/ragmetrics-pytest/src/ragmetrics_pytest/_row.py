"""A row with its scores, as tests see it, and the fixture that scores rows which a test makes. Neither loads the core."""

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
    """Fail the test if a score of its rows failed: how good such a row is stays unknown, whatever the test looked at.

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


def printable(text: str) -> str:
    """The text with every character escaped that is neither printable nor the end of a line."""
    return "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in text)


class Scorer:
    """Scores rows for one test; what the fixture ``ragmetrics_scorer`` gives.

    Every call is a small run with its own directory, whose replies the next session finds again: a call for the same rows
    costs nothing then. The scores are part of the session: of its summary and of its gates.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._calls = 0

    def score(self, row: Sample | Mapping[str, Any], metrics: Metric | str | Iterable[Metric | str] = ()) -> ScoredRow:
        """One row with its scores.

        Args:
            row: a ``Sample``, or a mapping with its fields under any of the names that ``evaluate`` knows.
            metrics: metrics or their names; by default those of the marker.
        """
        return self.score_all([row], metrics)[0]

    async def ascore(
        self, row: Sample | Mapping[str, Any], metrics: Metric | str | Iterable[Metric | str] = ()
    ) -> ScoredRow:
        """The same for tests that are coroutines: the loop goes on while models answer."""
        return (await self.ascore_all([row], metrics))[0]

    def score_all(self, rows: Iterable[Any], metrics: Metric | str | Iterable[Metric | str] = ()) -> list[ScoredRow]:
        """Several rows with their scores, scored at once; ``rows`` may be anything that ``evaluate`` takes."""
        from ._scoring import Call  # noqa: PLC0415  loads the core

        return Call(self._item, self._number(), rows, metrics).run()

    async def ascore_all(
        self, rows: Iterable[Any], metrics: Metric | str | Iterable[Metric | str] = ()
    ) -> list[ScoredRow]:
        """The same for tests that are coroutines."""
        from ._scoring import Call  # noqa: PLC0415  loads the core

        return await Call(self._item, self._number(), rows, metrics).arun()

    def _number(self) -> int:
        self._calls += 1
        return self._calls
