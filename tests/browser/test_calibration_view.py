"""Judge and people on the page of a run: the numbers of the calibration, and the rows on which they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Calibration, Evaluation
from report_data import XSS, line, score, written

from .conftest import Opener, until

Lines = list[dict[str, Any]]


def label(row: int, value: Any, metric: str = "m", **more: Any) -> dict[str, Any]:
    return {"id": f"q{row}", "metric": metric, "label": value, **more}


def run(folder: Path, values: list[float], passing: list[bool] | None = None, **more: Any) -> Evaluation:
    lines = [
        line(
            row,
            {"id": f"q{row}", "user_input": f"question {row}"},
            score("m", value, **more, **({} if passing is None else {"passing": passing[row - 1]})),
        )
        for row, value in enumerate(values, 1)
    ]
    return written(folder / "scores.jsonl", lines)


def by_threshold(folder: Path) -> tuple[Evaluation, Calibration]:
    """100 scores from 0.0 to 0.9; people pass every third row from 0.6 on, but one."""
    evaluation = run(folder, [(row % 10) / 10 for row in range(100)])
    labels = [label(row + 1, row % 10 >= 6 and row != 9) for row in range(0, 100, 3)]
    return evaluation, evaluation.calibrate(labels)


def cells(page: Any, selector: str) -> list[list[str]]:
    rows = page.locator(f"{selector} tr").all()
    return [[" ".join(cell.split()) for cell in row.locator("th, td").all_inner_texts()] for row in rows]


def test_confusion_kappa_and_threshold(opened: Opener, tmp_path: Path) -> None:
    evaluation, calibration = by_threshold(tmp_path)
    item = calibration["m"]
    assert item.confusion == {(True, True): 13, (True, False): 1, (False, True): 0, (False, False): 20}
    assert item.threshold == 0.6
    assert sorted(item.kappas) == [place / 10 for place in range(10)]
    assert item.kappas[0.0] == 0.0, "who passes every row agrees by chance only"
    # alike 33 of 34; chance: 14 * 13 and 20 * 21 of 34 * 34
    assert item.kappas[0.6] == pytest.approx(
        (33 / 34 - (14 * 13 + 20 * 21) / 34**2) / (1 - (14 * 13 + 20 * 21) / 34**2)
    )
    evaluation.to_html(tmp_path / "report.html", calibration=calibration)
    page = opened(tmp_path / "report.html", scripts=False)
    assert page.locator("#calibration .lead").inner_text() == calibration.sentence
    assert cells(page, ".confusion") == [
        ["", "people pass", "people fail"],
        ["judge would pass", "13", "≠1"],
        ["judge would fail", "≠0", "20"],
    ]
    kappa = item.agreement.kappa if item.agreement else None
    assert kappa is not None
    assert kappa.value is not None
    assert cells(page, ".measures")[1] == ["Cohen's kappa", "", f"{kappa.value:.3f}", str(kappa.interval)]
    assert (
        page.locator(".thresholds")
        .get_attribute("aria-label")
        .startswith(f"Kappa by threshold: best threshold 0.6 with kappa {item.kappas[0.6]:.2f}; 0: 0.00, 0.1: ")
    )
    assert page.locator(".thresholds .point").count() == 10
    assert "Best threshold: a row passes from 0.6 on" in page.locator("#calibration").inner_text()


def test_rows_that_differ_lead_to_the_row(opened: Opener, tmp_path: Path) -> None:
    evaluation, calibration = by_threshold(tmp_path)
    evaluation.to_html(tmp_path / "report.html", calibration=calibration)
    page = opened(tmp_path / "report.html")
    assert page.locator(".differing li").all_inner_texts() == ["q10\njudge 0.9, which would pass; people fail it"]
    page.locator(".differing a").click()
    until(page, "document.getElementById('row-title')?.textContent === 'q10'")
    page.go_back()
    until(page, "!document.getElementById('overview').hidden")


def test_verdicts_of_the_metric_and_split_people(opened: Opener, tmp_path: Path) -> None:
    passing = [row % 2 == 0 for row in range(40)]
    evaluation = run(tmp_path, [float(each) for each in passing], passing)
    labels = [label(row + 1, row % 2 == 0, annotator="a") for row in range(40)]
    labels += [label(row + 1, row % 2 == 1, annotator="b") for row in range(4)]
    calibration = evaluation.calibrate(labels)
    assert calibration["m"].confusion == {(True, True): 18, (True, False): 0, (False, True): 0, (False, False): 18}
    evaluation.to_html(tmp_path / "report.html", calibration=calibration)
    page = opened(tmp_path / "report.html")
    assert page.locator(".confusion caption").inner_text() == (
        "Labelled rows by verdict, 4 rows on which people are split left out"
    )
    assert page.locator(".thresholds").count() == 0
    assert page.locator(".differing li").all_inner_texts() == [
        f"q{row}\njudge {row % 2}, which would {'pass' if row % 2 else 'fail'}; people are split" for row in range(1, 5)
    ]


def test_grades_differ_by_their_distance(opened: Opener, tmp_path: Path) -> None:
    evaluation = run(tmp_path, [1.0 + row % 5 for row in range(40)], scale=[1, 5])
    labels = [label(row + 1, min(5, 1 + row % 5 + (row % 3) * (row < 30))) for row in range(40)]
    calibration = evaluation.calibrate(labels)
    assert calibration["m"].confusion == {}
    evaluation.to_html(tmp_path / "report.html", calibration=calibration)
    page = opened(tmp_path / "report.html")
    assert (page.locator(".confusion").count(), page.locator(".thresholds").count()) == (0, 0)
    differing = page.locator(".differing li").all_inner_texts()
    assert (differing[0], differing[-1]) == ("q3\njudge 3; people give 5", "and 6 more rows")
    assert len(differing) == 11


def test_a_page_without_labels_has_no_such_part(opened: Opener, report: Path) -> None:
    assert opened(report).locator("#calibration").count() == 0


def test_hostile_names(opened: Opener, tmp_path: Path) -> None:
    lines = [line(at, {"id": f"{at} {XSS[at % 40]}"}, score(XSS[0], float(at % 2))) for at in range(1, 61)]
    evaluation = written(tmp_path / "scores.jsonl", lines)
    labels = [{"id": item["sample"]["id"], "metric": XSS[0], "label": at % 4 == 0} for at, item in enumerate(lines)]
    evaluation.to_html(tmp_path / "report.html", calibration=evaluation.calibrate(labels))
    page = opened(tmp_path / "report.html")
    assert page.locator("#calibration h3").inner_text() == XSS[0]
    assert page.evaluate("window.hacked") is None
    assert page.locator("#calibration img, #calibration script").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_heard(opened: Opener, axe: str, tmp_path: Path, scheme: str) -> None:
    evaluation, calibration = by_threshold(tmp_path)
    evaluation.to_html(tmp_path / "report.html", calibration=calibration)
    page = opened(tmp_path / "report.html", width=360, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    wide = (
        "[...document.querySelectorAll('.pictures > *')].filter((item) => item.scrollWidth > item.clientWidth).length"
    )
    assert page.evaluate(wide) == 0
    page.evaluate(axe)  # by the tools of the developer: the policy of the page stays as it is
    assert page.evaluate("axe.run().then((result) => result.violations.map((item) => item.id))") == []
