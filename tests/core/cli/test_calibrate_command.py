"""``ragmetrics calibrate``: labels and a run on the command line, rows to label next, and what is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from ragmetrics_core import Evaluation

LINE = '{"id": "q1", "metric": "exact_match", "label": true}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a run of 60 rows, and labels of every third one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    rows = [
        {
            "id": f"q{row}",
            "question": f"Who built tower {row}?",
            "answer": "Gustave Eiffel" if row % 4 else "Nobody",
            "reference": "Gustave Eiffel",
            "lang": "de" if row % 2 else "en",
        }
        for row in range(60)
    ]
    write("rows.jsonl", rows)
    write("labels.jsonl", [label(row, row % 4 > 0 or row % 5 == 0) for row in range(1, 60, 3)])
    assert call("evaluate", "rows.jsonl", "-m", "exact_match", "--run-dir", "run").exit_code == 0
    return tmp_path


def label(row: int, said: Any, **more: Any) -> dict[str, Any]:
    return {"id": f"q{row}", "metric": "exact_match", "label": said, **more}


def write(name: str, lines: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_what_it_shows_is_what_the_api_says(folder: Path) -> None:
    result = call("calibrate", "run", "--labels", "labels.jsonl", "--by", "lang")
    assert (result.exit_code, result.stderr) == (0, "")
    found = Evaluation.load("run").calibrate("labels.jsonl", by="lang")
    assert result.stdout == found.text(100) + "\n"
    assert "\nrun, beside people: 20 labelled rows for exact_match\n" in result.stdout
    assert found["exact_match"].corrected is not None
    assert found["exact_match"].corrected.judge_mean == 0.75


def test_json_and_markdown(folder: Path) -> None:
    arguments = ("calibrate", "run", "--labels", "labels.jsonl", "--metric", "exact_match", "--cluster", "id")
    found = Evaluation.load("run").calibrate("labels.jsonl", cluster="id")
    result = call(*arguments, "--json", "-", "--markdown", "notes.md")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads(json.dumps(found.to_dict()))
    assert result.stderr == found.text(100) + "\n"
    assert Path("notes.md").read_text() == found.to_markdown()


def test_rows_to_label_go_round(folder: Path) -> None:
    """Drawn, filled in, and put beside those that there were."""
    result = call("calibrate", "run", "--suggest", "12", "--seed", "3")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.split(":")[0] == "to_label.jsonl"
    lines = [json.loads(line) for line in Path("to_label.jsonl").read_text().splitlines()]
    assert lines == Evaluation.load("run").rows_to_label(12, seed=3)
    write("filled.jsonl", [{**line, "label": True} for line in lines])
    result = call("calibrate", "run", "--labels", "filled.jsonl", "--suggest", "5", "--out", "more.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "more.jsonl: 5 rows to label" in result.stdout
    assert "exact_match: people would pass" in result.stdout
    more = [json.loads(line)["id"] for line in Path("more.jsonl").read_text().splitlines()]
    assert not {line["id"] for line in lines} & set(more)


def test_rows_to_label_on_stdout(folder: Path) -> None:
    result = call("calibrate", "run", "--labels", "labels.jsonl", "--suggest", "2", "--out", "-")
    assert [set(json.loads(line)) for line in result.stdout.splitlines()] == [
        {"id", "metric", "label", "weight", "probability", "digest", "user_input", "response", "reference"}
    ] * 2
    assert "exact_match: people would pass" in result.stderr


def test_labels_that_are_not_there_yet_are_drawn_first(folder: Path) -> None:
    write("few.jsonl", [label(row, True) for row in range(3)])
    result = call("calibrate", "run", "--labels", "few.jsonl", "--suggest", "20")
    assert (result.exit_code, result.stderr) == (
        2,
        "ragmetrics: exact_match: 3 rows have a label, too few to conclude anything about other rows: label at least 8\n",
    )
    assert len(Path("to_label.jsonl").read_text().splitlines()) == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--labels is missing: give a file of labels, or draw rows to label with --suggest 50"),
        (
            ("--suggest", "2", "--json", "-"),
            "--json and --markdown write a calibration, which needs labels: add --labels FILE",
        ),
        (
            ("--suggest", "61"),
            "--suggest must lie between 1 and 60, the rows that can be drawn, got 61",
        ),
        (
            ("--suggest", "2", "--out", "labels.jsonl"),
            "--out: labels.jsonl already exists and may contain labels: give the name of a new file",
        ),
        (("--suggest", "2", "--out", "no/x.jsonl"), "--out: there is no directory no"),
        (
            ("--labels", "labels.jsonl", "--json", "labels.jsonl"),
            "--json: labels.jsonl is a file that is read here: give another path",
        ),
        (("--labels", "labels.jsonl", "--metric", "m"), "--metric: there is no metric 'm'; there are exact_match"),
        (
            ("--labels", "labels.jsonl", "--by", "colour"),
            "--by colour: no row has it; columns of the metadata: lang; fields have their own names, such as 'user_input'",
        ),
        (
            ("--labels", "unknown.jsonl"),
            "unknown.jsonl, line 1: no row of this run has the id 'q99': use the ids of its rows",
        ),
    ],
)
def test_one_line_for_what_cannot_be(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    write("unknown.jsonl", [label(99, True)])
    result = call("calibrate", "run", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"ragmetrics: {message}\n")
    assert not Path("to_label.jsonl").exists()
    assert "exact_match" in Path("labels.jsonl").read_text()


def test_a_metric_must_be_named_where_there_are_several(folder: Path) -> None:
    assert call("evaluate", "rows.jsonl", "-m", "exact_match,token_f1", "--run-dir", "two").exit_code == 0
    result = call("calibrate", "two", "--suggest", "5")
    assert result.stderr == "ragmetrics: --metric is missing: name one of exact_match, token_f1\n"


def test_the_help_shows_a_line_that_works(folder: Path) -> None:
    help_text = " ".join(call("calibrate", "--help").stdout.split())
    assert '{"id": "q1", "metric": "faithfulness", "label": true, "annotator": "ada"}' in help_text


def test_the_corrected_score_in_summary_and_report(folder: Path) -> None:
    found = Evaluation.load("run").calibrate("labels.jsonl")["exact_match"].corrected
    assert found is not None
    words = f"people would pass {found.mean:.3f} of the rows, 95 % interval {found.interval}, from 20 labels"
    assert f"corrected:\n  exact_match: {words}\n" in call("show", "run", "--labels", "labels.jsonl").stdout
    result = call("report", "run", "--labels", "labels.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert words in Path("report.html").read_text(encoding="utf-8")


def test_labels_are_about_the_summary(folder: Path) -> None:
    result = call("show", "run", "--labels", "labels.jsonl", "--worst", "2")
    assert (result.exit_code, result.stderr) == (
        2,
        "ragmetrics: --labels adds to the summary, but this command shows rows: leave it out\n",
    )


def test_two_runs_with_labels_of_the_same_rows(folder: Path) -> None:
    rows = [json.loads(text) for text in Path("rows.jsonl").read_text().splitlines()]
    write(
        "after.rows.jsonl", [{**row, "answer": "Gustave Eiffel"} if n % 8 == 0 else row for n, row in enumerate(rows)]
    )
    assert call("evaluate", "after.rows.jsonl", "-m", "exact_match", "--run-dir", "after").exit_code == 0
    write("after.jsonl", [label(row, True) for row in range(1, 60, 3)])
    result = call("compare", "run", "after", "--labels", "labels.jsonl", "--labels", "after.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    before, after = Evaluation.load("run"), Evaluation.load("after")
    calibration = before.calibrate("labels.jsonl"), after.calibrate("after.jsonl")
    assert result.stdout == before.compare(after, calibration=calibration).text(100) + "\n"
    assert "exact_match, by people's labels: +" in result.stdout
    result = call("compare", "run", "after", "--labels", "labels.jsonl")
    assert (result.exit_code, result.stderr) == (
        2,
        "ragmetrics: --labels must be given twice (the labels of RUN_A, then those of RUN_B) or not at all\n",
    )
