"""``ragmetrics evaluate`` as a separate process: output, error output, status, signals."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.cli.own import OWN, timeless

pytestmark = pytest.mark.slow


def open_full() -> io.RawIOBase:
    """A device that takes nothing, where the system has one."""
    path = Path("/dev/full")
    if not path.exists():
        pytest.skip("this system has no /dev/full")
    return path.open("wb", buffering=0)


MISSED = (
    "ragmetrics: shortness is 0.3, under 0.9 (95 % interval 0.003 to 0.985, so this may be chance: --gate decides on the "
    "interval)\n"
)


class TestProcess:
    """The same through a real process: output, error output, status."""

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ragmetrics_core", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def test_table_and_gate(self, own_table: str) -> None:
        done = self.run("evaluate", "q.jsonl", "--metrics", OWN, "--fail-under", "shortness=0.9")
        assert (done.returncode, timeless(done.stdout), done.stderr) == (
            1,
            own_table,
            MISSED,
        )

    def test_an_error_is_one_line(self, folder: Path) -> None:
        done = self.run("evaluate", "none.csv", "--metrics", OWN)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"ragmetrics: there is no file 'none.csv' (looked in {Path.cwd()})\n"

    def start(self, *arguments: str, stdout: int, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "ragmetrics_core", *arguments]
        return subprocess.Popen(command, stdout=stdout, stderr=stderr, text=True)

    @pytest.mark.parametrize(("gate", "status"), [("shortness=0.1", 0), ("shortness=0.9", 1)])
    def test_a_reader_that_has_gone_changes_nothing_but_the_table(self, folder: Path, gate: str, status: int) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        process = self.start(
            "evaluate", "q.jsonl", "-m", OWN, "--fail-under", gate, "--out", "scores.jsonl", stdout=writing
        )
        os.close(writing)
        message = MISSED if status else ""
        assert process.communicate(timeout=300)[1] == message
        assert process.returncode == status
        assert len((folder / "scores.jsonl").read_text().splitlines()) == 4

    @pytest.mark.parametrize("command", [["evaluate", "q.jsonl", "-m", OWN, "--out", "scores.jsonl"], ["metrics"]])
    def test_a_full_disk(self, folder: Path, command: list[str]) -> None:
        with open_full() as full:
            process = self.start(*command, stdout=full.fileno())
            err = process.communicate(timeout=300)[1]
        assert (process.returncode, err) == (2, "ragmetrics: the output cannot be written: No space left on device\n")
        assert command == ["metrics"] or len((folder / "scores.jsonl").read_text().splitlines()) == 4

    def test_no_way_to_tell_anything_but_the_status(self, folder: Path) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        process = self.start("evaluate", "none.jsonl", "-m", OWN, stdout=writing, stderr=writing)
        os.close(writing)
        assert process.wait(timeout=300) == 2

    def test_a_terminal_that_cannot_show_a_text(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
        (folder / "q.jsonl").write_text('{"id": "caf\\u00e9 \\ud800 \\u65e5", "response": 3}\n{"response": "a"}\n')
        command = [sys.executable, "-m", "ragmetrics_core", "evaluate", "q.jsonl", "-m", OWN, "--out", "scores.jsonl"]
        done = subprocess.run(command, capture_output=True, check=False, timeout=300)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"(caf\xe9 \\ud800\n      \\u65e5)" in done.stdout
        assert len((folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()) == 2

    def test_a_bug_ends_with_a_different_status(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": "bug"}\n')
        done = self.run("evaluate", "q.jsonl", "--metrics", OWN)
        assert (done.returncode, done.stdout) == (70, "")
        assert "ZeroDivisionError: a bug\n" in done.stderr

    @pytest.mark.usefixtures("interruptible")
    def test_ctrl_c(self, folder: Path) -> None:
        (folder / "slow.py").write_text(
            "from dataclasses import dataclass\n"
            "import time\n"
            "from ragmetrics_core import Metric, Score, embed\n"
            "class Model:\n"
            "    def embed(self, texts):\n"
            "        print('asked', flush=True)\n"
            "        time.sleep(600)\n"
            "@dataclass(frozen=True)\n"
            "class Slow(Metric):\n"
            "    def __post_init__(self):\n"
            "        super().__post_init__()\n"
            "        object.__setattr__(self, 'embeddings', Model())\n"
            "    def measure(self, response):\n"
            "        yield from embed([response])\n"
            "        return Score(1)\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "ragmetrics_core", "evaluate", "q.jsonl", "--limit", "1", "-m", "slow:Slow"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ.copy(),
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out, err) == (
            130,
            "",
            "ragmetrics: stopped (with --run-dir DIR, the next run would go on from here)\n",
        )
        assert time.monotonic() - started < 100  # the model would take ten minutes
