"""Metrics, or metrics in slices, that are compared together: differences first, then adjusted p-values, then the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..statistics import PairedDifference, holm
from ._comparison import MetricComparison
from ._comparison_parts import Part
from ._metric_pairs import MetricPairs
from ._paired_values import PairedValues
from ._row_changes import RowChange
from ._verdicts import Case, verdict_of


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
