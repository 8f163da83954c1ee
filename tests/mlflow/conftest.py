"""A store in a SQLite file for the tests of scorers, and settings that are read when MLflow is imported."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_SQLALCHEMYSTORE_POOL_SIZE"] = "100"
os.environ["MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW"] = "100"

# Absent where only the core is tested.
collect_ignore_glob: list[str] = []
if importlib.util.find_spec("ragmetrics_mlflow") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one store for all tests, as a new one takes seconds."""
    return tmp_path_factory.mktemp("mlflow")


@pytest.fixture
def store(store_folder: Path) -> Iterator[Path]:
    """A store of MLflow in a SQLite file, and an experiment in it."""
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{store_folder / 'mlflow.db'}")
    if mlflow.get_experiment_by_name("rag") is None:
        mlflow.create_experiment("rag", artifact_location=(store_folder / "artifacts").as_uri())
    mlflow.set_experiment("rag")
    yield store_folder
    mlflow.set_tracking_uri(None)


@pytest.fixture
def feedbacks(store: Path) -> Any:
    """Evaluate rows, and return for each, in their order, the assessments of its trace by name."""
    import mlflow

    def evaluate(rows: list[dict[str, Any]], scorers: list[Any]) -> list[dict[str, Any]]:
        data = [{**row, "inputs": {**row["inputs"], "number": number}} for number, row in enumerate(rows)]
        run = mlflow.genai.evaluate(data=data, scorers=scorers).run_id
        traces = mlflow.search_traces(run_id=run, return_type="list", max_results=1000)
        found = {trace.data.spans[0].inputs["number"]: trace for trace in traces}
        return [
            {each.name: each for each in found[number].info.assessments if each.__class__.__name__ == "Feedback"}
            for number in range(len(rows))
        ]

    return evaluate
