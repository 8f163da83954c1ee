"""What the judge says of every row of a run, by metric: read in one pass, numbers only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .._kernel._evidence import findings_of
from .._kernel._score import Score, is_asked
from .._store._run_settings import MetricColumn, row_digest
from ._metric_summary import common_scale
from ._row_names import name_of
from ._slices import RowGroups

if TYPE_CHECKING:
    from ._scored_rows import ScoredRows

Claim = tuple[str, bool]
"""The text of a claim, its spaces made single ones, and whether the judge says that it holds."""


@dataclass
class JudgedMetric:
    """One metric over the rows that it was asked about.

    Attributes:
        column: the metric.
        rows: those with a value, as indices of ``JudgedRows.names``.
        values: of those rows.
        passing: of those rows, whether the metric passes them; None where it does not say.
        unscored: rows without a value.
        scales: of those that have a value.
        claims: by row, the claims that were looked for.
        digests: by the name of the row, those of what the metric reads that were looked for.
    """

    column: MetricColumn
    rows: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    passing: list[bool | None] = field(default_factory=list)
    unscored: list[int] = field(default_factory=list)
    scales: set[tuple[float, float] | None] = field(default_factory=set)
    claims: dict[int, list[Claim]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    @property
    def scale(self) -> tuple[float, float] | None:
        """Lowest and highest possible value; None where it is not known, or differs."""
        return common_scale(self.column.scale, self.scales)

    @property
    def lower_is_better(self) -> bool:
        """Whether a pass is a low value."""
        return self.column.higher_is_better is False

    def good(self, value: float) -> float:
        """The value turned so that high is good; turning it once more gives it back."""
        if not self.lower_is_better:
            return value
        return self.scale[0] + self.scale[1] - value if self.scale else -value

    @property
    def verdicts(self) -> list[float] | None:
        """1 for each row that the metric passes, 0 for others; None where it does not say so of every row."""
        return None if None in self.passing else [float(bool(passed)) for passed in self.passing]

    def add(self, row: int, score: Score, *, with_claims: bool) -> None:
        """Note the score of a row."""
        if not is_asked(score):
            return
        if with_claims:
            self.claims[row] = claims_of(score)
        if score.value is None:
            self.unscored.append(row)
            return
        self.rows.append(row)
        self.values.append(score.value)
        self.passing.append(score.passing)
        self.scales.add(score.scale)


@dataclass(frozen=True)
class JudgedRows:
    """The rows of a run.

    Attributes:
        names: by which labels call them: their ids, or where they stand.
        metrics: by name.
        slices: what they are sliced by; None where they are not.
        clusters: what they share with others; None where they are independent.
    """

    names: Sequence[str]
    metrics: Mapping[str, JudgedMetric]
    slices: Sequence[str | None] | None
    clusters: Sequence[str | None] | None


def judged_rows(
    run: ScoredRows,
    metrics: Collection[str],
    by: str | None = None,
    cluster: str | None = None,
    *,
    claims: Mapping[str, Collection[str]] | None = None,
    digests: Mapping[str, Collection[str]] | None = None,
) -> JudgedRows:
    """Read a run.

    Args:
        run: its rows.
        metrics: names of those that are looked at.
        by: the path of a column that rows are sliced by.
        cluster: the path of a column with what rows share.
        claims: by metric, the names of the rows whose claims are kept.
        digests: by metric, the names of the rows of which a digest is kept.

    Raises:
        InvalidInput: a path names nothing that rows have in common, or a row has nothing at that of ``cluster``.
    """
    groups = RowGroups(by, cluster)
    found = {item.name: JudgedMetric(_known(item)) for item in run.metrics if item.name in metrics}
    names = []
    for row, record in enumerate(run.records):
        names.append(name_of(record))
        groups.add(record.sample, record.place)
        for name, metric in found.items():
            metric.add(row, record.scores[name], with_claims=names[-1] in (claims or {}).get(name, ()))
            if metric.column.inputs is not None and names[-1] in (digests or {}).get(name, ()):
                metric.digests[names[-1]] = row_digest(record.sample, metric.column.inputs)
    groups.check()
    return JudgedRows(names, found, groups.slices, groups.clusters)


def _known(column: MetricColumn) -> MetricColumn:
    """A metric of which nothing is known is taken to have good values at its high end; `_label_doubts` says so."""
    return column if column.higher_is_better is not None else replace(column, higher_is_better=True)


def claims_of(score: Score) -> list[Claim]:
    """The claims in the evidence, in their order; of several judgements most decide, and a draw does not hold."""
    votes: dict[str, list[bool]] = {}
    for item in findings_of(score.details).items:
        if item.text is not None and item.verdict:
            votes.setdefault(" ".join(item.text.split()), []).append(item.holds is True)
    return [(text, 2 * sum(said) > len(said)) for text, said in votes.items()]
