"""``ragmetrics compare``: two runs on the command line, what it writes, and what it ends with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli.calling import call, write_towers
from ragmetrics_core import Evaluation

CURE = "give the directory of a run, or a file that to_jsonl() or --out wrote"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs ``old`` and ``new``, and their scores as files."""
    path = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        for name, better in (("old", 10), ("new", 30)):
            write_towers(path / f"{name}.rows.jsonl", better, 40)
            made = call(
                "evaluate", f"{name}.rows.jsonl", "-m", "exact_match", "--run-dir", name, "--out", f"{name}.jsonl"
            )
            assert made.exit_code == 0
    return path


@pytest.fixture
def folder(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a copy of the runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return shutil.copytree(runs, tmp_path, dirs_exist_ok=True)


def test_what_it_shows_is_what_the_api_says(folder: Path) -> None:
    result = call("compare", "old", "new")
    assert (result.exit_code, result.stderr) == (0, "")
    comparison = Evaluation.load("old").compare("new")
    assert result.stdout == comparison.text(100) + "\n"
    assert comparison["exact_match"].verdict == "better"
    assert result.stdout.splitlines()[:3] == [
        "The new version is better: exact match 0.25 → 0.75 (+0.35 to +0.65).",
        "",
        "from old to new: 40 rows in both, paired by id",
    ]


@pytest.mark.parametrize(("before", "after"), [("old.jsonl", "new.jsonl"), ("old", "new.jsonl"), ("old.jsonl", "new")])
def test_files_of_scores_too(folder: Path, before: str, after: str) -> None:
    result = call("compare", before, after)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"from {before} to {after}: 40 rows in both, paired by id" in result.stdout
    assert "exact_match: better" in result.stdout
    assert "whether the settings are the same is not known (exact_match)" in " ".join(result.stdout.split())


def test_options_reach_the_comparison(folder: Path) -> None:
    options = ("--by", "lang", "--cluster", "metadata.lang", "--margin", "0.1", "--allow-different-judges")
    result = call("compare", "new", "old", *options)
    comparison = Evaluation.load("new").compare("old", "lang", "metadata.lang", 0.1, True)
    assert (result.exit_code, result.stdout) == (0, comparison.text(100) + "\n")
    assert {item.label for item in comparison.slices} == {"de", "en"}
    assert comparison["exact_match"].clusters == 2


def test_json_and_markdown_go_into_files(folder: Path) -> None:
    result = call("compare", "old", "new", "--by", "lang", "--json", "out.json", "--markdown", "out.md")
    assert (result.exit_code, result.stderr) == (0, "")
    comparison = Evaluation.load("old").compare("new", by="lang")
    assert json.loads((folder / "out.json").read_text()) == comparison.to_dict()
    assert (folder / "out.md").read_text() == comparison.to_markdown()
    assert not list(folder.glob(".ragmetrics*"))


@pytest.mark.parametrize("option", ["--json", "--markdown"])
def test_to_stdout_with_the_table_on_stderr(folder: Path, option: str) -> None:
    result = call("compare", "old", "new", option, "-")
    comparison = Evaluation.load("old").compare("new")
    assert result.exit_code == 0
    assert result.stderr == comparison.text(100) + "\n"
    if option == "--json":
        assert json.loads(result.stdout) == comparison.to_dict()
    else:
        assert result.stdout == comparison.to_markdown()


def test_one_file_in_the_format_that_its_name_says(folder: Path) -> None:
    comparison = Evaluation.load("old").compare("new", by="lang")
    comparison.to_html("expected.html")
    for name in ("out.html", "out.HTM", "out.md", "out.markdown", "out.json"):
        result = call("compare", "old", "new", "--by", "lang", "--out", name)
        assert (result.exit_code, result.stderr, result.stdout) == (0, "", f"{comparison.text(100)}\n")
    assert json.loads((folder / "out.json").read_text()) == comparison.to_dict()
    assert (folder / "out.md").read_text() == (folder / "out.markdown").read_text() == comparison.to_markdown()
    assert (
        (folder / "out.html").read_text() == (folder / "out.HTM").read_text() == (folder / "expected.html").read_text()
    )
    assert not list(folder.glob(".ragmetrics*"))


def test_the_page_shows_what_became_of_gates(folder: Path) -> None:
    result = call("compare", "old", "new", "--gate", "exact_match drop <= 0.03", "--out", "out.html")
    assert result.exit_code == 0
    page = (folder / "out.html").read_text()
    assert '<h2 id="gates-title">Gates: 1 passed</h2>' in page
    assert page.index("metrics-title") < page.index("gates-title") < page.index("exact_match drop &lt;= 0.03")


@pytest.mark.parametrize(("encoding", "arrow"), [("utf-8", "→"), ("cp1252", "->")])
def test_the_arrow_of_the_sentence_in_any_encoding(folder: Path, encoding: str, arrow: str) -> None:
    command = [sys.executable, "-m", "ragmetrics_core", "compare", "old", "new"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True, timeout=300)
    assert f"exact match 0.25 {arrow} 0.75" in found.stdout.decode(encoding)


NO_FORMAT = "must have a name that ends in .html (for people), .md (a comment for a pull request) or .json (everything)"
NO_ROW = "no row has it; columns of the metadata: lang; fields have their own names, such as 'user_input'"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--json", "-", "--markdown", "-"), "--json and --markdown name the same file, -: give each a different one"),
        (
            ("--json", "x", "--markdown", "./x"),
            "--json and --markdown name the same file, x: give each a different one",
        ),
        (
            ("--out", "x.md", "--json", "y", "--markdown", "x.md"),
            "--out and --markdown name the same file, x.md: give each a different one",
        ),
        (("--out", "x.jsonl"), f"--out: x.jsonl {NO_FORMAT}"),
        (("--out", "-"), f"--out: - {NO_FORMAT}"),
        (("--out", "none/x.html"), "--out: there is no directory none"),
        (
            ("--json", "old/run.json"),
            "--json: old/run.json is a file of a run that is compared: give another path",
        ),
        (
            ("--json", "old/scores.jsonl"),
            "--json: old/scores.jsonl is a file of a run that is compared: give another path",
        ),
        (("--json", "old"), "--json: old is a file of a run that is compared: give another path"),
        (("--markdown", "."), "--markdown: . is a directory: give the path of a file"),
        (("--markdown", "none/x.md"), "--markdown: there is no directory none"),
        (("--margin", "0"), "--margin must be a share of a metric's scale, above 0 and at most 1, got 0.0"),
        (("--by", "land"), f"--by land: {NO_ROW}"),
        (
            ("--by", "exact_match"),
            "--by exact_match: this metric gives rows no labels, and no metadata column has this name",
        ),
        (("--cluster", ""), "--cluster must name a column, such as 'metadata.lang', got ''"),
    ],
)
def test_one_line_for_what_cannot_be(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    result = call("compare", "old", "new", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"ragmetrics: {message}\n")
    assert (folder / "old" / "run.json").read_text().startswith("{")


def test_runs_that_cannot_be_read(folder: Path) -> None:
    account = json.loads((folder / "old" / "run.json").read_text())
    (folder / "other").mkdir()
    (folder / "other" / "run.json").write_text(json.dumps({**account, "version": 99}))
    version = "read it with the version that wrote it, or score its rows again"
    for path, message in (
        ("none", "none is not the directory of a run: there is no such directory"),
        ("none.jsonl", "none.jsonl is neither the directory of a run nor a file of scores: there is no such file"),
        ("old.rows.jsonl", f"old.rows.jsonl, line 1 contains no scores of a row (not a record: 'row'): {CURE}"),
        ("other", f"other/run.json was not written by this version of ragmetrics: {version}"),
    ):
        result = call("compare", "old", path)
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"ragmetrics: {message}\n")


