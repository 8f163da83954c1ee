"""Rows that are made inside a test, scored where they are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from ragmetrics_core import Metric, Sample

    from ._row import ScoredRow


class Scorer:
    """Scores rows for one test; what the fixture ``ragmetrics_scorer`` gives.

    Every call is a small run with a directory of its own, whose replies the next session finds again: a call for the same rows
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
        from ._in_test import Call  # noqa: PLC0415  loads the core

        return Call(self._item, self._number(), rows, metrics).run()

    async def ascore_all(
        self, rows: Iterable[Any], metrics: Metric | str | Iterable[Metric | str] = ()
    ) -> list[ScoredRow]:
        """The same for tests that are coroutines."""
        from ._in_test import Call  # noqa: PLC0415  loads the core

        return await Call(self._item, self._number(), rows, metrics).arun()

    def _number(self) -> int:
        self._calls += 1
        return self._calls
