"""Compare three or more runs on the rows that all of them have.

Each pair of runs is a comparison of two runs, and the p-values of all pairs are adjusted together (`_compare`), whichever pairs
are shown: the best runs depend on all of them. With up to four runs that costs no more than one family for the differences to the
baseline and another one for the best runs.

The *best runs* of a metric are those that no other run is better than. The truly best run is missing among them in at
most 5 % of comparisons, because *better* keeps that promise for all pairs together. No two of the best runs can be
distinguished, as the worse one would be missing. There is always a best run: *better* must hold if lost values count as the worst
one, so it has the order of sums over the same rows. Runs are never put in a total order, because "A and B cannot be told apart" and
"B and C cannot be told apart" do not say that A and C cannot.

*Better* is checked in both directions, as lost values of the run that looks better must not make it the better one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeVar

from .._lexical._judge import lexical_remark
from .._run._columns import Run
from .._run._scored_rows import ScoredRows, name_of_run
from .._run._slices import RowGroups
from .._show._blocks import Block, Details, Items, Note, Sentence, Table, Text
from .._show._sentences import MOST_NAMED, as_sentence, names_in_words
from .._show._tables import cut_middle, first_of, number
from .._store._records import SomeRecords
from .._values._counts import count_of, grouped
from .._values._errors import InvalidInput
from .._values._layout import printable
from .._values._plain import plain
from ._blocks import LONGEST_NAME, telling, verdict_table, warning_head
from ._columns import paired_columns
from ._compare import Rules, RunPair, compared_together
from ._comparison import ComparedRuns, MetricComparison, data_of
from ._pairs import Reader, paired_rows, read_run
from ._sentence import JUDGED_DIFFERENTLY

RunT = TypeVar("RunT", bound=ScoredRows)


@dataclass(frozen=True)
class BestRuns:
    """One metric in several runs.

    Attributes:
        metric: name of the metric.
        means: the mean of each run, by name, over the rows that have a value; None if no row has one.
        best: names of the runs that no other run is better than; empty if there is a ``problem``.
        worse: names of the other runs.
        problem: why nothing can be said; empty if something can.
    """

    metric: str
    means: Mapping[str, float | None]
    best: tuple[str, ...]
    worse: tuple[str, ...]
    problem: str = ""

    def __str__(self) -> str:
        if self.problem:
            return self.problem
        one = len(self.best) == 1
        best = f"{_listed(self.best)} {'is best' if one else 'cannot be told apart'}"
        return f"{best}; {_listed(self.worse)} {'is' if len(self.worse) == 1 else 'are'} worse" if self.worse else best

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the sentence as plain JSON values."""
        return plain({**vars(self), "problem": self.problem or None, "says": str(self)})


@dataclass(frozen=True)
class ComparedSeveral:
    """Several runs on the rows that all of them have: the numbers of ``Comparisons``, whose docstring explains the attributes."""

    names: tuple[str, ...]
    rows: int
    left_out: tuple[int, ...]
    best: tuple[BestRuns, ...]
    pairs: tuple[ComparedRuns, ...]
    tests: int
    caveats: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return {**data_of(self), "best": {item.metric: item.to_dict() for item in self.best}}


def names_of(runs: Sequence[ScoredRows]) -> list[str]:
    """Return a name for each run: its directory, file or source, or its number; with numbers if two of them look the same."""
    names = [name_of_run(run) or f"run {place}" for place, run in enumerate(runs, 1)]
    if len({*map(_cut, names)}) == len(names):
        return names
    return [f"{name} ({place})" for place, name in enumerate(names, 1)]


