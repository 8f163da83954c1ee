"""The session's gate: what it decides, and what becomes of the exit status."""

from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree as ET

import pytest

from ragmetrics_core import Evaluation

pytestmark = pytest.mark.slow

MARKED = """
@pytest.mark.ragmetrics(rows=ROWS, metrics=["token_f1"])
def test_answers(ragmetrics_row): pass
"""


def summary_of(result: pytest.RunResult) -> str:
    """The plugin's section of what a session printed; empty where there is none."""
    _, found, rest = result.stdout.str().partition(" ragmetrics ===")
    return rest.partition("\n===")[0].partition("\n")[2] if found else ""


def rows(right: int, wrong: int, **more: object) -> str:
    """Rows whose token F1 is 1 or 0."""
    answers = ["yes"] * right + ["no"] * wrong
    found = [
        {"id": f"q{number}", "question": f"{number}?", "answer": answer, "reference": "yes", **more}
        for number, answer in enumerate(answers)
    ]
    return f"ROWS = {found!r}\n"


@pytest.mark.parametrize(
    ("gate", "verdict", "status"),
    [
        ("token_f1 >= 0.5", "PASSED", 0),  # 19 of 20: Wilson from 0.764 to 0.991
        ("token_f1 >= 0.9", "UNDECIDED", 0),
        ("token_f1 <= 0.5", "FAILED", 1),
    ],
)
def test_red_turns_0_into_1_and_open_warns(suite, gate: str, verdict: str, status: int) -> None:
    suite.tests(MARKED, rows=rows(19, 1))
    result = suite.run("--ragmetrics-gate", gate)
    result.assert_outcomes(passed=20)
    assert result.ret == status
    text = summary_of(result)
    line = f"gates: 1 {verdict.lower()} {verdict} {gate}: mean 0.950, 95 % interval 0.764 to 0.991, from 20 rows"
    assert line in " ".join(text.split())
    assert "token_f1  0.950  20 of 20  0.764 to 0.991         0       0  0 to 1" in text
    assert "lowest:\n  token_f1: q19 (0)" in text


def test_in_the_configuration(suite) -> None:
    suite.tests(MARKED, rows=rows(19, 1))
    suite.ini(ragmetrics_gates="token_f1 >= 0.5\n    token_f1 >= 0.9", ragmetrics_undecided="fail")
    result = suite.run()
    result.assert_outcomes(passed=20)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gates: 1 undecided, 1 passed"])
    assert suite.run("--ragmetrics-undecided", "warn").ret == 0
    assert suite.run("--ragmetrics-gate", "token_f1 >= 0.5").ret == 0  # the command line counts alone


def test_other_exit_statuses_stay(suite) -> None:
    suite.tests("def test_red(): assert False\n" + MARKED, rows=rows(19, 1))
    assert suite.run("--ragmetrics-gate", "token_f1 <= 0.5").ret == 1
    suite.tests(MARKED + "\ndef test_interrupted(): raise KeyboardInterrupt\n", rows=rows(19, 1))
    assert suite.processes("--ragmetrics-gate", "token_f1 <= 0.5").ret == pytest.ExitCode.INTERRUPTED


def test_coverage_is_part_of_it(suite) -> None:
    """Rows without a score: not green, however good the others are."""
    suite.tests(MARKED, rows=rows(30, 0) + "ROWS += [{**ROWS[0], 'id': f'x{n}', 'answer': ''} for n in range(10)]\n")
    result = suite.run("--ragmetrics-gate", "token_f1 >= 0.5")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "FAILED token_f1 >= 0.5: 30 of 40 rows have a score (10 unscored, 0 failed),",
            "      less than min_coverage=0.9; mean 1.000, *",
        ]
    )
    assert suite.run("--ragmetrics-gate", "token_f1 >= 0.5", "--ragmetrics-min-coverage", "0.7").ret == 0


