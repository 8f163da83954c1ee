"""Every row a test with its scores at hand."""

from __future__ import annotations

import json

import pytest

from ragmetrics_core import Evaluation

pytestmark = pytest.mark.slow

ANSWERS = """
@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"])
def test_answers(ragmetrics_row):
    assert_score(ragmetrics_row["faithfulness"], at_least=0.8)
"""


def test_each_row_is_a_test_and_fails_with_its_evidence(suite) -> None:
    suite.tests(ANSWERS)
    result = suite.run("-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "test_rag.py::test_answers[[]tall[]] PASSED*",
            "test_rag.py::test_answers[[]wrong[]] FAILED*",
            "test_rag.py::test_answers[[]where[]] PASSED*",
            "E * AssertionError: faithfulness 0.00 < 0.8; not supported: 'It is 450 metres tall.' (the contexts do not mention*",
        ]
    )
    assert result.ret == 1
    run = Evaluation.load(suite.path / ".ragmetrics")
    assert run["faithfulness"] == [1.0, 0.0, 1.0]
    assert list(run.places) == [f"test_rag.py::test_answers[{name}]" for name in ("tall", "wrong", "where")]


def test_what_a_row_gives(suite) -> None:
    suite.tests(
        """
@pytest.mark.ragmetrics(rows=ROWS[:1], metrics="faithfulness,answer_relevance_rating")
def test_it(ragmetrics_row):
    assert list(ragmetrics_row) == ["faithfulness", "answer_relevance_rating"]
    assert ragmetrics_row.sample.response == "It is 330 metres tall."
    assert ragmetrics_row["faithfulness"].value == 1
    assert len(ragmetrics_row) == 2
    with pytest.raises(KeyError, match="no metric 'recall' scored this row; there are faithfulness, answer_relevance_rating"):
        ragmetrics_row["recall"]
"""
    )
    suite.run().assert_outcomes(passed=1)


def test_parametrize_classes_and_modules(suite) -> None:
    """Markers add up; the closest one counts."""
    suite.tests(
        """
pytestmark = pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"])

@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_limits(ragmetrics_row, limit):
    assert_score(ragmetrics_row["faithfulness"], at_least=limit)

class TestFirst:
    pytestmark = pytest.mark.ragmetrics(rows=ROWS[:1])

    def test_it(self, ragmetrics_row):
        assert list(ragmetrics_row) == ["faithfulness"]

    @pytest.mark.ragmetrics(metrics=["answer_relevance_rating"])
    def test_other(self, ragmetrics_row):
        assert list(ragmetrics_row) == ["answer_relevance_rating"]

    def test_without_the_fixture(self):
        pass
"""
    )
    suite.run().assert_outcomes(passed=8, failed=1)
    run = Evaluation.load(suite.path / ".ragmetrics")
    assert run["faithfulness"] == [1.0, 0.0, 1.0]  # rows that several tests share are scored once
    assert [score.label for score in run.scores["answer_relevance_rating"]] == [None, "not_asked", "not_asked"]


def test_files_beside_the_test_and_ids(suite) -> None:
    folder = suite.path / "sub"
    folder.mkdir()
    rows = [
        {"q": "When?", "answer": "At nine.", "reference": "At nine."},
        {"q": "Who?", "answer": "He.", "reference": "She."},
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (suite.path / "top.jsonl").write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    suite.tests(
        """
@pytest.mark.ragmetrics(rows="rows.jsonl", metrics=["exact_match"], columns={"question": "q"})
def test_it(ragmetrics_row):
    assert ragmetrics_row.sample.user_input in ("When?", "Who?")

@pytest.mark.ragmetrics(rows="top.jsonl", metrics=["exact_match"])
def test_top(ragmetrics_row):
    pass
""",
        name="sub/test_files",
        rows="",
    )
    result = suite.run("-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        ["*::test_it[[]row1[]] PASSED*", "*::test_it[[]row2[]] PASSED*", "*::test_top[[]row1[]] PASSED*"]
    )


def test_a_generator_is_read_once(suite) -> None:
    suite.tests(
        """
@pytest.mark.ragmetrics(rows=(row for row in ROWS), metrics=["faithfulness"])
class TestAll:
    def test_one(self, ragmetrics_row): pass
    def test_two(self, ragmetrics_row): pass
"""
    )
    suite.run().assert_outcomes(passed=6)


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        (
            "rows=ROWS",
            "no metric is named: write metrics=[[]...[]], as in @pytest.mark.ragmetrics(rows=..., metrics=[[]...[]])",
        ),
        ("rows=ROWS, metrics='faithfullness'", "there is no metric 'faithfullness'; did you mean 'faithfulness'?*"),
        (
            "rows=ROWS, metric='recall'",
            "the marker ragmetrics takes rows, metrics, llm, embeddings, columns, got 'metric'",
        ),
        ("ROWS, metrics='recall'", "the marker ragmetrics takes rows, *, got a positional argument"),
        ("rows='no.jsonl', metrics='recall'", "*no.jsonl*"),
        ("rows=[], metrics='recall'", "there are no rows"),
        ("rows=[{'answer': 'x', 'response': 'y'}], metrics='recall'", "row 1: *"),
        ("rows=ROWS, metrics=[3]", "metrics must be metrics or their names, got 3"),
        (
            "metrics='recall')\n@pytest.mark.ragmetrics(rows=ROWS, metrics='faithfulness'",
            "two markers in the same place give metrics=..., so one value would be lost: merge the markers",
        ),
    ],
)
def test_markers_that_cannot_be_read(suite, marker: str, text: str) -> None:
    suite.tests(f"@pytest.mark.ragmetrics({marker})\ndef test_it(ragmetrics_row): pass\n")
    result = suite.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"test_rag.py::test_it: {text}"])
    assert not (suite.path / ".ragmetrics").exists()


