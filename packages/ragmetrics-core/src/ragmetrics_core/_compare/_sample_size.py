"""How many rows and labels an evaluation needs, before any of them is paid for.

Rows for a change depend on how many rows change, and by how much. Two pilot runs of the same rows show it. One pilot run shows how
much rows differ; how many of them change is then taken from `TYPICAL`. Without a pilot, everything comes from there.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .._calibrate._calibration import Calibration
from .._gate._evidence import about
from .._run._columns import Run, common_scale, repeat_keys
from .._run._judgements import repeated_values, variance_of
from .._run._scored_rows import ScoredRows
from .._run._slices import RowGroups
from .._show._blocks import Block, Heading, Items, Note, Result, Table
from .._values._counts import count_of
from .._values._errors import InvalidInput, Setting
from .._values._plain import plain
from ..statistics._corrected import MOST_GRADES, labels_for
from ..statistics._distributions import normal_quantile
from ..statistics._interval import at_ends
from ..statistics._labelled import FEWEST_LABELS
from ..statistics._means import clustered_mean, mean_of, units_of
from ..statistics._numbers import Numbers
from ..statistics._pairs import PairedNumbers
from ._compare import compared
from ._several import names_of


class Typical(NamedTuple):
    """The least and the largest share of rows that change between two systems, and the size of their changes on a scale from 0
    to 1 (root mean square).
    """

    least: float
    most: float
    size: float


TYPICAL = {"passes": Typical(0.05, 0.4, 1.0), "grades": Typical(0.1, 0.7, 0.5), "shares": Typical(0.2, 0.75, 0.55)}
"""What pairs of systems usually show, for scores at the ends of their scale, of few values, and of any value."""

ERRORS = 0.05, 0.2
"""The share of rows that a good judge and a weak one judge differently from people."""

PASSING = 0.8
"""The share of passes that labels are planned for without a calibration."""

ROWS = 1000
"""The number of judged rows that labels are planned for if the number of rows is not known."""

LEAST_REST = 0.01
"""The least share of the variance between rows that is not taken to be the judge's."""

FEWEST = 20
"""The fewest rows or pairs of a pilot. Fewer do not show how much others differ."""

FEWEST_CLUSTERS = 8
"""The fewest clusters of a pilot."""

CERTAIN = 0.8
"""The confidence of the range of two pilots."""

PAIRS = 10_000
"""The number of pairs that stand for a population."""

Range = tuple[int | None, int | None]
"""The least and the largest number; None: more than can be advised."""


@dataclass(frozen=True)
class MetricPlan:
    """How many rows and labels one metric needs.

    Attributes:
        name: the name of the metric; ``passes``, ``grades`` or ``shares`` without a pilot.
        basis: what the numbers rest on: ``two pilots``, ``one pilot`` or ``typical``.
        rows: the least and the largest number of rows that show the change, with those that get no value, as in the pilot; of two
            pilots an 80 % interval. None: more than 100,000, or unknown.
        pilot: the number of rows or pairs of the pilot that have a value; 0 without a pilot.
        clusters: the least and the largest number of clusters that these rows are in; None if rows are independent.
        labels: the least and the largest number of labels for the width, if the judge scores as many rows as ``rows`` says; None if
            all of them are too few.
        calls: model calls for a row; None without a pilot.
        dollars: the price of a row; None if it is not known.
        judge_variance: the variance between judgements of the same row, divided by the variance between rows (of two pilots:
            between changes) without it; None if rows were judged once.
        problem: why there are no rows; empty if there are.
    """

    name: str
    basis: str
    rows: Range = (None, None)
    labels: Range = (None, None)
    pilot: int = 0
    clusters: Range | None = None
    calls: float | None = None
    dollars: float | None = None
    judge_variance: float | None = None
    problem: str = ""

    @property
    def a_row_costs(self) -> float | None:
        """How many times as much as a judgement a further row must cost before a second judgement of each row serves better.

        If a row costs r judgements, its variance is B and the variance of a judgement W, then k judgements of each row need rows in
        proportion to B + W / k, at a price of r + k for each: two are cheaper than one if r > 2 B / W (Cochran 1977, Sampling
        Techniques, section 10.6). None if it is not known, or judgements of a row never differ.
        """
        return 2 / self.judge_variance if self.judge_variance else None