def test_slices(suite) -> None:
    other = rows(2, 18, lang="de").replace("ROWS =", "ROWS +=").replace("'q", "'de")
    suite.tests(MARKED, rows=rows(20, 0, lang="en") + other)
    result = suite.run("--ragmetrics-gate", "token_f1 >= 0.4", "--ragmetrics-by", "metadata.lang")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gates: 1 failed, 1 undecided, 1 passed", "FAILED token_f1 >= 0.4, lang=de: *"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--ragmetrics-gate", "token_f1 > 0.5"), "--ragmetrics-gate: gate 'token_f1 > 0.5': write >= or <= *"),
        (("--ragmetrics-gate", "token_f1 drop <= 0.1"), "--ragmetrics-gate: 'token_f1 drop <= 0.1' needs a run *"),
        (("--ragmetrics-baseline", "gone"), "--ragmetrics-baseline: there is no */gone"),
        (("--ragmetrics-undecided", "pass"), "ragmetrics_undecided must be 'warn' or 'fail', got 'pass'"),
        (
            ("--ragmetrics-min-coverage", "90"),
            "ragmetrics_min_coverage must be a share of the rows, from 0 to 1, got 90",
        ),
        (("--ragmetrics-max-failed", "few"), "ragmetrics_max_failed must be a number, got 'few'"),
    ],
)
def test_what_cannot_be_decided_is_refused_before_anything_is_scored(
    suite, options: tuple[str, ...], text: str
) -> None:
    suite.tests(MARKED, rows=rows(2, 0))
    result = suite.run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {text}"])
    assert not (suite.path / ".ragmetrics").exists()


