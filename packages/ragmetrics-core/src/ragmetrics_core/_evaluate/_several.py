"""``compare_runs``: three or more runs, compared on the rows that all of them have."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from .._compare._blocks import MARKS
from .._compare._compare import Rules
from .._compare._comparison import MARGIN
from .._compare._drops import drop_evidence
from .._compare._several import (
    ComparedSeveral,
    all_compared,
    best_runs,
    common_rows,
    names_of,
    several_blocks,
    several_sentence,
)
from .._gate._decision import decide
from .._gate._gates import Conditions, Gate, parsed_gates
from .._gate._results import Decision
from .._run._scored_rows import damage_first
from .._show._blocks import Block, Result, as_markdown
from .._show._tables import first_of
from .._values._counts import grouped
from .._values._errors import InvalidInput, Setting
from ._evaluation import Evaluation


@dataclass(frozen=True)
class Comparisons(ComparedSeveral, Result):
    """Several runs, compared on the rows that all of them have. ``print`` shows tables.

    Attributes:
        names: the names of the runs; the baseline is the first.
        rows: number of rows that all runs have; repeats of a row count once.
        left_out: number of rows of each run that not all runs have.
        best: for each metric of all runs, its means, and the runs that no other run is better than.
        pairs: the comparisons of the baseline with each other run, or of all pairs. Their p-values are adjusted for all pairs.
        tests: number of differences of metrics that p-values are adjusted for, without slices.
        caveats: what users must know about the models that were asked.
        evaluations: all rows of the runs.
    """

    evaluations: tuple[Evaluation, ...] = field(default=(), repr=False, compare=False)

    def gate(self, *gates: str | Gate, min_coverage: float = 0.9, max_failed: float = 0.05) -> Decision:
        """Decide whether every run is good enough: ``comparisons.gate("faithfulness drop <= 0.03").verdict``.

        Each gate is decided for each run except the baseline, on all rows that it shares with the baseline, as
        ``Comparison.gate`` does; and if rows are sliced, for each slice. All of them are adjusted together.

        Raises:
            InvalidInput: a gate cannot be read, is not about a drop, is about a metric that not all runs have, or is out of reach.
        """
        return self.decided(parsed_gates(gates, "drop"), Conditions(min_coverage, max_failed))

    def decided(self, gates: Sequence[Gate], conditions: Conditions) -> Decision:
        """Decide gates that are parsed; ``gate`` explains how."""
        first, *others = self.evaluations
        how, cases = self.pairs[0], []
        for name, run in zip(self.names[1:], others, strict=True):
            comparison = first.compare(run, how.by, how.cluster, how.margin, how.allow_different_judges)
            evidence = drop_evidence(comparison, gates, conditions)
            cases += [(gate, replace(part, run=name)) for gate in gates for part in evidence[gate.of, gate.metric]]
        return decide(cases)

    @property
    def sentence(self) -> str:
        """The result in a sentence or two, with which text, Markdown, page and notebook begin."""
        return several_sentence(self)

    def _blocks(self) -> list[Block]:
        return several_blocks(self)

    def to_markdown(self) -> str:
        """Return the comparisons as Markdown, for a comment on a pull request. Texts from the data are escaped."""
        return as_markdown(several_blocks(self, MARKS))

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML file that any browser shows without a network: the best runs, then the metrics and slices of each pair.

        Raises:
            InvalidInput: the path is the file of scores in the directory of one of the runs.
        """
        from .._page._several_page import write_several  # noqa: PLC0415  needed by few

        for run in self.evaluations:
            run._spare_own_scores(path)
        write_several(self, path)


def compare_runs(
    runs: Iterable[Evaluation | str | os.PathLike[str]],
    *,
    baseline: int = 0,
    by: str | None = None,
    cluster: str | None = None,
    margin: float = MARGIN,
    allow_different_judges: bool = False,
    all_pairs: bool = False,
) -> Comparisons:
    """Compare several runs with a baseline, on the rows that all of them have, and say for each metric which runs are best.

    Args:
        runs: the runs, their directories, or files of their scores; at least two.
        baseline: the position of the baseline in ``runs``, from 0.
        by: compare every slice too, as ``Evaluation.compare`` does.
        cluster: a column such as ``"metadata.document"``: rows with the same value are not independent.
        margin: the largest difference that does not matter, as a share of the width of each metric's scale.
        allow_different_judges: compare metrics even if their judges differ; the result says so everywhere.
        all_pairs: show the differences between any two runs, not only the differences from the baseline. P-values are the same.

    Raises:
        InvalidInput: there are fewer than two runs, there is no such baseline, the runs share no row, two of them share no metric,
            or as ``Evaluation.compare``.
    """
    given, names = _baseline_first(runs, baseline)
    with damage_first(*given):
        parts, left_out = common_rows(given, names)
        rules = Rules(cluster, margin, allow_different_judges)
        pairs, beaten = all_compared(parts, names, by, rules, all_pairs=all_pairs)
    summaries = {name: part.summary() for name, part in zip(names, parts, strict=True)}
    caveats = grouped((text, name) for name, run in zip(names, given, strict=True) for text in run.caveats)
    means = {metric: {name: summary[metric].mean for name, summary in summaries.items()} for metric in beaten}
    return Comparisons(
        names=tuple(names),
        rows=pairs[0].rows_before,
        left_out=tuple(left_out),
        best=tuple(best_runs(metric, means[metric], losers, pairs) for metric, losers in beaten.items()),
        pairs=tuple(pair for pair in pairs if all_pairs or pair.before == names[0]),
        tests=sum(item.p_value is not None for pair in pairs for item in pair.metrics),
        caveats=tuple(f"{first_of(of)}: {text}" for text, of in caveats.items()),
        evaluations=tuple(given),
    )


def _baseline_first(
    runs: Iterable[Evaluation | str | os.PathLike[str]], baseline: int
) -> tuple[list[Evaluation], list[str]]:
    """Return the runs with their names, the baseline first."""
    given = [run if isinstance(run, Evaluation) else Evaluation.load(run) for run in runs]
    if len(given) < 2:
        raise InvalidInput(f"runs must be at least two, got {len(given)}")
    if isinstance(baseline, bool) or not isinstance(baseline, int) or not 0 <= baseline < len(given):
        raise InvalidInput(Setting("baseline"), f" must be a number from 0 to {len(given) - 1}, got {baseline!r}")
    names = names_of(given)
    given.insert(0, given.pop(baseline))
    names.insert(0, names.pop(baseline))
    for run in given:
        run.check_all_rows("a comparison")
    return given, names
