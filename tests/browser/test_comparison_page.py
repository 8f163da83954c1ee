"""The page of a comparison, used as a reader uses it: with a mouse, with keys alone, without scripts, on paper."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from comparison_data import ANSWER_AFTER, ANSWER_BEFORE, TALL, compared_hostile, compared_small
from ragmetrics_core import Evaluation
from report_data import line, score, written

from .conftest import Opener, until

LARGEST_FIRST = ["q1", "q2", "q3", "q5", "q4", "line 8", "q6", "q7"]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "comparison.html"
    compared_small(tmp_path, by="lang").to_html(path)
    return path


def ids(page: Any) -> list[str]:
    return page.locator("#table tbody th").all_inner_texts()


def check_rows(page: Any, rows: list[str], first: int | None = None) -> None:
    """The rows of the table, or the first of them, once it has been drawn anew."""
    latest = time.monotonic() + 30
    while ids(page)[:first] != rows and time.monotonic() < latest:
        page.wait_for_timeout(10)
    assert ids(page)[:first] == rows


def words(locator: Any) -> list[str]:
    return [" ".join(text.split()) for text in locator.all_inner_texts()]


def test_the_summary_needs_no_script(opened: Opener, report: Path) -> None:
    page = opened(report, scripts=False)
    assert page.locator("h1").inner_text().count(".jsonl") == 2
    rows = [words(row.locator("th, td")) for row in page.locator("table.metrics tbody tr").all()]
    assert rows == [
        [
            "faithfulness higher is better, 0 to 1",
            "0.667",
            "0.750",
            "+0.083 -0.865 to +1.000 worse -1 margin ±0.03 +1 better",
            "?cannot say !1 failed !71 % → 71 % scored !only 3 pairs",
        ],
        [
            "diagnosis higher is better, 0 to 1",
            "0.333",
            "0.667",
            "+0.333 -0.415 to +0.792 worse -1 margin ±0.03 +1 better",
            "?cannot say !71 % → 71 % scored !only 3 pairs",
        ],
    ]
    assert page.locator(".metrics svg.difference").count() == 2
    first = page.locator("#slices tbody tr").first
    assert words(first.locator("th, td"))[:7] == [
        "de",
        "faithfulness",
        "?cannot say !100 % → 75 % scored !only 2 pairs",
        "",
        "0.750",
        "0.625",
        "-0.125",
    ]
    lost = "1 row (q3) with a value in the other run"
    both = "2 of 7 rows unscored (q5, line 8); 1 row (q5) with a value in the other run"
    assert [text.split(": ", 1)[1] for text in words(page.locator("#without li"))] == [
        "1 row (q6)",
        "1 row (q7)",
        f"1 of 7 rows unscored (line 8); 1 of 7 rows failed (q3); {lost}",
        both,
        f"2 of 7 rows unscored (q3, line 8); {lost}",
        both,
    ]
    assert page.locator("noscript").is_visible()
    assert not page.locator("#rows").is_visible()


def test_the_picture_says_in_words_what_it_shows(opened: Opener, report: Path) -> None:
    page = opened(report, scripts=False)
    assert page.locator(".metrics svg.difference").first.get_attribute("aria-label") == (
        "difference +0.083; 95 % interval -0.865 to +1.000, which holds 0; margin ±0.03"
    )
    assert words(page.locator(".metrics .ends"))[0] == "worse -1 margin ±0.03 +1 better"


def test_the_rows_that_changed_most_come_first(opened: Opener, report: Path) -> None:
    page = opened(report)
    check_rows(page, LARGEST_FIRST)
    cells = [words(row.locator("td.score")) for row in page.locator("#table tbody tr").all()]
    assert cells == [
        ["0.5 → to 1 ▲ better +0.5", "0 → to 1 ▲ better +1"],
        ["1 → to 0.75 ▼ worse −0.25", "1 → to 1 = no change"],
        ["✘ failed → to 0.8", "– unscored → to 1"],
        ["0.75 → to – unscored", "0 → to – unscored"],
        ["0.5 → to 0.5 = no change", "0 → to 0 = no change"],
        ["– unscored → to – unscored", "– unscored → to – unscored"],
        ["0.25 → to absent", "0 → to absent"],
        ["absent → to 1", "absent → to 1"],
    ]
    answers = [words(row.locator(".answer")) for row in page.locator("#table tbody tr").all()]
    assert answers[:2] == [[f"before {ANSWER_BEFORE}", f"after {ANSWER_AFTER}"], ["both It is there."]]


@pytest.mark.parametrize(
    ("fields", "rows"),
    [
        ({"text": "ROME"}, ["q1"]),
        ({"text": "tower q2"}, ["q2"]),
        ({"kind": "changed"}, ["q1", "q2"]),
        ({"kind": "changed", "metric": "1"}, ["q1"]),
        ({"kind": "better"}, ["q1"]),
        ({"kind": "worse"}, ["q2"]),
        ({"kind": "worse", "metric": "1"}, []),
        ({"kind": "broke"}, []),
        ({"kind": "mended"}, ["q1"]),
        ({"kind": "mended", "metric": "0"}, []),
        ({"kind": "same", "metric": "0"}, ["q4"]),
        ({"kind": "lost"}, ["q5"]),
        ({"kind": "gained"}, ["q3"]),
        ({"kind": "failed"}, ["q3"]),
        ({"kind": "unscored", "metric": "0"}, ["q5", "line 8"]),
        ({"kind": "before"}, ["q6"]),
        ({"kind": "after"}, ["q7"]),
        ({"slice": "1"}, ["q1", "q3"]),
        ({"sort": "input up"}, ["q1", "q2", "q3", "q4", "q5", "line 8", "q6", "q7"]),
        ({"sort": "0 up", "kind": "changed"}, ["q2", "q1"]),
        ({"sort": "0 down", "kind": "changed"}, ["q1", "q2"]),
        ({"sort": "size-1 up"}, ["q1", "q2", "q4", "q3", "q5", "line 8", "q6", "q7"]),
        ({"text": "no such words"}, []),
    ],
)
def test_filters(opened: Opener, report: Path, fields: dict[str, str], rows: list[str]) -> None:
    page = opened(report)
    for name, value in fields.items():
        field = page.locator(f"#{name}")
        field.fill(value) if name == "text" else field.select_option(value)
    check_rows(page, rows)
    page.get_by_role("button", name="Clear").click()
    until(page, "document.getElementById('sort').value === 'change up'")
    until(page, "document.getElementById('found').textContent === '8 rows'")
    check_rows(page, LARGEST_FIRST)


def test_rows_that_pass_no_more_and_those_that_pass_now(opened: Opener, tmp_path: Path) -> None:
    compared_small(tmp_path)
    after, before = (Evaluation.load(tmp_path / f"{name}.jsonl") for name in ("after", "before"))
    after.compare(before).to_html(tmp_path / "back.html")
    page = opened(tmp_path / "back.html", "#rows&kind=broke")
    check_rows(page, ["q1"])
    assert page.locator("#kind option:checked").inner_text() == "passed → not passed"
    page.locator("#kind").select_option(label="not passed → passed")
    check_rows(page, [])


def test_repeats_that_disagree_neither_pass_nor_fail(opened: Opener, tmp_path: Path) -> None:
    def rows(name: str, *passing: bool) -> Evaluation:
        sample = {"id": "q1", "user_input": "Where?", "response": "There."}
        lines = [line(at, sample, score("right", float(held), passing=held)) for at, held in enumerate(passing, 1)]
        return written(tmp_path / f"{name}.jsonl", lines)

    mixed, both, none = rows("mixed", True, False), rows("both", True, True), rows("none", False, False)
    for number, (before, after, found) in enumerate([(both, none, ["q1"]), (both, mixed, []), (mixed, none, [])]):
        before.compare(after).to_html(tmp_path / f"{number}.html")
        check_rows(opened(tmp_path / f"{number}.html", "#rows&kind=broke"), found)


def test_metrics_without_verdicts_offer_no_change_of_verdicts(opened: Opener, tmp_path: Path) -> None:
    lines = [line(1, {"id": "q1", "user_input": "Where?"}, score("length", 0.5))]
    one, two = written(tmp_path / "one.jsonl", lines), written(tmp_path / "two.jsonl", lines)
    one.compare(two).to_html(tmp_path / "comparison.html")
    page = opened(tmp_path / "comparison.html", "#rows&kind=broke")
    assert page.locator("#ignored").inner_text().endswith("is ignored: kind=broke.")
    assert "passed → not passed" not in page.locator("#kind option").all_inner_texts()


def test_headings_sort_by_what_became_worse_then_by_what_became_better(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.get_by_role("button", name="faithfulness").click()
    check_rows(page, ["q2", "q4", "q1"], first=3)
    assert page.locator("#sort").input_value() == "0 up"
    page.keyboard.press("Enter")  # the focus has stayed on the heading
    check_rows(page, ["q1", "q4", "q2"], first=3)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """The page of rows that become worse by one metric and better by the other, which is on a wider scale."""
    values = {
        "q1": ((1.0, 0.4), (0.0, 10.0)),
        "q2": ((1.0, 0.9), (10.0, 0.0)),
        "q3": ((0.5, 0.2), (5.0, 6.0)),
        "q4": ((0.5, 0.6), (5.0, 5.0)),
    }
    runs = []
    for side, name in enumerate(("before", "after")):
        rows = [
            line(
                at,
                {"id": row},
                score("faithfulness", right[side]),
                score("answer_accuracy", grade[side], scale=(0.0, 10.0)),
            )
            for at, (row, (right, grade)) in enumerate(values.items(), 1)
        ]
        runs.append(written(tmp_path / f"{name}.jsonl", rows))
    runs[0].compare(runs[1]).to_html(tmp_path / "mixed.html")
    return tmp_path / "mixed.html"


@pytest.mark.parametrize(
    ("part", "order", "rows"),
    [
        ("", "largest change first", ["q1", "q2", "q3", "q4"]),
        ("&kind=worse", "most worse first", ["q2", "q1", "q3"]),
        ("&kind=better", "most better first", ["q1", "q3", "q4"]),
        ("&metric=faithfulness", "faithfulness, largest change first", ["q1", "q3", "q2", "q4"]),
        ("&metric=faithfulness&kind=worse", "faithfulness, most worse first", ["q1", "q3", "q2"]),
        ("&metric=answer_accuracy&kind=better", "answer_accuracy, most better first", ["q1", "q3"]),
        ("&kind=worse&sort=input+down", "last of the data first", ["q3", "q2", "q1"]),
    ],
)
def test_the_order_follows_the_metric_and_the_change(
    opened: Opener, mixed: Path, part: str, order: str, rows: list[str]
) -> None:
    page = opened(mixed, f"#rows{part}")
    assert page.locator("#sort option:checked").inner_text() == order
    check_rows(page, rows)


@pytest.mark.parametrize(
    ("part", "tabs"),
    [
        ("", ["answer_accuracy", "answer_accuracy"]),
        ("&kind=worse", ["faithfulness", "answer_accuracy"]),
        ("&kind=better", ["answer_accuracy", "answer_accuracy"]),
        ("&metric=faithfulness&kind=worse", ["faithfulness", "faithfulness"]),
    ],
)
def test_a_row_opens_with_the_metric_that_the_filters_ask_for(
    opened: Opener, mixed: Path, part: str, tabs: list[str]
) -> None:
    page = opened(mixed)
    for row, tab in zip(("q1", "q2"), tabs, strict=True):
        page.evaluate(f"location.hash = '#row={row}{part}'")
        until(page, f"document.getElementById('row-title')?.textContent === '{row}'")
        assert page.locator("[role=tab][aria-selected=true] .name").inner_text() == tab
        page.locator("[role=tab][aria-selected=false]").click()  # which the next row does not keep


def test_the_sentence_leads_to_the_rows_that_got_worse(opened: Opener, mixed: Path) -> None:
    page = opened(mixed, "#rows&metric=faithfulness&text=q1")
    page.get_by_role("link", name="Show the rows that got worse").click()
    until(page, "location.hash === '#rows&kind=worse'")
    check_rows(page, ["q2", "q1", "q3"])
    assert -1 <= page.locator("#rows").bounding_box()["y"] < 900


def test_a_comparison_in_which_nothing_got_worse_has_no_link_to_such_rows(opened: Opener, tmp_path: Path) -> None:
    lines = [line(1, {"id": "q1"}, score("faithfulness", 0.5))]
    one, two = written(tmp_path / "one.jsonl", lines), written(tmp_path / "two.jsonl", lines)
    one.compare(two).to_html(tmp_path / "comparison.html")
    assert opened(tmp_path / "comparison.html").locator(".sentence a").count() == 0


def test_slices_lead_to_rows_and_an_address_to_one_that_only_one_run_has(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.get_by_role("button", name="en", exact=True).first.click()
    check_rows(page, ["q1", "q3"])
    page.evaluate("location.hash = '#row=q6'")
    page.wait_for_selector("#row-title")
    assert page.locator("#row-title").inner_text() == "q6"
    assert words(page.locator(".side"))[1].endswith("This run has not got the row.")
    assert page.locator(".what-changed").inner_text().endswith("Only the first run has this row.")


def test_a_row_stands_side_by_side_with_what_changed(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q1")
    page.locator("#tab-0").click()
    assert page.locator("#row-title").inner_text() == "q1"
    changed = page.locator(".what-changed")
    assert words(changed.locator(".difference-line")) == ["▲ better +0.5 67 % of all change by this metric"]
    assert words(changed.locator(".claim-change")) == [
        f"▲ Gained support (1) {TALL}",
        "+ New (1) The tower is in Paris. ✔ supported",
        "− Gone (1) The tower is in Rome. – not supported",
    ]
    assert page.locator(".part", has_text="Question").count() == 1, "what is the same stands once"
    assert page.locator(".part", has_text="Reference").count() == 1
    answers = page.locator(".sides").first.locator(".side")
    assert words(answers.locator(".part p.text")) == [
        "The tower is in Rome.✘1 It is 330 metres tall.–2",
        "The tower is in Paris.✔1 It is 330 metres tall.✔2",
    ]
    assert words(answers.locator(".side-value")) == ["0.5", "1"]
    assert answers.nth(0).locator(".claims .verdict").all_inner_texts() == ["✘\ncontradicted\n1", "–\nnot stated\n2"]
    assert words(page.locator(".contexts h3")) == [
        "Context 1 only here",
        "Context 2 also after, as context 1",
        "Context 1 also before, as context 2",
        "Context 2 only here",
    ]


def test_the_label_of_a_row_changes_too(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q1")
    assert page.locator("#tab-1").get_attribute("aria-selected") == "true", "by this metric it changed most"
    assert words(page.locator(".what-changed p")) == [
        "▲ better +1 100 % of all change by this metric",
        "label: contradicted → right",
    ]


def test_claims_are_marked_on_their_own_side(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q1")
    page.locator("#tab-0").click()
    before, after = page.locator(".sides").first.locator(".side").all()
    after.get_by_role("button", name="claim 2: supported").click()
    assert page.evaluate("document.activeElement.id") == "claim-after-0-1"
    assert before.locator(".lit").count() == 0
    after.get_by_role("button", name="✔ context 2").click()
    assert page.evaluate("document.activeElement.closest('li').id") == "context-after-2"


@pytest.mark.parametrize(
    ("row", "words_of_it"),
    [
        ("q3", "The first run had no value here, and the second has one."),
        ("q4", "The score is the same in both runs."),
        ("q5", "The second run has no value here, and the first has one: the value was lost."),
        ("q7", "Only the second run has this row."),
    ],
)
def test_why_there_is_no_difference(opened: Opener, report: Path, row: str, words_of_it: str) -> None:
    page = opened(report, f"#row={row}")
    assert page.locator(".what-changed p").first.inner_text().endswith(words_of_it)


def test_keys_alone(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the rows"
    page.locator("#table tbody a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#row-title")
    assert page.url.endswith("#row=q1")
    page.keyboard.press("j")
    until(page, "document.getElementById('row-title').textContent === 'q2'")
    page.keyboard.press("ArrowLeft")
    until(page, "document.getElementById('row-title').textContent === 'q1'")
    page.locator("#tab-1").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-0"
    page.keyboard.press("Escape")
    page.wait_for_selector("#table")
    assert page.evaluate("document.activeElement.textContent") == "q1", "the focus is back on the row"


def test_a_row_that_stands_several_times_is_shown_one_record_at_a_time(opened: Opener, tmp_path: Path) -> None:
    path = tmp_path / "comparison.html"
    compared_small(tmp_path, twice=True).to_html(path)
    page = opened(path, "#row=q2")
    page.locator("#tab-0").click()
    before = page.locator(".side").first
    assert words(before.locator(".side-value")) == ["0.5"], "the mean of both records is what counts"
    shown = before.get_by_label("This row stands several times in the run; shown is")
    shown.select_option("1")
    assert words(page.locator(".side").first.locator(".part p.text")) == ["It is elsewhere."]
    assert page.evaluate("document.activeElement.id") == "record-0"


def test_the_table_of_numbers_fits_or_shows_that_it_scrolls(opened: Opener, report: Path) -> None:
    page = opened(report)
    table = page.get_by_role("region", name="Table of numbers")
    assert table.evaluate("(item) => item.scrollWidth <= item.clientWidth")
    page.set_viewport_size({"width": 360, "height": 900})
    assert table.evaluate("(item) => item.scrollWidth > item.clientWidth")
    before = table.screenshot()
    table.evaluate("(item) => { item.style.background = 'none'; }")
    assert table.screenshot() != before, "a shadow at its end"


@pytest.mark.parametrize(
    ("field", "value"), [("kind", "passed → not passed"), ("sort", "faithfulness, largest change first")]
)
def test_the_values_of_filters_are_not_cut(opened: Opener, report: Path, field: str, value: str) -> None:
    page = opened(report)
    chosen = page.locator(f"#{field}")
    chosen.select_option(label=value)
    width = chosen.bounding_box()["width"]
    chosen.evaluate("""(item) => {
      item.replaceChildren(item.selectedOptions[0]);
      item.style.width = 'auto';
    }""")
    assert chosen.bounding_box()["width"] <= width


@pytest.mark.parametrize("address", ["", "#row=q1"])
def test_nothing_is_wider_than_a_phone(opened: Opener, report: Path, address: str) -> None:
    page = opened(report, address, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_paper_shows_both_sides(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q1")
    page.emulate_media(media="print")
    assert not page.locator(".row-pages").is_visible()
    left, right = (side.bounding_box() for side in page.locator(".sides").first.locator(".side").all())
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("address", ["", "#row=q1", "#row=q3"])
def test_assistive_technology_can_use_it(
    opened: Opener, report: Path, axe: str, scheme: str, width: int, address: str
) -> None:
    page = opened(report, address, width=width, scheme=scheme)
    if page.locator("#tab-0").count():
        page.locator("#tab-0").click()
    page.evaluate(axe)  # by the tools of the developer: the policy of the page stays as it is
    violations = page.evaluate("axe.run().then((result) => result.violations)")
    assert [(item["id"], [node["html"] for node in item["nodes"]]) for item in violations] == []


def test_runs_that_were_scored_by_others_are_told_so_first_and_not_compared(
    opened: Opener, axe: str, tmp_path: Path
) -> None:
    path = tmp_path / "comparison.html"
    compared_hostile(tmp_path, allow_different_judges=False).to_html(path)
    page = opened(path)
    notice = page.locator(".sentence + .caveat")
    assert notice.inner_text().startswith("!NOT CREDITED TO THE SYSTEM, because who scored differs between the runs:")
    assert page.locator("svg.difference").count() == 0
    assert page.locator(".delta").count() == 0
    assert page.locator("#sort option").all_inner_texts() == ["as in the data", "last of the data first"]
    page.evaluate("location.hash = '#n=1'")
    page.wait_for_selector(".what-changed")
    assert page.locator(".what-changed p").inner_text().startswith("Not compared: the LLM is ")
    page.evaluate(axe)
    violations = page.evaluate("axe.run().then((result) => result.violations)")
    assert [(item["id"], [node["html"] for node in item["nodes"]]) for item in violations] == []