def test_a_gate_about_no_metric_of_the_session(suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undecided here, an error in continuous integration, where warnings are not read."""
    suite.tests(MARKED, rows=rows(2, 0))
    text = "gate 'recall >= 0.5' is not decided: no row of this session has a score of recall"
    result = suite.run("--ragmetrics-gate", "recall >= 0.5")
    assert (result.ret, f"UNDECIDED {text}\n" in result.stdout.str()) == (0, True)
    monkeypatch.setenv("CI", "true")
    result = suite.run("--ragmetrics-gate", "recall >= 0.5")
    assert (result.ret, f"FAILED {text}\n" in result.stdout.str()) == (1, True)


def test_a_gate_on_the_command_line_is_not_forgotten(suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gates of this session count, even if nothing was scored."""
    suite.tests("def test_it(): pass\n" + MARKED, rows=rows(2, 0))
    options = ("-k", "test_it", "--ragmetrics-gate", "token_f1 >= 0.5")
    text = "gate 'token_f1 >= 0.5' is not decided: no row of this session has a score of token_f1"
    result = suite.run(*options)
    assert (result.ret, f"UNDECIDED {text}\n" in result.stdout.str()) == (0, True)
    monkeypatch.setenv("CI", "true")
    result = suite.run(*options)
    assert (result.ret, f"FAILED {text}\n" in result.stdout.str()) == (1, True)
    assert not (suite.path / ".ragmetrics").exists()
    assert suite.run("--collect-only", *options).ret == 0


def test_in_pyproject(suite) -> None:
    suite.tests(MARKED, rows=rows(19, 1))
    (suite.path / "pytest.ini").unlink()
    lines = ['ragmetrics_gates = ["token_f1 >= 0.5", "token_f1 <= 0.5"]', "ragmetrics_min_coverage = 0.8"]
    usual = 'asyncio_default_fixture_loop_scope = "function"'
    suite.pytester.makepyprojecttoml("\n".join(["[tool.pytest.ini_options]", usual, *lines]))
    result = suite.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gates: 1 failed, 1 passed"])


@pytest.mark.parametrize("name", ["ragmetrics_gates", "ragmetrics_gate"])
def test_the_setting_has_two_names(suite, name: str) -> None:
    """pytest only warns of a setting that it does not know."""
    suite.tests(MARKED, rows=rows(19, 1))
    suite.ini(**{name: "token_f1 <= 0.5"})
    assert suite.run().ret == 1


def test_a_limit_off_the_scale(suite) -> None:
    suite.tests(MARKED, rows=rows(2, 0))
    result = suite.run("--ragmetrics-gate", "token_f1 >= 80")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAILED gate 'token_f1 >= 80': the scale of token_f1 is 0 to 1, and 80 is outside it"])


def test_sessions_without_rows_have_no_gates(suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration is that of all sessions, also of unit tests in a separate job."""
    monkeypatch.setenv("CI", "true")
    suite.tests("def test_it(): pass\n", rows="")
    suite.ini(ragmetrics_gates="token_f1 >= 0.5")
    result = suite.run()
    assert (result.ret, summary_of(result)) == (0, "")


def test_rows_chosen_by_their_outcome_decide_nothing(suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that failed last time are not like the others: a gate over them alone would be red."""
    suite.tests(MARKED.replace("pass", "assert_score(ragmetrics_row['token_f1'], at_least=1)"), rows=rows(15, 5))
    assert "gates: 1 passed" in suite.run("--ragmetrics-gate", "token_f1 >= 0.5").stdout.str()
    result = suite.run("--lf", "--ragmetrics-gate", "token_f1 >= 0.5")
    result.assert_outcomes(failed=5)
    text = summary_of(result)
    assert "UNDECIDED no gate is decided: --lf chooses tests by their last outcome" in text
    assert "gates:" not in text
    suite.tests(MARKED, rows=rows(15, 5))
    assert suite.run("--lf", "--ragmetrics-gate", "token_f1 >= 0.5").ret == 0
    monkeypatch.setenv("CI", "true")
    assert suite.run("--lf", "--ragmetrics-gate", "token_f1 >= 0.5").ret == 1


def test_junit(suite) -> None:
    suite.tests(MARKED, rows=rows(19, 1))
    suite.run("--junit-xml=report.xml", "--ragmetrics-gate", "token_f1 >= 0.5")
    root = ET.parse(suite.path / "report.xml").getroot()[0]
    assert {item.get("name"): item.get("value") for item in root.find("properties") or ()} == {
        "ragmetrics.run_dir": str(suite.path / ".ragmetrics"),
        "ragmetrics.token_f1.rows": "20 of 20",
        "ragmetrics.token_f1.mean": "0.95",
        "ragmetrics.token_f1.interval": "0.763869 to 0.991119",
        "ragmetrics.gate: token_f1 >= 0.5": "passed",
    }


class TestBaseline:
    def sessions(self, suite, before: str, after: str, *options: str) -> pytest.RunResult:
        suite.tests(MARKED, rows=before)
        suite.run().assert_outcomes(passed=40)
        shutil.move(suite.path / ".ragmetrics", suite.path / "main")
        suite.tests(MARKED, rows=after)
        return suite.run("--ragmetrics-baseline", "main", *options)

    def test_a_metric_that_is_worse_beyond_doubt_fails(self, suite) -> None:
        result = self.sessions(suite, rows(40, 0), rows(20, 20))
        assert result.ret == 1
        result.stdout.fnmatch_lines(
            ["compared with main: 40 pairs of rows", "token_f1: worse; *", "FAILED token_f1 is worse than in main: *"]
        )

    def test_no_change_passes(self, suite) -> None:
        result = self.sessions(suite, rows(30, 10), rows(30, 10), "--junit-xml=report.xml")
        assert result.ret == 0
        assert "FAILED" not in summary_of(result)
        found = ET.parse(suite.path / "report.xml").getroot()[0].find("properties") or ()
        assert {"name": "ragmetrics.compared: token_f1", "value": "cannot say"} in [item.attrib for item in found]

    @pytest.mark.parametrize(
        ("gate", "verdict", "status"), [("drop <= 0.8", "PASSED", 0), ("drop <= 0.1", "FAILED", 1)]
    )
    def test_gates_on_a_drop(self, suite, gate: str, verdict: str, status: int) -> None:
        """20 of 40 rows have fallen from 1 to 0."""
        result = self.sessions(suite, rows(40, 0), rows(20, 20), "--ragmetrics-gate", f"token_f1 {gate}")
        assert result.ret == status
        result.stdout.fnmatch_lines([f"{verdict} token_f1 {gate}: drop 0.500, 95 % interval *"])

    def test_all_gates_are_decided_together(self, suite) -> None:
        options = ("--ragmetrics-gate", "token_f1 >= 0.9", "--ragmetrics-gate", "token_f1 drop <= 0.1")
        result = self.sessions(suite, rows(40, 0), rows(20, 20), *options)
        assert result.ret == 1
        result.stdout.fnmatch_lines(
            ["gates: 2 failed", "FAILED token_f1 >= 0.9: mean 0.500, *", "FAILED token_f1 drop <= 0.1: *"]
        )
        assert "when adjusted for the number of gates" in " ".join(summary_of(result).split())

    def test_it_cannot_be_known(self, suite) -> None:
        """Two of 40 rows have fallen: open, and so red only where that is set."""
        result = self.sessions(suite, rows(40, 0), rows(38, 2), "--ragmetrics-undecided", "fail")
        assert result.ret == 1
        result.stdout.fnmatch_lines(
            ["UNDECIDED it is undecided whether token_f1 is worse than in *main: only 2 of 40 *"]
        )
        assert suite.run("--ragmetrics-baseline", "main").ret == 0

    def test_another_judge(self, suite, monkeypatch: pytest.MonkeyPatch) -> None:
        """What differs may come from it: undecided at a desk, red in continuous integration."""
        text = MARKED.replace('["token_f1"]', "[FirstLetters(length=1)]")
        letters = """
from dataclasses import dataclass
from ragmetrics_core import Metric, Score

@dataclass(frozen=True)
class FirstLetters(Metric):
    length: int = 1
    def measure(self, response: str, reference: str) -> Score:
        return Score(float(response[:self.length] == reference[:self.length]))
"""
        suite.tests(letters + text, rows=rows(40, 0))
        suite.run().assert_outcomes(passed=40)
        shutil.move(suite.path / ".ragmetrics", suite.path / "main")
        suite.tests(letters + text.replace("length=1", "length=2"), rows=rows(20, 20))
        result = suite.run("--ragmetrics-baseline", "main")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["UNDECIDED first_letters was not compared with *main: *"])
        monkeypatch.setenv("CI", "true")
        assert suite.run("--ragmetrics-baseline", "main").ret == 1

    def test_tests_that_are_chosen_are_no_drop(self, suite) -> None:
        options = ("-k", "q1", "--ragmetrics-gate", "token_f1 drop <= 0.1")
        result = self.sessions(suite, rows(40, 0), rows(20, 20), *options)
        assert result.ret == 0
        text = "no drop is decided: 29 of 40 rows of *main are not in this session, as -k chooses tests"
        result.stdout.fnmatch_lines(
            ["compared with main: 11 pairs of rows", "29 rows are only in the baseline", f"UNDECIDED {text}"]
        )
        named = suite.run("test_rag.py::test_answers[q1]", "--ragmetrics-baseline", "main", *options[2:])
        named.stdout.fnmatch_lines(
            ["UNDECIDED no drop is decided: 39 of 40 rows of *, as test_rag.py::* chooses tests"]
        )

    def test_a_file_that_is_no_run_is_refused_before_anything_is_scored(self, suite) -> None:
        suite.tests(MARKED, rows=rows(2, 0))
        (suite.path / "main.jsonl").write_text("nothing\n", encoding="utf-8")
        result = suite.run("--ragmetrics-baseline", "main.jsonl")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: --ragmetrics-baseline: *main.jsonl*"])
        assert not (suite.path / ".ragmetrics").exists()

    @pytest.mark.parametrize(
        ("options", "verdict"),
        [
            ((), "was not compared with"),
            (("--ragmetrics-gate", "token_f1 drop <= 0.5"), "token_f1 drop <= 0.5 is not decided"),
        ],
    )
    def test_where_the_judge_of_the_baseline_is_not_known(self, suite, monkeypatch, options, verdict) -> None:
        assert self.sessions(suite, rows(40, 0), rows(40, 0)).ret == 0
        shutil.copy(suite.path / "main" / "scores.jsonl", suite.path / "alone.jsonl")
        for ci, status in (("true", 1), (None, 0)):
            monkeypatch.setenv("CI", ci) if ci else monkeypatch.delenv("CI", raising=False)
            result = suite.run("--ragmetrics-baseline", "alone.jsonl", *options)
            assert result.ret == status
            text = " ".join(summary_of(result).split())
            assert (verdict if ci or not options else "UNDECIDED token_f1 drop <= 0.5") in text
            assert "only scores are known of " in text
            assert ": whether the settings are the same is not known (token_f1)" in text

    def test_a_damaged_run_is_refused_before_anything_is_scored(self, suite) -> None:
        result = self.sessions(suite, rows(40, 0), rows(40, 0))
        assert result.ret == 0
        scores = suite.path / "main" / "scores.jsonl"
        scores.write_text("".join(scores.read_text(encoding="utf-8").splitlines(keepends=True)[:6]), encoding="utf-8")
        result = suite.run("--ragmetrics-baseline", "main")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            [
                "ERROR: --ragmetrics-baseline: *main: scores.jsonl is damaged: the run ended with 40 rows, and 6 are there: *"
            ]
        )

    def test_a_run_that_stopped_when_its_gates_were_decided_is_refused(self, suite) -> None:
        self.sessions(suite, rows(40, 0), rows(40, 0))
        account = suite.path / "main" / "run.json"
        account.write_text(json.dumps({**json.loads(account.read_text()), "left": 60}))
        result = suite.run("--ragmetrics-baseline", "main")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*main stopped when its gates were decided, before 60 of its rows*biased*"])

    def test_a_test_that_leaves_another_directory(self, suite) -> None:
        suite.tests(MARKED, rows=rows(40, 0))
        suite.run().assert_outcomes(passed=40)
        shutil.move(suite.path / ".ragmetrics", suite.path / "main")
        suite.path.joinpath("else").mkdir()
        suite.tests(MARKED + "\ndef test_moves(): __import__('os').chdir('else')\n", rows=rows(20, 20))
        result = suite.processes("--ragmetrics-baseline", "main")
        assert result.ret == 1
        result.stdout.fnmatch_lines(["FAILED token_f1 is worse than in *main: *"])

    def test_runs_without_a_row_in_common(self, suite, monkeypatch: pytest.MonkeyPatch) -> None:
        other = rows(40, 0).replace("'id': 'q", "'id': 'other").replace("?'", "??'")
        assert self.sessions(suite, rows(40, 0), other).ret == 0
        monkeypatch.setenv("CI", "1")
        result = suite.run("--ragmetrics-baseline", "main")
        assert result.ret == 1
        result.stdout.fnmatch_lines(["FAILED the session was not compared with *main: *"])

    def test_the_directory_of_the_session_is_no_baseline(self, suite) -> None:
        suite.tests(MARKED, rows=rows(2, 0))
        suite.run()
        for baseline in (".ragmetrics", ".ragmetrics/scores.jsonl"):
            result = suite.run("--ragmetrics-baseline", baseline)
            assert result.ret == pytest.ExitCode.USAGE_ERROR
            result.stderr.fnmatch_lines(
                ["*is in the directory of this session, which would overwrite it: copy it to another place*"]
            )


def test_the_run_is_there_for_every_command(suite) -> None:
    suite.tests(MARKED, rows=rows(19, 1))
    result = suite.run()
    result.stdout.fnmatch_lines([f"run: {suite.path / '.ragmetrics'} (ragmetrics show, report and compare read it)"])
    run = Evaluation.load(suite.path / ".ragmetrics")
    assert run.gate("token_f1 >= 0.5").passed
    assert run.compare(run).metrics[0].pairs == 20
    assert run.stopped is None
