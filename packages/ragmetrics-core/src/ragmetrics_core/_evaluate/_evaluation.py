"""What a run leaves behind: rows, scores, and the ways to look at them or take them elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._gate._gates import Conditions, Gate, parsed_gates
from .._gate._results import Decision
from .._kernel._errors import RagmetricsError
from .._kernel._metric import Metric
from .._page._run_page import write_html
from .._run._scored_rows import damage_first
from .._run._summary import Summary, size_in_words, sum_up, with_calibration
from .._run._worst_rows import RankedRows
from .._store._records import record_dict
from ._gate_cases import gated
from ._notebook import evaluation_html

if TYPE_CHECKING:
    from .._calibrate._calibration import Calibration
    from .._compare._comparison import Comparison


@dataclass(frozen=True, repr=False)
class Evaluation(RankedRows):
    """Rows and their scores, in input order.

    Attributes:
        records: every row with its place and its scores; made when it is looked at, so changing one changes nothing.
        metrics: the metrics, in the order given.
        caveats: what must be known about the models that were asked.
        source: name of the file that was read, or "".
        seconds: wall time of the run; None if it is not known.
        models: what every model was asked.
        stopped: why the run ended before its last row, or that its scores are damaged; None where neither is so.
        earlier: what every model was asked in earlier parts of the run, before this one went on with it.
        waited: seconds that the rows of each metric have waited for models, all rows together.
        run_dir: where it is kept; None if it is not.
        settings: what decides about the scores, as ``run.json`` holds it; None where nobody knows, as in a file of scores.
        fault: ``damaged`` or ``unverified``, as ``state`` says; None where neither is so.
    """

    def _repr_html_(self) -> str:
        """Notebooks show the summary and the worst rows."""
        return evaluation_html(self)

    def summary(self, by: str | None = None, *, calibration: Calibration | None = None) -> Summary:
        """Per metric: mean with its 95 % interval, scored, unscored, failed, calls, tokens; then why values are missing.

        Args:
            by: the path of a column, such as ``lang`` or ``metadata.document.id``: the metrics are summed up for each value there
                too, in ``slices``.
            calibration: what ``calibrate`` found for this run: metrics with labels show the mean that people would give too.

        Raises:
            InvalidInput: no row has anything at that path, a row has a list or an object there, or there are too many values; or
                the calibration is that of another run.
        """
        summed, size = sum_up(self.records, self.metrics, by), size_in_words(len(self), len(self.metrics))
        return Summary(
            title=f"{self.source}: {size}" if self.source else size,
            metrics=summed.metrics if calibration is None else with_calibration(summed.metrics, calibration),
            reasons=summed.reasons,
            caveats=(*self.caveats, *summed.caveats, *(() if calibration is None else calibration.notes)),
            seconds=self.seconds,
            models=self.models,
            earlier=self.earlier,
            waited={name: total / len(self) for name, total in self.waited.items() if total and len(self)},
            stopped=self.stopped,
            by=by,
            slices=summed.slices,
        )

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

        A gate passes if the 95 % interval of the mean lies on its good side, fails if it lies on the bad one, and is undecided
        else. Failing is adjusted for the number of gates in the call, slices included, so that in at most 5 % of runs one fails
        whose mean is as good as its limit.

        Args:
            gates: texts such as ``faithfulness >= 0.8`` or ``hallucination <= 0.1``, with numbers on the scale of the metric;
                ``faithfulness drop <= 0.03``: at most so much worse than ``baseline``, in the direction of the metric.
            by: the path of a column, such as ``metadata.lang``: each gate is decided for all rows, and for each value there.
            cluster: the path of a column, such as ``metadata.document``: rows that share it are alike, and intervals wider for it.
            min_coverage: a gate fails if less than this share of its rows has a score.
            max_failed: a gate fails if more than this share of its rows failed.
            baseline: the earlier run that drops are measured from, or where it is.
            allow_different_judges: measure drops also where who scored differs, and say so; else such gates fail.

        Raises:
            InvalidInput: a gate cannot be read, is off the scale of its metric or out of reach; or a path names no column to go
                by; or the two runs cannot be compared.
        """
        wanted, conditions = parsed_gates(gates), Conditions(min_coverage, max_failed, self.stopped)
        earlier = Evaluation.load(baseline) if isinstance(baseline, str | os.PathLike) else baseline
        comparison = None
        if earlier is not None:
            comparison = earlier.compare(self, by, cluster, allow_different_judges=allow_different_judges)
        return gated(self, wanted, conditions, by=by, cluster=cluster, comparison=comparison)

    def compare(
        self,
        other: Evaluation | str | os.PathLike[str],
        by: str | None = None,
        cluster: str | None = None,
        margin: float = 0.03,
        allow_different_judges: bool = False,
        *,
        calibration: tuple[Calibration, Calibration] | None = None,
    ) -> Comparison:
        """Whether another run is better or worse than this one: ``before.compare(after)``; ``print`` shows it as tables.

        Rows are paired by their id where both runs have ids, else by question and reference; repeats of a row are one row. Of a
        metric whose judge, prompts, parameters or settings differ between the runs nothing is said.

        Args:
            other: the run that came later, or its directory, or a file of its scores.
            by: compare every slice too: a column (``"metadata.lang"``, ``"lang"``), or a metric whose labels in this run are the
                slices (``"answer_or_abstain"``); where labels differ between the runs, slices show means and conclude nothing.
            cluster: a column with what rows share (``"metadata.document"``): such rows are not independent, so intervals are wider.
            margin: the largest difference that does not matter, as a share of the width of each metric's scale: 0.03 is 0.03 for
                a metric from 0 to 1, and 0.12 for one from 1 to 5. Where the scale is not known it is taken as it stands.
            allow_different_judges: compare also metrics whose judge differs; the comparison says so everywhere.
            calibration: what ``calibrate`` found for this run, and what it found for the other: where people labelled the same rows
                in both, the comparison tells the difference that they would see over all rows (``corrected``).

        Raises:
            InvalidInput: the runs share no row or no metric, an id stands for several questions, a path names no column, the
                margin is not above 0 and at most 1, or a calibration is that of another run.
        """
        from .._compare._compare import compared  # noqa: PLC0415  needed by few

        after = other if isinstance(other, Evaluation) else Evaluation.load(other)
        with damage_first(self, after):
            return compared(
                self,
                after,
                by=by,
                cluster=cluster,
                margin=margin,
                allow_different_judges=allow_different_judges,
                calibrations=calibration,
            )

    def calibrate(
        self, labels: Any, metric: str | Metric | None = None, *, by: str | None = None, cluster: str | None = None
    ) -> Calibration:
        """Whether the judge can be trusted, by people's labels of some rows: ``print`` shows it.

        For each metric: the mean that people would give over all rows, with a 95 % interval that counts the judge's errors; how far
        judge and people agree, and people among themselves; the best threshold; where the judge is worse than elsewhere.

        Args:
            labels: the path of a file of label lines (JSONL, CSV and others), or such lines: ``{"id": "q1", "metric":
                "faithfulness", "label": true, "annotator": "ada"}``. At least 8 rows, drawn at random or by ``rows_to_label``.
            metric: only this metric, and that of lines that name none.
            by: the path of a column, such as ``metadata.lang``: is the judge worse in some slice?
            cluster: the path of a column with what rows share: they are not independent, so intervals are wider.

        Raises:
            InvalidInput: a label cannot be read, is of a row or a metric that is not there, or contradicts another of the same
                annotator; there are too few; a path names no column.
        """
        from .._calibrate._calibrate import calibrated  # noqa: PLC0415  needed by few

        with damage_first(self):
            return calibrated(self, labels, metric.name if isinstance(metric, Metric) else metric, by, cluster)

    def rows_to_label(
        self, n: int, metric: str | Metric | None = None, labels: Any = None, *, seed: int = 0
    ) -> list[dict[str, Any]]:
        """Lines for ``calibrate`` to be filled in: rows drawn half uniformly and half by how unsure the judge is, with weights.

        Args:
            n: how many.
            metric: the metric; None where the run has one only.
            labels: what has a label already, as for ``calibrate``; such rows are not drawn.
            seed: the same seed draws the same rows.

        Raises:
            InvalidInput: the metric is not there or must be named, labels cannot be read, or there are not as many rows.
        """
        from .._calibrate._calibrate import lines_to_label  # noqa: PLC0415  needed by few

        return lines_to_label(self, n, metric.name if isinstance(metric, Metric) else metric, labels, seed)

    def raise_for_errors(self) -> None:
        """Raise if any score failed.

        Raises:
            RagmetricsError: the message counts the failed scores and gives the most common errors.
        """
        failed = [reason for reason in self.summary().reasons if reason.state == "failed"]
        if failed:
            count = sum(reason.count for reason in failed)
            causes = "\n".join(f"  {reason}" for reason in failed)
            raise RagmetricsError(f"{count} of {len(self) * len(self.metrics)} scores failed:\n{causes}")

    def to_dict(self) -> dict[str, Any]:
        """The metrics, the rows with their scores, and the summary, as plain JSON values."""
        return {
            "source": self.source,
            "metrics": {item.name: item.settings for item in self.metrics},
            "rows": [record_dict(record) for record in self.records],
            "summary": self.summary().to_dict(),
        }

    def to_html(
        self, path: str | os.PathLike[str], *, max_megabytes: float = 12.0, calibration: Calibration | None = None
    ) -> None:
        """Write one HTML file to look at in any browser, without a network: summary, rows, and the evidence of every score.

        Args:
            path: the file.
            max_megabytes: how large it may become; evidence that does not fit is left out, that of the best rows first, and the
                page says so.
            calibration: what ``calibrate`` found for this run: metrics with labels show the mean that people would give too.

        Raises:
            InvalidInput: ``max_megabytes`` is no positive number, or the path is that of the scores in the directory of the run; or
                the calibration is that of another run.
        """
        self._spare_own_scores(path)
        write_html(self, path, max_megabytes, calibration)
