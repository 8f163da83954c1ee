"""``ragmetrics report``, and the page that ``evaluate --out`` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from report_data import small

from .calling import call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    small(tmp_path / "scores.jsonl")
    return tmp_path


def test_a_page_of_a_file_of_scores(folder: Path) -> None:
    result = call("report", "scores.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "report.html: 4 rows, 0.2 MB\n"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>\n")
    assert "<title>scores.jsonl – ragmetrics report</title>" in page


def test_a_page_of_a_run_and_of_an_evaluation(folder: Path) -> None:
    (folder / "q.jsonl").write_text('{"answer": "a", "reference": "a b"}\n')
    assert call("evaluate", "q.jsonl", "-m", "token_f1", "--run-dir", "run", "--out", "direct.html").exit_code == 0
    assert call("report", "run", "--out", "later.HTM").stdout.startswith("later.HTM: 1 row, ")
    for name in ("direct.html", "later.HTM"):
        assert '<h1 dir="auto">q.jsonl</h1>' in (folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["report.pdf", "report.jsonl", "-"])
def test_a_name_that_is_none_of_a_page(folder: Path, name: str) -> None:
    result = call("report", "scores.jsonl", "--out", name)
    message = f"ragmetrics: --out: {name} must have a name that ends in .html\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", message)


def test_there_is_no_such_run(folder: Path) -> None:
    result = call("report", "nowhere")
    assert result.exit_code == 2
    assert result.stderr.startswith("ragmetrics: nowhere is ")
    assert not (folder / "report.html").exists()
