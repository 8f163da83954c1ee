"""Names that every object of a script inherits, and numbers as they stand in the data: neither is taken for something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from report_data import claim, line, score, written

from .conftest import Opener, until


def open_row(page: Any, name: str) -> None:
    page.locator("#table tbody a").get_by_text(name, exact=True).first.click()
    until(page, f"document.querySelector('#row-title')?.textContent === {json.dumps(name)}")


INHERITED = ["constructor", "__proto__", "toString", "hasOwnProperty"]


@pytest.fixture
def inherited(tmp_path: Path) -> Path:
    """Metrics, verdicts, labels, ids and metadata that are called as what every object inherits."""
    answer = "It is red. It is red."
    verdicts = [claim("It is red.", word, [11, 21], [1], []) for word in [*INHERITED, "supported"]]
    rows = [
        line(
            number,
            {
                "id": name,
                "user_input": name,
                "response": answer,
                "retrieved_contexts": ["It is red."],
                "metadata": dict.fromkeys(INHERITED, number % 2),
            },
            *(score(metric, 0.5, label=name, details={"verdicts": verdicts, name: name}) for metric in INHERITED),
        )
        for number, name in enumerate(INHERITED, 1)
    ]
    written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
    return tmp_path / "report.html"


def test_inherited_names_mean_nothing(opened: Opener, inherited: Path) -> None:
    page = opened(inherited)
    for row in INHERITED:
        open_row(page, row)
        for metric in range(len(INHERITED)):
            page.locator(f"#tab-{metric}").click()
            shown = page.locator("#row").inner_text()
            assert not [word for word in ("undefined", "[object", "function", "native code") if word in shown]
            # an unknown word for a verdict does not take the claim's own "supported" away
            verdicts = page.locator(".claims .verdict").all_inner_texts()
            assert [text.split("\n") for text in verdicts] == [
                *[["–", "not supported", str(number)] for number in (1, 2, 3, 4)],
                ["✔", "supported", "5"],
            ]
            assert page.locator("mark").all_text_contents() == ["It is red.", "It is red."]
            assert page.locator(".part p.text").nth(1).inner_text().startswith("It is red. It is red.")
        page.keyboard.press("Escape")
    page.locator("#slice-path").select_option(label="__proto__")
    assert page.locator("#slice-table tbody th").all_inner_texts() == ["0", "1"]


def test_numbers_and_names_of_the_data_stand_as_they_are(opened: Opener, tmp_path: Path) -> None:
    metadata = {"year": 2024, "order_no": 12345678901234567890, "share": 0.00012, "is_test": True, "none": None}
    rows = [
        line(1, {"id": "a", "user_input": "?", "metadata": metadata}, score("m", 0.99961)),
        line(2, {"id": "b", "user_input": "?", "retrieved_contexts": []}, score("m", 0.0004)),
    ]
    written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html", "#row=a")
    told = page.locator(".sources .tree .tree > div").all_inner_texts()
    assert [text.split("\n") for text in told] == [
        ["year", "2024"],
        ["order_no", "12345678901234567890"],
        ["share", "0.00012"],
        ["is_test", "true"],
        ["none", "–"],
    ]
    assert page.locator("#tab-0").inner_text() == "m\n0.9996"
    assert page.locator(".sources .open").first.inner_text() == "the data has no contexts for this row"
    page.keyboard.press("Escape")
    open_row(page, "b")
    assert page.locator("#tab-0").inner_text() == "m\n0.0004"
    assert page.locator(".sources .open").first.inner_text() == "nothing was retrieved"


def test_letters_are_found_however_they_are_composed(opened: Opener, tmp_path: Path) -> None:
    decomposed, composed = "Cafe\u0301 Zoe\u0308", "Caf\u00e9 Zo\u00eb"
    verdicts = [claim(f"{composed} opens.", "supported", None, [1], [])]
    sample = {
        "id": decomposed,
        "user_input": "?",
        "response": "Yes.",
        "retrieved_contexts": [f"Far. {decomposed} opens."],
    }
    rows = [
        line(1, sample, score("m", 0.5, details={"verdicts": verdicts})),
        line(2, {"id": "b", "user_input": "?"}, score("m", 0.5)),
    ]
    written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    page.locator("#text").fill(composed.upper())
    assert page.locator("#table tbody a").all_inner_texts() == [decomposed]
    open_row(page, decomposed)
    assert page.locator(".contexts mark").all_text_contents() == [f"{decomposed} opens."]


def test_a_metric_that_failed_on_every_row_does_not_hide_which_rows_are_the_worst(
    opened: Opener, tmp_path: Path
) -> None:
    values = {"a": 0.9, "b": 0.1, "c": None}
    rows = [
        line(
            number,
            {"id": name, "user_input": "?"},
            score("dead", None, error="Boom: no field"),
            score("faithfulness", value, **({} if value else {"error": "Boom: lost"})),
        )
        for number, (name, value) in enumerate(values.items(), 1)
    ]
    written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert page.locator("#table tbody a").all_inner_texts() == ["c", "b", "a"]
    open_row(page, "b")
    assert page.locator("[role=tab][aria-selected=true] .name").inner_text() == "faithfulness"


def test_a_very_long_id_takes_four_lines_of_the_table(opened: Opener, tmp_path: Path) -> None:
    rows = [line(1, {"id": "x" * 3000, "user_input": "?"}, score("m", 0.5))]
    written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert page.locator("#table tbody tr").bounding_box()["height"] < 150
    open_row(page, "x" * 3000)
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_slices_say_on_how_many_rows_they_rest_and_blank_contexts_say_so(opened: Opener, tmp_path: Path) -> None:
    values = [("a", "en", 0.5), ("b", "en", 0.7), ("c", "de", 0.25), ("d", "de", None), ("e", "fr", None)]
    rows = [
        line(
            number,
            {"id": name, "user_input": "?", "retrieved_contexts": ["Far.", " \n"], "metadata": {"lang": lang}},
            score("m", value, **({} if value else {"reason": "nothing to score"})),
        )
        for number, (name, lang, value) in enumerate([*values, ("f", "fr", None)], 1)
    ]
    written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    told = page.locator("#slice-table td[data-name=m]").all_text_contents()
    assert told[0] == "0.250no interval1 scored"
    assert told[1].startswith("0.600")
    assert "scored" not in told[1]
    assert told[2] == "–0 scored"
    open_row(page, "a")
    assert page.locator(".contexts p.text").all_text_contents() == ["Far.", "blank"]