def common_rows(runs: Sequence[RunT], names: Sequence[str]) -> tuple[list[RunT], list[int]]:
    """Return each run with only the rows that all runs have, and the number of rows that were left out of each.

    Raises:
        InvalidInput: the first run shares no row with another one, or no row is in all runs.
    """
    read, pairings = _remembering(), []
    for run, name in zip(runs[1:], names[1:], strict=True):
        given = (runs[0], run), (names[0], name), None, None
        pairings.append(paired_columns(*given) or paired_rows(*given, read))
    if all(rows == found.pairs for found in pairings for rows in found.rows):
        return list(runs), [0] * len(runs)
    records = [
        [(found.before.rows[one].records, found.after.rows[two].records) for one, two in found.positions]
        for found in (each.read() for each in pairings)
    ]
    kept = set[int].intersection(*({position for one, _ in pairs for position in one} for pairs in records))
    if not kept:
        raise InvalidInput(f"{_listed(names)} have no row in common: compare runs of the same questions")
    common = [[pair for pair in pairs if kept.issuperset(pair[0])] for pairs in records]
    positions = [kept, *({position for _, two in pairs for position in two} for pairs in common)]
    counts = [pairings[0].rows[0], *(found.rows[1] for found in pairings)]
    parts = [
        replace(run, records=SomeRecords(run.records, sorted(own))) for run, own in zip(runs, positions, strict=True)
    ]
    return parts, [count - len(common[0]) for count in counts]


def _remembering() -> Reader:
    """Return a function that reads each run once for each column of slices."""
    known: dict[tuple[int, str | None], tuple[Run, RowGroups]] = {}

    def read(run: ScoredRows, name: str, by: str | None, cluster: str | None) -> tuple[Run, RowGroups]:
        key = id(run), by
        if key not in known:
            known[key] = read_run(run, name, by, cluster)
        return known[key]

    return read


def all_compared(
    runs: Sequence[ScoredRows], names: Sequence[str], by: str | None, rules: Rules, *, all_pairs: bool
) -> tuple[list[ComparedRuns], dict[str, set[str]]]:
    """Compare all pairs of runs; if ``all_pairs`` is False, only pairs with the first run are sliced.

    Returns:
        The comparisons, and for each metric of all runs the names of the runs that another run is better than.

    Raises:
        InvalidInput: as ``compared``.
    """
    read = _remembering()
    pairs = [
        RunPair((one, two), (first, second), by if all_pairs or first == names[0] else None)
        for (one, first), (two, second) in combinations(zip(runs, names, strict=True), 2)
    ]
    forward = compared_together(pairs, rules, read)
    backward = []
    if any(item.verdict == "worse" for comparison in forward for item in comparison.metrics):
        backward = compared_together([pair.turned() for pair in pairs], rules, read)
    shared = set[str].intersection(*({item.name for item in run.metrics} for run in runs))
    beaten = {item.name: set[str]() for item in runs[0].metrics if item.name in shared}
    for comparison in (*forward, *backward):
        for item in comparison.metrics:
            if item.name in beaten and item.verdict == "better":
                beaten[item.name].add(comparison.before)
    return forward, beaten


def best_runs(
    metric: str, means: Mapping[str, float | None], beaten: set[str], pairs: Iterable[ComparedRuns]
) -> BestRuns:
    """Return the best runs of a metric, given all pairs of runs."""
    items = [comparison[metric] for comparison in pairs]
    if not all(item.credited for item in items):
        return BestRuns(metric, means, (), (), "the best cannot be said, because some of the runs may not be compared")
    if items[0].higher_is_better is None:
        return BestRuns(metric, means, (), (), "which end of its scale is better is not known, or neither is")
    best = tuple(name for name in means if name not in beaten)
    return BestRuns(metric, means, best, tuple(name for name in means if name in beaten))


def _cut(name: str) -> str:
    return cut_middle(name, LONGEST_NAME)


def _listed(names: Sequence[str]) -> str:
    *others, last = map(_cut, names)
    return f"{', '.join(others)} and {last}" if others else last


def several_sentence(found: ComparedSeveral) -> str:
    """Return the best runs, in one sentence for all metrics with the same ones, and reasons to doubt them."""
    return " ".join(map(as_sentence, _sentences(found)))


