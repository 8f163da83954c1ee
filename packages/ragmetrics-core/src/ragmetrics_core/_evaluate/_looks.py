"""Looks at a run while it goes on: it stops as soon as its gates are decided.

The order of the rows is drawn once, before any score is known, and rows of one cluster stay together. A look uses only the finished
rows at the beginning of this order. If it used all rows that happen to be finished, rows that take longer would be missing, and
where bad rows take twice as long, three of four gates at their limit would be falsely green. The intervals are always valid
(`statistics._sequences`), so any number of looks is allowed.

A row that is begun is finished, also when the gates are decided meanwhile, and so is every row before one that an earlier part of
the run has stored. So the rows of a run are always a beginning of the order, and gates that were decided are looked at once more
with all of these rows.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from .._compare._compare import compared
from .._compare._comparison import ComparedRuns
from .._gate._gates import Conditions, Gate, check_drop
from .._gate._results import Decision
from .._run._columns import RunRow, repeat_keys
from .._run._slices import RowGroups
from .._store._loaded_run import LoadedRun
from .._store._records import KeptRecords, Record, Records, SomeRecords
from .._store._run_dir import RunAccount
from .._store._run_settings import RunSettings
from .._values._counts import grouped
from .._values._errors import InvalidInput, Setting
from .._values._sample import Row
from .._values._score import Score, not_asked
from ._evaluation import Evaluation, gated
from ._options import WHEN_DECIDED, Stop

GROWTH = 1.05
"""The number of rows at a look, divided by the number at the look before: all looks together cost about as much as twenty of the
last."""


class Looks:
    """The rows of a run in a drawn order, and the looks at those that are finished.

    Args:
        rows: all rows.
        gates: the gates.
        stop: how they are decided.
        seed: draws the order: the same seed and rows give the same order.
        write: the form in which results name settings.

    Attributes:
        rows: the rows in the drawn order.
        drawn: how the order was drawn, for the settings of the run.
        decision: the results at the last look; None before the first.
        decided: whether that decided all gates.

    Raises:
        InvalidInput: a row has no cluster, or the baseline cannot be used.
    """

    def __init__(
        self, rows: Sequence[Row], gates: Sequence[Gate], stop: Stop, seed: int, write: Callable[[Setting], str]
    ) -> None:
        self._gates, self._stop = gates, stop
        self._conditions = Conditions(stop.min_coverage, stop.max_failed, write=write)
        labels = RowGroups(stop.by, stop.cluster)
        for row in rows:
            labels.add(row.sample, row.place)
        labels.check()
        run_rows = [RunRow.of(Record(row.index, row.place, row.sample, {}), place) for place, row in enumerate(rows)]
        groups = grouped(zip(labels.clusters or repeat_keys(run_rows), zip(rows, run_rows, strict=True), strict=True))
        order = sorted(groups.values(), key=lambda group: blake2b(f"{seed} {group[0][0].index}".encode()).digest())
        self.rows = [row for group in order for row, _ in group]
        self.drawn = {
            "stop": WHEN_DECIDED,
            "seed": seed,
            "cluster": stop.cluster,
            "rows": len(rows),
            "largest": max(map(len, order), default=1),
        }
        self.decision: Decision | None = None
        self.decided = False
        self._ends = [0, *accumulate(map(len, order))]
        self._places = {row.index: place for place, row in enumerate(self.rows)}
        self._records = KeptRecords()  # the finished rows at the beginning of the order
        self._later: dict[int, Record] = {}  # finished rows after a row that is not finished
        self._family = self._begun = self._least = self._next = 0
        self._looked = -1
        self._baseline = None
        if stop.baseline is not None:
            self._baseline = _Baseline(stop.baseline, [row for group in order for _, row in group])

    def check(self, settings: RunSettings) -> None:
        """Check that all rows together could decide the gates.

        Raises:
            InvalidInput: a gate cannot be decided, a path names no usable column, or the baseline cannot be compared.
        """
        records, nothing = KeptRecords(), Score.unscored("it is not scored yet")
        for row in self.rows:
            scores = {
                item.name: nothing if row.is_asked(item.name) else not_asked(item.name, item.scale)
                for item in settings.metrics
            }
            records.add(Record(row.index, row.place, row.sample, scores))
        if self._baseline is not None:
            self._baseline.check(
                [gate for gate in self._gates if gate.of != "mean"], _run_of(records, settings), self._stop
            )
        self._family = len(self._decision_on(records, settings).results)

    def reach(self, indexes: Iterable[int]) -> None:
        """Do not stop before the rows that an earlier part of the run has stored: without those that it began and did not finish
        they are no beginning of the order.
        """
        self._least = max((self._places[index] + 1 for index in indexes if index in self._places), default=0)

    def pulled(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield the rows, until the gates are decided and all rows of a cluster that was begun are yielded."""
        while not (
            self.decided
            and self._begun >= self._least
            and self._ends[bisect_left(self._ends, self._begun)] == self._begun
        ):
            row = next(rows, None)
            if row is None:
                return
            self._begun += 1
            yield row

    def add(self, record: Record, settings: RunSettings) -> None:
        """Note a finished row, and look if enough rows were finished since the last look."""
        self._later[self._places[record.index]] = record
        while (following := self._later.pop(len(self._records), None)) is not None:
            self._records.add(following)
        whole = self._ends[bisect_right(self._ends, len(self._records)) - 1]
        if whole > self._next:
            self._look(whole, settings)

    def is_over(self, settings: RunSettings) -> bool:
        """Look at all rows that were begun, which must be finished. Return whether no further row is needed."""
        if self._looked != self._begun:
            self._look(self._begun, settings)
        return self.decided or self._begun == len(self.rows)

    @property
    def left(self) -> int:
        """The number of rows that were not begun."""
        return len(self.rows) - self._begun

    @property
    def in_words(self) -> str:
        """Say that the run stopped before its last row, for every face of the run."""
        return (
            f"stopped after {self._begun} of {len(self.rows)} rows, drawn at random, because the gates were decided; intervals "
            "hold at any number of rows"
        )

    def _look(self, count: int, settings: RunSettings) -> None:
        """Decide the gates by the first rows of the order. They may all lack what was checked for all rows together, such as a
        value to slice by, or a row in the baseline: then nothing is decided yet.
        """
        self._looked, self._next = count, math.floor(count * GROWTH)
        try:
            self.decision = self._decision_on(SomeRecords(self._records, range(count)), settings)
        except InvalidInput:
            if count == len(self.rows):
                raise
            self.decided = False
            return
        results = self.decision.results
        clear = (result.verdict != "undecided" and not result.unmet for result in results)
        self.decided = len(results) == self._family and all(clear)

    def _decision_on(self, records: Records, settings: RunSettings) -> Decision:
        run, stop = _run_of(records, settings), self._stop
        comparison = None if self._baseline is None else self._baseline.compared(run, stop)
        return gated(
            run,
            self._gates,
            self._conditions,
            by=stop.by,
            cluster=stop.cluster,
            comparison=comparison,
            family=self._family,
        )


