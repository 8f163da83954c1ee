"""``ragmetrics live``, and what reads the directory of a ``RunDirSink``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli.calling import call
from ragmetrics_core import Evaluation, InvalidInput
from ragmetrics_core.adapters import RunDirSink, observe
from ragmetrics_core.metrics import ExactMatch
from ragmetrics_core.statistics import always_valid_interval


def traffic(folder: Path, calls: int = 40, session: int = 1) -> None:
    """Every fourth answer is wrong; ``session``: how many calls a session has."""
    observer = observe(ExactMatch(), sinks=[RunDirSink(folder)])
    for number in range(calls):
        with observer as record:
            record.update(question=f"q{number}", answer="b" if number % 4 == 0 else "a", reference="a", tenant="t")
            record.update(session_id=number // session)
    assert observer.close(60)


def test_the_means_of_live_traffic(tmp_path: Path) -> None:
    traffic(tmp_path / "live")
    shown = call("live", str(tmp_path / "live")).stdout
    interval = always_valid_interval([float(number % 4 != 0) for number in range(40)], scale=(0.0, 1.0))
    assert interval is not None
    assert f"exact_match  0.750  40 of 40  {interval.low:.3f} to {interval.high:.3f}" in shown
    assert "always valid, by betting" in shown
    assert "40 calls to judge, 0 dropped, 0 pending, 0 results not written" in " ".join(shown.split())
    assert "tenant" in call("live", str(tmp_path / "live"), "--by", "tenant").stdout
    assert call("live", str(tmp_path / "live" / "scores.jsonl")).exit_code == 0


def test_calls_of_a_session_are_alike(tmp_path: Path) -> None:
    traffic(tmp_path / "live", session=4)
    values = [float(number % 4 != 0) for number in range(40)]
    interval = always_valid_interval(values, scale=(0.0, 1.0), largest=4, hidden=True)
    assert interval is not None
    assert f"{interval.low:.3f} to {interval.high:.3f}" in call("live", str(tmp_path / "live")).stdout


def test_it_is_read_as_a_run(tmp_path: Path) -> None:
    for name in ("before", "after"):
        traffic(tmp_path / name)
    run = Evaluation.load(tmp_path / "before")
    assert run.summary()["exact_match"].mean == 0.75
    assert "live traffic since 20" in str(run.summary())
    assert "exact_match" in call("show", str(tmp_path / "before")).stdout
    compared = call("compare", str(tmp_path / "before"), str(tmp_path / "after"))
    assert compared.exit_code == 0
    counts = json.loads((tmp_path / "before" / "live.json").read_text())
    assert (counts["seen"], counts["scored"], counts["dropped"], counts["pending"]) == (40, 40, 0, 0)
    if sys.platform != "win32":
        modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "before", tmp_path / "before" / "scores.jsonl")]
        assert modes == [0o700, 0o600]


def test_drops_are_named(tmp_path: Path) -> None:
    observer = observe(ExactMatch(), sinks=[RunDirSink(tmp_path / "live")])
    observer.close()
    with observer as record:
        record.update(answer="a", reference="a")
    other = observe(ExactMatch(), sinks=[RunDirSink(tmp_path / "live")], max_pending=1)
    for _ in range(200):
        with other as record:
            record.update(answer="a", reference="a")
    assert other.close(60)
    shown = " ".join(call("live", str(tmp_path / "live")).stdout.split())
    assert f"200 calls to judge, {other.dropped} dropped, 0 pending" in shown
    assert other.dropped > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [("{}", "live.json cannot be read: 'seen'"), ("no JSON", "live.json cannot be read: Expecting value")],
)
def test_damaged_counts(tmp_path: Path, text: str, message: str) -> None:
    traffic(tmp_path / "live")
    (tmp_path / "live" / "live.json").write_text(text)
    result = call("live", str(tmp_path / "live"))
    assert result.exit_code == 2
    assert message in result.stderr
    assert "remove it to read the scores alone" in result.stderr


def test_without_scores(tmp_path: Path) -> None:
    RunDirSink(tmp_path / "live")
    result = call("live", str(tmp_path / "live"))
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.usefixtures("interruptible")
def test_follow_until_ctrl_c(tmp_path: Path) -> None:
    traffic(tmp_path / "live")
    command = [sys.executable, "-m", "ragmetrics_core", "live", str(tmp_path / "live"), "--follow", "0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        tables = 0
        try:
            while tables < 2:
                tables += "exact_match  0.750" in process.stdout.readline()
            os.kill(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()  # otherwise it would be waited for without end
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_a_cut_line_is_left_out(tmp_path: Path) -> None:
    traffic(tmp_path, calls=4)
    scores = tmp_path / "scores.jsonl"
    whole = scores.read_text()
    scores.write_text(whole + whole[:50])  # it is being written
    run = Evaluation.load(tmp_path)
    assert run["exact_match"] == [0.0, 1.0, 1.0, 1.0]
    (caveat,) = run.caveats
    assert caveat.endswith(": 4 calls to judge, 0 dropped, 0 pending, 0 results not written")
    traffic(tmp_path, calls=1)  # the process that was writing it was killed
    for path in (tmp_path, scores):
        run = Evaluation.load(path)
        assert run["exact_match"] == [0.0, 1.0, 1.0, 1.0, 0.0]
        assert run.records[4].sample.user_input == "q0"
        assert run.caveats[-1] == "1 line of scores.jsonl cannot be read and left out"
    with pytest.raises(InvalidInput, match="line 5 contains no scores"):
        Evaluation.load(scores.rename(tmp_path / "other.jsonl"))
