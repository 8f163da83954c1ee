"""``ragmetrics plan``: the plan of the API, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.calling import call
from ragmetrics_core import Evaluation, plan


@pytest.fixture(autouse=True)
def pilots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current directory, with two runs of 40 rows, and labels of half of the first one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, wrong in (("before", 4), ("after", 5)):
        rows = [{"id": f"q{n}", "answer": "yes" if n % wrong else "no", "reference": "yes"} for n in range(40)]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert call("evaluate", f"{name}.jsonl", "-m", "exact_match", "--run-dir", name).exit_code == 0
    labels = [{"id": f"q{n}", "metric": "exact_match", "label": n % 4 > 0} for n in range(20)]
    Path("labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))


def test_without_a_pilot() -> None:
    result = call("plan", "--change", "0.1", "--power", "0.9", "--width", "0.2")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == str(plan(change=0.1, power=0.9, width=0.2)) + "\n"


def test_pilots_with_labels() -> None:
    result = call(
        "plan", "before", "after", "--labels", "labels.jsonl", "--cluster", "id", "--json", "-", "--markdown", "plan.md"
    )
    calibration = Evaluation.load("before").calibrate("labels.jsonl")
    found = plan("before", "after", cluster="id", calibration=calibration)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == found.to_dict()
    assert result.stderr == str(found) + "\n"
    assert Path("plan.md").read_text() == found.to_markdown()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--labels", "labels.jsonl"), "--labels belong to rows of a pilot: name its run too"),
        (("before", "after", "before"), "pilots must be at most two, got 3: give two runs of the same rows"),
        (("--change", "2"), "--change must be a share above 0 and below 1, got 2.0"),
        (("before", "--json", "before/run.json"), "--json: before/run.json is a file that is read here"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str) -> None:
    result = call("plan", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"ragmetrics: {message}")
