"""Metrics, or metrics in slices, that are compared together: differences first, then adjusted p-values, then the verdicts.

From two runs to a comparison: read both, pair their rows, and go through metrics and slices.

`_compared_rows` reads a run, `_row_pairs` pairs the rows, `_credit` says whether a difference may be credited to the system,
``statistics`` how sure it is, `_verdicts` what follows from that, and `_row_changes` which rows it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .._kernel._counts import count_of
from .._kernel._errors import InvalidInput
from .._run._compared_rows import Run
from .._run._slices import RowGroups
from ..statistics import PairedDifference, holm
from ._comparison import Comparison, MetricComparison
from ._corrected_difference import CorrectedDifference, corrected_difference
from ._credit import Credit, credit
from ._pairs import MetricPairs, PairedValues, Pairing, Part, paired, parts_of
from ._row_changes import RowChange, claim_changes, most_changed
from ._verdicts import Case, verdict_of

if TYPE_CHECKING:
    from .._calibrate._calibration import Calibration
    from .._evaluate._evaluation import Evaluation


@dataclass(frozen=True)
class Draft:
    """One metric in one part of two runs, before its p-value is adjusted.

    Attributes:
        name: name of the metric.
        part: the rows.
        pairs: what the metric made of them.
        higher_is_better: None: neither end is better, or it is not known which one is.
        knows_better: whether that is known.
        margin: the largest difference that does not matter, on the scale of the metric.
        warnings: what differs in who scored it.
        refusal: why the two may not be compared; empty if they may.
        void: why it is not known that both runs measured the same thing; empty if it is.
        changes: the rows that changed most.
    """

    name: str
    part: Part
    pairs: MetricPairs
    higher_is_better: bool | None
    knows_better: bool
    margin: float
    warnings: tuple[str, ...]
    refusal: str
    void: str
    changes: tuple[RowChange, ...]

    @property
    def worst(self) -> float | None:
        """The worst value of the scale; None where none is known."""
        scale = self.pairs.values.scale
        if scale is None or self.higher_is_better is None:
            return None
        return scale[0] if self.higher_is_better else scale[1]

    def found(self) -> PairedDifference | None:
        """The difference of the pairs."""
        return None if self.refusal else self.pairs.values.difference()

    def with_lost(self, *, absent: bool = False) -> PairedValues | None:
        """The pairs and the lost rows, counted as the worst value; None where there are none, or no such value.

        With ``absent`` also the rows that the second run has not got.
        """
        if self.refusal or self.worst is None:
            return None
        return self.pairs.with_lost(self.worst, self.part.clusters, absent=absent)

    def case(self, found: PairedDifference | None, p_adjusted: float | None, tests: int) -> Case:
        """What the verdict hangs on, but for lost rows."""
        gone = {first for first, second in self.part.units if second is None}
        return Case(
            found=found,
            p_adjusted=p_adjusted,
            tests=tests,
            means=self.pairs.means or (0.0, 0.0),
            higher_is_better=self.higher_is_better,
            knows_better=self.knows_better,
            margin=self.margin,
            moved=self.pairs.values.moved(found) if found else 0,
            enough=max(self.pairs.values.enough(sign, self.margin) for sign in (1, -1)),
            in_slice=self.part.by is not None,
            refusal=self.refusal,
            absent=len(gone),
            unasked=sum(first not in gone for first, _ in self.pairs.absent),
            lost=len(self.pairs.lost),
            short=len(self.pairs.short),
            worst=self.worst,
        )

    def comparison(self, case: Case) -> MetricComparison:
        """The finished comparison."""
        found = case.found
        verdict, why = verdict_of(case)
        means = self.pairs.means
        return MetricComparison(
            name=self.name,
            by=self.part.by,
            label=self.part.label,
            higher_is_better=self.higher_is_better,
            scale=self.pairs.values.scale,
            before=means and means[0],
            after=means and means[1],
            difference=None if found is None else found.difference,
            interval=None if found is None else found.interval,
            p_value=None if found is None else found.p_value,
            p_adjusted=case.p_adjusted,
            method=found.method if found else "none",
            pairs=len(self.pairs.rows),
            changed=found.changed if found else 0,
            clusters=None if found is None else found.clusters,
            rows_before=self.pairs.counts[0],
            rows_after=self.pairs.counts[1],
            margin=self.margin,
            verdict=verdict,
            why=why,
            rows_needed=found.rows_needed(self.margin) if found and self.margin else None,
            absent=len(self.pairs.absent),
            short=len(self.pairs.short),
            warnings=self.warnings,
            credited=not self.refusal,
            void=self.void,
            changes=self.changes,
            values=PairedValues() if self.refusal else self.pairs.values,
            with_lost=self.with_lost(absent=True),
        )


def finished(families: Sequence[Sequence[Draft]]) -> list[list[MetricComparison]]:
    """The comparisons of all families, with p-values adjusted so that they hold together.

    Within a family they are Holm's. Where several families have tests, each may err in its share of 5 %, so the values are
    multiplied by the number of these families: a slice is a small part of the rows, and the errors of metrics and slices add up.
    """
    found = [[draft.found() for draft in drafts] for drafts in families]
    tests = [sum(_p_value(item) is not None for item in items) for items in found]
    family_of = [_Family(drafts, items, sum(map(bool, tests))) for drafts, items in zip(families, found, strict=True)]
    return [family.comparisons(sum(tests)) for family in family_of]


class _Family:
    """Drafts whose p-values are adjusted together, with their differences, and in how many families all of them are."""

    def __init__(self, drafts: Sequence[Draft], found: Sequence[PairedDifference | None], families: int) -> None:
        self._drafts, self._found, self._families = drafts, found, families
        self._p_values = list(map(_p_value, found))

    def comparisons(self, tests: int) -> list[MetricComparison]:
        """All of them, finished; ``tests`` are those of all families."""
        adjusted = self._adjusted(self._p_values)
        return [
            self._comparison(index, draft.case(self._found[index], adjusted[index], tests))
            for index, draft in enumerate(self._drafts)
        ]

    def _comparison(self, index: int, case: Case) -> MetricComparison:
        with_lost = self._drafts[index].with_lost()
        worst = None if with_lost is None else with_lost.difference()
        if worst is not None:
            values = [*self._p_values[:index], worst.p_value, *self._p_values[index + 1 :]]
            case = replace(case, with_lost=worst, p_with_lost=self._adjusted(values)[index])
        return self._drafts[index].comparison(case)

    def _adjusted(self, p_values: Sequence[float | None]) -> list[float | None]:
        return [None if value is None else min(1.0, self._families * value) for value in holm(p_values)]


def _p_value(found: PairedDifference | None) -> float | None:
    return None if found is None else found.p_value


def compared(
    before: Evaluation,
    after: Evaluation,
    *,
    by: str | None,
    cluster: str | None,
    margin: float,
    allow_different_judges: bool,
    calibrations: tuple[Calibration, Calibration] | None = None,
) -> Comparison:
    """Compare two runs; ``Evaluation.compare`` says what the arguments are.

    Raises:
        InvalidInput: the runs share no row or no metric, ids are not unique, a path names nothing, or the margin is impossible.
    """
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin <= 1:
        raise InvalidInput(f"margin is a share of a metric's scale, above 0 and at most 1, got {margin!r}")
    one, two, by_labels = _read(before, after, by, cluster)
    pairing = paired(one, two)
    names = _shared_metrics(pairing)
    found = credit(pairing.before, pairing.after, names)
    parts = parts_of(pairing, by, cluster, by_labels=by_labels)
    work = _Work(pairing, found, _void(names, pairing, found), float(margin), allow_different_judges)
    wholes = [work.draft(name, parts.whole) for name in names]
    metrics, slices = finished([wholes, [work.draft(name, part) for name in names for part in parts.slices]])
    one, two = pairing.before, pairing.after
    return Comparison(
        before=one.name,
        after=two.name,
        metrics=tuple(metrics),
        slices=tuple(slices),
        by=by,
        cluster=cluster,
        margin=float(margin),
        pairs=len(pairing.pairs),
        paired_by=pairing.words,
        rows_before=len(one.rows),
        rows_after=len(two.rows),
        only_before=tuple(one.rows[row].name for row in pairing.only_before),
        only_after=tuple(two.rows[row].name for row in pairing.only_after),
        metrics_only_before=tuple(name for name in one.columns if name not in two.columns),
        metrics_only_after=tuple(name for name in two.columns if name not in one.columns),
        warnings=_warnings(metrics),
        unknown=tuple(found.unknown),
        notes=(*_notes(pairing, parts.notes), *_of_labels((one, two), calibrations)),
        incomplete=tuple(_incomplete(pairing)),
        allow_different_judges=allow_different_judges,
        pairing=pairing,
        corrected=() if calibrations is None else tuple(_corrected(wholes, (one, two), calibrations)),
    )


def _corrected(
    drafts: Sequence[Draft], runs: tuple[Run, Run], calibrations: tuple[Calibration, Calibration]
) -> Iterator[CorrectedDifference]:
    """The differences that people would see, where both runs have labels."""
    for draft in drafts:
        found = corrected_difference(draft.name, draft.pairs, runs, calibrations)
        if found is not None:
            yield found


def _of_labels(runs: tuple[Run, Run], calibrations: tuple[Calibration, Calibration] | None) -> Iterator[str]:
    """What must be known of the labels of either run."""
    for run, calibration in zip(runs, calibrations or (), strict=False):
        yield from (f"labels of {run.name}: {note}" for note in calibration.notes)


def _read(before: Evaluation, after: Evaluation, by: str | None, cluster: str | None) -> tuple[Run, Run, bool]:
    """Both runs, with what their rows are sliced by and share; and whether they are sliced by the labels of a metric."""
    groups = RowGroups(by, cluster), RowGroups(by, cluster)
    runs = [Run.of(*given) for given in zip((before, after), _names(before, after), groups, strict=True)]
    if by is None or any(label for run in runs for label in run.slices or ()):
        return runs[0], runs[1], False
    for run in runs:
        if by in run.columns:
            run.slices = run.columns[by].labels
    if not any(runs[0].slices or ()):
        if by in runs[0].columns:
            raise InvalidInput(
                f"by={by!r}: this metric gives rows no labels, and no column of the metadata has its name"
            )
        for group in groups:
            group.check_slices()
    return runs[0], runs[1], True


def _names(before: Evaluation, after: Evaluation) -> tuple[str, str]:
    """What the runs are called: their directories or files, where these tell them apart."""
    one, two = (str(item.run_dir or item.source) for item in (before, after))
    if one == two:
        return (f"{one} (first)", f"{two} (second)") if one else ("the first run", "the second run")
    return one or "the first run", two or "the second run"


def _shared_metrics(pairing: Pairing) -> list[str]:
    one, two = pairing.before, pairing.after
    names = [name for name in one.columns if name in two.columns]
    if not names:
        there, here = (", ".join(run.columns) or "none" for run in (one, two))
        raise InvalidInput(
            f"{one.name} and {two.name} share no metric: {there} there, {here} here: score both by one metric at least"
        )
    return names


def _notes(pairing: Pairing, of_parts: Sequence[str]) -> Iterator[str]:
    """What else must be known to read the numbers."""
    runs = pairing.before, pairing.after
    yield from _incomplete(pairing)
    yield from (f"{run.name}: {run.evaluation.doubt}" for run in runs if run.evaluation.state == "unverified")
    for run in runs:
        if run.records > len(run.rows):
            yield (
                f"{run.name}: {run.records:,} records are {len(run.rows):,} rows, as repeats of a row count once, with their mean"
            )
    settings = [run.evaluation.settings for run in runs]
    if None not in settings:
        words = {"zero": "count as the worst value", "skip": "are left out"}
        empty = [str(item.run.get("empty", "skip")) for item in settings if item]
        if empty[0] != empty[1]:
            texts = (f"{words.get(word, word)} in {run.name}" for word, run in zip(empty, runs, strict=True))
            yield f"rows without retrieved contexts or with a blank answer {', and '.join(texts)}"
    rows = [(runs[0].rows[one], runs[1].rows[two]) for one, two in pairing.pairs]
    other = sum(one.question == two.question and one.texts != two.texts for one, two in rows)
    if other:
        yield f"{count_of(other, 'pair')} with another reference in each run: metrics that use it measure another thing there"
    unchecked = sum((one.question is None) is not (two.question is None) for one, two in rows)
    if unchecked:
        yield (
            f"{count_of(unchecked, 'pair')} by id alone, as one of the runs has no question there: whether it is the same one is "
            "not known"
        )
    yield from of_parts


def _incomplete(pairing: Pairing) -> Iterator[str]:
    """Runs that did not come to their end."""
    for run in (pairing.before, pairing.after):
        if run.evaluation.stopped is not None:
            yield f"{run.name} is not complete: {run.evaluation.stopped}"


def _void(metrics: Sequence[str], pairing: Pairing, found: Credit) -> dict[str, str]:
    """By metric, why it is not known that both runs measured the same thing; metrics of which it is known are left out."""
    reasons = {name: list(found.unsure.get(name, ())) for name in metrics}
    for name, texts in reasons.items():
        if other := pairing.other_references(name):
            texts.append(f"{count_of(other, 'pair')} with another reference in each run")
    return {name: "; ".join(texts) for name, texts in reasons.items() if texts}


@dataclass(frozen=True)
class _Work:
    """The metrics of two paired runs, compared one by one; ``void`` says by metric why no gate on a drop is decided."""

    pairing: Pairing
    credit: Credit
    void: Mapping[str, str]
    margin: float
    allowed: bool

    def draft(self, name: str, part: Part) -> Draft:
        """One metric in one part, before p-values are adjusted."""
        pairs = MetricPairs.of(self.pairing, name, part)
        reasons = list(self.credit.differences.get(name, ()))
        refusal = "" if self.allowed or not reasons else f"{'; '.join(reasons)}: a difference may come from that"
        if pairs.scale_problem:
            reasons.append(pairs.scale_problem)
            refusal = f"{pairs.scale_problem}: such values have no difference"
        refusal = refusal or part.chosen
        low, high = pairs.values.scale or (0.0, 1.0)
        columns = [run.columns[name].metric for run in (self.pairing.before, self.pairing.after)]
        column = next((item for item in columns if item.knows_better), columns[0])
        return Draft(
            name=name,
            part=part,
            pairs=pairs,
            higher_is_better=column.higher_is_better,
            knows_better=column.knows_better,
            margin=self.margin * (high - low),
            warnings=tuple(reasons),
            refusal=refusal,
            void="" if self.allowed else self.void.get(name, ""),
            changes=() if refusal or part.by is not None else tuple(self._changes(name, pairs)),
        )

    def _changes(self, name: str, pairs: MetricPairs) -> Iterator[RowChange]:
        """The rows that changed most, with what changed in their evidence."""
        before, after = self.pairing.before, self.pairing.after
        for place, share in most_changed(pairs.values.before, pairs.values.after):
            one, two = pairs.rows[place]
            old, new = before.scores(one, name), after.scores(two, name)
            yield RowChange(
                row=before.rows[one].name,
                places=(before.rows[one].place, after.rows[two].place),
                before=pairs.values.before[place],
                after=pairs.values.after[place],
                share=share,
                claims=claim_changes(old, new),
                labels=(before.columns[name].labels[one], after.columns[name].labels[two]),
                says=(old[0].explain(), new[0].explain()),
            )


def _warnings(metrics: Sequence[MetricComparison]) -> tuple[str, ...]:
    """Every difference in who scored, once, with the metrics that it concerns."""
    found: dict[str, list[str]] = {}
    for item in metrics:
        for text in item.warnings:
            found.setdefault(text, []).append(item.name)
    return tuple(f"{', '.join(names)}: {text}" for text, names in found.items())
