"""What users hold: an ``Evaluation``, which has the rows and scores of a run, and a ``Comparison`` of two runs.

Both are façades: the rooms below take rows and numbers and do not know these classes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._calibrate._calibration import Calibration
from .._compare._blocks import MARKS, comparison_blocks
from .._compare._comparison import MARGIN, ComparedRuns
from .._compare._drops import drop_evidence
from .._compare._sentence import comparison_sentence
from .._gate._decision import decide
from .._gate._evidence import Evidence, mean_evidence
from .._gate._gates import Conditions, Gate, Of, check_mean, parsed_gates
from .._gate._results import Decision
from .._kernel._metric import Metric
from .._page._run_page import write_html
from .._run._scored_rows import ScoredRows, damage_first
from .._show._blocks import Block, Result, as_markdown, as_text
from .._show._tables import room
from .._store._records import record_dict
from .._summary._summary import Summary
from .._summary._tally import summary_of
from .._values._errors import InvalidInput, RagmetricsError, Setting
from ._notebook import evaluation_html


@dataclass(frozen=True, repr=False)
class Evaluation(ScoredRows):
    """Rows and their scores, in input order.

    Attributes:
        records: every row with its place and its scores. Records are made when they are read, so changing one changes nothing
            here.
        metrics: the metrics, in the given order.
        caveats: what users must know about the models that were asked.
        source: name of the file that was read, or "".
        seconds: wall time of the run; None if it is not known.
        models: what every model was asked.
        stopped: why the run ended before its last row, or that its scores are damaged; None if neither applies.
        earlier: what every model was asked in earlier parts of the run, before this part continued it.
        waited: for each metric the seconds that its rows waited for models, summed over rows.
        run_dir: the directory of the run; None without one.
        settings: the settings that decide about the scores, as in ``run.json``; None if unknown, as for a bare file of scores.
        fault: ``damaged`` or ``unverified``, as ``state`` says; None if neither applies.
        left: number of rows that were not scored because the gates were decided without them (``stop``).
        decision: the results of the gates of a run that may stop when they are decided; None for other runs, for a run that ended
            for another reason, and for a run that was loaded.
    """

    decision: Decision | None = field(default=None, compare=False)

    def _repr_html_(self) -> str:
        """Notebooks show the summary and the worst rows."""
        return evaluation_html(self)

    def summary(self, by: str | None = None, *, calibration: Calibration | None = None) -> Summary:
        """Summarize each metric: mean with its 95 % interval, scored, unscored, failed, calls, tokens; then why values are
        missing.

        Args:
            by: the path of a column, such as ``lang`` or ``metadata.document.id``: ``slices`` has a summary for each of its
                values too.
            calibration: the result of ``calibrate`` for this run: metrics with labels also show the mean that people would give.

        Raises:
            InvalidInput: no row has anything at that path, a row has a list or an object there, or there are too many values; or
                the calibration belongs to another run.
        """
        return summary_of(self, by, calibration)

    def gate(
        self,
        *gates: str | Gate,
        by: str | None = None,
        cluster: str | None = None,
        min_coverage: float = 0.9,
        max_failed: float = 0.05,
        baseline: Evaluation | str | os.PathLike[str] | None = None,
        allow_different_judges: bool = False,
    ) -> Decision:
        """Decide whether this run may pass: ``evaluation.gate("faithfulness >= 0.8", by="lang").verdict``.

        A gate passes if the 95 % interval of the mean lies on the good side of the limit. It fails if the interval lies on the
        bad side, and is undecided otherwise. Failing is adjusted for the number of gates in the call, slices included: if all
        true means are as good as their limits, a gate fails in at most 5 % of runs.

        Args:
            gates: texts such as ``faithfulness >= 0.8`` or ``hallucination <= 0.1``, with numbers on the scale of the metric; or
                ``faithfulness drop <= 0.03``: at most this much worse than ``baseline``, in the direction of the metric; or
                ``faithfulness change within 0.03``: neither this much higher nor lower than ``baseline``.
            by: the path of a column, such as ``metadata.lang``: each gate is decided for all rows and for each value in the
                column.
            cluster: the path of a column, such as ``metadata.document``: rows with the same value are alike, and intervals become
                wider.
            min_coverage: a gate fails if less than this share of its rows has a score.
            max_failed: a gate fails if more than this share of its rows failed.
            baseline: the earlier run from which drops are measured, or its path.
            allow_different_judges: measure drops even if the judges of the two runs differ, and say so; without it such gates
                fail.

        Raises:
            InvalidInput: a gate cannot be read, is off the scale of its metric or out of reach; or a path names no usable column;
                or the two runs cannot be compared.
        """
        parsed, conditions = parsed_gates(gates), Conditions(min_coverage, max_failed, self.stopped)
        earlier = Evaluation.load(baseline) if isinstance(baseline, str | os.PathLike) else baseline
        comparison = None
        if earlier is not None:
            comparison = earlier.compare(self, by, cluster, allow_different_judges=allow_different_judges)
        return gated(self, parsed, conditions, by=by, cluster=cluster, comparison=comparison)

    def compare(
        self,
        other: Evaluation | str | os.PathLike[str],
        by: str | None = None,
        cluster: str | None = None,
        margin: float = MARGIN,
        allow_different_judges: bool = False,
        *,
        calibration: tuple[Calibration, Calibration] | None = None,
    ) -> Comparison:
        """Compare another run with this one: ``before.compare(after)``. ``print`` shows the result as tables.

        Rows are paired by id if both runs have ids, else by question and reference; repeats of a row are one row. A metric whose
        judge, prompts, parameters or settings differ between the runs gets no verdict.

        Args:
            other: the later run, its directory, or a file of its scores.
            by: compare every slice too: a column (``"metadata.lang"``, ``"lang"``), or a metric whose labels in this run are the
                slices (``"answer_or_abstain"``). Where labels differ between the runs, slices show means without a verdict.
            cluster: a column such as ``"metadata.document"``: rows with the same value are not independent, so intervals become
                wider.
            margin: the largest difference that does not matter, as a share of the width of each metric's scale: 0.03 is 0.03 for
                a metric from 0 to 1, and 0.12 for one from 1 to 5. If the scale is not known, it is the difference itself.
            allow_different_judges: compare metrics even if their judges differ; the comparison says so everywhere.
            calibration: the results of ``calibrate`` for this run and for the other. If people labelled the same rows in both,
                the comparison also gives the difference that people would see over all rows (``corrected``).

        Raises:
            InvalidInput: the runs share no row or no metric, an id stands for several questions, a path names no column, the
                margin is not above 0 and at most 1, or a calibration belongs to another run.
        """
        from .._compare._compare import compared  # noqa: PLC0415  needed by few

        after = other if isinstance(other, Evaluation) else Evaluation.load(other)
        for run in (self, after):
            run.check_all_rows("a comparison")
        with damage_first(self, after):
            runs = compared(
                self,
                after,
                by=by,
                cluster=cluster,
                margin=margin,
                allow_different_judges=allow_different_judges,
                calibrations=calibration,
            )
        return Comparison(**vars(runs))

    def calibrate(
        self, labels: Any, metric: str | Metric | None = None, *, by: str | None = None, cluster: str | None = None
    ) -> Calibration:
        """Find out whether the judge can be trusted, from people's labels of some rows. ``print`` shows the result.

        For each metric: the mean that people would give over all rows, with a 95 % interval that counts the judge's errors; the
        agreement of judge and people, and of people with each other; the best threshold; and where the judge is worse than
        elsewhere.

        Args:
            labels: the path of a file of label lines (JSONL, CSV and others), or such lines: ``{"id": "q1", "metric":
                "faithfulness", "label": true, "annotator": "ada"}``. At least 8 rows, drawn at random or by ``rows_to_label``.
            metric: calibrate only this metric. It is also the metric of lines that name none.
            by: the path of a column, such as ``metadata.lang``, to find slices in which the judge is worse.
            cluster: the path of a column: rows with the same value are not independent, so intervals become wider.

        Raises:
            InvalidInput: a label cannot be read, is about a row or a metric that does not exist, or contradicts another label of
                the same annotator; there are too few; or a path names no column.
        """
        from .._calibrate._calibrate import calibrated  # noqa: PLC0415  needed by few

        with damage_first(self):
            return calibrated(self, labels, metric.name if isinstance(metric, Metric) else metric, by, cluster)

    def rows_to_label(
        self, n: int, metric: str | Metric | None = None, labels: Any = None, *, seed: int = 0
    ) -> list[dict[str, Any]]:
        """Lines for ``calibrate``, to be filled in. Half of the rows are drawn uniformly, half by how unsure the judge is, with
        weights.

        Args:
            n: how many rows.
            metric: the metric; None if the run has only one.
            labels: existing labels, as for ``calibrate``; their rows are not drawn.
            seed: the same seed draws the same rows.

        Raises:
            InvalidInput: the metric does not exist or must be named, labels cannot be read, or there are not enough rows.
        """
        from .._calibrate._calibrate import lines_to_label  # noqa: PLC0415  needed by few

        return lines_to_label(self, n, metric.name if isinstance(metric, Metric) else metric, labels, seed)

    def raise_for_errors(self) -> None:
        """Raise if any score failed.

        Raises:
            RagmetricsError: the message counts the failed scores and gives the most common errors.
        """
        if failed := [reason for reason in self.summary().reasons if reason.state == "failed"]:
            count = sum(reason.count for reason in failed)
            causes = "\n".join(f"  {reason}" for reason in failed)
            raise RagmetricsError(f"{count} of {len(self) * len(self.metrics)} scores failed:\n{causes}")

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics, the rows with their scores, and the summary, as plain JSON values."""
        return {
            "source": self.source,
            "metrics": {item.name: item.settings for item in self.metrics},
            "rows": [record_dict(record) for record in self.records],
            "summary": self.summary().to_dict(),
        }

    def to_parquet(self, path: str | os.PathLike[str], *, rows_per_file: int | None = None) -> None:
        """Write rows, scores and the settings of the run as Parquet; ``Evaluation.load`` reads them back when they are needed.

        The columns are the fields of the sample, ``metadata.<key>``, and for each metric its value (``<metric>``), and
        ``<metric>_label``, ``_error``, ``_calls``, ``_tokens``, ``_seconds`` and ``_evidence`` (JSON). Columns with other names
        are for ``Evaluation.load``. Rows are written in groups, so memory does not grow with their number.

        Args:
            path: a file that ends in ``.parquet``; or a directory, which is made, for files of ``rows_per_file`` rows.
            rows_per_file: the largest number of rows of a file in a directory, at least 1; None: one million.

        Raises:
            InvalidInput: the directory is not empty, the run has no row, a metric has the name of another column, or
                ``rows_per_file`` is not a whole number from 1.
            MissingExtra: pyarrow is not installed.
        """
        from .._run._parquet_rows import write_parquet  # noqa: PLC0415  needed by few

        self._spare_own_scores(path)
        write_parquet(self, Path(path), rows_per_file)

    def to_html(
        self, path: str | os.PathLike[str], *, max_megabytes: float = 12.0, calibration: Calibration | None = None
    ) -> None:
        """Write one HTML file that any browser shows without a network: summary, rows, and the evidence of every score.

        Args:
            path: the file.
            max_megabytes: the largest size. If not all evidence fits, contexts that no claim cites are left out first, then the
                evidence of the best rows, and the page says so.
            calibration: the result of ``calibrate`` for this run: metrics with labels also show the mean that people would give.

        Raises:
            InvalidInput: ``max_megabytes`` is not a positive number, the path is the file of scores in the directory of the run,
                or the calibration belongs to another run.
        """
        self._spare_own_scores(path)
        write_html(self, path, max_megabytes, calibration)


