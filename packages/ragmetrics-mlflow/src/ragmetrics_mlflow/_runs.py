"""Whole evaluations as runs of MLflow: written with ``log_evaluation``, read with ``from_mlflow``."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mlflow
from mlflow.artifacts import download_artifacts, list_artifacts

from ragmetrics_core import Comparison, Evaluation, InvalidInput

FOLDER = "ragmetrics"
"""The folder of all artifacts."""

STORED = "run.parquet"
"""The artifact that ``from_mlflow`` reads: rows, scores, and the settings of the run, which scores.jsonl lacks."""

TABLE = f"{FOLDER}/rows.json"

LONGEST_PARAM = 500
"""MLflow's oldest servers accept so many characters."""


def log_evaluation(result: Evaluation, *, baseline: Evaluation | None = None, run_name: str | None = None) -> str:
    """Log an evaluation as a run of MLflow, in the current experiment, and return the id of the run. ::

        result = evaluate("answers.jsonl", [Faithfulness()], llm=judge)
        run_id = log_evaluation(result)

    The run has for each metric ``NAME/mean``, ``NAME/low`` and ``NAME/high`` (the 95 % interval), ``NAME/pass_rate``, and the
    numbers of rows ``NAME/scored``, ``NAME/unscored`` and ``NAME/failed``; as parameters the judges, the versions of the prompts
    and the settings; as artifacts the page (``report.html``), ``scores.jsonl`` and the table of the rows. If a run is active, the
    new one is nested in it.

    Args:
        result: what ``evaluate`` returned.
        baseline: an earlier evaluation. Both are then logged as nested runs of one that has their comparison: the differences
            with their intervals, and its page.
        run_name: the name of the run, or of the outer one; None: MLflow invents one.

    Raises:
        InvalidInput: the evaluation has no rows, or it cannot be compared with the baseline. Nothing is logged then.
    """
    with tempfile.TemporaryDirectory() as folder:
        write = _written(result, Path(folder, "result"))
        if baseline is None:
            return _logged(write, run_name)
        write_baseline = _written(baseline, Path(folder, "baseline"))
        comparison = baseline.compare(result)
        pages = Path(folder, "comparison")
        pages.mkdir()
        comparison.to_html(pages / "comparison.html")
        (pages / "comparison.md").write_text(comparison.to_markdown(), encoding="utf-8")
        with _run(run_name):
            mlflow.log_metrics(dict(_differences(comparison)))
            mlflow.set_tags({f"ragmetrics.{item.name}.verdict": item.verdict for item in comparison.metrics})
            mlflow.log_artifacts(str(pages), FOLDER)
            _logged(write_baseline, "baseline")
            return _logged(write, "result")


def from_mlflow(run_id: str) -> Evaluation:
    """Return the evaluation that ``log_evaluation`` logged, with rows, scores, evidence and settings.

    From a server, its file is loaded into a temporary folder, where it remains, because rows are read when they are used.

    Raises:
        InvalidInput: the run has no evaluation.
        MlflowException: there is no such run.
    """
    path = f"{FOLDER}/{STORED}"
    if path not in {item.path for item in list_artifacts(run_id=run_id, artifact_path=FOLDER)}:
        raise InvalidInput(f"the run {run_id} has no evaluation: it was not logged with log_evaluation")
    return Evaluation.load(download_artifacts(run_id=run_id, artifact_path=path))


@contextmanager
def _run(name: str | None) -> Iterator[Any]:
    with mlflow.start_run(run_name=name, nested=mlflow.active_run() is not None) as run:
        yield run


def _written(result: Evaluation, folder: Path) -> Callable[[], None]:
    """Write the artifacts of an evaluation, and return a function that logs all of it to the active run."""
    folder.mkdir()
    result.to_parquet(folder / STORED)
    result.to_jsonl(folder / "scores.jsonl")
    result.to_html(folder / "report.html")
    numbers, parameters, table = dict(_numbers(result)), dict(_parameters(result)), result.to_pandas()

    def write() -> None:
        mlflow.log_params(parameters)
        mlflow.log_metrics(numbers)
        mlflow.log_artifacts(str(folder), FOLDER)
        mlflow.log_table(table, TABLE)
        if result.stopped:
            mlflow.set_tag("ragmetrics.stopped", result.stopped)

    return write


def _logged(write: Callable[[], None], name: str | None) -> str:
    with _run(name) as run:
        write()
        run_id: str = run.info.run_id
        return run_id


def _numbers(result: Evaluation) -> Iterator[tuple[str, float]]:
    summary = result.summary()
    for metric in summary.metrics:
        low, high = metric.interval[:2] if metric.interval else (None, None)
        numbers = {
            "mean": metric.mean,
            "low": low,
            "high": high,
            "pass_rate": metric.pass_rate,
            "scored": metric.scored,
            "unscored": metric.unscored,
            "failed": metric.failed,
        }
        for name, value in numbers.items():
            if value is not None:
                yield f"{_key(metric.name)}/{name}", float(value)
    for name, count in {"calls": summary.asked.calls, "seconds": result.seconds}.items():
        if count is not None:
            yield name, float(count)
    costs = [cost for model in result.models if (cost := model.cost()) is not None]
    dollars = [cost.dollars for cost in costs if cost.dollars is not None]
    if dollars and len(dollars) == len(costs):
        yield "dollars", sum(dollars)


def _differences(comparison: Comparison) -> Iterator[tuple[str, float]]:
    for metric in comparison.metrics:
        low, high = metric.interval[:2] if metric.interval else (None, None)
        for name, value in {"difference": metric.difference, "difference_low": low, "difference_high": high}.items():
            if value is not None:
                yield f"{_key(metric.name)}/{name}", float(value)


def _parameters(result: Evaluation) -> Iterator[tuple[str, str]]:
    yield "rows", str(len(result))
    yield "source", result.source or "rows in memory"
    for metric in result.metrics:
        known = None if result.settings is None else result.settings.scored_by.get(metric.name)
        prompts: dict[str, str] = next(
            filter(None, (score.details.get("prompts") for score in result.scores[metric.name])), {}
        )
        asked = known is not None and (prompts or known.prompts)
        found = {
            "settings": metric.settings,
            "llm": known.llm.name if known is not None and known.llm is not None and asked else None,
            "embeddings": known.embeddings.name if known is not None and known.embeddings is not None else None,
            "prompts": ", ".join(f"{name} {version}" for name, version in prompts.items()),
        }
        for name, value in found.items():
            if value:
                yield f"{_key(metric.name)}.{name}", str(value)[:LONGEST_PARAM]


def _key(name: str) -> str:
    """Return a name with only the characters that MLflow accepts in the name of a metric."""
    return re.sub(r"[^\w.: -]", "_", name)