@dataclass(frozen=True)
class Plan(Result):
    """How many rows, labels, calls and dollars an evaluation needs; ``print`` shows a table.

    Attributes:
        change: the change to be shown, as a share of the scale.
        power: the probability with which it is shown.
        width: the width of the interval that labels are for, as a share of the scale.
        metrics: the plan of each metric.
        pilots: the names of the pilot runs.
        repeats: how often each of them judged a row.
        calibrated: whether labels were given, so that the numbers of labels rest on them.
    """

    change: float
    power: float
    width: float
    metrics: tuple[MetricPlan, ...]
    pilots: tuple[str, ...] = ()
    repeats: tuple[int, ...] = ()
    calibrated: bool = False

    def __getitem__(self, name: str) -> MetricPlan:
        found = {item.name: item for item in self.metrics}
        if name not in found:
            raise KeyError(f"no metric {name!r}; there are {', '.join(found)}")
        return found[name]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return plain({**vars(self), "metrics": [{**vars(m), "a_row_costs": m.a_row_costs} for m in self.metrics]})

    def _blocks(self) -> list[Block]:
        pilots = f" (pilot: {' and '.join(self.pilots)})" if self.pilots else " (without a pilot)"
        title = (
            f"rows that show a change of {self.change:g} of the scale in {_percent(self.power)} of comparisons{pilots}"
        )
        columns: dict[str, list[str]] = {"metric": [item.name for item in self.metrics]}
        if self.pilots:
            columns["pilot"] = [f"{item.pilot:,}" for item in self.metrics]
        columns["rows"] = [_between(item.rows) for item in self.metrics]
        if any(item.clusters for item in self.metrics):
            columns["clusters"] = [_between(item.clusters or (None, None)) for item in self.metrics]
        if self.pilots:
            columns["calls"] = [_between(item.rows, item.calls) for item in self.metrics]
            columns["dollars"] = [_between(item.rows, item.dollars, "${:,.2f}") for item in self.metrics]
        columns["labels"] = [_between(item.labels) for item in self.metrics]
        rows = list(zip(*columns.values(), strict=True))
        return [Heading(title), Table(tuple(columns), rows), Items(list(self._remarks())), *self._notes()]

    def _remarks(self) -> Iterator[str]:
        for item in self.metrics:
            if item.problem:
                yield f"{item.name}: {item.problem}"
            if item.judge_variance and item.a_row_costs:
                what = "rows" if item.basis == "one pilot" else "changes"
                times, costs = (float(f"{each:.2g}") for each in (item.judge_variance, item.a_row_costs))
                yield (
                    f"judge {item.name}: judgements of the same row vary {times:,g} times as much as {what}; a second judgement of "
                    f"each row pays if a row costs more than {costs:,g} judgements, else more rows do"
                )
        if steady := [item.name for item in self.metrics if item.judge_variance == 0]:
            yield f"judge: judgements of the same row never differ, so repeats do not help ({', '.join(steady)})"

    def _notes(self) -> Iterator[Note]:
        bases = {item.basis for item in self.metrics}
        if "one pilot" in bases:
            yield Note(
                "one run does not show how many rows change: assumed are shares of earlier systems; two runs show it"
            )
        if "typical" in bases:
            kinds = "; ".join(f"{name}: {_words(kind)}" for name, kind in TYPICAL.items())
            yield Note(f"{kinds}; the change itself comes on top", "assumed changes")
        if any("-" in (_between(item.rows), _between(item.labels)) and not item.problem for item in self.metrics):
            yield Note("more than 100,000 rows, more labels than rows, or not known", "-")
        errors = " to ".join(map(_percent, ERRORS))
        rest = "" if self.calibrated else f"; the judge errs in {errors} of rows, and people pass {_percent(PASSING)}"
        over = f"for an interval {self.width:g} of the scale wide of the mean that people would give over the most of these rows"
        yield Note(f"{over}{rest}", "labels")
        if max(self.repeats, default=1) > 1:
            times = " and ".join(map(str, dict.fromkeys(self.repeats)))
            yield Note(f"rows, calls and dollars are for {times} judgements of each row, as in the pilot", "repeats")
        elif self.pilots and not all(item.problem for item in self.metrics):
            yield Note("a pilot with two judgements of each row (`--repeats 2`) shows whether repeats pay", "repeats")
        if self.pilots:
            yield Note("calls and dollars are for one run of so many rows", "price")
        else:
            yield Note("`ragmetrics evaluate DATA --dry-run` shows the calls and dollars of a row", "price")