@dataclass(frozen=True)
class Comparison(ComparedRuns, Result):
    """Two runs, compared row by row. ``print`` shows tables as wide as the terminal, or 80 columns without one.

    ``comparison["faithfulness"]`` is one metric over all rows. ``comparison["faithfulness", "de"]`` is one slice of it (None: the
    rows without a value in the column).

    Attributes:
        before: name of the first run.
        after: name of the second run.
        metrics: every metric that both runs have.
        slices: every metric in every slice, if rows are sliced.
        by: the path of the column that slices rows; None without slices.
        cluster: the path of the column that groups rows into clusters; None if rows are taken to be independent.
        margin: the largest difference that does not matter, as a share of the width of a metric's scale.
        pairs: the number of rows that are in both runs.
        paired_by: how rows are paired, in words.
        rows_before: rows of the first run; repeats of a row count once.
        rows_after: rows of the second run.
        only_before: names of the rows that only the first run has.
        only_after: names of the rows that only the second run has.
        metrics_only_before: metrics that only the first run has.
        metrics_only_after: metrics that only the second run has.
        warnings: differences between the judges of the runs, which may cause a difference of scores instead of the system.
        unknown: what cannot be known about the judges.
        notes: what else users must know.
        incomplete: which of the runs did not finish, and why.
        allow_different_judges: whether metrics are compared although their judges differ.
        pairing: the two runs, row by row, for a page; None in a copy, and in a comparison that was made by hand.
        corrected: for metrics with labels in both runs, the difference that people would see.
        caveats: what users must know about the models that were asked.
        rows_worse: number of pairs that got worse in at least one metric, by more than rounding; metrics of which it is not known
            which end is better are left out.
        rows_lost: number of pairs that have lost their value in at least one metric.
    """

    def gate(self, *gates: str | Gate, min_coverage: float = 0.9, max_failed: float = 0.05) -> Decision:
        """Decide whether the second run is good enough: ``comparison.gate("faithfulness drop <= 0.03").verdict``.

        If rows are sliced, each gate is decided for all rows and for each slice. For the rest see ``Evaluation.gate``.

        Raises:
            InvalidInput: a gate cannot be read, is about the mean of one run or about a metric that not both runs have, or is out
                of reach.
        """
        wanted = parsed_gates(gates, "drop")
        evidence = drop_evidence(self, wanted, Conditions(min_coverage, max_failed))
        return decide([(gate, part) for gate in wanted for part in evidence[gate.of, gate.metric]])

    @property
    def sentence(self) -> str:
        """The result in a sentence or two, with which text, Markdown, page, notebook and pytest begin."""
        return comparison_sentence(self)

    def _blocks(self) -> list[Block]:
        return comparison_blocks(self)

    def to_markdown(self) -> str:
        """Return the comparison as Markdown, for a comment on a pull request. Texts from the data are escaped."""
        return as_markdown(comparison_blocks(self, MARKS))

    def to_html(self, path: str | os.PathLike[str], *, max_megabytes: float = 12.0) -> None:
        """Write one HTML file that any browser shows without a network: verdicts, slices, and changed rows side by side.

        Args:
            path: the file.
            max_megabytes: the largest size. If not all evidence fits, contexts that no claim cites are left out first, then the
                evidence of the least changed rows, and the page says so.

        Raises:
            InvalidInput: ``max_megabytes`` is not a positive number, the path is the file of scores in the directory of one of
                the runs, or the comparison was not made by ``Evaluation.compare`` and so has no rows.
        """
        from .._page._comparison_page import write_comparison  # noqa: PLC0415  needed by few

        write_comparison(self, path, max_megabytes)

    def text(self, width: int | None = None) -> str:
        """Return the comparison as tables that fit ``width`` columns; default: the width of the terminal."""
        return as_text(self._blocks(), room() if width is None else width)

    def _repr_markdown_(self) -> str:
        """Frontends that show no HTML show Markdown."""
        return self.to_markdown()


