"""Which rows are scored where not all tests run, and when."""

from __future__ import annotations

import threading

import pytest

from loopback import OpenAIServer, judge
from ragmetrics_core import Evaluation

pytestmark = pytest.mark.slow

MARKED = """
@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"])
def test_answers(ragmetrics_row):
    assert ragmetrics_row.sample.id != "wrong"

@pytest.mark.ragmetrics(rows=ROWS[:1], metrics=["faithfulness"])
def test_first(ragmetrics_row): pass
"""


def scored(suite) -> list[str]:
    return [row.id for row in Evaluation.load(suite.path / ".ragmetrics").rows]


def test_all_rows_in_one_run_before_the_first_test(suite, server: OpenAIServer) -> None:
    """Asked at once, each row once although two tests have it: one call for the claims of a row, and one for their verdicts."""
    together = threading.Barrier(3)

    def responder(body):
        together.wait(timeout=60)  # breaks, and so does the test, if rows wait for each other
        return judge(body)

    server.responder = responder
    suite.ini()
    suite.tests(MARKED.replace('!= "wrong"', '!= ""'))
    suite.run().assert_outcomes(passed=4)
    assert len(server.chats) == 6


def test_the_next_session_pays_for_what_changed(suite, server: OpenAIServer) -> None:
    suite.ini()
    suite.tests(MARKED)
    suite.run().assert_outcomes(passed=3, failed=1)
    assert len(server.chats) == 6
    again = suite.run()
    again.assert_outcomes(passed=3, failed=1)
    assert len(server.chats) == 6
    suite.tests(MARKED.replace("ROWS[:1]", "[{**ROWS[0], 'answer': 'It is 12 metres tall.'}]"))
    suite.run().assert_outcomes(passed=3, failed=1)
    assert len(server.chats) == 8
    assert len(list((suite.path / ".ragmetrics" / "parts" / "rows").glob("scores*.jsonl"))) == 1  # nothing piles up


def test_a_session_without_a_key_has_what_was_paid_for(suite, server: OpenAIServer, monkeypatch) -> None:
    suite.ini()
    suite.tests(MARKED)
    suite.run().assert_outcomes(passed=3, failed=1)
    monkeypatch.delenv("OPENAI_API_KEY")
    suite.run().assert_outcomes(passed=3, failed=1)
    assert len(server.chats) == 6


def test_deselected_rows_are_not_scored(suite) -> None:
    suite.tests(MARKED)
    suite.run("-k", "where").assert_outcomes(passed=1, deselected=3)
    assert scored(suite) == ["where"]
    suite.run("test_rag.py::test_answers[wrong]").assert_outcomes(failed=1)
    assert scored(suite) == ["wrong"]


def test_last_failed(suite) -> None:
    suite.tests(MARKED)
    suite.run().assert_outcomes(passed=3, failed=1)
    assert scored(suite) == ["tall", "wrong", "where"]
    suite.run("--lf").assert_outcomes(failed=1)
    assert scored(suite) == ["wrong"]


def test_stop_at_the_first_failure(suite) -> None:
    suite.tests(MARKED)
    suite.run("-x").assert_outcomes(passed=1, failed=1)
    assert scored(suite) == ["tall", "wrong", "where"]


def test_a_failure_before_the_first_row_costs_nothing(suite) -> None:
    suite.tests("def test_early(): assert False\n" + MARKED)
    suite.run("-x").assert_outcomes(failed=1)
    assert not (suite.path / ".ragmetrics").exists()


@pytest.mark.parametrize(
    ("marker", "outcome"),
    [
        ("skip(reason='later')", "skipped"),
        ("skipif(True, reason='not here')", "skipped"),
        ("skipif('sys.version_info > (3,)', reason='not here')", "skipped"),
        ("xfail(run=False)", "xfailed"),
        ("skipif('no python here')", "errors"),
    ],
)
def test_rows_of_tests_that_do_not_run_cost_nothing(suite, server: OpenAIServer, marker: str, outcome: str) -> None:
    suite.ini()
    first, second = MARKED.strip().split("\n\n")
    suite.tests(f"{second}\n\n@pytest.mark.{marker}\n{first}")
    suite.run().assert_outcomes(passed=1, **{outcome: 3})
    assert len(server.chats) == 2


def test_rows_of_tests_that_may_fail_are_scored(suite, server: OpenAIServer) -> None:
    suite.ini()
    suite.tests("@pytest.mark.xfail\n@pytest.mark.skipif(False, reason='never')" + MARKED)
    suite.run().assert_outcomes(passed=1, xpassed=2, xfailed=1)
    assert len(server.chats) == 6


def test_collecting_asks_no_model(suite, server: OpenAIServer) -> None:
    suite.ini()
    suite.tests(MARKED)
    suite.run("--collect-only", "-q").stdout.fnmatch_lines(["test_rag.py::test_answers[[]tall[]]"])
    suite.run("--setup-plan").stdout.fnmatch_lines(["*SETUP *ragmetrics_row*"])
    assert server.chats == []
    assert not (suite.path / ".ragmetrics").exists()


def test_any_order(suite) -> None:
    """Plugins that shuffle tests, as pytest-randomly does, change neither the rows nor their order in the run."""
    suite.tests(MARKED)
    suite.pytester.makeconftest("def pytest_collection_modifyitems(items): items.reverse()")
    suite.run().assert_outcomes(passed=3, failed=1)
    assert scored(suite) == ["tall", "wrong", "where"]


def test_a_directory_of_something_else_is_left_alone(suite) -> None:
    suite.tests(MARKED)
    suite.run().assert_outcomes(passed=3, failed=1)
    run = suite.path / "run"
    (suite.path / ".ragmetrics").rename(run)
    (run / "parts").rename(suite.path / "elsewhere")
    before = (run / "scores.jsonl").read_bytes()
    result = suite.run("--ragmetrics-run-dir", "run")
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(
        ["ragmetrics_run_dir */run contains run.json, which no pytest session has written: name another directory"]
    )
    assert (run / "scores.jsonl").read_bytes() == before
    suite.run("--ragmetrics-run-dir", ".").assert_outcomes(errors=4)
    assert not (suite.path / ".gitignore").exists()


def test_git_does_not_see_it(suite) -> None:
    suite.tests(MARKED)
    suite.run()
    assert (suite.path / ".ragmetrics" / ".gitignore").read_text() == "*\n"
