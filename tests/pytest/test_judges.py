"""How the judge is named, and what happens where it cannot be asked."""

from __future__ import annotations

import pytest

from loopback import OpenAIServer, error
from ragmetrics_core import Evaluation

pytestmark = pytest.mark.slow

MARKED = """
@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"])
def test_answers(ragmetrics_row): pass
"""
MODEL_FREE = """
@pytest.mark.ragmetrics(rows=[{"answer": "a", "reference": "a"}], metrics=["exact_match"])
def test_exact(ragmetrics_row):
    assert_score(ragmetrics_row["exact_match"], at_least=1)
"""
NO_KEY = "no API key for OpenAI: set the environment variable OPENAI_API_KEY, or give api_key=..., *"


def judges(suite) -> list[str]:
    return [item.name for item in Evaluation.load(suite.path / ".ragmetrics").models]


def test_the_option_comes_before_the_environment_and_that_before_the_file(
    suite, server: OpenAIServer, monkeypatch
) -> None:
    suite.ini(ragmetrics_llm="openai:from-file")
    suite.tests(MARKED)
    suite.run().assert_outcomes(passed=3)
    assert judges(suite) == ["gpt-4o-mini"]  # of RAGMETRICS_LLM
    suite.run("--ragmetrics-llm", "openai:from-option").assert_outcomes(passed=3)
    assert judges(suite) == ["from-option"]
    monkeypatch.delenv("RAGMETRICS_LLM")
    suite.run().assert_outcomes(passed=3)
    assert judges(suite) == ["from-file"]
    assert {body["model"] for body in server.chats} == {"gpt-4o-mini", "from-option", "from-file"}


def test_models_in_the_marker(suite, server: OpenAIServer) -> None:
    """They come before that of the session; one of the metric's own comes before them."""
    suite.tests(
        """
import openai
from ragmetrics_core.llms import LexicalJudge, OpenAILLM
from ragmetrics_core.metrics import Faithfulness, ResponseGroundedness

JUDGE = OpenAILLM("in-python", client=openai.OpenAI())

@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness", Faithfulness(name="own", llm=LexicalJudge())], llm=JUDGE)
def test_python(ragmetrics_row): pass

@pytest.mark.ragmetrics(rows=ROWS[:1], metrics=[Faithfulness(name="named")], llm="lexical")
def test_named(ragmetrics_row):
    assert ragmetrics_row["named"].value == 1
"""
    )
    suite.run().assert_outcomes(passed=4)
    assert judges(suite) == ["in-python"]  # what is computed in place is no cost
    assert Evaluation.load(suite.path / ".ragmetrics")["own"] == [1.0, 0.0, 1.0]
    assert {body["model"] for body in server.chats} == {"in-python"}


def test_a_metric_has_one_judge(suite) -> None:
    suite.tests(
        """
@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"], llm="lexical")
def test_one(ragmetrics_row): pass

@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"], llm="openai:gpt-4o")
def test_two(ragmetrics_row): pass
"""
    )
    suite.run().stdout.fnmatch_lines(
        ["*test_two: the metric 'faithfulness' differs from the one of that name in *test_one (different llm): *"]
    )


def test_without_a_key_tests_are_skipped(suite) -> None:
    suite.ini(ragmetrics_llm="openai:gpt-4o-mini", ragmetrics_gates="faithfulness >= 0.5")
    suite.tests(
        MARKED
        + MODEL_FREE
        + """
def test_made(ragmetrics_scorer):
    ragmetrics_scorer.score(ROWS[0], "faithfulness")
    assert False

def test_other(): pass
"""
    )
    result = suite.run("-rs")
    result.assert_outcomes(skipped=4, passed=2)
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"SKIPPED * {NO_KEY}"])
    result.stdout.fnmatch_lines(
        [
            f"3 tests without scores: {NO_KEY}",
            "UNDECIDED gate 'faithfulness >= 0.5' is not decided: no row of this session has a score of faithfulness",
        ]
    )