def _words(kind: Typical) -> str:
    return f"{_percent(kind.least)} to {_percent(kind.most)} of rows, by {kind.size:g} of the scale"


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _between(found: Range, each: float | None = 1, form: str = "{:,.0f}") -> str:
    """Return a range as text, with two digits, times ``each``; a dash if it is not known."""
    least, most = ("-" if row is None or each is None else form.format(about(row) * each) for row in found)
    return least if least == most else f"from {least}" if most == "-" else f"{least} to {most}"


def plan(
    *pilots: ScoredRows | str | os.PathLike[str],
    change: float = 0.05,
    power: float = 0.8,
    width: float = 0.1,
    cluster: str | None = None,
    calibration: Calibration | None = None,
) -> Plan:
    """Say how many rows show a change between two systems, how many labels correct a mean, and what they cost. Nothing is asked.

    Args:
        pilots: no run, one run, or two runs of the same rows by two systems; or their directories or files of scores. Their
            spread is assumed for the rows to come.
        change: the change to be shown, as a share of the width of each metric's scale, above 0 and below 1.
        power: the probability with which it is shown.
        width: the width of the interval of the mean that people would give, as a share of the scale.
        cluster: a column such as ``"metadata.document"``: rows with the same value are not independent.
        calibration: the result of ``calibrate`` for the first pilot. Without it, labels are planned for judges that err in 5 to
            20 % of rows.

    Raises:
        InvalidInput: there are more than two pilots, they share no row, change, power or width are out of range, or a path names
            no column.
    """
    for name, share in (("change", change), ("power", power), ("width", width)):
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
            raise InvalidInput(Setting(name), f" must be a share above 0 and below 1, got {share!r}")
    runs = _pilots(pilots, cluster)
    if not isinstance(calibration, Calibration | None):
        raise InvalidInput(f"calibration must be what run.calibrate(labels) returns, got {calibration!r}")
    aim, judged = Aim(change, power, cluster), [_Judged.of(run) for run in runs]
    found = _of_none(aim)
    if runs:
        found = _of_two(runs, judged, aim) if len(runs) == 2 else _of_one(runs[0], judged[0], aim)
    first = judged[0] if judged else {}
    return Plan(
        change=float(change),
        power=float(power),
        width=float(width),
        metrics=tuple(replace(item, labels=_labels(item, first.get(item.name), calibration, width)) for item in found),
        pilots=tuple(names_of(runs)),
        repeats=tuple(int(run.settings.run.get("repeats", 1)) if run.settings else 1 for run in runs),
        calibrated=calibration is not None,
    )


def _pilots(given: Sequence[ScoredRows | str | os.PathLike[str]], cluster: str | None) -> list[ScoredRows]:
    """Return the pilots as runs.

    Raises:
        InvalidInput: there are more than two, one cannot be read or stopped when its gates were decided, or there are none and yet
            clusters.
    """
    if len(given) > 2:
        raise InvalidInput(f"pilots must be at most two, got {len(given)}: give two runs of the same rows")
    if cluster is not None and not given:
        raise InvalidInput(Setting("cluster", cluster), ": without a pilot there are no clusters")
    for run in given:
        if not isinstance(run, ScoredRows | str | os.PathLike):
            raise InvalidInput(f"a pilot must be a run, its directory or a file of scores, got {run!r}")
    runs = [run if isinstance(run, ScoredRows) else ScoredRows.load(run) for run in given]
    for each in runs:
        each.check_all_rows("a plan")
    return runs


