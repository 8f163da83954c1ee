"""The filtered rows as a file that the page makes: JSONL that can be read again, and CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from comparison_data import compared_small
from ragmetrics_core import Evaluation
from report_data import half_of_evidence, line, score, small, written

from .conftest import Opener, until

TEXTS = [
    "=1+1",
    "+1",
    "-1",
    "@sum",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\uff1d1",
    "a=1",
    'say "no", twice',
    "1",
    "\x00",
]


def exported(page: Any, kind: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Export {kind}").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def told(page: Any) -> str:
    until(page, "document.getElementById('exported').textContent.endsWith('.')")
    return page.locator("#exported").inner_text()


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_jsonl_is_a_file_of_scores(opened: Opener, report: Path, tmp_path: Path) -> None:
    page = opened(report, "#rows&state=s&metric=faithfulness&sort=by+faithfulness+down")
    path = exported(page, "JSONL", tmp_path)
    assert (path.name, told(page)) == ("rows.jsonl", "2 rows exported to rows.jsonl.")
    whole, some = small(tmp_path / "again.jsonl"), Evaluation.load(path)
    assert list(some.records) == [whole.records[1], whole.records[0]]
    lines = [json.loads(item) for item in (tmp_path / "again.jsonl").read_text("utf-8").splitlines()]
    assert [set(json.loads(item)) for item in path.read_text("utf-8").splitlines()] == [set(lines[0])] * 2


def test_csv_has_the_columns_of_the_table(opened: Opener, report: Path, tmp_path: Path) -> None:
    page = opened(report, "#rows&text=tower")
    path = exported(page, "CSV", tmp_path)
    assert (path.name, told(page)) == ("rows.csv", "3 rows exported to rows.csv.")
    assert path.read_bytes().startswith(b"\xef\xbb\xbfid,place,question,answer,faithfulness,")
    answer = "The tower is in Paris 🗼. It is 330 metres tall. It is green."
    assert cells(path) == [
        [
            *("id", "place", "question", "answer", "faithfulness", "faithfulness_label", "faithfulness_state"),
            *("diagnosis", "diagnosis_passing", "diagnosis_label", "diagnosis_state", "metadata.lang"),
        ],
        [
            "q3",
            "q.jsonl, line 3",
            "Where is the tower?",
            answer,
            "",
            "",
            "failed",
            "1",
            "true",
            "right",
            "scored",
            "de",
        ],
        [
            *("q1", "q.jsonl, line 1", "Where is the tower?", answer, "0.333333", "", "scored"),
            *("0", "false", "contradicted", "scored", "en"),
        ],
        [
            "q2",
            "q.jsonl, line 2",
            "Where is the tower?",
            answer,
            "1",
            "",
            "scored",
            "1",
            "true",
            "right",
            "scored",
            "de",
        ],
    ]


def test_formulas_are_texts_as_in_the_csv_of_python(opened: Opener, tmp_path: Path) -> None:
    lines = [
        line(at, {"id": f"q{at}"}, score("=m", -0.5, scale=[-1, 1], label=text)) for at, text in enumerate(TEXTS, 1)
    ]
    evaluation = written(tmp_path / "scores.jsonl", lines)
    evaluation.to_html(tmp_path / "report.html")
    evaluation.to_csv(tmp_path / "python.csv")
    page = opened(tmp_path / "report.html", "#rows&sort=input+up")
    found, expected = cells(exported(page, "CSV", tmp_path)), cells(tmp_path / "python.csv")
    assert found[0] == ["id", "place", "question", "answer", "'=m", "'=m_label", "'=m_state"]
    at = expected[0].index("'=m_label")
    assert [row[5] for row in found] == [row[at] for row in expected]
    assert [row[4] for row in found[1:]] == ["-0.5"] * len(TEXTS)


def test_rows_without_evidence_are_counted_not_cut(opened: Opener, tmp_path: Path) -> None:
    lines = []
    for number in range(1, 101):
        details = {"noise": f"{number**99:x}" * 9}
        lines.append(line(number, {"id": f"q{number}"}, score("m", number / 100, details=details)))
    half_of_evidence(written(tmp_path / "scores.jsonl", lines), tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    inside = page.evaluate("Number(document.getElementById('size').textContent.match(/evidence of (\\d+)/)[1])")
    assert 0 < inside < 100
    path = exported(page, "JSONL", tmp_path)
    assert told(page) == (
        f"{inside} rows exported to rows.jsonl. {100 - inside} rows left out: their evidence is not in this file."
    )
    assert len(Evaluation.load(path)) == inside
    assert len(cells(exported(page, "CSV", tmp_path))) == 101
    page.locator("#text").fill("q100")
    until(page, "document.querySelectorAll('#table tbody tr').length === 1")
    page.get_by_role("button", name="Export JSONL").click()
    until(page, "document.getElementById('exported').textContent.startsWith('Nothing')")
    assert told(page) == "Nothing was exported. 1 row left out: their evidence is not in this file."


def test_both_sides_of_a_comparison(opened: Opener, tmp_path: Path) -> None:
    compared_small(tmp_path).to_html(tmp_path / "comparison.html")
    page = opened(tmp_path / "comparison.html", "#rows&kind=mended")
    (found,) = [json.loads(item) for item in exported(page, "JSONL", tmp_path).read_text("utf-8").splitlines()]
    assert list(found) == ["id", "before", "after", "claims"]
    assert found["id"] == "q1"
    values = [[record["scores"]["faithfulness"]["value"] for record in found[side]] for side in ("before", "after")]
    assert values == [[0.5], [1]]
    header, row = cells(exported(page, "CSV", tmp_path))
    assert dict(zip(header, row, strict=True)) == {
        "id": "q1",
        "place": "q.jsonl, line 1",
        "question": "Where is tower 1?",
        "answer_before": "The tower is in Rome. It is 330 metres tall.",
        "answer_after": "The tower is in Paris. It is 330 metres tall.",
        "faithfulness_before": "0.5",
        "faithfulness_before_state": "scored",
        "faithfulness_after": "1",
        "faithfulness_after_state": "scored",
        "faithfulness_change": "0.5",
        "diagnosis_before": "0",
        "diagnosis_before_passing": "false",
        "diagnosis_before_label": "contradicted",
        "diagnosis_before_state": "scored",
        "diagnosis_after": "1",
        "diagnosis_after_passing": "true",
        "diagnosis_after_label": "right",
        "diagnosis_after_state": "scored",
        "diagnosis_change": "1",
        "metadata.lang": "en",
    }


@pytest.mark.parametrize("kind", ["JSONL", "CSV"])
def test_nothing_is_asked_of_the_network_and_the_policy_stays(
    opened: Opener, hostile_report: Path, tmp_path: Path, kind: str
) -> None:
    page = opened(hostile_report)
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert "blob:" not in policy
    assert exported(page, kind, tmp_path).stat().st_size > 1000
    assert page.evaluate("window.hacked") is None