def test_a_marker_about_nothing_is_no_pass(suite) -> None:
    """A forgotten ``rows=`` would judge nothing, and be green; a class may say what only some of its tests need."""
    suite.tests(
        """
@pytest.fixture
def scored(ragmetrics_scorer): return ragmetrics_scorer.score(ROWS[0])

@pytest.mark.ragmetrics(metrics=["faithfulness"])
def test_scored(scored): assert scored["faithfulness"].value == 1

@pytest.mark.ragmetrics(metrics=["faithfulness"])
class TestSome:
    def test_made(self, scored): assert scored["faithfulness"].value == 1
    def test_plain(self): pass
"""
    )
    suite.run().assert_outcomes(passed=3)
    suite.tests('@pytest.mark.ragmetrics(metrics=["faithfulness"])\ndef test_it(): pass\n', name="test_forgotten")
    result = suite.run("test_forgotten.py")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["test_forgotten.py::test_it: the marker names no rows, and the test scores none: give rows=..., or use *"]
    )


def test_a_class_comes_before_its_bases(suite) -> None:
    suite.tests(
        """
@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness"])
class TestBase:
    number = 3
    def test_it(self, ragmetrics_row): assert ragmetrics_row.sample.id in [row["id"] for row in ROWS[: self.number]]

@pytest.mark.ragmetrics(rows=ROWS[:1])
class TestDerived(TestBase):
    number = 1
"""
    )
    suite.run().assert_outcomes(passed=4)


def test_a_name_means_one_metric(suite) -> None:
    suite.tests(
        """
from ragmetrics_core.metrics import NDCG
ROW = [{"retrieved_documents": ["a"], "reference_documents": ["a"]}]

@pytest.mark.ragmetrics(rows=ROW, metrics=[NDCG(k=3)])
def test_one(ragmetrics_row): pass

@pytest.mark.ragmetrics(rows=ROW, metrics=[NDCG(k=5)])
def test_two(ragmetrics_row): pass

@pytest.mark.ragmetrics(rows=ROW, metrics=["ndcg(k=3)"])
def test_three(ragmetrics_row): pass
"""
    )
    result = suite.run("--continue-on-collection-errors")
    result.assert_outcomes(errors=1)
    assert (
        "test_rag.py::test_two: the metric 'ndcg' differs from the one of that name in test_rag.py::test_one (NDCG(k=3) there, "
        "NDCG(k=5) here): rename one of them with NDCG(name=...)\n"
    ) in result.stdout.str()


def test_the_fixture_needs_a_row(suite) -> None:
    suite.tests(
        """
import unittest

def test_it(ragmetrics_row): pass

@pytest.mark.ragmetrics(rows=ROWS, metrics="faithfulness")
class TestIt(unittest.TestCase):
    def test_it(self): pass
"""
    )
    result = suite.run()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines_random(
        [
            "ragmetrics_row needs a row: mark the test with @pytest.mark.ragmetrics(rows=..., metrics=[[]...[]])",
            "the rows of this test were not collected: a unittest.TestCase cannot get rows *",
        ]
    )


def test_a_marker_that_comes_late_is_no_pass(suite) -> None:
    """Nothing would be scored, and the test would be green."""
    suite.tests('@pytest.mark.parametrize("number", [1, 2])\ndef test_it(number): pass\n')
    suite.pytester.makeconftest(
        """
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.ragmetrics(rows=[{"answer": "a", "reference": "a"}], metrics=["exact_match"]))
"""
    )
    result = suite.run()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["the rows of this test were not collected: *a marker that is added after *"])