def _sentences(found: ComparedSeveral) -> Iterator[str]:
    groups = list(grouped((str(item), item.metric) for item in found.best).items())
    yield from (f"on {names_in_words(metrics)}, {text}" for text, metrics in groups[:MOST_NAMED])
    if more := sum(len(metrics) for _, metrics in groups[MOST_NAMED:]):
        yield f"the table has {count_of(more, 'more metric')}"
    if not groups:
        yield "no metric is in all runs"
    if any(item.warnings and item.credited for pair in found.pairs for item in pair.metrics):
        yield JUDGED_DIFFERENTLY
    elif any(item.void and item.credited for pair in found.pairs for item in pair.metrics):
        yield "it is not known whether all runs were scored in the same way"
    if any(found.left_out):
        yield "rows that not all runs have are left out"
    if any(pair.incomplete for pair in found.pairs):
        yield "not all runs are complete"
    yield from lexical_remark(found.caveats, first_of(found.names))


def several_blocks(found: ComparedSeveral, marks: Mapping[str, str] | None = None) -> list[Block]:
    """Return all blocks of a comparison of several runs; ``marks`` are the symbols put before verdicts."""
    pairs = found.pairs
    warnings = [f"{pair.before}, {pair.after}: {text}" for pair in pairs for text in pair.warnings]
    metrics, slices = _named(found, "metrics"), _named(found, "slices")
    reasons = [f"{item.name}, {item.slice}: {item.why}" for item in telling(slices)]
    means = [[item.metric, *map(number, item.means.values())] for item in found.best]
    return [
        Sentence(several_sentence(found)),
        Text(several_in_words(found)),
        Note("", warning_head(pairs[0]), warnings) if warnings else Note(""),
        Items([f"{item.metric}: {item}" for item in found.best]),
        Table(["mean", *map(_cut, found.names)], means),
        verdict_table("metric, run", metrics, marks or {}),
        Details("Why", (Items([f"{item.name}: {item.why}" for item in metrics]),)),
        Details(f"{len(slices):,} slices", (verdict_table("metric, run, slice", slices, marks or {}), Items(reasons))),
        *map(Note, found.caveats),
        Details("What the numbers rest on", (Items(list(several_remarks(found))),)),
    ]


def _named(found: ComparedSeveral, which: Literal["metrics", "slices"]) -> list[MetricComparison]:
    """Return the items of all pairs, metric by metric, with the runs in their names; the baseline goes without saying."""
    items = []
    for pair in found.pairs:
        runs = _cut(pair.after) if pair.before == found.names[0] else f"{_cut(pair.before)} to {_cut(pair.after)}"
        items += [(item.name, replace(item, name=f"{item.name}, {runs}")) for item in getattr(pair, which)]
    return [item for several in grouped(items).values() for item in several]


def several_in_words(found: ComparedSeveral) -> str:
    """Say how many runs and rows are compared."""
    rows = f"{count_of(found.rows, 'row')} in all of them, paired by {found.pairs[0].paired_by}"
    return f"{len(found.names)} runs, compared with {printable(found.names[0])}: {rows}"


def several_remarks(found: ComparedSeveral) -> Iterator[str]:
    """Return remarks on the rows that were left out, and on how the numbers were made."""
    for name, rows in zip(found.names, found.left_out, strict=True):
        if rows:
            yield f"left out of {name}: {count_of(rows, 'row')} that not all runs have"
    pairs = [pair for pair in found.pairs if pair.before == found.names[0]]
    yield from dict.fromkeys(f"not known: {text}" for pair in pairs for text in pair.unknown)
    yield from dict.fromkeys(f"note: {text}" for pair in pairs for text in pair.notes)
    yield "mean: of the rows of a run that have a value; difference: of the rows that have a value in both runs"
    yield f"adjusted p: Holm's, over {count_of(found.tests, 'difference')} of metrics between any two runs" + (
        ", and doubled, as slices are another family" if pairs[0].by else ""
    )
    yield f"margin: {pairs[0].margin:g} of the width of a scale"
