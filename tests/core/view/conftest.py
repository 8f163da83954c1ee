"""A folder of runs, and beside it what must never be shown."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.metrics import ExactMatch, TokenF1

from .viewing import Viewing, viewing

SECRET = "what-no-page-may-show"


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and a file of scores, written one hour after the other."""
    outer = tmp_path_factory.mktemp("outer")
    folder = outer / "runs"
    folder.mkdir()
    for number, name in enumerate(("old", "new")):
        rows = [
            {"id": f"q{at}", "question": f"Who built tower {at}?", "response": "Gustave Eiffel", "reference": right}
            for at, right in enumerate(["Gustave Eiffel"] * (2 + number) + ["Nobody"] * (2 - number))
        ]
        evaluate(rows, [ExactMatch(), TokenF1()], run_dir=folder / name, progress=False)
        os.utime(folder / name / "scores.jsonl", (1_800_000_000 + 3600 * number,) * 2)
    (folder / "sub").mkdir()
    kept = (folder / "new" / "scores.jsonl").read_text().splitlines()[:2]
    (folder / "sub" / "few.jsonl").write_text("".join(f"{line}\n" for line in kept))
    os.utime(folder / "sub" / "few.jsonl", (1_700_000_000,) * 2)
    (folder / "data.jsonl").write_text(json.dumps({"question": "no scores here"}) + "\n")
    (outer / "secret.jsonl").write_text("".join(f"{line}\n" for line in kept).replace("Gustave", SECRET))
    return folder


@pytest.fixture(scope="session")
def open_viewer(runs: Path) -> Viewing:
    """A viewer of these runs without a token."""
    return viewing(runs)
