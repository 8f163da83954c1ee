"""Sessions that do not come to their end, or that meet another one: what was paid for is kept, and nothing is green by it."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from loopback import OpenAIServer, Response, judge
from ragmetrics_core import Evaluation

pytestmark = pytest.mark.slow

MARKED = """
import os
from dataclasses import dataclass
from pathlib import Path
from ragmetrics_core import Metric, Score

@dataclass(frozen=True)
class ScoredBy(Metric):
    def measure(self, response: str) -> Score:
        whole = Path(f"pid {os.getpid()}")
        whole.write_text(str(os.getpid()))
        whole.replace("pid")
        return Score(1.0)

@pytest.mark.ragmetrics(rows=ROWS, metrics=[ScoredBy(), "faithfulness"])
def test_answers(ragmetrics_row): pass
"""
ONE_AFTER_THE_OTHER = {"ragmetrics_max_concurrency": "1"}


def stopping(suite, server: OpenAIServer, number: int, what: signal.Signals) -> list[int]:
    """The process that asks dies, or hears Ctrl-C, while it waits for this call; its number is in the list from then on."""
    stopped: list[int] = []

    def responder(body):
        if len(server.chats) >= number and not stopped:
            stopped.append(int((suite.path / "pid").read_text()))
            os.kill(stopped[0], what)
            return Response(hang=True)
        return judge(body)

    server.responder = responder
    return stopped


@pytest.mark.usefixtures("interruptible")
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_loses_nothing_that_was_answered(suite, server: OpenAIServer) -> None:
    stopped = stopping(suite, server, 4, signal.SIGINT)
    suite.ini(**ONE_AFTER_THE_OTHER)
    suite.tests(MARKED)
    result = suite.processes("--ragmetrics-gate", "faithfulness >= 0.01")
    assert stopped, "the signal was sent"
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert len(server.chats) == 4
    again = suite.processes()
    again.assert_outcomes(passed=3)
    assert len(server.chats) <= 7  # three of six were answered, and perhaps the one that met Ctrl-C


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_another_worker_goes_on_where_one_has_died(suite, server: OpenAIServer) -> None:
    pytest.importorskip("xdist")
    stopped = stopping(suite, server, 4, signal.SIGKILL)
    suite.ini(**ONE_AFTER_THE_OTHER)
    suite.tests(MARKED)
    result = suite.processes("-n2", "--ragmetrics-gate", "faithfulness >= 0.01")
    assert stopped, "the signal was sent"
    result.assert_outcomes(passed=2, failed=1)  # the test that the worker was at
    assert result.ret == 1
    result.stdout.fnmatch_lines(["3 rows, 2 metrics, *", "gates: 1 *"])
    assert len(server.chats) == 7
    assert len(Evaluation.load(suite.path / ".ragmetrics")) == 3


def test_a_failure_keeps_what_tests_have_scored_before(suite, server: OpenAIServer) -> None:
    suite.ini()
    suite.tests(
        """
def test_one(ragmetrics_scorer): ragmetrics_scorer.score(ROWS[0], "faithfulness")
def test_red(ragmetrics_scorer):
    ragmetrics_scorer.score(ROWS[1], "faithfulness")
    assert False
def test_never(ragmetrics_scorer): ragmetrics_scorer.score(ROWS[2], "faithfulness")
"""
    )
    suite.run("-x").assert_outcomes(passed=1, failed=1)
    assert {row.id for row in Evaluation.load(suite.path / ".ragmetrics").rows} == {"tall", "wrong"}
    assert len(server.chats) == 4
    suite.run().assert_outcomes(passed=2, failed=1)
    assert len(server.chats) == 6


def test_a_metric_with_a_bug_is_no_pass(suite) -> None:
    """It ends the scoring of all rows: no test is green, and the first tells where the bug is."""
    suite.tests(
        """
from dataclasses import dataclass
from ragmetrics_core import Metric, Score

@dataclass(frozen=True)
class Buggy(Metric):
    def measure(self, response: str) -> Score: return Score(1 / 0)

@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness", Buggy()])
def test_answers(ragmetrics_row): pass
"""
    )
    result = suite.run()
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        ["E *ZeroDivisionError: *", "the rows could not be scored: see the first test that needed them"]
    )


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["alone", "xdist"])
def test_another_session_in_the_same_directory(suite, workers: tuple[str, ...]) -> None:
    """It writes over what this one has scored: no gate is green by what is left."""
    suite.tests(
        """
@pytest.mark.ragmetrics(rows=ROWS[1:2], metrics=["faithfulness"])
def test_other(ragmetrics_row): pass
""",
        name="other",
    )
    suite.tests(
        """
import os, subprocess, sys

@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"])
def test_answers(ragmetrics_row):
    if ragmetrics_row.sample.id == "tall":
        outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        subprocess.run([sys.executable, "-m", "pytest", "other.py"], check=True, env=outside)
    assert_score(ragmetrics_row["faithfulness"], at_least=0)

def test_alone(): pass
"""
    )
    if workers:
        pytest.importorskip("xdist")
    start = suite.processes if workers else suite.run
    result = start("--ragmetrics-gate", "faithfulness >= 0.01", *workers)
    result.assert_outcomes(passed=4)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "FAILED another session has used *.ragmetrics at the same time and overwritten 1 of 1 parts of this session: *"
        ]
    )
