"""Compare two runs.

Read both runs, pair their rows (`_pairs`), check whether a difference may be credited to the system (`_credit`), and go through
metrics and slices in two steps: first compute every difference, then adjust the p-values for the number of tests and give the
verdicts (`_verdicts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from .._calibrate._calibration import Calibration
from .._run._columns import Run
from .._run._scored_rows import ScoredRows, name_of_run
from .._values._counts import count_of, grouped
from .._values._errors import InvalidInput, Setting
from ..statistics import PairedDifference, holm
from ._columns import paired_columns
from ._comparison import ComparedRuns, MetricComparison
from ._corrected_difference import CorrectedDifference, corrected_differences
from ._credit import Credit, credit
from ._outcomes import MetricPairs
from ._pairs import Paired, Reader, paired_rows, read_run
from ._row_changes import row_changes
from ._verdicts import MetricTest, verdict_of

EMPTY_WORDS = {"zero": "count as the worst value", "skip": "are left out"}


def finished(families: Sequence[Sequence[MetricPairs]]) -> list[list[MetricComparison]]:
    """Return the comparisons of all families, with p-values adjusted for the number of tests.

    Within a family the adjustment is Holm's. Then every p-value is multiplied by the number of families that have tests, so that
    the error rate of all families together stays within 5 %. This matters because a slice has few rows and the errors of metrics
    and slices add up.
    """
    unadjusted = [[p.usable.difference() if p.usable else None for p in family] for family in families]
    p_values = [list(map(_p_value, differences)) for differences in unadjusted]
    counts = [sum(value is not None for value in values) for values in p_values]
    tested = sum(map(bool, counts))
    done: list[list[MetricComparison]] = []
    for family, differences, values in zip(families, unadjusted, p_values, strict=True):
        done.append([])
        for place, (pairs, difference) in enumerate(zip(family, differences, strict=True)):
            lost = pairs.with_lost()
            with_lost = lost.difference() if lost else None
            # the p-values of the family if the lost values of this metric counted as the worst value
            others = [*values[:place], _p_value(with_lost), *values[place + 1 :]]
            p_adjusted, p_with_lost = (_adjusted(each, tested)[place] for each in (values, others))
            done[-1].append(_comparison(MetricTest(pairs, difference, with_lost, sum(counts), p_adjusted, p_with_lost)))
    return done


def _adjusted(p_values: Sequence[float | None], families: int) -> list[float | None]:
    return [None if value is None else min(1.0, families * value) for value in holm(p_values)]


def _p_value(found: PairedDifference | None) -> float | None:
    return None if found is None else found.p_value


def _comparison(test: MetricTest) -> MetricComparison:
    """Return the finished comparison of one metric."""
    pairs, difference = test.pairs, test.found
    values, counts = pairs.values, pairs.outcomes.counts
    verdict, why = verdict_of(test)
    return MetricComparison(
        name=pairs.name,
        by=pairs.part.by,
        label=pairs.part.label,
        higher_is_better=pairs.higher_is_better,
        scale=pairs.outcomes.scale,
        before=values.before.mean if values else None,
        after=values.after.mean if values else None,
        difference=None if difference is None else difference.difference,
        interval=None if difference is None else difference.interval,
        p_value=_p_value(difference),
        p_adjusted=test.p_adjusted,
        method=difference.method if difference else "none",
        pairs=pairs.outcomes.pairs,
        changed=difference.changed if difference else 0,
        clusters=None if difference is None else difference.clusters,
        rows_before=counts[0],
        rows_after=counts[1],
        margin=pairs.margin,
        verdict=verdict,
        why=why,
        rows_needed=difference.rows_needed(pairs.margin) if difference and pairs.margin else None,
        smallest_change=difference.smallest_change() if difference else None,
        absent=pairs.outcomes.absent,
        short=pairs.outcomes.short,
        warnings=pairs.warnings,
        credited=not pairs.refusal,
        void=pairs.void,
        values=pairs.usable,
        lost_at_ends=pairs.lost_at_ends(),
    )


def compared(
    before: ScoredRows,
    after: ScoredRows,
    *,
    by: str | None,
    cluster: str | None,
    margin: float,
    allow_different_judges: bool,
    calibrations: tuple[Calibration, Calibration] | None = None,
) -> ComparedRuns:
    """Compare two runs; ``Evaluation.compare`` documents the arguments.

    Raises:
        InvalidInput: the runs share no row or no metric, ids are not unique, a path names no column, or the margin is wrong.
    """
    pair = RunPair((before, after), _names(before, after), by)
    return compared_together([pair], Rules(cluster, margin, allow_different_judges, calibrations))[0]


@dataclass(frozen=True)
class RunPair:
    """Two runs to compare: the earlier and the later one, their names, and the column that slices their rows, if any."""

    runs: tuple[ScoredRows, ScoredRows]
    names: tuple[str, str]
    by: str | None

    def turned(self) -> RunPair:
        """Return the pair with the later run as the earlier one."""
        return RunPair((self.runs[1], self.runs[0]), (self.names[1], self.names[0]), self.by)


@dataclass(frozen=True)
class Rules:
    """How runs are compared; ``Evaluation.compare`` documents the attributes."""

    cluster: str | None
    margin: float
    allow_different_judges: bool
    calibrations: tuple[Calibration, Calibration] | None = None


def compared_together(pairs: Sequence[RunPair], rules: Rules, read: Reader = read_run) -> list[ComparedRuns]:
    """Compare pairs of runs, with p-values adjusted for the tests of all pairs together: all metrics of all pairs are one family,
    and all slices of all pairs are another.

    Raises:
        InvalidInput: as ``compared``.
    """
    _check_margin(rules.margin)
    prepared = [_prepared(pair, rules, read) for pair in pairs]
    parts = [of_metric for *_, of_metrics in prepared for of_metric in of_metrics]
    families = [[whole for whole, *_ in parts], [each for _, *slices in parts for each in slices]]
    metrics, slices = map(iter, finished(families))
    done = []
    for pair, (found, judges, of_metrics) in zip(pairs, prepared, strict=True):
        wholes = [whole for whole, *_ in of_metrics]
        pairwise = zip(islice(metrics, len(wholes)), wholes, strict=True)
        changed = tuple(replace(item, changes=row_changes(found, own)) for item, own in pairwise)
        own_slices = tuple(islice(slices, sum(map(len, of_metrics)) - len(wholes)))
        corrected: tuple[CorrectedDifference, ...] = ()
        if rules.calibrations is not None:
            corrected = corrected_differences(wholes, found.read(), rules.calibrations)
        done.append(replace(_compared(found, judges, changed, pair.by, rules), slices=own_slices, corrected=corrected))
    return done


Prepared = tuple[Paired, Credit, list[list[MetricPairs]]]
"""Two runs whose rows are paired, whether a difference may be credited to the system, and each metric in each part."""


def _prepared(pair: RunPair, rules: Rules, read: Reader) -> Prepared:
    given = pair.runs, pair.names, pair.by, rules.cluster
    found = (paired_columns(*given) if rules.calibrations is None else None) or paired_rows(*given, read)
    judges = credit(found.before, found.after, _shared_metrics(found.before, found.after))
    allowed = rules.allow_different_judges
    return found, judges, [_checked(found, judges, name, rules.margin, allowed=allowed) for name in judges.differences]


def _compared(
    found: Paired, judges: Credit, metrics: tuple[MetricComparison, ...], by: str | None, rules: Rules
) -> ComparedRuns:
    """Return the comparison of two runs, still without slices."""
    runs = one, two = found.before, found.after
    worse, lost = found.count_worse({item.name: _direction(item) for item in metrics})
    incomplete = [f"{run.name} is not complete: {run.evaluation.stopped}" for run in runs if run.evaluation.stopped]
    return ComparedRuns(
        before=one.name,
        after=two.name,
        metrics=metrics,
        slices=(),
        by=by,
        cluster=rules.cluster,
        margin=float(rules.margin),
        pairs=found.pairs,
        paired_by=found.words,
        rows_before=found.rows[0],
        rows_after=found.rows[1],
        only_before=found.only[0],
        only_after=found.only[1],
        metrics_only_before=tuple(name for name in one.columns if name not in two.columns),
        metrics_only_after=tuple(name for name in two.columns if name not in one.columns),
        warnings=_together(metrics),
        unknown=tuple(judges.unknown),
        notes=(*incomplete, *_notes(found, by, rules.calibrations or ())),
        incomplete=tuple(incomplete),
        allow_different_judges=rules.allow_different_judges,
        paired=found,
        caveats=tuple(_caveats(runs)),
        rows_worse=worse,
        rows_lost=lost,
    )


def _direction(item: MetricComparison) -> tuple[int, float]:
    """Return 1 if high values are good, -1 if low ones are, and 0 if it is not known or values may not be compared; and by how
    much values differ by rounding alone.
    """
    if item.values is None or item.higher_is_better is None:
        return 0, 0.0
    return (1 if item.higher_is_better else -1), item.values.near


def _check_margin(margin: object) -> None:
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin <= 1:
        raise InvalidInput(
            Setting("margin"), f" must be a share of a metric's scale, above 0 and at most 1, got {margin!r}"
        )


def _shared_metrics(one: Run, two: Run) -> list[str]:
    names = [name for name in one.columns if name in two.columns]
    if not names:
        first, second = (", ".join(run.columns) or "none" for run in (one, two))
        raise InvalidInput(
            f"{one.name} (with {first}) and {two.name} (with {second}) have no metric in common: score both with the same one"
        )
    return names


def _checked(paired: Paired, found: Credit, name: str, margin: float, *, allowed: bool) -> list[MetricPairs]:
    """Return one metric in each part of the rows, with its margin and any reason that forbids the comparison."""
    columns = [run.columns[name].metric for run in (paired.before, paired.after)]
    known = next((column for column in columns if column.knows_better), columns[0])
    other = paired.other_references(name)
    unsure = [f"{count_of(other, 'pair')} with different references in the two runs"] if other else []
    parts = []
    for part, outcomes in zip(paired.parts, paired.outcomes(name), strict=True):
        reasons, problem = found.differences[name], outcomes.scale_problem
        refusal = f"{'; '.join(reasons)}: a difference may come from that" if reasons and not allowed else ""
        if problem:
            reasons, refusal = [*reasons, problem], f"{problem}: such values have no difference"
        low, high = outcomes.scale or (0.0, 1.0)
        parts.append(
            MetricPairs(
                name,
                part,
                outcomes,
                higher_is_better=known.higher_is_better,
                knows_better=known.knows_better,
                margin=margin * (high - low),
                warnings=tuple(reasons),
                refusal=refusal or part.chosen,
                void="" if allowed else "; ".join([*found.unsure[name], *unsure]),
            )
        )
    return parts


def _names(before: ScoredRows, after: ScoredRows) -> tuple[str, str]:
    """Return the names of the runs: their directories or files, if these differ."""
    one, two = map(name_of_run, (before, after))
    if one == two and one:
        return f"{one} (first)", f"{two} (second)"
    return one or "the first run", two or "the second run"


def _notes(paired: Paired, by: str | None, calibrations: Sequence[Calibration]) -> Iterator[str]:
    """Return the notes that readers of the numbers need."""
    runs = paired.before, paired.after
    for run, count in zip(runs, paired.rows, strict=True):
        if len(run.evaluation) > count:
            rows = f"{len(run.evaluation):,} records are {count:,} rows"
            yield f"{run.name}: {rows}, as repeats of a row count once, with their mean"
    empty = [str(run.evaluation.settings.run.get("empty", "skip")) for run in runs if run.evaluation.settings]
    if len(set(empty)) == 2:
        texts = (f"{EMPTY_WORDS.get(word, word)} in {run.name}" for word, run in zip(empty, runs, strict=True))
        yield f"rows without retrieved contexts or with a blank answer {', and '.join(texts)}"
    if paired.other_texts:
        pairs = f"{count_of(paired.other_texts, 'pair')} with different references in the two runs"
        yield f"{pairs}: metrics that use the reference measure something different there"
    if paired.unchecked:
        pairs = f"{count_of(paired.unchecked, 'pair')} only by id, because one of the runs has no question there"
        yield f"{pairs}: it is not known whether the questions are the same"
    if paired.other_slices:
        pairs = f"{count_of(paired.other_slices, 'pair')} with another {by} in {runs[1].name}"
        yield f"{pairs}: the slice in {runs[0].name} counts"
    for run, calibration in zip(runs, calibrations, strict=False):
        yield from (f"labels of {run.name}: {text}" for text in calibration.notes)


def _caveats(runs: tuple[Run, Run]) -> Iterator[str]:
    """Return the caveats about the models that were asked; a caveat that applies to both runs appears once."""
    for text in dict.fromkeys(text for run in runs for text in run.evaluation.caveats):
        names = [run.name for run in runs if text in run.evaluation.caveats]
        yield f"{names[0] if len(names) == 1 else 'both runs'}: {text}"


def _together(metrics: Iterable[MetricComparison]) -> tuple[str, ...]:
    """Return every difference in judges once, with the names of all metrics that it concerns."""
    names = grouped((text, item.name) for item in metrics for text in item.warnings)
    return tuple(f"{', '.join(found)}: {text}" for text, found in names.items())
