"""``ragmetrics evaluate``: tables, gates, exit status, and one clear line for everything that cannot be."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from core.cli.calling import call
from core.cli.own import OWN, OWN_METRIC, timeless

FAILING = """
from dataclasses import dataclass
from ragmetrics_core import Metric, ModelError, Score

@dataclass(frozen=True)
class Failing(Metric):
    "A metric whose model cannot be reached."

    def measure(self, response: str) -> Score:
        if response == "?":
            return Score.unscored("the response is a question mark")
        raise ModelError("no server listens")
"""

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "questions.jsonl"


class TestOwnMetric:
    def test_table(self, own_table: str) -> None:
        result = call("evaluate", "q.jsonl", "--metrics", OWN)
        assert (result.exit_code, result.stderr, timeless(result.stdout)) == (0, "", own_table)

    def test_settings_and_name(self, folder: Path) -> None:
        result = call("evaluate", "q.jsonl", "--limit", "1", "-m", f"{OWN}(limit=20), {OWN}(limit=5, name='five')")
        assert [line.split()[:2] for line in result.stdout.splitlines()[5:]] == [
            ["shortness", "0.750"],
            ["five", "0.000"],
        ]

    def test_out(self, folder: Path) -> None:
        result = call("evaluate", "q.jsonl", "--metrics", OWN, "--out", "scores.jsonl")
        assert result.exit_code == 0
        rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
        assert [row["scores"]["shortness"]["value"] for row in rows] == [0.5, None, None, pytest.approx(0.1)]
        assert [row["place"] for row in rows] == [f"q.jsonl, line {number}" for number in (1, 2, 3, 4)]

    @pytest.mark.parametrize("name", ["scores.parquet", "scores.PQ"])
    def test_out_as_parquet(self, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        assert call("evaluate", "q.jsonl", "--metrics", OWN, "--out", name).exit_code == 0
        values = parquet.read_table(folder / name)["shortness"].to_pylist()
        assert values == [0.5, None, None, pytest.approx(0.1)]
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        without = call("evaluate", "q.jsonl", "--metrics", OWN, "--out", "other.parquet")
        needs = 'ragmetrics: --out other.parquet needs pyarrow: pip install "ragmetrics-core[parquet]"\n'
        assert (without.exit_code, without.stdout, without.stderr) == (2, "", needs)

    @pytest.mark.parametrize(
        ("gate", "status", "line", "message"),
        [
            (
                "shortness=0.3",
                0,
                (
                    "\nfail-under: shortness is 0.3, not under 0.3 (95 % interval 0.003 to 0.985, so\n"
                    "      this may be chance: --gate decides on the interval)\n"
                ),
                "",
            ),
            (
                " shortness = 0 ",
                0,
                "\nfail-under: shortness is 0.3, not under 0 (95 % interval 0.003 to 0.985)\n",
                "",
            ),
            (
                "shortness=0.31",
                1,
                "",
                (
                    "ragmetrics: shortness is 0.3, under 0.31 (95 % interval 0.003 to 0.985, so this may be chance: --gate "
                    "decides on the interval)\n"
                ),
            ),
            (
                "shortness=0.99",
                1,
                "",
                "ragmetrics: shortness is 0.3, under 0.99 (95 % interval 0.003 to 0.985)\n",
            ),
        ],
    )
    def test_least_mean(self, own_table: str, gate: str, status: int, line: str, message: str) -> None:
        result = call("evaluate", "q.jsonl", "--metrics", OWN, "--fail-under", gate)
        assert (result.exit_code, timeless(result.stdout), result.stderr) == (status, own_table + line, message)

    @pytest.mark.parametrize("gates", [("0.1", "0.9"), ("0.9", "0.1")])
    def test_the_highest_of_several_least_means_counts(self, folder: Path, gates: tuple[str, str]) -> None:
        options = [word for gate in gates for word in ("--fail-under", f"shortness={gate}")]
        result = call("evaluate", "q.jsonl", "-m", OWN, *options)
        assert (result.exit_code, result.stderr[:41]) == (1, "ragmetrics: shortness is 0.3, under 0.9 (")

    def test_a_mean_of_one_row(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": "12345"}\n')
        result = call("evaluate", "q.jsonl", "-m", OWN, "--fail-under", "shortness=0.6")
        assert result.stderr == "ragmetrics: shortness is 0.5, under 0.6 (one row says nothing of the others)\n"
        result = call("evaluate", "q.jsonl", "-m", OWN, "--fail-under", "shortness=0.5")
        assert result.stdout.endswith(
            "\n\nfail-under: shortness is 0.5, not under 0.5 (one row says nothing of the\n      others)\n"
        )

    def test_a_mean_over_few_rows_passes_no_gate(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": "12345"}\n{"response": 3}\n{"response": 4}\n')
        result = call("evaluate", "q.jsonl", "-m", OWN, "--fail-under", "shortness=0.1")
        assert (result.exit_code, result.stderr) == (
            1,
            "ragmetrics: shortness failed on 2 of 3 rows, so its mean says too little for a gate\n",
        )

    def test_a_gate_without_a_score_is_not_met(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": "?"}\n')
        result = call(
            "evaluate", "q.jsonl", "-m", f"{OWN},{OWN}(name='b')", "--fail-under", "b=0", "--fail-under", "shortness=1"
        )
        assert (result.exit_code, result.stderr) == (
            1,
            "ragmetrics: b has no score, so it is not known to reach 0; shortness has no score, so it is not known to reach 1\n",
        )

    def test_a_metric_that_failed_on_every_row_comes_first_and_ends_with_status_2(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": 3, "reference": "a"}\n{"response": "a"}\n')
        result = call("evaluate", "q.jsonl", "-m", f"token_f1,exact_match,{OWN}", "--fail-under", "shortness=1")
        cure = "add it to the data as a column 'reference', or leave the metric out"
        assert (result.exit_code, result.stderr) == (
            2,
            (
                "ragmetrics: token_f1 failed on every row: InvalidInput: response must be a str, got int\n"
                "ragmetrics: exact_match failed on every row: InvalidInput: response must be a str, got int\n"
            ),
        )
        assert "Token f1 and exact match failed on every row." in " ".join(result.stdout.split())
        assert cure in " ".join(result.stdout.split())
        assert "shortness    0.900  1 of 2" in result.stdout

    def test_nothing_but_failures_and_rows_without_anything_to_score(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": 3}\n{"response": "?"}\n')
        result = call("evaluate", "q.jsonl", "-m", OWN)
        assert (result.exit_code, result.stderr) == (2, "ragmetrics: nothing was scored: see the failures above\n")

    def test_a_metric_that_failed_on_all_rows_with_something_to_score_ends_with_status_2(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": "bcd"}\n{"response": "?"}\n{"response": "a"}\n')
        (folder / "own.py").write_text(FAILING)
        result = call("evaluate", "q.jsonl", "-m", f"{OWN},own:Failing")
        assert (result.exit_code, result.stderr) == (
            2,
            "ragmetrics: failing was scored on no row: ModelError: no server listens\n",
        )
        assert "failing        -  0 of 3               -         1       2  0 to 1\n" in result.stdout

    def test_a_question_in_an_object(self, folder: Path) -> None:
        (folder / "q.csv").write_text('input,output\n"{""question"": ""a""}","{""answer"": ""b""}"\n')
        result = call("evaluate", "q.csv", "-m", OWN)
        hint = "`ragmetrics look` shows how to name a part of it"
        message = f"judged as text, though a JSON object: user_input, response; {hint}"
        assert (result.exit_code, result.stderr) == (0, f"ragmetrics: {message}\n")

    def test_a_rubric_that_is_nowhere(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"question": "q", "answer": "a", "reference": "a"}\n')
        result = call("evaluate", "q.jsonl", "-m", "rubric_score,exact_match", "--llm", "lexical")
        assert result.stderr.splitlines() == [
            (
                "ragmetrics: rubric_score failed on every row: MissingInput: needs 'rubric', which is missing: give "
                "RubricScore(rubric=...) (on the command line \"rubric_score(rubric={1: 'poor', 2: 'good'})\"), "
                "or give every row a rubric in a column 'rubric'"
            ),
        ]

    def test_a_field_that_no_column_is_named_after(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"Antwort": "a", "input": {"x": "b"}, "contexts": ["c"]}\n')
        result = call("evaluate", "q.jsonl", "-m", "token_f1,faithfulness", "--llm", "lexical")
        cure = "which is missing: add it to the data as a column 'response', or leave the metric out"
        assert (result.exit_code, result.stderr.splitlines()) == (
            2,
            [
                f"ragmetrics: token_f1 failed on every row: MissingInput: needs 'response', {cure}",
                "ragmetrics: faithfulness failed on every row: InvalidInput: user_input must be a str, got dict",
                (
                    "ragmetrics: if other columns have these fields, add "
                    "--map answer=COLUMN,reference=COLUMN,question=COLUMN "
                    "(`ragmetrics look` shows the columns)"
                ),
            ],
        )

    def test_the_price_of_rows_of_which_none_can_be_scored(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"question": "a", "response": "b"}\n')
        result = call("evaluate", "q.jsonl", "-m", f"faithfulness,{OWN},token_f1", "--dry-run")
        message = "no row can be scored by faithfulness, token_f1: `ragmetrics look` shows what is missing"
        assert (result.exit_code, result.stderr) == (0, f"ragmetrics: {message}\n")
        assert result.stdout.startswith("1 row of q.jsonl: no call is left to be made\n")

    @pytest.mark.parametrize("name", ["scores.xls", "scores.txt", "scores", "scores.json"])
    def test_a_name_of_no_format_is_refused(self, folder: Path, name: str) -> None:
        result = call("evaluate", "q.jsonl", "-m", OWN, "--out", name)
        assert (result.exit_code, result.stdout, result.stderr) == (
            2,
            "",
            (
                f"ragmetrics: --out: {name} must have a name that ends in .jsonl or .parquet (rows, scores and "
                "evidence, for programs), .html (the same, for people), .csv (rows and scores as a table) or .md (the summary)\n"
            ),
        )
        assert not (folder / name).exists()

    @pytest.mark.parametrize("name", ["scores.jsonl", "scores.html", "scores.csv", "scores.md", "SCORES.CSV"])
    def test_each_format(self, folder: Path, name: str) -> None:
        assert call("evaluate", "q.jsonl", "-m", OWN, "--out", name).exit_code == 0
        beginnings = {
            "jsonl": '{"row": 1, ',
            "html": "<!doctype html>",
            "csv": "\ufeff",
            "md": "**Shortness is 0.300 (0.003 to 0.985) on 2 of 4 rows. Scoring failed on 1 row.**\n\nq.jsonl: ",
        }
        text = (folder / name).read_text(encoding="utf-8")
        assert text.startswith(beginnings[name.lower().rpartition(".")[2]])

    def test_the_summary_as_markdown_has_the_slices_that_were_asked_for(self, folder: Path) -> None:
        rows = [{"id": str(number), "response": "12345", "lang": ["en", "de"][number % 2]} for number in range(4)]
        (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = call("evaluate", "q.jsonl", "-m", OWN, "--by", "lang", "--out", "scores.md")
        assert result.exit_code == 0
        lines = (folder / "scores.md").read_text(encoding="utf-8").splitlines()
        assert [line.split("|")[1].strip() for line in lines if "lang=" in line] == [
            "<code>lang=de</code>",
            "<code>lang=en</code>",
        ]

    def test_out_to_stdout_and_the_table_to_stderr(self, own_table: str, folder: Path) -> None:
        (folder / "q.jsonl").write_text((folder / "q.jsonl").read_text().replace('"12345"', '"1\\u009b\\u20283"'))
        result = call("evaluate", "q.jsonl", "-m", OWN, "--out", "-")
        rows = [json.loads(line) for line in result.stdout.split("\n") if line]
        assert [row["scores"]["shortness"]["state"] for row in rows] == ["scored", "unscored", "failed", "scored"]
        assert rows[0]["sample"]["response"] == "1\u009b\u20283"
        assert result.stderr.startswith("Shortness is 0.350 (0.003 to 0.991) on 2 of 4 rows.")
        assert "\n\nq.jsonl: 4 rows, 1 metric" in result.stderr
        assert result.exit_code == 0
        assert not (folder / "-").exists()

    def test_raise_saves_what_is_finished(self, folder: Path) -> None:
        arguments = ["evaluate", "q.jsonl", "-m", OWN, "--on-error", "raise"]
        result = call(*arguments, "--out", "part.jsonl")
        assert (result.exit_code, result.stdout, result.stderr) == (
            2,
            "",
            (
                "ragmetrics: q.jsonl, line 3: shortness: response must be a str, got int "
                "(the 2 rows finished before can be found in part.jsonl)\n"
            ),
        )
        assert len((folder / "part.jsonl").read_text().splitlines()) == 2
        assert call(*arguments).stderr == "ragmetrics: q.jsonl, line 3: shortness: response must be a str, got int\n"

    def test_ctrl_c(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": "a"}\n{"response": "!"}\n')
        result = call("evaluate", "q.jsonl", "-m", OWN, "--out", "part.jsonl")
        assert (result.exit_code, result.stderr) == (
            130,
            (
                "ragmetrics: stopped (the row finished before can be found in part.jsonl) "
                "(with --run-dir DIR, the next run would go on from here)\n"
            ),
        )

    def test_a_bug_keeps_its_traceback(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text('{"response": "bug"}\n')
        result = call("evaluate", "q.jsonl", "-m", OWN, "--fail-under", "shortness=0")
        assert (result.exit_code, result.stdout) == (70, "")
        assert result.stderr.startswith("Traceback (most recent call last):\n")
        where = "while shortness scored q.jsonl, line 1\n" if sys.version_info >= (3, 11) else ""
        assert result.stderr.endswith(
            f"ZeroDivisionError: a bug\n{where}ragmetrics: this is a bug, in a metric or a model of your own or in ragmetrics\n"
        )

    def test_a_traceback_never_steers_the_terminal(self, folder: Path) -> None:
        hostile = 'ValueError("\\x1b]0;owned\\x07\\x1b[2J Bearer abc sk-abcdef123456")'
        (folder / "ownmetric.py").write_text(OWN_METRIC.replace('ZeroDivisionError("a bug")', hostile))
        (folder / "q.jsonl").write_text('{"response": "bug"}\n')
        result = call("evaluate", "q.jsonl", "-m", OWN)
        assert result.exit_code == 70
        assert r"ValueError: \x1b]0;owned\x07\x1b[2J Bearer *** ***" in result.stderr
        assert "\x1b" not in result.stderr
        assert "sk-abcdef123456" not in result.stderr

    @pytest.mark.parametrize("error", ["BrokenPipeError()", "EOFError()", "asyncio.CancelledError()"])
    def test_a_bug_of_any_kind_keeps_what_is_finished(self, folder: Path, error: str) -> None:
        source = OWN_METRIC.replace('ZeroDivisionError("a bug")', error)
        (folder / "ownmetric.py").write_text(f"import asyncio\n{source}")
        (folder / "q.jsonl").write_text('{"response": "a"}\n{"response": "bug"}\n')
        result = call("evaluate", "q.jsonl", "-m", OWN, "--out", "part.jsonl")
        assert result.exit_code == 70
        assert result.stderr.endswith(
            "in a metric or a model of your own or in ragmetrics (the row finished before can be found in part.jsonl)\n"
        )
        assert len((folder / "part.jsonl").read_text().splitlines()) == 1

    def test_the_help_tells_the_statuses(self) -> None:
        text = " ".join(call("evaluate", "--help").stdout.split())
        assert "1 a gate failed (--gate, --fail-under)" in text
        assert "3 a gate is undecided" in text
        assert "70 a bug" in text


class TestMessages:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["none.jsonl", "-m", OWN], "there is no file 'none.jsonl' (looked in {cwd})"),
            (
                ["q.jsonl", "-m", "faithfullness"],
                (
                    "there is no metric 'faithfullness'; did you mean 'faithfulness'? "
                    "(see `ragmetrics metrics`; your own is module:NAME)"
                ),
            ),
            (
                ["q.jsonl", "-m", "zzzz"],
                "there is no metric 'zzzz' (see `ragmetrics metrics`; your own is module:NAME)",
            ),
            (
                ["q.jsonl", "-m", "nomodule:X"],
                "the metric 'nomodule:X' names the module 'nomodule', which is not found",
            ),
            (
                ["q.jsonl", "-m", "ownmetric:Short"],
                "there is no metric 'ownmetric:Short': the module 'ownmetric' has no 'Short'; did you mean 'Shortness'?",
            ),
            (["q.jsonl", "-m", "ndcg(k"], "the metric 'ndcg(k' cannot be read: write name(setting=value, ...)"),
            (
                ["q.jsonl", "-m", "ndcg()(k=3)"],
                "the metric 'ndcg()(k=3)' cannot be read: write name(setting=value, ...)",
            ),
            (
                ["q.jsonl", "-m", "ndcg(3)"],
                "the metric 'ndcg(3)' has a setting without a name: write name(setting=value, ...)",
            ),
            (
                ["q.jsonl", "-m", "ndcg(**{'k': 3})"],
                "the metric \"ndcg(**{'k': 3})\" has a setting without a name: write name(setting=value, ...)",
            ),
            (
                ["q.jsonl", "-m", "ndcg(k=open('x'))"],
                (
                    "the setting 'k' of \"ndcg(k=open('x'))\" must be a number, a quoted text, True, False, None, "
                    "or a list or dict of these"
                ),
            ),
            (["q.jsonl", "-m", OWN, "--limit", "0"], "--limit must be a whole number from 1, got 0"),
            (
                ["q.jsonl", "-m", OWN, "--max-concurrency", "0"],
                "--max-concurrency must be a whole number from 1, got 0",
            ),
            (["q.jsonl", "-m", OWN, "--on-error", "hide"], "--on-error must be 'record' or 'raise', got 'hide'"),
            (["q.jsonl", "-m", OWN, "--out", "."], "--out: . is a directory: give the path of a file"),
            (
                ["q.jsonl", "-m", OWN, "--out", "./q.jsonl"],
                "--out: q.jsonl is the file that the rows are read from: give another path",
            ),
            (
                ["q.jsonl", "-m", OWN, "--llm", "cohere:gpt-4o"],
                (
                    "--llm cohere:gpt-4o: there is no provider 'cohere': use openai:MODEL, PROVIDER:MODEL (anthropic, azure, "
                    "bedrock, deepseek, fireworks, gemini, groq, mistral, ollama, vllm, llamacpp, lmstudio, openrouter, together, "
                    "litellm), server:MODEL or lexical; a model of that name on a server of your own needs --base-url URL"
                ),
            ),
            (
                ["q.jsonl", "-m", OWN, "--llm", "azure:gpt-4o"],
                (
                    "the provider 'azure' needs an address (set the environment variable AZURE_OPENAI_ENDPOINT, or give "
                    "--base-url URL) and a key (set the environment variable AZURE_OPENAI_API_KEY or AZURE_OPENAI_AD_TOKEN)"
                ),
            ),
            (["q.jsonl", "-m", OWN, "--out", "no/s.jsonl"], "--out: there is no directory no"),
            (["q.jsonl", "-m", OWN, "--empty", "drop"], "--empty must be 'skip' or 'zero', got 'drop'"),
            (["q.jsonl", "-m", OWN, "--fail-under", "shortness"], "--fail-under takes METRIC=NUMBER, got 'shortness'"),
            (
                ["q.jsonl", "-m", OWN, "--fail-under", "shortness=x"],
                "--fail-under takes METRIC=NUMBER, got 'shortness=x'",
            ),
            (["q.jsonl", "-m", OWN, "--fail-under", "x=nan"], "--fail-under takes METRIC=NUMBER, got 'x=nan'"),
            (
                ["q.jsonl", "-m", OWN, "--fail-under", "x=0.5"],
                "--fail-under: 'x' is not among the metrics of this run: shortness",
            ),
            (
                ["q.jsonl", "-m", OWN, "--fail-under", "shortness=80"],
                "--fail-under: 80 is not on the scale of shortness, 0 to 1",
            ),
            (
                ["q.jsonl", "-m", OWN, "--llm", "lexical", "--base-url", "http://localhost"],
                (
                    "--base-url needs openai:MODEL or server:MODEL in --llm or --jury, or --embeddings openai:MODEL; other "
                    "jurors take their address from a variable"
                ),
            ),
            (
                ["q.jsonl", "-m", OWN, "--llm", "openai:"],
                "--llm openai: lacks the model's name: write openai:MODEL",
            ),
            (
                ["q.jsonl", "-m", "custom_judge(outputs=['score'])"],
                "custom_judge needs 'instructions' and 'inputs': write custom_judge(outputs=..., instructions=..., inputs=...)",
            ),
            (
                ["q.jsonl"],
                (
                    "choose metrics with --metrics a,b; no built-in one fits the columns of q.jsonl: response "
                    "(`ragmetrics metrics` lists what each needs, `ragmetrics look q.jsonl` what was read)"
                ),
            ),
            (
                ["capitals.csv"],
                (
                    "choose metrics with --metrics a,b; no built-in one fits the columns of capitals.csv: response, Frage, "
                    "Quelle 1 (`ragmetrics metrics` lists what each needs, `ragmetrics look capitals.csv` what was read)"
                ),
            ),
            (
                ["bad.jsonl"],
                (
                    "choose metrics with --metrics a,b; none can be proposed, because the first row cannot be read: "
                    "bad.jsonl, line 1: the columns 'answer' and 'response' both mean 'response' but differ: keep one of them, "
                    "or choose: --map response=answer"
                ),
            ),
        ],
    )
    def test_one_line_and_status_2(self, folder: Path, arguments: list[str], message: str) -> None:
        (folder / "bad.jsonl").write_text('{"answer": "a", "response": "b"}\n')
        (folder / "capitals.csv").write_text("Frage,Answer,Quelle 1\na,b,c\n")
        result = call("evaluate", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == f"ragmetrics: {message.replace('{cwd}', str(Path.cwd()))}\n"

    def test_out_that_cannot_be_written_after_all(self, folder: Path, own_table: str) -> None:
        (folder / "taken.jsonl").symlink_to(folder / "none" / "scores.jsonl")
        result = call("evaluate", "q.jsonl", "-m", OWN, "--out", "taken.jsonl")
        assert (result.exit_code, timeless(result.stdout)) == (2, own_table)
        assert result.stderr == "ragmetrics: --out: taken.jsonl cannot be written: No such file or directory\n"

    def test_an_unknown_option(self, folder: Path) -> None:
        result = call("evaluate", "q.jsonl", "--metric", OWN)
        assert result.exit_code == 2
        assert re.fullmatch(
            r"ragmetrics: no such option: --metric .*\(`ragmetrics evaluate --help` shows all options\)\n",
            result.stderr,
        )

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ([], "missing argument 'DATA'"),
            (["q.jsonl", "--by"], "option '--by' requires an argument"),
            (["q.jsonl", "--limit", "abc"], "invalid value for '--limit': "),
        ],
    )
    def test_a_wrong_option_is_one_line(self, folder: Path, arguments: list[str], said: str) -> None:
        result = call("evaluate", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"ragmetrics: {said}")
        assert result.stderr.endswith(" (`ragmetrics evaluate --help` shows all options)\n")
        assert result.stderr.count("\n") == 1
