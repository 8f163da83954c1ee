"""Search in the evidence of the rows, which lies packed in the file: what is found, what is said of it, what could not be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from comparison_data import compared_small
from report_data import CONTEXTS, claim, half_of_evidence, line, many, score, unpacked, written

from .conftest import Opener, until


def ids(page: Any) -> list[str]:
    return page.locator("#table tbody th").all_inner_texts()


def searched(page: Any, text: str) -> str:
    """What the page says when it has searched for a text."""
    page.locator("#text").fill(text)
    until(page, "document.getElementById('searched').textContent.includes('was searched')")
    return page.locator("#searched").inner_text()


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("stands in Paris", "evidence Paris is a city. The tower stands in Paris."),
        ("BECAUSE of", "evidence because of The tower is in Paris."),
        ("Rome", "evidence Rome is far away."),
        ("de", None),
    ],
)
def test_contexts_claims_reasons_and_metadata_are_searched(
    opened: Opener, report: Path, text: str, hit: str | None
) -> None:
    page = opened(report)
    assert searched(page, text).startswith("The evidence of 4 rows was searched: ")
    hits = [" ".join(item.split()) for item in page.locator(".hit").all_inner_texts()]
    assert hit is None or hit in hits
    if hit is None:
        assert (ids(page), hits) == (["q3", "q2"], ["evidence de", "evidence de"])


def test_words_of_the_columns_and_of_the_evidence_count_together(opened: Opener, report: Path) -> None:
    page = opened(report)
    assert searched(page, "q2 rome") == "The evidence of 4 rows was searched: 1 more row found."
    assert ids(page) == ["q2"]
    assert searched(page, "q2 nowhere") == "The evidence of 4 rows was searched: 0 more rows found."
    assert ids(page) == []
    page.locator("#text").fill("")
    until(page, "document.getElementById('searched').textContent === ''")
    assert ids(page) == ["q3", "q1", "row 4", "q2"]


def test_names_of_fields_are_no_evidence(opened: Opener, report: Path) -> None:
    page = opened(report)
    for name in ("supported_by", "user_input", "faithfulness", "extract_claims"):
        assert searched(page, name) == "The evidence of 4 rows was searched: 0 more rows found."


def test_other_filters_hold_for_what_is_found(opened: Opener, report: Path) -> None:
    page = opened(report, "#rows&text=rome&state=f")
    until(page, "document.getElementById('searched').textContent.includes('was searched')")
    assert ids(page) == ["q3"]


def test_evidence_outside_the_file_is_named(opened: Opener, tmp_path: Path) -> None:
    lines = []
    for number in range(1, 201):
        details = {"verdicts": [claim(f"claim {number}", "supported", None, [1], [])], "noise": f"{number**99:x}" * 9}
        lines.append(line(number, {"id": f"q{number}", "user_input": "?"}, score("m", number / 200, details=details)))
    half_of_evidence(written(tmp_path / "scores.jsonl", lines), tmp_path / "report.html")
    index = unpacked((tmp_path / "report.html").read_text(encoding="utf-8"), "index")
    inside = sum(map(len, index["blocks"]))
    assert 0 < inside < 200
    page = opened(tmp_path / "report.html")
    assert searched(page, "claim") == (
        f"The evidence of {inside} rows was searched: {inside} more rows found. "
        f"The evidence of {200 - inside} rows is not in this file and is not searched."
    )
    assert page.locator("#found").inner_text().startswith(f"{inside} of 200 rows")


def test_both_sides_of_a_comparison_are_searched(opened: Opener, tmp_path: Path) -> None:
    compared_small(tmp_path).to_html(tmp_path / "comparison.html")
    page = opened(tmp_path / "comparison.html")
    assert searched(page, "tower stands") == "The evidence of 8 rows was searched: 1 more row found."
    assert ids(page) == ["q1"]
    assert " ".join(page.locator(".hit").inner_text().split()) == "evidence The tower stands."


def test_hits_are_found_across_blocks_and_pages(opened: Opener, tmp_path: Path) -> None:
    many(tmp_path / "scores.jsonl", 300).to_html(tmp_path / "report.html")
    index = unpacked((tmp_path / "report.html").read_text(encoding="utf-8"), "index")
    assert len(index["blocks"]) == 7
    page = opened(tmp_path / "report.html", "#rows&text=contradicted&sort=input+up&page=2")
    until(page, "document.getElementById('searched').textContent.includes('was searched')")
    found = int(page.locator("#searched").inner_text().split("searched: ")[1].split()[0])
    assert found > 50
    assert page.locator("#found").inner_text() == f"{found} of 300 rows: 51 to {min(found, 100)}"
    assert page.locator("#ignored").is_hidden()


def test_a_search_that_is_typed_over_finds_the_last_words(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.locator("#text").press_sequentially("rom")
    page.wait_for_timeout(260)
    page.locator("#text").fill("tower stands")
    until(page, "document.getElementById('searched').textContent.includes('was searched')")
    assert page.locator("#searched").inner_text() == "The evidence of 4 rows was searched: 3 more rows found."
    assert all(CONTEXTS[0] in item for item in page.locator(".hit").all_inner_texts())


def test_hostile_evidence_stays_text(opened: Opener, hostile_report: Path) -> None:
    page = opened(hostile_report)
    searched(page, "hacked")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#table img, #table script").count() == 0
