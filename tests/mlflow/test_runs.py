"""Evaluations as runs: what is logged, and the same evaluation read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlflow
import pytest

from ragmetrics_core import Evaluation, InvalidInput, evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import ExactMatch, Faithfulness
from ragmetrics_mlflow import from_mlflow, log_evaluation

RIGHT = {"id": "r1", "question": "a?", "answer": "A is B.", "contexts": ["A is B."], "reference": "A is B."}
WRONG = {"id": "r2", "question": "c?", "answer": "C was red.", "contexts": ["A is B."], "reference": "C is D."}
SILENT = {"id": "r3", "question": "e?", "answer": "", "contexts": ["A is B."], "reference": "E is F."}


def scored(*rows: dict[str, Any], llm: Any = None) -> Evaluation:
    return evaluate(rows, [Faithfulness(), ExactMatch()], llm=llm or LexicalJudge(), progress=False)


def test_a_run_has_metrics_parameters_and_artifacts(store: Path) -> None:
    result = scored(RIGHT, WRONG, SILENT)
    run = mlflow.get_run(log_evaluation(result, run_name="nightly"))
    assert run.info.run_name == "nightly"
    assert run.info.status == "FINISHED"
    metrics = run.data.metrics
    # the right row is right, the wrong one has no word in common, and the silent one has no claims
    assert metrics["faithfulness/mean"] == 0.5
    assert {name: metrics[f"faithfulness/{name}"] for name in ("scored", "unscored", "failed")} == {
        "scored": 2.0,
        "unscored": 1.0,
        "failed": 0.0,
    }
    interval = result.summary()["exact_match"].interval
    assert interval is not None
    assert (metrics["exact_match/low"], metrics["exact_match/high"]) == interval[:2]
    assert metrics["exact_match/mean"] == 0.5  # the silent row has no score
    assert run.data.params["rows"] == "3"
    assert run.data.params["faithfulness.llm"] == "LexicalJudge"
    assert "verify_claims" in run.data.params["faithfulness.prompts"]
    assert "exact_match.llm" not in run.data.params
    names = {item.path for item in mlflow.artifacts.list_artifacts(run_id=run.info.run_id, artifact_path="ragmetrics")}
    assert names == {f"ragmetrics/{name}" for name in ("report.html", "rows.json", "run.parquet", "scores.jsonl")}
    table = mlflow.load_table("ragmetrics/rows.json", run_ids=[run.info.run_id])
    assert table["user_input"].tolist() == ["a?", "c?", "e?"]
    assert table["exact_match"].dropna().tolist() == [1.0, 0.0]
    lines = mlflow.artifacts.load_text(f"{run.info.artifact_uri}/ragmetrics/scores.jsonl").splitlines()
    assert [json.loads(line)["scores"]["exact_match"]["value"] for line in lines] == [1.0, 0.0, None]


def test_an_evaluation_is_read_back(store: Path) -> None:
    result = scored(RIGHT, WRONG, SILENT)
    again = from_mlflow(log_evaluation(result))
    assert again.rows == result.rows
    assert [score.to_dict() for score in again.scores["faithfulness"]] == [
        score.to_dict() for score in result.scores["faithfulness"]
    ]
    assert again.summary().to_dict()["metrics"] == result.summary().to_dict()["metrics"]
    assert again.compare(result)["faithfulness"].warnings == ()


def test_two_evaluations_are_nested_runs_with_their_comparison(store: Path) -> None:
    before, after = scored(RIGHT, WRONG), scored(RIGHT, {**WRONG, "answer": "C is D."})
    run = mlflow.get_run(log_evaluation(after, baseline=before, run_name="new prompt"))
    parent = mlflow.get_run(run.data.tags["mlflow.parentRunId"])
    assert parent.info.run_name == "new prompt"
    assert parent.data.metrics["exact_match/difference"] == 0.5
    assert parent.data.tags["ragmetrics.exact_match.verdict"] == before.compare(after)["exact_match"].verdict
    names = {
        item.path for item in mlflow.artifacts.list_artifacts(run_id=parent.info.run_id, artifact_path="ragmetrics")
    }
    assert names == {"ragmetrics/comparison.html", "ragmetrics/comparison.md"}
    children = mlflow.search_runs(
        filter_string=f"tags.`mlflow.parentRunId` = '{parent.info.run_id}'", output_format="list"
    )
    assert {(child.info.run_name, child.data.metrics["exact_match/mean"]) for child in children} == {
        ("baseline", 0.5),
        ("result", 1.0),
    }
    with pytest.raises(InvalidInput, match="has no evaluation"):
        from_mlflow(parent.info.run_id)


def test_a_run_is_nested_in_the_active_one(store: Path) -> None:
    with mlflow.start_run() as outer:
        inner = log_evaluation(scored(RIGHT))
    assert mlflow.get_run(inner).data.tags["mlflow.parentRunId"] == outer.info.run_id


def test_nothing_is_logged_of_runs_that_cannot_be_compared(store: Path) -> None:
    known = len(mlflow.search_runs(output_format="list"))
    with pytest.raises(InvalidInput):
        log_evaluation(scored(WRONG), baseline=scored(RIGHT))
    assert len(mlflow.search_runs(output_format="list")) == known
