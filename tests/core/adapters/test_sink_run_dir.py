"""``RunDirSink``: one process writes to a directory, and what it counted is there when it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Evaluation
from ragmetrics_core.adapters import JsonlSink, Observer, RunDirSink, observe
from ragmetrics_core.metrics import ExactMatch, TokenF1


def hear(observer: Observer, *answers: str) -> None:
    for answer in answers:
        with observer as record:
            record.update(id=answer, answer=answer, reference="a")
    assert observer.flush(60)


def test_one_writes_at_a_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, second = (observe(ExactMatch(), sinks=[RunDirSink(tmp_path)]) for _ in range(2))
    hear(first, "a")
    hear(second, "b", "c")
    (message,) = [line.getMessage() for line in caplog.records]
    use = f"run_dir={str(tmp_path)!r} is in use: process {os.getpid()} on "
    assert message.startswith(f"sinks[0] (RunDirSink) failed: {use}")
    assert first.close(60)
    hear(second, "d")
    assert second.close(60)
    assert [sample.id for sample in Evaluation.load(tmp_path).rows] == ["a", "d"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["live.json", "scores.jsonl"]


def test_the_exit_of_the_program_writes_the_counts(tmp_path: Path) -> None:
    program = (
        "import sys; from ragmetrics_core.adapters import *; from ragmetrics_core.metrics import ExactMatch\n"
        "observer = observe(ExactMatch(), sinks=[RunDirSink(sys.argv[1])])\n"
        "for answer in 'abc':\n"
        "    with observer as record: record.update(answer=answer, reference='a')\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    counts = json.loads((tmp_path / "live.json").read_text())
    assert (counts["scored"], counts["pending"]) == (3, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["live.json", "scores.jsonl"]


@pytest.mark.parametrize("make", [RunDirSink, lambda folder: JsonlSink(folder / "scores.jsonl")])
def test_other_metrics_begin_a_new_file(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    for metrics in ([ExactMatch()], [ExactMatch(), TokenF1()], [TokenF1(), ExactMatch()]):
        observer = observe(metrics, sinks=[make(tmp_path)])
        hear(observer, "a")
        assert observer.close(60)
    run = Evaluation.load(tmp_path / "scores.jsonl")
    assert (len(run), [item.name for item in run.metrics]) == (2, ["exact_match", "token_f1"])
    assert [item.name for item in Evaluation.load(tmp_path / "scores.jsonl.1").metrics] == ["exact_match"]


def test_a_sink_that_cannot_be_closed_harms_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def __call__(self, record: object) -> None:
            """Take a record."""

        def close(self) -> None:
            raise OSError("the disk is full")

    observer = observe(ExactMatch(), sinks=[Broken()])
    hear(observer, "a")
    assert observer.close(60)
    assert [line.getMessage() for line in caplog.records] == [
        "sinks[0] (Broken) failed: the disk is full; further failures are not logged"
    ]
