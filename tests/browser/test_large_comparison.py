"""Two runs of thousands of rows, each with five contexts of 800 characters and five claims: size, first view, opening a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from comparison_data import compared_many
from report_data import unpacked

from .conftest import Opener, first_view

ROWS = 3_000


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    compared_many(folder, ROWS).to_html(folder / "comparison.html")
    return folder / "comparison.html"


def test_it_can_be_sent_and_looked_at(opened: Opener, report: Path) -> None:
    assert report.stat().st_size <= 12_000_000
    page, seconds = first_view(opened, report)
    print(f"{report.stat().st_size / 1e6:.2f} MB, first view {seconds:.2f} s")
    assert seconds <= 2
    assert page.locator("#table tbody tr").count() == 50
    said = page.locator("#size").inner_text()
    assert said.startswith("This file holds at most 12 MB, so the evidence of ")
    assert "that of the rows that changed most first" in said


def test_rows_that_changed_most_have_their_evidence_and_the_others_say_that_they_have_none(
    opened: Opener, report: Path
) -> None:
    index = unpacked(report.read_text(encoding="utf-8"), "index")
    inside = [row for block in index["blocks"] for row in block]
    assert inside == index["rows"]["order"][: len(inside)]
    outside = index["rows"]["order"][-1]
    page = opened(report, f"#n={inside[-1] + 1}")
    assert page.locator(".contexts > li").count() == 10
    assert page.locator(".only-here").count() == 6, "three of five contexts on each side"
    page.evaluate(f"location.hash = '#n={outside + 1}'")
    page.wait_for_selector("#row .caveat")
    assert "did not fit into this file" in page.locator("#row .caveat").inner_text()
    assert page.locator(".side-value").count() == 2
