"""Forty texts that would run a script or change the page, in every field of two runs that are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from comparison_data import compared_hostile
from report_data import XSS

from .conftest import Opener, until
from .test_hostile_page import check, choose_each

OWN = "colspan data-slice data-value rowspan"
"""Attributes that only the page of a comparison has."""

SHOWN = [text for text in XSS if text.isprintable()]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    compared_hostile(folder).to_html(folder / "comparison.html")
    return folder / "comparison.html"


def test_the_summary_and_the_table(opened: Opener, report: Path) -> None:
    page = opened(report)
    assert page.locator("#table tbody tr").count() == len(XSS) == 40
    check(page, attributes=OWN)
    assert page.locator("h1 > span[dir]").all_inner_texts() == [f"{XSS[4]} (first)", f"{XSS[4]} (second)"]
    warning = page.locator(".caveat.bad").inner_text()
    assert warning.startswith("!WARNING: who scored differs between the runs")
    assert XSS[2] in warning
    assert XSS[3] in warning
    assert page.locator(".metrics .name").first.inner_text() == f"m {XSS[0]}"
    caveats = page.locator(".caveat").all_text_contents()
    assert all(any(text in caveat for caveat in caveats) for text in SHOWN)
    assert page.locator("#without li").count() > 0


def test_each_row(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.locator("#sort").select_option("input up")
    for number, text in enumerate(XSS, 1):
        page.evaluate(f"location.hash = 'n={number}'")
        until(page, f"document.querySelector('.row-pages')?.textContent.includes(' {number} of 40 ')")
        for metric in (0, 1):
            page.locator(f"#tab-{metric}").click()
            page.evaluate("document.querySelectorAll('#row summary').forEach((item) => item.click())")
            check(page, attributes=OWN)
        page.locator("#tab-0").click()
        if text.isprintable():
            assert page.locator("#row-title").text_content() == text
            answers = page.evaluate(
                "[...document.querySelectorAll('.side .part :is(p.text, .formatted)')].map((item) => item.textContent)"
            )
            assert len(answers) >= 2
            assert page.locator(".claim-change bdi").all_text_contents() == [" ".join(text.split())]


def test_choices_made_of_hostile_texts(opened: Opener, report: Path) -> None:
    page = opened(report)
    choose_each(page, "kind", "slice", "sort", "metric")
    page.locator("#slices th button").first.click()
    until(page, "document.getElementById('found').textContent.startsWith('20 of 40 rows')")
    check(page, attributes=OWN)


def test_without_scripts(opened: Opener, report: Path) -> None:
    page = opened(report, scripts=False)
    assert page.locator("style, main, h1").count() == 3
    assert page.locator("img, iframe, object, embed, base, link, video, template, math").count() == 0
