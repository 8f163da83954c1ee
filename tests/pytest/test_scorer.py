"""Rows that a test makes."""

from __future__ import annotations

from loopback import OpenAIServer
from ragmetrics_core import Evaluation

MADE = """
def ask(question):
    return {"question": question, "answer": "It is 330 metres tall.", "contexts": ["It is 330 metres tall."]}

def test_one(ragmetrics_scorer):
    row = ragmetrics_scorer.score(ask("How tall?"), "faithfulness")
    assert row.sample.user_input == "How tall?"
    assert 0 <= row["faithfulness"].value <= 1

def test_several(ragmetrics_scorer):
    rows = ragmetrics_scorer.score_all([ask("How high?"), ask("What height?")], ["faithfulness"])
    assert [row.sample.user_input for row in rows] == ["How high?", "What height?"]
    assert ragmetrics_scorer.score(ask("Once more?"), "faithfulness")["faithfulness"].state == "scored"

async def test_waits(ragmetrics_scorer):
    row = await ragmetrics_scorer.ascore(ask("Async?"), "faithfulness")
    (other,) = await ragmetrics_scorer.ascore_all([ask("Async too?")], "faithfulness")
    assert row["faithfulness"].state == other["faithfulness"].state == "scored"

async def test_blocks_in_a_loop(ragmetrics_scorer):
    assert ragmetrics_scorer.score(ask("Blocking?"), "faithfulness")["faithfulness"].state == "scored"
"""


def test_they_are_part_of_the_session(suite, server: OpenAIServer) -> None:
    suite.ini()
    suite.tests(MADE)
    result = suite.run("--ragmetrics-gate", "faithfulness >= 0.01", "-v")
    result.assert_outcomes(passed=4)
    run = Evaluation.load(suite.path / ".ragmetrics")
    assert sorted(zip(run.places, (row.user_input for row in run.rows), strict=True)) == [
        ("test_rag.py::test_blocks_in_a_loop", "Blocking?"),
        ("test_rag.py::test_one", "How tall?"),
        ("test_rag.py::test_several", "How high?"),
        ("test_rag.py::test_several", "Once more?"),
        ("test_rag.py::test_several", "What height?"),
        ("test_rag.py::test_waits", "Async too?"),
        ("test_rag.py::test_waits", "Async?"),
    ]
    result.stdout.fnmatch_lines(
        ["7 rows, 1 metric, *", "faithfulness     14       0 *", "cost gpt-4o-mini: *", "gates: 1 *"]
    )


def test_the_next_session_finds_the_replies(suite, server: OpenAIServer) -> None:
    suite.ini()
    suite.tests(MADE)
    suite.run().assert_outcomes(passed=4)
    asked = len(server.chats)
    suite.run().assert_outcomes(passed=4)
    assert len(server.chats) == asked
    suite.run("-k", "test_one").assert_outcomes(passed=1, deselected=3)
    assert len(Evaluation.load(suite.path / ".ragmetrics")) == 1


def test_settings_from_the_marker(suite) -> None:
    """A marker without rows makes no further test, and says what the fixture uses."""
    suite.tests(
        """
@pytest.mark.ragmetrics(metrics=["faithfulness"], columns={"answer": "said"})
class TestIt:
    def test_it(self, ragmetrics_scorer):
        row = ragmetrics_scorer.score({"question": "How?", "said": "So.", "contexts": ["So."]})
        assert list(row) == ["faithfulness"]

def test_none(ragmetrics_scorer):
    ragmetrics_scorer.score(ROWS[0])
"""
    )
    result = suite.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E *InvalidInput: no metric is named: *"])


def test_the_same_row_counts_once(suite) -> None:
    """Marked and made: two scores of one row are no more evidence than one."""
    suite.tests(
        """
@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"])
def test_marked(ragmetrics_row): pass

@pytest.mark.parametrize("number", range(5))
def test_made(ragmetrics_scorer, number):
    ragmetrics_scorer.score(ROWS[0], "faithfulness")
"""
    )
    suite.run().assert_outcomes(passed=8)
    assert [row.id for row in Evaluation.load(suite.path / ".ragmetrics").rows] == ["tall", "wrong", "where"]


def test_a_test_that_runs_again(suite) -> None:
    """As plugins have them run that repeat flaky tests: the last run counts, and the row is there once."""
    suite.tests(
        """
runs = []

@pytest.mark.ragmetrics(rows=ROWS[:1], metrics=["faithfulness"])
def test_flaky(ragmetrics_row, ragmetrics_scorer):
    runs.append(1)
    ragmetrics_scorer.score(ROWS[1], "faithfulness")
    assert len(runs) > 1
"""
    )
    suite.pytester.makeconftest(
        """
import pytest
from _pytest.runner import runtestprotocol

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    runtestprotocol(item, nextitem=nextitem, log=False)
    item._initrequest()
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
    )
    suite.run().assert_outcomes(passed=1)
    assert [row.id for row in Evaluation.load(suite.path / ".ragmetrics").rows] == ["tall", "wrong"]


def test_no_rows_are_no_pass(suite) -> None:
    """A loop over no scores asserts nothing."""
    suite.tests(
        """
def test_empty(ragmetrics_scorer):
    for row in ragmetrics_scorer.score_all([], ["faithfulness"]):
        assert_score(row["faithfulness"], at_least=0.8)
"""
    )
    result = suite.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E * there are no rows: call 1 of ragmetrics_scorer in test_rag.py::test_empty got an empty list"]
    )
