"""Runs made by hand, for tests that compare them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import pytest

from ragmetrics_core import Evaluation, Sample, Score
from ragmetrics_core._compare._comparison import MetricComparison
from ragmetrics_core._gate._decision import decide
from ragmetrics_core._gate._evidence import Evidence
from ragmetrics_core._gate._evidence import of_mean as of_counts
from ragmetrics_core._gate._gates import Conditions
from ragmetrics_core._run._counted_columns import Counts, Outcome
from ragmetrics_core._show import _bars
from ragmetrics_core._show._bars import Bar
from ragmetrics_core._store._records import KeptRecords, Record
from ragmetrics_core._store._run_settings import MetricColumn, ModelIdentity, RunSettings, ScoredBy
from ragmetrics_core._summary import _summary
from ragmetrics_core._summary._summary import MetricSummary
from ragmetrics_core._summary._tally import count
from ragmetrics_core._summary._tally import summed_up as summed_up_counts
from ragmetrics_core._values._layout import cells
from ragmetrics_core._values._score import not_asked
from ragmetrics_core.statistics._pairs import rows_to_meet_losses

__all__ = [
    "DRAWN",
    "FAILED",
    "JUDGE",
    "PLAIN",
    "Bar",
    "Conditions",
    "Evidence",
    "LabelRate",
    "MetricComparison",
    "Reason",
    "Summary",
    "bar_lines",
    "by_id",
    "cells",
    "decide",
    "glyphs_for",
    "judged_by",
    "metric_column",
    "metric_column_of",
    "model_identity",
    "not_asked",
    "of_mean",
    "rows_to_meet_losses",
    "run_of",
    "scored",
    "summed_up",
    "symmetric",
    "text_at",
]

FAILED = "failed"
"""Stands for the value of a score that failed; None stands for one that is unscored."""

metric_column, metric_column_of, model_identity = MetricColumn, MetricColumn.of, ModelIdentity
"""How tests describe a metric of a run and a model: only this file knows the private classes."""

DRAWN, PLAIN = _bars.DRAWN, _bars.PLAIN
bar_lines, glyphs_for, symmetric = _bars.bar_lines, _bars.glyphs_for, _bars.symmetric
"""How intervals are drawn."""

LabelRate, Reason, Summary = _summary.LabelRate, _summary.Reason, _summary.Summary
"""What a summary is made of."""

JUDGE = ModelIdentity("gpt-4o", {"model": "1", "temperature": "0"})


def scored(value: float | str | Score | None, metric: str, scale: tuple[float, float] | None = (0.0, 1.0)) -> Score:
    if isinstance(value, Score):
        return value.made_by(metric, value.scale or scale)
    if value is None:
        return Score.unscored("nothing to score").made_by(metric, scale)
    if isinstance(value, str):
        return Score.failed("ModelError: gone").made_by(metric, scale)
    return Score(value, metric=metric, scale=scale)


def run_of(
    rows: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
    columns: Sequence[MetricColumn] = (),
    name: str = "",
    settings: RunSettings | None = None,
    **account: Any,
) -> Evaluation:
    """A run: of each row its fields, and its values (or scores) by metric."""
    given = list(rows)
    names = list(given[0][1]) if given else [item.name for item in columns]
    there = {item.name: item for item in columns}
    metrics = tuple(there.get(metric, MetricColumn(metric, (0.0, 1.0), f"{metric.title()}()")) for metric in names)
    records = KeptRecords()
    for index, (fields, values) in enumerate(given):
        scores = {item.name: scored(values[item.name], item.name, item.scale) for item in metrics}
        records.add(Record(index, f"{name or 'q'}.jsonl, line {index + 1}", Sample.from_mapping(fields), scores))
    return Evaluation(records, metrics, source=name, settings=settings, **account)


def by_id(values: Iterable[Any], metric: str = "m", **more: Any) -> Evaluation:
    """A run of one metric: rows q0, q1, ..., each with a different question."""
    rows = (({"id": f"q{n}", "question": f"question {n}"}, {metric: value}) for n, value in enumerate(values))
    return run_of(rows, **more)


def judged_by(
    *metrics: str,
    llm: ModelIdentity | None = JUDGE,
    embeddings: ModelIdentity | None = None,
    settings: Mapping[str, str] | None = None,
    empty: str = "skip",
) -> RunSettings:
    """The settings of a run."""
    by = ScoredBy(settings or {"k": "3"}, llm, embeddings)
    columns = tuple(MetricColumn(metric, (0.0, 1.0), f"{metric.title()}()") for metric in metrics)
    return RunSettings(columns, None, {"repeats": 1, "empty": empty}, dict.fromkeys(metrics, by))


def summed_up(
    name: str, scale: tuple[float, float] | None, scores: Iterable[Score], labels: Sequence[str] = ()
) -> MetricSummary:
    """The summary of one metric's scores; ``labels`` name the rows."""
    item, counts = MetricColumn(name, scale, name), Counts(values=[])
    for score, label in zip_longest(scores, labels, fillvalue=""):
        count(counts, item, score, label)  # type: ignore[arg-type]  # there is a score for every label
    return summed_up_counts(counts, item)


def of_mean(
    values: Sequence[float],
    scale: tuple[float, float] | None,
    clusters: Sequence[Any] | None,
    conditions: Conditions,
    *,
    rows: int,
    failed: int,
) -> Evidence:
    """The evidence that these values are of their mean, among so many rows."""
    lacking = rows - len(values) - failed
    kinds = {(False, True): len(values), (True, False): failed, (False, False): lacking}
    outcomes: Counter[Outcome] = Counter({(None, None, *kind): count for kind, count in kinds.items()})
    return of_counts(run_of([]), Counts(outcomes, values=values, clusters=clusters), scale, conditions)


def text_at(width: int, result: object) -> str:
    """What is printed in a terminal of so many columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        return str(result)
