"""The results of gates, as data and in words.

There are three results, not two: a few rows may not show on which side of a limit a mean lies, and then neither red nor green
would be honest. So a decision has no truth value: ``if decision:`` would have to treat an undecided one as true or false.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._run._slices import slice_name
from .._show._bars import Glyphs
from .._show._blocks import Block, Heading, Items, Result, as_lines, as_markdown, as_text
from .._show._tables import cut_middle, room
from .._values._counts import count_of
from .._values._findings import Line, Tone
from .._values._layout import printable
from .._values._plain import plain
from ..statistics import Interval
from ..statistics._pairs import MOST_ROWS
from ._evidence import about, new_run
from ._gates import Gate

MARKS = {
    "failed": "\N{HEAVY BALLOT X} ",
    "undecided": "\N{EN DASH} ",
    "passed": "\N{HEAVY CHECK MARK} ",
}
"""The symbols put before verdicts in Markdown, as in evidence; they are in fonts without emoji too."""

Verdict = Literal["failed", "undecided", "passed"]

VERDICTS: tuple[Verdict, ...] = ("failed", "undecided", "passed")
"""The verdicts; those that need attention come first."""

TONES: Mapping[Verdict, Tone] = {"failed": "bad", "undecided": "open", "passed": "good"}
"""What verdicts say, from which colours are chosen."""

LONGEST_GATE = 60
"""The number of characters of a gate in a line."""

CLOSE = 1e-9
DIGITS = range(3, 7)


def _numbers(result: GateResult) -> Iterator[str]:
    estimate, interval, limit = result.estimate, result.interval, result.gate.limit
    if estimate is None:
        return
    sure = f", 95 % interval {_ends(interval, limit)}," if interval else ""
    yield f"{result.gate.of} {_shown(estimate, limit)}{sure} from {_rows(result)}"
    if interval is None:
        nothing = "all values are equal, on a scale that is not known"
        if 1 in {result.scored, result.clusters}:
            nothing = f"one {'row' if result.repeated or result.scored == 1 else 'cluster'} says nothing of the others"
        yield f"no interval, since {nothing}"
    if interval is None or result.unmet:
        return
    adjusted = result.adjusted or interval
    if adjusted != interval and result.is_bad(interval):
        yield f"{_ends(adjusted, limit)} when adjusted for the number of gates"
    if result.missing and result.missing not in result.doubt:
        yield result.missing + ("; counted as the worst value, it still holds" if result.verdict == "passed" else "")
    if result.doubt:
        yield result.doubt
    elif result.verdict == "undecided":
        yield _what_decides(result)


def _rows(result: GateResult) -> str:
    rows = f"{result.scored} of {result.rows} rows"
    if result.gate.of != "mean" or result.scored == result.rows:
        rows = count_of(result.scored, "row" if result.gate.of == "mean" else "pair")
    return rows if result.clusters is None else rows + _grouped(result, result.clusters)


def _grouped(result: GateResult, clusters: int) -> str:
    return f" ({clusters:,} without repeats)" if result.repeated else f" in {count_of(clusters, 'cluster')}"


def _what_decides(result: GateResult) -> str:
    rows, least, of = result.rows_needed, result.passes_from, result.gate.of
    if result.interval is not None and result.interval.is_always_valid:
        return "not decided by any of its rows"
    power = ""
    if least is not None:
        value = _shown(least, result.gate.limit)
        power = f"; with {result.scored:,} rows, a true {of} of {value} passes in 80 % of cases"
    if rows is None:
        return f"so close to the limit that {MOST_ROWS:,} rows would not decide{power}"
    clusters = result.clusters
    where = "" if clusters is None else _grouped(result, about(math.ceil(clusters * rows / result.scored)))
    seen = f"a true {of} of {_shown(result.estimate or 0.0, result.gate.limit)} (as seen)"
    of_slice = "" if result.by is None else " of this slice"
    return new_run(f"about {about(rows):,} rows{of_slice}{where}", seen, "decide") + power


def _ends(interval: Interval, limit: float) -> str:
    return f"{_shown(interval.low, limit)} to {_shown(interval.high, limit)}"


def _shown(value: float, limit: float) -> str:
    """Return the number with three decimals, or more if it would look equal to the limit without being equal."""
    texts = [f"{value:.{digits}f}" for digits in DIGITS]
    text = next((text for text in texts if float(text) != limit or abs(value - limit) <= CLOSE), texts[-1])
    return text if float(text) else text.removeprefix("-")


@dataclass(frozen=True)
class GateResult:
    """The result of one gate, for all rows or for one slice.

    Attributes:
        gate: the gate.
        verdict: ``passed``: the 95 % interval lies on the good side of the limit. ``failed``: it lies on the bad side, also when
            it is adjusted for all gates that are decided together; or the rows do not meet the conditions. ``undecided``:
            neither.
        unmet: the conditions that the rows do not meet, in words; any of them makes the verdict ``failed``.
        doubt: why the verdict is undecided although the interval lies on one side, in words; empty otherwise.
        estimate: the mean of the rows, or their drop; None if no row has a score.
        interval: its 95 % interval, with its method; None if there is no interval.
        adjusted: the interval that had to lie on the bad side for ``failed``, adjusted for the number of gates that were still
            undecided: wider than ``interval`` if there were several.
        rows: number of all rows, with and without a score.
        scored: number of rows with a score.
        failed: number of rows whose scoring failed.
        rows_needed: how many rows with a score a new run needs to decide an undecided gate in 80 % of cases, if the true mean and
            spread are the observed ones. None if the gate is decided, if the rows allow no estimate, or if more than 100,000
            would be needed. Adding rows to this run until it is decided makes false verdicts more likely.
        passes_from: for an undecided gate, the true mean (drop, change) that passes in 80 % of runs of as many rows, if intervals
            are as wide as this one; None in the same cases as ``rows_needed``, or if no possible value passes.
        by: the path of the column that defines the slice; None for all rows.
        label: the value of that column in the rows of the slice; None for the rows without a value.
        clusters: number of clusters of the rows; None if rows are taken to be independent.
        repeated: whether these clusters are repeats of a row.
        missing: in words, the rows that have a value only in an earlier run; empty if there are none. A gate passes
            only if it would also pass with the worst value for each of these rows.
        warnings: caveats: that judges differ between two runs, if this was allowed.
        void: whether the gate is undecided because the two runs may not have measured the same thing; more rows would not help.
        run: the name of the run, if the gates of several runs are decided together; empty otherwise.
    """

    gate: Gate
    verdict: Verdict
    unmet: tuple[str, ...]
    doubt: str
    estimate: float | None
    interval: Interval | None
    adjusted: Interval | None
    rows: int
    scored: int
    failed: int
    rows_needed: int | None = None
    passes_from: float | None = None
    by: str | None = None
    label: str | None = None
    clusters: int | None = None
    repeated: bool = False
    missing: str = ""
    warnings: tuple[str, ...] = ()
    void: bool = False
    run: str = ""

    @property
    def unscored(self) -> int:
        """The number of rows that had nothing to score."""
        return self.rows - self.scored - self.failed

    @property
    def coverage(self) -> float | None:
        """The share of the rows that have a score, 0 to 1; None if there are no rows."""
        return self.scored / self.rows if self.rows else None

    @property
    def why(self) -> str:
        """The reason for the verdict: conditions that are not met, the estimate, its uncertainty, and what would decide."""
        warned = [f"WARNING: who scored differs: {printable(text)}" for text in self.warnings]
        return "; ".join([*self.unmet, *_numbers(self), *warned])

    def is_bad(self, interval: Interval) -> bool:
        """Whether an interval lies wholly on the bad side of the limit."""
        return self.gate.side(interval.low, interval.high) < 0

    @property
    def name(self) -> str:
        """The gate, its run if there are several, and its slice, printable: ``faithfulness >= 0.8, lang=de``."""
        gate = cut_middle(str(self.gate), LONGEST_GATE)
        parts = [gate, cut_middle(self.run, LONGEST_GATE)] if self.run else [gate]
        return ", ".join(parts if self.by is None else [*parts, slice_name(self.by, self.label)])

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        interval, adjusted = self.interval, self.adjusted
        own = {"gate": str(self.gate), "metric": self.gate.metric}
        figures = {"unscored": self.unscored, "coverage": self.coverage, "why": self.why}
        words = {"doubt": self.doubt or None, "missing": self.missing or None, "run": self.run or None}
        limits = {
            "interval": interval and interval[:2],
            "interval_method": interval.method if interval else None,
            "adjusted": adjusted and adjusted[:2],
        }
        return plain({**vars(self), **own, **figures, **words, **limits})

    def __str__(self) -> str:
        return f"{self.verdict.upper()} {self.name}: {self.why}"


@dataclass(frozen=True)
class Decision(Result):
    """The results of gates that were decided together; ``str()`` or ``print`` shows a line for each.

    Attributes:
        results: one for each gate and, with ``by``, for each gate and slice, in the order of the gates.
    """

    results: tuple[GateResult, ...]

    __iter__: ClassVar[None] = None  # loops use .results

    @property
    def verdict(self) -> Verdict:
        """``failed`` if a gate failed, otherwise ``undecided`` if a gate is undecided, otherwise ``passed``."""
        return next(verdict for verdict in VERDICTS if self.of(verdict) or verdict == "passed")

    @property
    def passed(self) -> bool:
        """Whether all gates passed."""
        return self.verdict == "passed"

    def of(self, verdict: Verdict) -> list[GateResult]:
        """Return the results with this verdict."""
        return [result for result in self.results if result.verdict == verdict]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return {"verdict": self.verdict, "gates": [result.to_dict() for result in self.results]}

    @property
    def ordered(self) -> list[GateResult]:
        """Return the results; those that need attention come first."""
        return [result for verdict in VERDICTS for result in self.of(verdict)]

    @property
    def counts(self) -> str:
        """Return the number of results with each verdict, in words."""
        counts = Counter(result.verdict for result in self.results)
        return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])

    def _blocks(self, marks: Mapping[str, str] | None = None) -> list[Block]:
        """Return a heading with the counts, and an item for each gate; those that need attention come first."""
        marks = marks or {}
        items = [Items((), f"{marks.get(each.verdict, '')}{each}", TONES[each.verdict]) for each in self.ordered]
        return [Heading(f"gates: {self.counts}"), Items(items)] if items else []

    def text(self, width: int) -> str:
        """Return a line with the counts, then one for each gate, wrapped to this width; gates that need attention come first."""
        return "\n".join(as_text([each], width) for each in self._blocks())

    def __str__(self) -> str:
        return self.text(room())

    def terminal_lines(self, glyphs: Glyphs) -> list[Line]:
        """Return the text as lines with colours, for a terminal."""
        return [line for each in self._blocks() for line in as_lines([each], room(), glyphs)]

    def to_markdown(self) -> str:
        """Return the decision as Markdown for a comment on a pull request; texts from the data are escaped."""
        return as_markdown(self._blocks(MARKS))

    def __bool__(self) -> bool:
        raise TypeError("a decision may be undecided, so it is neither true nor false: look at .verdict or .passed")