def test_runs_without_a_row_in_common(folder: Path) -> None:
    lines = (folder / "old.jsonl").read_text().replace('"id": "q', '"id": "x').replace("tower", "bridge")
    (folder / "x.jsonl").write_text(lines)
    result = call("compare", "old", "x.jsonl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "ragmetrics: old and x.jsonl share no row: ids such as 'q0', 'q1', 'q2' there, ids such as 'x0', 'x1', 'x2' here: compare "
        "runs of the same questions\n"
    )


class TestDifferentJudges:
    @pytest.fixture
    def settings(self, folder: Path) -> Path:
        """A run whose metric has another setting."""
        made = call("evaluate", "new.rows.jsonl", "-m", "exact_match(normalize=True)", "--run-dir", "raw")
        assert made.exit_code == 0
        return folder

    def test_nothing_is_credited(self, settings: Path) -> None:
        result = call("compare", "old", "raw", "--json", "out.json")
        assert result.exit_code == 2
        assert result.stderr == (
            "ragmetrics: no difference can be credited to the system, because judges or settings differ in every metric: score "
            "both runs alike, or add --allow-different-judges to compare them nevertheless\n"
        )
        assert result.stdout.splitlines()[4:6] == [
            "NOT CREDITED TO THE SYSTEM, because who scored differs between the runs:",
            "  exact_match: the setting 'normalize' differs",
        ]
        data = json.loads((settings / "out.json").read_text())
        assert data["metrics"]["exact_match"]["verdict"] == "cannot say"

    def test_unless_it_is_allowed(self, settings: Path) -> None:
        result = call("compare", "old", "raw", "--allow-different-judges", "--markdown", "out.md")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "exact_match: better (see the warning)" in result.stdout
        for text in (result.stdout, (settings / "out.md").read_text()):
            assert "WARNING: who scored differs between the runs" in text

    def test_what_may_be_credited_is_compared(self, folder: Path) -> None:
        documents = {"retrieved_documents": [{"id": "x"}], "reference_documents": [{"id": "x"}]}
        lines = [{"id": n, "answer": "a", "reference": "a", **documents} for n in range(3)]
        (folder / "docs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        for name, metric in (("one", "ndcg(k=1, name='ndcg')"), ("two", "ndcg(k=2, name='ndcg')")):
            made = call("evaluate", "docs.jsonl", "-m", f"exact_match,{metric}", "--run-dir", name)
            assert made.exit_code == 0
        result = call("compare", "one", "two")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "  ndcg: the setting 'k' differs" in result.stdout.splitlines()


def test_help_names_the_statuses(folder: Path) -> None:
    result = call("compare", "--help")
    assert result.exit_code == 0
    assert "Exit status: 0 the runs were compared" in result.stdout
    assert "Say whether one run is better or worse than another." in " ".join(call("--help").stdout.split())


def test_control_characters_of_the_data_are_escaped(folder: Path) -> None:
    for name in ("old", "new"):
        lines = (folder / f"{name}.jsonl").read_text().replace('"id": "q', '"id": "\\u001b[31mq')
        (folder / f"bad.{name}.jsonl").write_text(lines)
    result = call("compare", "bad.old.jsonl", "bad.new.jsonl")
    assert result.exit_code == 0
    assert "\\x1b[31mq10" in result.stdout
    assert "\x1b" not in result.stdout