def gated(
    evaluation: Evaluation,
    gates: Sequence[Gate],
    conditions: Conditions,
    *,
    by: str | None,
    cluster: str | None,
    comparison: ComparedRuns | None,
    family: int = 0,
) -> Decision:
    """Decide all gates of one call together. Gates of means use the run, gates of drops its comparison with an earlier run.
    ``family`` is as for ``decide``.

    Raises:
        InvalidInput: a gate names a metric that the run does not have, or is out of reach; or a path names no usable column.
    """
    if evaluation.drawn is not None:
        drawn_by = evaluation.drawn["cluster"]
        if cluster not in {None, drawn_by}:
            why = f": the rows of this run were drawn by {drawn_by or 'row'}, as it could stop when its gates were decided"
            raise InvalidInput(Setting("cluster", cluster), why)
        cluster = drawn_by
    scales = {item.name: item.scale for item in evaluation.metrics}
    for gate in gates:
        if comparison is None or gate.of == "mean":
            check_mean(gate, scales)
    means = {gate.metric: scales[gate.metric] for gate in gates if gate.of == "mean"}
    evidence: dict[tuple[Of, str], list[Evidence]] = {}
    items = () if comparison is None else (*comparison.metrics, *comparison.slices)
    if means:
        absent = {(item.name, item.by, item.label): item.absent for item in items if item.absent}
        of_means = mean_evidence(evaluation, means, by, cluster, conditions=conditions, absent=absent)
        evidence |= {("mean", name): parts for name, parts in of_means.items()}
    if comparison is not None:
        evidence |= drop_evidence(comparison, [gate for gate in gates if gate.of != "mean"], conditions)
    cases = [(gate, part) for gate in gates for part in evidence[gate.of, gate.metric]]
    return decide(cases, family)
