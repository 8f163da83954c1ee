"""The view of the table in the address: it can be sent, Back leads to the one before, and nothing else is taken from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from comparison_data import compared_small
from report_data import line as line_of
from report_data import many, score, written

from .conftest import Opener, until


def hash_of(page: Any) -> str:
    return page.evaluate("location.hash")


def ids(page: Any) -> list[str]:
    return page.locator("#table tbody th").all_inner_texts()


def ignored(page: Any) -> str:
    return page.locator("#ignored").inner_text() if page.locator("#ignored").is_visible() else ""


@pytest.mark.parametrize(
    ("fields", "address", "rows"),
    [
        ({"text": "tower q2"}, "#rows&text=tower+q2", ["q2"]),
        ({"metric": "0", "below": "0.5"}, "#rows&metric=faithfulness&below=0.5", ["q1"]),
        ({"state": "f"}, "#rows&state=f", ["q3"]),
        ({"metric": "1", "label": "right"}, "#rows&metric=diagnosis&label=right", ["q2", "q3"]),
        ({"slice": "0"}, "#rows&slice=lang%3Dde", ["q3", "q2"]),
        ({"slice": "2"}, "#rows&slice=lang", ["row 4"]),
        ({"sort": "input up"}, "#rows&sort=input+up", ["q1", "q2", "q3", "row 4"]),
        ({"sort": "0 down"}, "#rows&sort=by+faithfulness+down", ["q2", "q1", "q3", "row 4"]),
    ],
)
def test_a_view_can_be_sent(
    opened: Opener, report: Path, fields: dict[str, str], address: str, rows: list[str]
) -> None:
    page = opened(report)
    for name, value in fields.items():
        field = page.locator(f"#{name}")
        field.fill(value) if name in ("text", "below") else field.select_option(value)
    assert (hash_of(page), ids(page)) == (address, rows)
    sent = opened(report, address)
    assert ids(sent) == rows
    assert {name: sent.locator(f"#{name}").input_value() for name in fields} == fields
    assert (hash_of(sent), ignored(sent)) == (address, "")
    sent.locator("#table tbody a").first.click()
    sent.wait_for_selector("#row-title")
    assert hash_of(sent).endswith(address.removeprefix("#rows")), "the opened row keeps the view"


def test_a_row_is_sent_with_its_neighbours(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q1&sort=by+faithfulness+down")
    assert page.locator(".row-pages").inner_text().split("\n")[-1].endswith("2 of 4 Next →")
    page.keyboard.press("ArrowRight")
    until(page, "location.hash === '#row=q3&sort=by+faithfulness+down'")
    page.keyboard.press("Escape")
    until(page, "location.hash === '#rows&sort=by+faithfulness+down'")
    assert ids(page) == ["q2", "q1", "q3", "row 4"]


def test_back_leads_to_the_view_before(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.locator("#state").select_option("f")
    page.locator("#text").press_sequentially("tower")  # its letters are one step
    page.locator("#table tbody a").first.click()
    page.wait_for_selector("#row-title")
    assert hash_of(page) == "#row=q3&text=tower&state=f"
    steps = [("#rows&text=tower&state=f", ["q3"]), ("#rows&state=f", ["q3"]), ("", ["q3", "q1", "row 4", "q2"])]
    for address, rows in steps:
        page.go_back()
        until(page, f"location.hash === '{address}'")
        until(page, f"document.querySelectorAll('#table tbody tr').length === {len(rows)}")
        assert ids(page) == rows
    assert (page.locator("#text").input_value(), page.locator("#state").input_value()) == ("", "")
    for _ in steps:
        page.go_forward()
    page.wait_for_selector("#row-title")
    assert hash_of(page) == "#row=q3&text=tower&state=f"
    page.reload()
    page.wait_for_selector("#row-title")
    assert page.locator("#row-title").inner_text() == "q3"


def test_a_cleared_view_is_a_step_too(opened: Opener, report: Path) -> None:
    page = opened(report, "#rows&state=u")
    assert ids(page) == ["row 4"]
    page.get_by_role("button", name="Clear").click()
    until(page, "location.hash === '#rows'")
    assert ids(page) == ["q3", "q1", "row 4", "q2"]
    page.go_back()
    until(page, "document.querySelectorAll('#table tbody tr').length === 1")
    assert ids(page) == ["row 4"]


def test_a_place_in_the_page_keeps_the_view(opened: Opener, report: Path) -> None:
    page = opened(report, "#rows&state=u")
    for address, kept in (("#rows", "#rows&state=u"), ("#top", "#top")):
        page.evaluate(f"location.hash = '{address}'")
        until(page, f"location.hash === '{kept}'")
        assert ids(page) == ["row 4"]
    page.go_back()
    page.go_back()
    assert ids(page) == ["row 4"]


@pytest.mark.parametrize(
    ("part", "told", "kept"),
    [
        ("&state=x", "state=x", ""),
        ("&nonsense=1&state=f", "nonsense=1", "&state=f"),
        ("&page=0", "page=0", ""),
        ("&page=-1", "page=-1", ""),
        ("&page=2", "page=2", ""),
        ("&page=1e99", "page=1e99", ""),
        ("&state=f&state=u", "state=u", "&state=f"),
        ("&below=low", "below=low", ""),
        ("&metric=constructor", "metric=constructor", ""),
        ("&__proto__=1", "__proto__=1", ""),
        ("&sort=0+up", "sort=0 up", ""),
        (f"&text={'a' * 501}", f"text={'a' * 35}…", ""),
        ("&label=<img src=x onerror=window.hacked=1>", "label=<img src=x onerror=window.hacked=1…", ""),
        ("&a=1&b=2&c=3&d=4&e=5", "a=1, b=2, c=3 and 2 more", ""),
    ],
)
def test_what_is_not_here_is_ignored_and_said(opened: Opener, report: Path, part: str, told: str, kept: str) -> None:
    page = opened(report, f"#rows{part}")
    assert ignored(page) == f"This page has no such view, so a part of the address is ignored: {told}."
    assert hash_of(page) == f"#rows{kept}"
    assert page.evaluate("window.hacked") is None
    page.locator("#sort").select_option("input down")
    assert ignored(page) == ""


def test_ids_with_signs_of_addresses_are_found(opened: Opener, tmp_path: Path) -> None:
    names = ["a&state=f", "a", "b+c", "100%"]
    rows = [line_of(at, {"id": name, "user_input": "?"}, score("m", 0.5)) for at, name in enumerate(names, 1)]
    written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
    for address, name in (
        ("#row=a&state=f", "a&state=f"),
        ("#row=a%26state%3Df&sort=input+up", "a&state=f"),
        ("#row=a&sort=input+up", "a"),
        ("#row=b+c", "b+c"),
        ("#row=100%25&sort=input+up", "100%"),
        ("#n=4&sort=input+up", "100%"),
    ):
        page = opened(tmp_path / "report.html", address)
        assert page.locator("#row-title").inner_text() == name


def test_pages_of_the_table(opened: Opener, tmp_path: Path) -> None:
    many(tmp_path / "scores.jsonl", 120).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html", "#rows&sort=input+up&page=2")
    assert ids(page)[0] == "q51"
    page.get_by_role("button", name="Next →").click()
    assert (hash_of(page), ids(page)[0]) == ("#rows&sort=input+up&page=3", "q101")
    page.go_back()
    until(page, "document.querySelector('#table tbody th').textContent === 'q51'")


def test_a_comparison_has_its_own_fields(opened: Opener, tmp_path: Path) -> None:
    compared_small(tmp_path, by="lang").to_html(tmp_path / "comparison.html")
    page = opened(tmp_path / "comparison.html", "#rows&metric=diagnosis&kind=changed&sort=size+of+faithfulness+up")
    assert (ids(page), ignored(page)) == (["q1"], "")
    page.locator("#sort").select_option("0 down")
    assert hash_of(page) == "#rows&metric=diagnosis&kind=changed&sort=by+faithfulness+down"


def test_hostile_names_can_be_sent(opened: Opener, hostile_report: Path) -> None:
    page = opened(hostile_report)
    for name in ("metric", "label", "slice", "sort"):
        options = page.locator(f"#{name} option").evaluate_all("(found) => found.map((item) => item.value)")
        for value in options[1:45]:
            page.locator(f"#{name}").select_option(value)
            address, found = hash_of(page), page.locator("#found").inner_text()
            page.evaluate("location.hash = '#top'")
            page.get_by_role("button", name="Clear").click()
            until(page, "location.hash === '#rows'")
            page.evaluate(f"location.hash = {address!r}")
            until(page, f"document.getElementById('{name}').value !== document.querySelector('#{name} option').value")
            assert page.locator(f"#{name}").input_value() == value
            assert (page.locator("#found").inner_text(), ignored(page)) == (found, "")
            page.get_by_role("button", name="Clear").click()
            until(page, "location.hash === '#rows'")
    assert page.evaluate("window.hacked") is None
