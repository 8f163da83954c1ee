"""MLflow's SQLite store with its default connections stalls for 30 seconds; with those that the warning names, it does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROWS, METRICS = 30, 6
VARIABLES = ("MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW", "MLFLOW_GENAI_EVAL_MAX_WORKERS")
PROGRAM = f"""
import asyncio, sys, time
import mlflow
from ragmetrics_core import Reply, Usage
from ragmetrics_core.metrics import Guideline
from ragmetrics_mlflow import scorers

class Judge:
    async def agenerate(self, ask):
        await asyncio.sleep(0.5)
        return Reply('{{"feedback": "It is short.", "passing": true}}', Usage(1, 1, 1))

if __name__ == "__main__":
    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    mlflow.set_experiment("rag")
    metrics = [Guideline(f"Have {{n}} points.", name=f"points_{{n}}") for n in range({METRICS})]
    rows = [{{"inputs": {{"question": f"q{{n}}", "contexts": ["c"]}}, "outputs": f"a{{n}}"}} for n in range({ROWS})]
    begun = time.monotonic()
    run = mlflow.genai.evaluate(data=rows, scorers=scorers(metrics, llm=Judge()))
    seconds = time.monotonic() - begun
    traces = mlflow.search_traces(run_id=run.run_id, return_type="list", max_results=1000)
    print(round(seconds), len([each for each in traces if len(each.info.assessments) == {METRICS}]))
"""


def evaluated(folder: Path, **settings: str) -> tuple[int, int, str]:
    """The seconds of an evaluation in another process, the rows that have all scores in the store, and what it warned of."""
    (folder / "program.py").write_text(PROGRAM)
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES} | settings
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env=env, capture_output=True, text=True, timeout=280, check=True
    )
    seconds, rows = map(int, done.stdout.split()[-2:])
    return seconds, rows, done.stderr


def test_default_connections_stall(tmp_path: Path) -> None:
    """If it fails, MLflow has mended this, and the warning can go."""
    seconds, _, warned = evaluated(tmp_path)
    assert "MLflow's SQLite store has 15 connections, too few for its threads" in warned
    assert "QueuePool limit of size 5 overflow 10 reached" in warned
    assert seconds >= 29


@pytest.mark.parametrize(
    "settings",
    [
        {"MLFLOW_SQLALCHEMYSTORE_POOL_SIZE": "100", "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW": "100"},
        {"MLFLOW_GENAI_EVAL_MAX_WORKERS": "4"},
    ],
)
def test_enough_connections_do_not_stall(tmp_path: Path, settings: dict[str, str]) -> None:
    _, rows, warned = evaluated(tmp_path, **settings)
    assert (rows, "too few" in warned, "QueuePool limit" in warned) == (ROWS, False, False)
