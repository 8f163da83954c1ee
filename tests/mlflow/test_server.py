"""The same on a tracking server: 200 rows have the scores of the core, and an evaluation is read back."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlflow
import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import ContextRecall, Faithfulness, TokenF1
from ragmetrics_mlflow import from_mlflow, log_evaluation, scorers

pytestmark = pytest.mark.slow


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A tracking server on this machine, instead of a SQLite file."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    database = f"sqlite:///{tmp_path / 'server.db'}"
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", database, "--artifacts-destination", str(tmp_path / "artifacts")]
    with (tmp_path / "server.log").open("w") as log:
        # its workers are processes of a group of their own, so that all of them can be ended
        server = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, tmp_path / "server.log")
        mlflow.set_tracking_uri(f"http://127.0.0.1:{port}")
        mlflow.set_experiment("rag")
        yield tmp_path
    finally:
        mlflow.set_tracking_uri(None)
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(address, timeout=1).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    pytest.fail(log.read_text())


def test_rows_and_runs_on_a_server(feedbacks: Any) -> None:
    rows = [
        {
            "inputs": {
                "question": f"Who is P{number}?",
                "contexts": [f"P{number} is a baker.", "Bread is made of flour."],
            },
            "outputs": {"answer": f"P{number} is a baker. P{number} likes {'flour' if number % 3 else 'trains'}."},
            "expectations": {"ground_truth": f"P{number} is a baker of bread."},
        }
        for number in range(200)
    ]
    metrics = [Faithfulness(), ContextRecall(), TokenF1()]
    result = evaluate(
        [{**row["inputs"], **row["outputs"], **row["expectations"]} for row in rows],
        metrics,
        llm=LexicalJudge(),
        progress=False,
    )
    found = feedbacks(rows, scorers(metrics, llm=LexicalJudge()))
    for name, values in result.scores.items():
        assert [row[name].value for row in found] == [score.value for score in values]
    again = from_mlflow(log_evaluation(result))
    assert {name: list(values) for name, values in again.scores.items()} == {
        name: list(values) for name, values in result.scores.items()
    }