def test_nothing_steers_the_terminal(suite) -> None:
    """What rows, names and servers say is escaped wherever it is shown."""
    suite.tests(
        r"""
from dataclasses import dataclass
from ragmetrics_core import Metric, ModelError, Score

EVIL = "\x1b[31m\u202e\x07"

@dataclass(frozen=True)
class Broken(Metric):
    def measure(self, response: str) -> Score:
        raise ModelError(f"gone {EVIL}")

@dataclass(frozen=True)
class Length(Metric):
    scale = None
    def measure(self, response: str) -> Score:
        return Score(float(len(response)))

@pytest.mark.ragmetrics(rows=[{"id": f"a{EVIL}", "answer": EVIL, "lang": EVIL}], metrics=[Broken(), Length()])
def test_broken(ragmetrics_row):
    assert_score(ragmetrics_row["length"], at_least=100)
"""
    )
    suite.tests(
        r"""
EVIL = "\x1b[31m\u202e\x07"

@pytest.mark.ragmetrics(rows=[{EVIL: "x"}], metrics=["faithfulness"], columns={"answer": EVIL, "question": f"no {EVIL}"})
def test_columns(ragmetrics_row): pass
""",
        name="test_columns",
    )
    options = (
        "--ragmetrics-gate",
        "length >= 3",
        "--ragmetrics-by",
        "metadata.lang",
        "--continue-on-collection-errors",
    )
    result = suite.run(*options, "--tb=short")
    assert result.ret == 1
    shown = result.stdout.str()
    assert "gone \\x1b[31m\\u202e\\x07" in shown
    assert not {"\x1b", "\u202e", "\x07"} & set(shown)


def test_a_row_in_error_is_never_green(suite) -> None:
    """Whatever the test looks at, and also where it does not look at all."""
    suite.tests(
        """
from dataclasses import dataclass
from ragmetrics_core import Metric, ModelError, Score

@dataclass(frozen=True)
class Broken(Metric):
    def measure(self, response: str) -> Score:
        if response.startswith("It is 450"):
            raise ModelError("the server is gone")
        return Score(1.0)

@pytest.mark.ragmetrics(rows=ROWS, metrics=["faithfulness", Broken()])
def test_does_not_look(): pass

def test_made(ragmetrics_scorer):
    ragmetrics_scorer.score(ROWS[1], Broken())

@pytest.mark.ragmetrics(rows=ROWS[1:2], metrics=[Broken()])
@pytest.mark.xfail(strict=True, reason="known")
def test_expected(ragmetrics_row): pass

@pytest.mark.ragmetrics(rows=ROWS[1:2], metrics=[Broken()])
def test_skips_itself(ragmetrics_row): pytest.skip("no value")

@pytest.mark.ragmetrics(rows=ROWS[:1], metrics=[Broken()])
def test_skips_for_another_reason(ragmetrics_row): pytest.skip("not today")
"""
    )
    result = suite.run()
    result.assert_outcomes(passed=2, failed=3, xfailed=1, skipped=1)
    result.stdout.fnmatch_lines(["a row could not be scored: broken failed: ModelError: the server is gone"])


def test_a_row_that_a_fixture_scores_at_its_end_is_not_green_either(suite) -> None:
    suite.tests(
        """
from dataclasses import dataclass
from ragmetrics_core import Metric, ModelError, Score

@dataclass(frozen=True)
class Broken(Metric):
    def measure(self, response: str) -> Score:
        raise ModelError("the server is gone")

@pytest.fixture
def late(ragmetrics_scorer):
    yield
    ragmetrics_scorer.score(ROWS[0], Broken())

def test_late(late): pass
"""
    )
    result = suite.run()
    result.assert_outcomes(passed=1, errors=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["a row could not be scored: broken failed: ModelError: the server is gone"])


def test_a_row_shows_itself_shortly(suite) -> None:
    suite.tests(
        """
@pytest.mark.ragmetrics(rows=ROWS[:1], metrics=["faithfulness", "answer_relevance_rating"])
def test_it(ragmetrics_row):
    assert repr(ragmetrics_row) == "<row 'tall': faithfulness=1, answer_relevance_rating=1>"
"""
    )
    suite.run().assert_outcomes(passed=1)


def test_nothing_to_score_says_why(suite) -> None:
    suite.tests(
        ANSWERS, rows='ROWS = [{"question": "How tall?", "answer": "", "contexts": ["It is 330 metres tall."]}]\n'
    )
    result = suite.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * AssertionError: faithfulness was not scored: *; it should be at least 0.8"])