class Aim(NamedTuple):
    """The change to be shown as a share of the scale, the power, and the column of clusters."""

    change: float
    power: float
    cluster: str | None

    def rows(self, share: float, size: float) -> int | None:
        """Return the number of pairs if this share of them changes by this size on a scale from 0 to 1, as many up as down."""
        moved = min(round(share * PAIRS / 2), PAIRS // 2)
        counts = [moved, moved, PAIRS - 2 * moved]
        before, after = Numbers([0.0, size, 0.0], counts), Numbers([size, 0.0, 0.0], counts)
        return PairedNumbers.of(before, after, None, (0.0, 1.0)).difference().rows_needed(self.change, self.power)


def _of_none(aim: Aim) -> Iterator[MetricPlan]:
    for name, kind in TYPICAL.items():
        yield MetricPlan(name, "typical", _range(aim.rows(kind.least, kind.size), aim.rows(kind.most, kind.size)))


def _range(*numbers: float | None, factor: float = 1.0) -> Range:
    """Return the smaller and the larger number times a factor; None is the largest."""
    least, most = sorted(numbers, key=lambda number: math.inf if number is None else number)
    return None if least is None else math.ceil(least * factor), None if most is None else math.ceil(most * factor)


def _why_too_small(rows: int, clusters: int | None) -> str:
    """Return why a pilot of so many rows or pairs, in so many clusters, shows nothing; empty if it is large enough."""
    if rows < FEWEST:
        return f"{count_of(rows, 'row')} of the pilot have a value, too few to show how others differ: score at least {FEWEST}"
    if clusters is not None and clusters < FEWEST_CLUSTERS:
        return f"{count_of(clusters, 'cluster')} of the pilot, too few to show how others differ: at least {FEWEST_CLUSTERS}"
    return ""


def _of_one(run: ScoredRows, judged: Mapping[str, _Judged], aim: Aim) -> Iterator[MetricPlan]:
    groups = RowGroups(None, aim.cluster)
    read = Run.of(run, run.source, groups)
    groups.check()
    keys: Sequence[Hashable] = repeat_keys(read.rows) if read.clusters is None else read.clusters
    for name, column in read.columns.items():
        scored = [row for row, value in enumerate(column.values) if value is not None]
        values = [column.values[row] or 0.0 for row in scored]
        scale = common_scale(column.metric.scale, (column.scales[row] for row in scored))
        units = units_of(values, [keys[row] for row in scored])
        found = _priced(MetricPlan(name, "one pilot", pilot=len(values)), run, judged[name])
        problem = _why_too_small(len(values), units.total() if units.total() < len(values) else None)
        variance = Numbers(values).squares(math.fsum(values) / len(values)) / len(values) if values else 0.0
        if problem or scale is None or not variance:
            lacking = "the scale is not known" if scale is None else "rows of the pilot do not differ"
            yield replace(found, problem=problem or f"{lacking}: give two runs of the same rows as pilots")
            continue
        chances = Counter(values)
        other = 1 - math.fsum((count / len(values)) ** 2 for count in chances.values())
        # a row that changes is taken to get a value as if of another row with another value
        size = math.sqrt(2 * variance / other) / (scale[1] - scale[0])
        effect = max(clustered_mean(units).variance * (len(values) - 1) / variance, 1.0)
        kind = TYPICAL["passes" if at_ends(values, scale) else "grades" if len(chances) <= MOST_GRADES else "shares"]
        pairs = (aim.rows(min(share, other), size) for share in (kind.least, kind.most))
        rows = _range(*pairs, factor=effect * len(read.rows) / len(values))
        clusters = _range(*rows, factor=units.total() / len(read.rows)) if read.clusters is not None else None
        yield replace(found, rows=rows, clusters=clusters, judge_variance=_judge_variance([judged[name]], variance))


def _of_two(runs: Sequence[ScoredRows], judged: Sequence[Mapping[str, _Judged]], aim: Aim) -> Iterator[MetricPlan]:
    before, after = runs
    compared_rows = compared(before, after, by=None, cluster=aim.cluster, margin=1.0, allow_different_judges=False)
    for item in compared_rows.metrics:
        found = _priced(MetricPlan(item.name, "two pilots", pilot=item.pairs), after, judged[1][item.name])
        if item.values is None or item.scale is None:
            yield replace(found, problem=item.why if item.values is None else "the scale is not known")
            continue
        changes, effect = item.values.changes, aim.change * (item.scale[1] - item.scale[0])
        problem = _why_too_small(item.pairs, item.clusters)
        variance = changes.squares(changes.mean) / len(changes)  # 0 on scales so small that squares vanish
        if not problem and (changes.high - changes.low <= item.values.near or not variance):
            problem = "pairs of the pilots do not differ among each other"
        if problem:
            yield replace(found, problem=problem)
            continue
        alone = replace(item.values, clusters=None).difference().rows_needed(effect, aim.power)
        needed = item.values.difference().rows_needed(effect, aim.power)
        needed = None if needed is None or alone is None else max(needed, alone)
        squares = Numbers([(value - changes.mean) ** 2 for value in changes.values], changes.counts)
        # the relative error of an estimated variance
        error = math.sqrt(squares.squares(squares.mean)) / len(changes) / variance
        factor = math.exp(normal_quantile((1 + CERTAIN) / 2) * error)
        pairs = needed and needed / factor, needed and needed * factor
        rows = _range(*pairs, factor=item.rows_after.rows / item.pairs)
        clusters = None if item.clusters is None else _range(*rows, factor=item.clusters / item.rows_after.rows)
        judge = _judge_variance([each[item.name] for each in judged], variance)
        yield replace(found, rows=rows, clusters=clusters, judge_variance=judge)


class _Judged:
    """What a pilot says of a metric: its values, the calls that they took, and the variance and number of repeated judgements."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.calls = 0
        self.repeated: list[tuple[float, int]] = []

    @staticmethod
    def of(run: ScoredRows) -> dict[str, _Judged]:
        """Read all records of a run once."""
        found = {item.name: _Judged() for item in run.metrics}
        for record in run.records:
            for name, score in record.scores.items():
                judged, repeats = found[name], repeated_values(score.details)
                judged.calls += score.usage.calls
                judged.values += [] if score.value is None else [score.value]
                variance = variance_of(repeats)
                judged.repeated += [] if variance is None else [(variance, len(repeats))]
        return found


def _judge_variance(judged: Sequence[_Judged], variance: float) -> float | None:
    """Return the variance between judgements of the same row divided by the rest of the variance between rows or changes."""
    if not variance or not all(each.repeated for each in judged):
        return None
    within = sum(math.fsum(each for each, _ in run.repeated) / len(run.repeated) for run in judged)
    of_means = sum(math.fsum(each / number for each, number in run.repeated) / len(run.repeated) for run in judged)
    return within / max(variance - of_means, LEAST_REST * variance)


def _priced(item: MetricPlan, run: ScoredRows, judged: _Judged) -> MetricPlan:
    """Return the plan with the calls of a row of the pilot, and their price at what its calls have cost on average."""
    models = [*run.models, *run.earlier]
    costs = [cost.dollars for model in models if (cost := model.cost()) is not None]
    paid, calls = sum(model.usage.calls for model in models), judged.calls / len(run)
    known = [cost for cost in costs if cost is not None] if paid else []
    return replace(item, calls=calls, dollars=calls * sum(known) / paid if known and len(known) == len(costs) else None)


def _labels(item: MetricPlan, pilot: _Judged | None, calibration: Calibration | None, width: float) -> Range:
    """Return the least and the largest number of labels for an interval of this width, of the mean over the planned rows."""
    rows = item.rows[1] or item.rows[0]
    if calibration is not None:
        values = pilot.values if pilot else []
        found = calibration.corrected_of(item.name, len(values), mean_of(values))
        if found is None or found.corrected is None:
            return None, None
        low, high = (0.0, 1.0) if found.verdicts or found.scale is None else found.scale
        least = most = found.corrected.labels_needed(width * (high - low), rows)
    else:
        of_passes = PASSING * (1 - PASSING)
        least, most = (
            labels_for(width, error * (1 - error), of_passes * (1 - 2 * error) ** 2, rows or ROWS) for error in ERRORS
        )
    return least and max(least, FEWEST_LABELS), most and max(most, FEWEST_LABELS)