def _run_of(records: Records, settings: RunSettings) -> Evaluation:
    return Evaluation.of(LoadedRun(settings.metrics, RunAccount(), records, settings))


class _Baseline:
    """The earlier run from which drops are measured.

    Args:
        run: the run, or its path.
        rows: the rows of the new run, in the drawn order.
    """

    def __init__(self, run: Evaluation | str | os.PathLike[str], rows: Sequence[RunRow]) -> None:
        self._run = run if isinstance(run, Evaluation) else Evaluation.load(run)
        self._run.check_all_rows("a drop from it")
        places: dict[Any, int] = {
            key: place for place, row in enumerate(rows) for key in (row.texts, row.id) if key is not None
        }
        self._records = KeptRecords()  # in memory, as each look reads them
        self._places = list[int]()
        for record in self._run.records:
            self._records.add(record)
            row = RunRow.of(record, 0)
            self._places.append(places.get(row.id, places.get(row.texts, -1)))

    def check(self, gates: Sequence[Gate], run: Evaluation, stop: Stop) -> None:
        """Check that gates on changes from this run to another one can be decided, whatever the scores of the other run are.

        Raises:
            InvalidInput: this run has none of the rows, or not the metric; the gate is out of reach; or it is known that judges
                differ, or not known that they are the same.
        """
        scales = {item.name: item.scale for item in run.metrics}
        higher_is_better = {item.name: item.higher_is_better for item in run.metrics}
        known = [item.name for item in self._run.metrics]
        for gate in gates:
            check_drop(gate, scales, higher_is_better)
            if gate.metric not in known:
                raise InvalidInput(Setting("baseline"), f" has no scores of {gate.metric}; it has {', '.join(known)}")
        if max(self._places, default=-1) < 0:
            raise InvalidInput(Setting("baseline"), ": none of its rows is among the rows of this run")
        comparison = self.compared(run, stop)
        for item in (comparison[gate.metric] for gate in gates):
            if item.void or not item.credited:
                allow = Setting("allow_different_judges", True)
                raise InvalidInput(
                    Setting("baseline"), f": {item.void or item.why}: score it again as this run, or give ", allow
                )

    def compared(self, run: Evaluation, stop: Stop) -> ComparedRuns:
        """Compare the baseline with a run that has the first rows of the order. The other rows of the order are left out."""
        positions = [position for position, place in enumerate(self._places) if place < len(run)]
        earlier = replace(self._run, records=SomeRecords(self._records, positions))
        allowed = stop.allow_different_judges
        return compared(earlier, run, by=stop.by, cluster=stop.cluster, margin=1.0, allow_different_judges=allowed)
