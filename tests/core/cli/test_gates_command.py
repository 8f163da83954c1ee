"""``ragmetrics evaluate --gate``: what is printed, and the status that it ends with."""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from core.cli.calling import call

NUMBER = '''
from dataclasses import dataclass
from ragmetrics_core import Metric, Score

@dataclass(frozen=True)
class Number(Metric):
    """The number that the response is."""

    def measure(self, response: str) -> Score:
        if response == "none":
            return Score.unscored("there is no number")
        return Score.failed("it is no number") if response == "bad" else Score(float(response))
'''

NAME = "numbers_of_gates:Number"

Rows = Callable[[Iterable[object]], None]


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rows:
    """Writes a file of these responses into the current directory, where the metric is too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "numbers_of_gates", raising=False)
    (tmp_path / "numbers_of_gates.py").write_text(NUMBER)

    def write(responses: Iterable[object]) -> None:
        lines = [
            json.dumps({"response": str(response), "lang": "de" if index % 2 else "en", "document": index // 5})
            for index, response in enumerate(responses)
        ]
        (tmp_path / "q.jsonl").write_text("\n".join(lines))

    return write


def evaluate(*options: str) -> tuple[int, str, str]:
    """The status, what follows the summary, and what stands on stderr."""
    result = call("evaluate", "q.jsonl", "-m", NAME, *options)
    _, _, gates = result.stdout.rpartition("\n\n")
    return result.exit_code, gates, result.stderr


class TestStatus:
    def test_passed(self, rows: Rows) -> None:
        rows([1] * 40)
        assert evaluate("--gate", "number >= 0.8") == (
            0,
            "gates: 1 passed\nPASSED number >= 0.8: mean 1.000, 95 % interval 0.912 to 1.000, from 40 rows\n",
            "",
        )

    def test_failed(self, rows: Rows) -> None:
        rows([0, 1] * 20)
        assert evaluate("--gate", "number >= 0.8") == (
            1,
            "gates: 1 failed\nFAILED number >= 0.8: mean 0.500, 95 % interval 0.352 to 0.648, from 40 rows\n",
            "ragmetrics: failed: number >= 0.8\n",
        )

    @pytest.mark.parametrize(
        ("options", "status", "more"),
        [
            (
                (),
                3,
                (
                    "; a new run of more rows may decide (fix the number before you look); "
                    "--undecided pass or --undecided fail decides now"
                ),
            ),
            (("--undecided", "pass"), 0, ""),
            (("--undecided", "fail"), 1, ""),
        ],
    )
    def test_undecided(self, rows: Rows, options: tuple[str, ...], status: int, more: str) -> None:
        rows([0, 1, 1, 1, 1] * 8)
        assert evaluate("--gate", "number >= 0.75", *options) == (
            status,
            (
                "gates: 1 undecided\n"
                "UNDECIDED number >= 0.75: mean 0.800, 95 % interval 0.652 to 0.895, from 40\n"
                "      rows; given a true mean of 0.800 (as seen), a new run of about 590 rows\n"
                "      would decide in 80 % of cases (fix the number before you look); with 40\n"
                "      rows, a true mean of 0.961 passes in 80 % of cases\n"
            ),
            f"ragmetrics: undecided: number >= 0.75{more}\n",
        )

    def test_failed_and_undecided_is_failed(self, rows: Rows) -> None:
        rows([0, 1, 1, 1, 1] * 8)
        gates = ("--gate", "number >= 0.75", "--gate", "number >= 0.99")
        for options in ((), ("--undecided", "pass")):
            status, _, message = evaluate(*gates, *options)
            assert (status, message) == (1, "ragmetrics: failed: number >= 0.99; undecided: number >= 0.75\n")

    def test_a_least_mean_that_is_missed_comes_before_an_undecided_gate(self, rows: Rows) -> None:
        rows([0, 1, 1, 1, 1] * 8)
        status, _, message = evaluate("--gate", "number >= 0.75", "--fail-under", "number=0.95")
        assert (status, message) == (
            1,
            (
                "ragmetrics: number is 0.8, under 0.95 (95 % interval 0.652 to 0.895); undecided: number >= 0.75; a new "
                "run of more rows may decide (fix the number before you look); --undecided pass or --undecided fail decides now\n"
            ),
        )

    def test_both_pass(self, rows: Rows) -> None:
        rows([1] * 40)
        assert evaluate("--gate", "number >= 0.8", "--fail-under", "number=0.5") == (
            0,
            (
                "fail-under: number is 1, not under 0.5 (95 % interval 0.912 to 1.000)\n"
                "gates: 1 passed\n"
                "PASSED number >= 0.8: mean 1.000, 95 % interval 0.912 to 1.000, from 40 rows\n"
            ),
            "",
        )

    def test_a_metric_that_failed_on_every_row_ends_with_2(self, rows: Rows) -> None:
        rows(["bad"] * 3)
        status, gates, message = evaluate("--gate", "number >= 0.8")
        assert (status, gates) == (
            2,
            "gates: 1 failed\nFAILED number >= 0.8: none of 3 rows has a score (0 unscored, 3 failed)\n",
        )
        assert message.startswith("ragmetrics: number failed on every row: it is no number")

    def test_a_metric_with_nothing_to_score_fails(self, rows: Rows) -> None:
        rows(["none"] * 3)
        assert evaluate("--gate", "number >= 0.8", "--min-coverage", "0", "--undecided", "pass") == (
            1,
            "gates: 1 failed\nFAILED number >= 0.8: none of 3 rows has a score (3 unscored, 0 failed)\n",
            "ragmetrics: failed: number >= 0.8\n",
        )


class TestConditions:
    def test_too_many_failures_are_never_green(self, rows: Rows) -> None:
        rows([1] * 37 + ["bad"] * 3)
        status, gates, _ = evaluate("--gate", "number >= 0.8", "--undecided", "pass")
        assert (status, gates) == (
            1,
            (
                "gates: 1 failed\n"
                "FAILED number >= 0.8: 3 of 40 rows failed, more than --max-failed 0.05; mean\n"
                "      1.000, 95 % interval 0.906 to 1.000, from 37 of 40 rows\n"
            ),
        )
        assert evaluate("--gate", "number >= 0.8", "--max-failed", "0.1")[0] == 0

    def test_a_run_that_ended_early_is_never_green(self, rows: Rows) -> None:
        data = Path(__file__).resolve().parents[3] / "examples" / "questions.jsonl"
        gate = ("--gate", "faithfulness >= 0.01", "--undecided", "pass")
        result = call("evaluate", data, "-m", "faithfulness", "--llm", "lexical", "--budget", "calls=4", *gate)
        assert (result.exit_code, result.stderr) == (
            2,
            "ragmetrics: the budget of 4 calls is used up (with --run-dir DIR, the next run would go on from here)\n",
        )
        assert result.stdout.endswith(
            "\n\ngates: 1 failed\n"
            "FAILED faithfulness >= 0.01: the run is not complete: the budget of 4 calls is\n"
            "      used up; mean 0.909, 95 % interval 0.048 to 0.999, from 2 rows\n"
        )

    def test_too_few_scores_are_never_green(self, rows: Rows) -> None:
        rows([1] * 30 + ["none"] * 10)
        status, gates, _ = evaluate("--gate", "number >= 0.8", "--undecided", "pass")
        assert (status, gates) == (
            1,
            (
                "gates: 1 failed\n"
                "FAILED number >= 0.8: 30 of 40 rows have a score (10 unscored, 0 failed), less\n"
                "      than --min-coverage 0.9; mean 1.000, 95 % interval 0.886 to 1.000, from 30\n"
                "      of 40 rows\n"
            ),
        )
        assert evaluate("--gate", "number >= 0.8", "--min-coverage", "0.75")[0] == 0


class TestSlicesAndClusters:
    def test_slices(self, rows: Rows) -> None:
        rows([0 if index % 2 else 1 for index in range(80)])
        status, gates, message = evaluate("--gate", "number >= 0.6", "--by", "lang")
        assert (status, message) == (1, "ragmetrics: failed: number >= 0.6, lang=de; undecided: number >= 0.6\n")
        assert gates == (
            "gates: 1 failed, 1 undecided, 1 passed\n"
            "FAILED number >= 0.6, lang=de: mean 0.000, 95 % interval 0.000 to 0.088, from\n"
            "      40 rows; 0.000 to 0.125 when adjusted for the number of gates\n"
            "UNDECIDED number >= 0.6: mean 0.500, 95 % interval 0.393 to 0.607, from 80\n"
            "      rows; given a true mean of 0.500 (as seen), a new run of about 230 rows\n"
            "      would decide in 80 % of cases (fix the number before you look); with 80\n"
            "      rows, a true mean of 0.753 passes in 80 % of cases\n"
            "PASSED number >= 0.6, lang=en: mean 1.000, 95 % interval 0.912 to 1.000, from\n"
            "      40 rows\n"
        )

    def test_clusters(self, rows: Rows) -> None:
        rows([1] * 32 + [0] * 8)
        assert evaluate("--gate", "number >= 0.6")[0] == 0
        status, gates, _ = evaluate("--gate", "number >= 0.6", "--cluster", "metadata.document")
        assert status == 3
        said = "from 40\n      rows in 8 clusters; given a true mean of 0.800 (as seen), a new run of\n"
        assert f"{said}      about 270 rows in 54 clusters" in gates

    def test_a_column_that_is_not_there_costs_nothing(self, rows: Rows) -> None:
        rows([1] * 40)
        result = call(
            "evaluate", "q.jsonl", "-m", NAME, "--gate", "number >= 0.8", "--by", "langue", "--out", "s.jsonl"
        )
        assert (result.exit_code, result.stderr) == (
            2,
            (
                "ragmetrics: --by langue: no row has it; columns of the metadata: lang, document; fields have their own "
                "names, such as 'user_input'\n"
            ),
        )
        assert result.stdout == ""
        assert not Path("s.jsonl").exists()


def test_where_scores_go_to_stdout_the_gates_follow_the_table(rows: Rows) -> None:
    rows([1] * 40)
    result = call("evaluate", "q.jsonl", "-m", NAME, "--gate", "number >= 0.8", "--out", "-")
    assert len(result.stdout.splitlines()) == 40
    assert result.stderr.endswith(
        "\n\ngates: 1 passed\nPASSED number >= 0.8: mean 1.000, 95 % interval 0.912 to 1.000, from 40 rows\n"
    )


def test_a_name_never_steers_the_terminal(rows: Rows) -> None:
    rows([1] * 40)
    name = "a >= \x1b[2J b"
    result = call("evaluate", "q.jsonl", "-m", f"{NAME}(name={name!r})", "--gate", f"{name} >= 0.8")
    assert (result.exit_code, "\x1b" in result.stdout) == (0, False)
    assert r"PASSED a >= \x1b[2J b >= 0.8: mean 1.000" in result.stdout
    result = call("evaluate", "q.jsonl", "-m", f"{NAME}(name={name!r})", "--gate", f"{name} >= 8")
    assert result.stderr == (
        "ragmetrics: --gate 'a >= \\x1b[2J b >= 8': the scale of a >= \\x1b[2J b is 0 to 1, and 8 is outside it\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--gate", "number > 0.8"],
            "--gate 'number > 0.8': write >= or <= instead of >",
        ),
        (
            ["--gate", "number"],
            (
                "--gate 'number': write METRIC >= NUMBER or METRIC <= NUMBER, such as 'faithfulness >= 0.8' (in quotes: a shell "
                "takes > and < for itself)"
            ),
        ),
        (
            ["--gate", "numbr >= 0.8"],
            "--gate 'numbr >= 0.8': 'numbr' is not among the metrics: number; did you mean 'number'?",
        ),
        (["--gate", "number >= 80"], "--gate 'number >= 80': the scale of number is 0 to 1, and 80 is outside it"),
        (
            ["--gate", "number drop <= 0.1"],
            "--gate 'number drop <= 0.1': a drop needs two runs, and this is only one: compare it with another run",
        ),
        (["--by", " "], "--by must name a column, such as 'metadata.lang', got ' '"),
        (
            ["--max-failed", "0", "--fail-under", "number=0.5"],
            "--max-failed only applies to gates: add --gate 'METRIC >= NUMBER', or leave --max-failed out",
        ),
        (["--gate", "number >= 0.8", "--undecided", "maybe"], "--undecided must be pass or fail, got 'maybe'"),
        (
            ["--gate", "number >= 0.8", "--min-coverage", "90"],
            "--min-coverage must be a share of the rows, from 0 to 1, got 90.0",
        ),
        (
            ["--gate", "number >= 0.8", "--cluster", "."],
            "--cluster must name a column, such as 'metadata.lang', got '.'",
        ),
    ],
)
def test_what_is_refused_before_anything_is_scored(rows: Rows, options: list[str], message: str) -> None:
    rows(["bad"])
    result = call("evaluate", "q.jsonl", "-m", NAME, *options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"ragmetrics: {message}\n")


def test_files_to_look_at_show_the_gates_too(rows: Rows, tmp_path: Path) -> None:
    rows([0, 1] * 20)
    for name in ("page.html", "comment.md"):
        status, gates, _ = evaluate("--gate", "number >= 0.8", "--out", name)
        shown = " ".join(html.unescape(re.sub("<[^>]*>", "", (tmp_path / name).read_text())).split())
        why = " ".join(gates.split()).partition("number >= 0.8: ")[2]
        assert status == 1
        assert re.search(r"(?i)gates: 1 failed", shown)
        assert f"number >= 0.8: {why}" in shown
    evaluate("--out", "page.html")
    assert "gates-title" not in (tmp_path / "page.html").read_text()


def numbered() -> list[str]:
    """Number the rows, and return their lines."""
    lines = [json.loads(line) for line in Path("q.jsonl").read_text().splitlines()]
    texts = [json.dumps({"id": number, **line}) for number, line in enumerate(lines)]
    Path("q.jsonl").write_text("\n".join(texts))
    return texts


class TestStopWhenDecided:
    def test_it_stops_with_the_verdict(self, rows: Rows) -> None:
        rows([1] * 100)
        status, gates, _ = evaluate("--gate", "number >= 0.5", "--stop-when-decided")
        assert status == 0
        assert "PASSED number >= 0.5" in gates
        result = call("evaluate", "q.jsonl", "-m", NAME, "--gate", "number >= 0.5", "--stop-when-decided")
        assert re.search(r"stopped after \d+ of 100 rows, drawn at random", result.stdout)

    def test_red_has_status_1_and_undecided_3(self, rows: Rows) -> None:
        rows([0, 1] * 50)
        assert evaluate("--gate", "number >= 0.9", "--stop-when-decided")[0] == 1
        status, gates, stderr = evaluate("--gate", "number >= 0.5", "--stop-when-decided")
        assert status == 3
        assert "not decided by any of its rows" in " ".join(gates.split())
        assert "a new run of more rows may decide; --undecided pass" in stderr

    def test_a_drop_from_a_baseline(self, rows: Rows) -> None:
        rows([1] * 200)
        numbered()
        evaluate("--run-dir", "before")
        options = ("--stop-when-decided", "--baseline", "before", "--cluster", "document", "--by", "lang")
        status, gates, stderr = evaluate("--gate", "number drop <= 0.3", *options)
        assert (status, stderr) == (0, "")
        assert gates.count("PASSED") == 3

    @pytest.mark.usefixtures("rows")
    def test_a_baseline_whose_judge_is_not_known_is_refused_before_anything_is_scored(self, rows: Rows) -> None:
        rows([1] * 100)
        numbered()
        evaluate("--out", "before.jsonl")
        gate = (
            "--gate",
            "number drop <= 0.3",
            "--stop-when-decided",
            "--baseline",
            "before.jsonl",
            "--run-dir",
            "after",
        )
        status, _, stderr = evaluate(*gate)
        assert status == 2
        assert "--baseline: only scores are known of before.jsonl" in stderr
        assert "score it again as this run, or give --allow-different-judges" in stderr
        assert not Path("after").exists()
        assert evaluate(*gate, "--allow-different-judges")[0] == 0

    def test_its_estimate_is_an_upper_limit(self) -> None:
        lines = ({"question": f"Is it {number}?", "answer": "It is.", "contexts": ["It is."]} for number in range(9))
        Path("q.jsonl").write_text("\n".join(map(json.dumps, lines)))
        options = ("evaluate", "q.jsonl", "-m", "faithfulness", "--gate", "faithfulness >= 0.5", "--dry-run")
        limit = "upper limit: for all rows; the run stops as soon as its gates are decided"
        assert limit in call(*options, "--stop-when-decided").stdout
        assert limit not in call(*options).stdout

    def test_rows_that_only_the_baseline_has_count_in_a_mean(self, rows: Rows) -> None:
        rows([1] * 200)
        lines = numbered()
        evaluate("--run-dir", "before")
        Path("q.jsonl").write_text("\n".join(lines[:100]))
        options = ("--gate", "number >= 0.6", "--stop-when-decided", "--baseline", "before")
        status, gates, _ = evaluate(*options)
        assert (status, "100 of 200 rows have a score" in gates, "less than --min-coverage 0.9" in gates) == (
            1,
            True,
            True,
        )
        status, gates, _ = evaluate(*options, "--min-coverage", "0.5")
        assert (status, "100 rows of the first run are not in the second" in " ".join(gates.split())) == (3, True)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--stop-when-decided",), "--stop-when-decided needs a gate: add --gate 'METRIC >= NUMBER'"),
            (("--baseline", "before"), "--baseline only applies to --stop-when-decided"),
            (("--allow-different-judges",), "--allow-different-judges only applies to --stop-when-decided"),
            (("--stop-when-decided", "--gate", "number drop <= 0.1"), "a drop needs two runs"),
        ],
    )
    def test_options_that_lack_another(self, rows: Rows, options: tuple[str, ...], message: str) -> None:
        rows([1])
        status, _, stderr = evaluate(*options)
        assert (status, message in stderr) == (2, True)
