"""Several processes: one of them scores the marked rows, each scores what its tests make, the controller joins and decides."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from loopback import OpenAIServer
from ragmetrics_core import Evaluation

pytestmark = pytest.mark.slow

pytest.importorskip("xdist")

TESTS = """
@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"])
@pytest.mark.parametrize("number", [1, 2])
def test_answers(ragmetrics_row, number): pass

@pytest.mark.parametrize("number", range(4))
def test_made(ragmetrics_scorer, number):
    ragmetrics_scorer.score({**ROWS[0], "id": f"made {number}", "question": f"{number}?"}, "faithfulness")
"""


def test_one_run_of_all_processes(suite, server: OpenAIServer) -> None:
    suite.ini()
    suite.tests(TESTS)
    options = ("-n2", "--junit-xml=report.xml", "--ragmetrics-gate", "faithfulness <= 0.2", "-p", "no:cacheprovider")
    result = suite.processes(*options)
    result.assert_outcomes(passed=10)
    result.stdout.fnmatch_lines(["7 rows, 1 metric, *", "gates: 1 failed", "FAILED faithfulness <= 0.2: mean *"])
    assert result.ret == 1
    assert len(server.chats) == 14  # two for each row, whichever test needs it
    run = Evaluation.load(suite.path / ".ragmetrics")
    assert [row.id for row in run.rows][:3] == ["tall", "wrong", "where"]
    assert {row.id for row in run.rows[3:]} == {f"made {number}" for number in range(4)}
    suites = ET.parse(suite.path / "report.xml").getroot()[0]
    session = {item.get("name"): item.get("value") for item in suites.find("properties") or ()}
    assert session["ragmetrics.gate: faithfulness <= 0.2"] == "failed"
    assert session["ragmetrics.faithfulness.rows"] == "7 of 7"
    (row,) = [case for case in suites.iter("testcase") if case.get("name") == "test_answers[tall-1]"]
    assert [item.attrib for item in row.iter("property")] == [
        {"name": "ragmetrics.faithfulness", "value": str(run["faithfulness"][0])}
    ]
    again = suite.processes(*options)
    again.assert_outcomes(passed=10)
    assert len(server.chats) == 14


def test_without_a_key_no_process_asks(suite) -> None:
    suite.ini(ragmetrics_llm="openai:gpt-4o-mini")
    suite.tests(TESTS)
    result = suite.processes("-n2", "-rs")
    result.assert_outcomes(skipped=10)
    result.stdout.fnmatch_lines(["6 tests without scores: no API key for OpenAI: *"])
    assert result.ret == 0


def test_rows_that_differ_between_processes(suite) -> None:
    """Such as those of a system that is asked while tests are collected: they are no pass, and the reason says what to do."""
    suite.tests(
        """
import os

OTHERS = [{**row, "metadata": {"process": os.getpid()}} for row in ROWS]

@pytest.mark.ragmetrics(rows=OTHERS, metrics=["faithfulness"])
@pytest.mark.parametrize("number", range(4))
def test_answers(ragmetrics_row, number): pass
"""
    )
    result = suite.processes("-n2", "--dist=load")
    assert result.ret == 1
    assert result.parseoutcomes()["errors"] >= 1
    result.stdout.fnmatch_lines(["this row was not scored. Every worker of pytest-xdist *"])