@pytest.mark.parametrize(("value", "failed"), [("true", 4), ("1", 4), ("false", 0), ("", 0)])
def test_without_a_key_tests_fail_in_continuous_integration(suite, monkeypatch, value: str, failed: int) -> None:
    monkeypatch.setenv("CI", value)
    suite.ini(ragmetrics_llm="openai:gpt-4o-mini", ragmetrics_gates="faithfulness >= 0.5")
    suite.tests(
        MARKED
        + MODEL_FREE
        + "\ndef test_made(ragmetrics_scorer):\n    ragmetrics_scorer.score(ROWS[0], 'faithfulness')\n"
    )
    result = suite.run()
    # of the three rows one is an error, and the others are skipped by it
    result.assert_outcomes(failed=failed and 1, errors=failed and 1, skipped=2 if failed else 4, passed=1)
    assert result.ret == (1 if failed else 0)
    open_gate = "FAILED gate" if failed else "UNDECIDED gate"
    result.stdout.fnmatch_lines([f"{open_gate} 'faithfulness >= 0.5' is not decided: no row *"])


def test_a_server_that_needs_its_own_key(suite, monkeypatch) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    suite.ini(ragmetrics_llm="openrouter:a/b")
    suite.tests(MARKED)
    result = suite.run("-rs")
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(["SKIPPED * the provider 'openrouter' needs a key *"])


def test_a_key_that_is_refused_is_an_error(suite, server: OpenAIServer) -> None:
    server.responder = lambda _: error(401, "bad key")
    suite.ini()
    suite.tests(MARKED)
    result = suite.run()
    result.assert_outcomes(errors=1, skipped=2)
    assert len(server.chats) <= 3
    assert result.ret == 1


def test_no_judge_at_all_is_an_error_that_names_the_setting(suite) -> None:
    suite.ini()
    suite.tests(MARKED + "\ndef test_made(ragmetrics_scorer):\n    ragmetrics_scorer.score(ROWS[0], 'faithfulness')\n")
    result = suite.run("-rf")
    result.assert_outcomes(errors=1, skipped=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "faithfulness asks an LLM, but none is set in *: give ragmetrics_llm in the configuration of pytest*",
            "FAILED 3 tests without scores: faithfulness asks an LLM, but none is set in *: give ragmetrics_llm in *",
        ]
    )


@pytest.mark.parametrize("processes", [(), ("-n2",)], ids=["one process", "xdist"])
def test_without_a_judge_120_rows_are_one_error(suite, processes: tuple[str, ...]) -> None:
    if processes:
        pytest.importorskip("xdist")
    suite.ini()
    suite.tests(MARKED, rows="ROWS = [{'question': 'q', 'answer': 'a', 'contexts': [str(n)]} for n in range(120)]\n")
    result = suite.processes("-rs", *processes)
    result.assert_outcomes(errors=1, skipped=119)
    assert result.ret == 1
    same = "no scores: for the reason, see the error of the first test that needed them, or the end of the session"
    skipped = [line for line in result.stdout.lines if line.startswith("SKIPPED") and line.endswith(same)]
    assert sum(int(line.split("[")[1].split("]")[0]) for line in skipped) == 119


def test_the_session_fails_also_where_the_first_error_is_expected(suite) -> None:
    """The rows that are skipped by an error are not lost with it."""
    suite.ini()
    suite.tests(MARKED.replace("def test", "@pytest.mark.xfail\ndef test"))
    result = suite.run()
    result.assert_outcomes(xfailed=1, skipped=2)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAILED 3 tests without scores: faithfulness asks an LLM, but none is set in *: *"])


def test_repeats(suite, server: OpenAIServer) -> None:
    suite.ini(ragmetrics_repeats="3")
    suite.tests(MARKED.replace("pass", "assert len(ragmetrics_row['faithfulness'].details['repeats']) == 3"))
    suite.run().assert_outcomes(passed=3)
    assert len(server.chats) == 18
    suite.ini(ragmetrics_repeats="three")
    assert suite.run().ret == pytest.ExitCode.USAGE_ERROR


def test_no_key_in_any_file(suite, server: OpenAIServer) -> None:
    suite.ini()
    suite.tests(MARKED)
    suite.run().assert_outcomes(passed=3)
    for path in (suite.path / ".ragmetrics").rglob("*"):
        assert path.is_dir() or b"sk-secret" not in path.read_bytes()
