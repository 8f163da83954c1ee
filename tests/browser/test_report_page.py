"""The page of an evaluation, used as a reader uses it: with a mouse, with keys alone, without scripts, on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.llms import LexicalJudge
from report_data import ANSWER, line, score, small, written

from .conftest import Opener, until


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    small(tmp_path / "scores.jsonl").to_html(path)
    return path


def ids(page: Any) -> list[str]:
    return page.locator("#table tbody th").all_inner_texts()


def metrics(page: Any) -> list[Any]:
    return page.locator("table.metrics tbody tr").all()


def found(page: Any) -> str:
    return page.locator("#found").inner_text()


def test_the_summary_needs_no_script(opened: Opener, report: Path) -> None:
    page = opened(report, scripts=False)
    assert page.locator("h1").inner_text().endswith("scores.jsonl")
    rows = [[" ".join(cell.split()) for cell in row.locator("th, td").all_inner_texts()] for row in metrics(page)]
    assert rows == [
        [
            "faithfulness higher is better, 0 to 1",
            "0.667 !1 failed !50 % scored !only 2 rows",
            "0.005 to 0.999",
            "2 of 4 1 unscored, 1 failed",
            "780 tokens 2 calls, 1 cached",
        ],
        [
            "diagnosis higher is better, 0 to 1",
            "0.500 !only 4 rows",
            "0.150 to 0.850",
            "4 of 4",
            "0 calls",
        ],
    ]
    assert "BadReply: no JSON" in page.locator("#rests").inner_text()
    assert page.locator("noscript").is_visible()
    assert not page.locator("#rows").is_visible()


def test_the_worst_rows_come_first(opened: Opener, report: Path) -> None:
    page = opened(report)
    assert ids(page) == ["q3", "q1", "row 4", "q2"]
    assert found(page) == "4 rows"
    cells = page.locator("#table tbody tr").nth(1).locator("td.score").all_inner_texts()
    assert [" ".join(cell.split()) for cell in cells] == ["▾ poor 0.333", "✘ not passed 0 contradicted"]


@pytest.mark.parametrize(
    ("fields", "rows"),
    [
        ({"text": "NOTHING?"}, ["row 4"]),
        ({"text": "tower q2"}, ["q2"]),
        ({"state": "f"}, ["q3"]),
        ({"state": "u"}, ["row 4"]),
        ({"metric": "0", "below": "0.5"}, ["q1"]),
        ({"below": "0.5"}, ["q1", "row 4"]),
        ({"metric": "1", "label": "right"}, ["q2", "q3"]),
        ({"metric": "0"}, ["q1", "q2", "q3", "row 4"]),
        ({"metric": "0", "sort": "input down"}, ["row 4", "q3", "q2", "q1"]),
        ({"slice": "0"}, ["q3", "q2"]),
        ({"slice": "2"}, ["row 4"]),
        ({"sort": "input up"}, ["q1", "q2", "q3", "row 4"]),
        ({"sort": "0 down"}, ["q2", "q1", "q3", "row 4"]),
        ({"text": "no such words"}, []),
    ],
)
def test_filters(opened: Opener, report: Path, fields: dict[str, str], rows: list[str]) -> None:
    page = opened(report)
    for name, value in fields.items():
        field = page.locator(f"#{name}")
        field.fill(value) if name in ("text", "below") else field.select_option(value)
    assert ids(page) == rows
    page.get_by_role("button", name="Clear").click()
    until(
        page,
        "document.getElementById('found').textContent === '4 rows' && document.getElementById('sort').value === 'worst up'",
    )
    until(page, "document.querySelector('#table tbody th')?.textContent === 'q3'")
    assert ids(page) == ["q3", "q1", "row 4", "q2"]


def test_a_label_breaks_between_its_words(opened: Opener, tmp_path: Path) -> None:
    row = line(1, {"id": "q"}, score("diagnosis", 0.0, label="right_unsupported"), score("faithfulness", 1.0))
    written(tmp_path / "scores.jsonl", [row]).to_html(tmp_path / "labels.html")
    label = opened(tmp_path / "labels.html").locator("#table .label")
    parts = "(item) => [...item.childNodes].filter((part) => part.data).map((part) => part.data)"
    assert label.evaluate(parts) == ["right_", "unsupported"]


def test_headings_sort(opened: Opener, report: Path) -> None:
    page = opened(report)
    heading = page.get_by_role("button", name="faithfulness")
    heading.click()
    assert ids(page) == ["q1", "q2", "q3", "row 4"]
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("faithfulness")
    page.keyboard.press("Enter")  # the focus has stayed on the heading
    assert ids(page) == ["q2", "q1", "q3", "row 4"]
    assert page.locator("#sort").input_value() == "0 down"


def test_the_order_follows_the_metric_until_another_is_chosen(opened: Opener, report: Path) -> None:
    page = opened(report, "#rows&metric=faithfulness")
    assert page.locator("#sort option:checked").inner_text() == "faithfulness, lowest first"
    assert page.locator("#table th[aria-sort=ascending]").inner_text().startswith("faithfulness")
    assert ids(page) == ["q1", "q2", "q3", "row 4"]
    page.get_by_role("button", name="faithfulness").last.click()
    assert page.locator("#sort").input_value() == "0 down"
    page.locator("#metric").select_option(label="any metric")
    assert ids(page) == ["q2", "q1", "q3", "row 4"]


@pytest.mark.parametrize(
    ("part", "chosen"),
    [("", "diagnosis"), ("&metric=faithfulness", "faithfulness"), ("&label=contradicted", "diagnosis")],
)
def test_a_row_opens_with_the_metric_that_the_filters_ask_for(
    opened: Opener, report: Path, part: str, chosen: str
) -> None:
    page = opened(report, f"#row=q1{part}")
    tab = page.locator("[role=tab][aria-selected=true] .name")
    page.locator("[role=tab][aria-selected=false]").click()
    page.evaluate(f"location.hash = '#row=q2{part}'")
    until(page, "document.getElementById('row-title').textContent === 'q2'")
    page.evaluate(f"location.hash = '#row=q1{part}'")
    until(page, "document.getElementById('row-title').textContent === 'q1'")
    assert tab.inner_text() == chosen


def test_slices_lead_to_their_rows(opened: Opener, report: Path) -> None:
    page = opened(report)
    cells = page.locator("#slices tbody tr").first.locator("th, td").all_inner_texts()
    assert [cell.split("\n")[0] for cell in cells] == ["de", "2", "1.000", "1.000"]
    page.get_by_role("button", name="de", exact=True).click()
    assert ids(page) == ["q3", "q2"]


def test_a_row_shows_its_evidence(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q1")
    page.locator("#tab-0").click()
    assert page.locator("#row-title").inner_text() == "q1"
    claims = page.locator(".claims li")
    assert claims.locator(".verdict").all_inner_texts() == ["✘\ncontradicted\n2", "–\nnot stated\n3", "✔\nsupported\n1"]
    assert claims.nth(0).locator(".claim").inner_text() == "The tower is 330 metres tall."
    assert claims.nth(0).locator(".passage").all_inner_texts() == ["✘ context 2"]
    assert claims.nth(0).locator(".reason").inner_text() == "because of The tower is 330 metres tall."
    assert "1 of 3 supported" in page.locator(".claims").inner_text()
    assert page.locator(".origin p").all_inner_texts() == [
        "Messages and replies are not here: only the directory of a run, with its run.json, has them.",
        "prompts: extract_claims 3, verify_claims 4 · 2 calls, 1 of them answered before · 700 tokens in, 80 out",
    ]


def test_claims_are_marked_in_the_answer_and_in_the_contexts(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q1")
    page.locator("#tab-0").click()
    answer = page.locator(".part", has_text="Answer").locator("p.text").first
    marks = [(mark.get_attribute("class"), mark.inner_text()) for mark in answer.locator("mark").all()]
    assert marks == [("good", "The tower is in Paris 🗼."), ("bad", "It is 330 metres tall."), ("open", "It is green.")]
    assert answer.locator(".ref").all_inner_texts() == ["✔1", "✘2", "–3"]
    first, second, third = page.locator(".contexts > li").all()
    assert first.locator("mark.good").all_inner_texts() == ["The tower stands in Paris."]
    assert second.locator("mark.bad").all_inner_texts() == ["It is 300 metres tall."]
    assert third.locator("mark").count() == 0
    page.get_by_role("button", name="claim 2: contradicted").first.click()
    assert "lit" in (page.locator(".claims li").nth(0).get_attribute("class") or "")
    assert page.evaluate("document.activeElement.id") == "claim-0-1"


def test_raw_replies_are_one_click_away(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q3")
    assert not page.locator("pre").first.is_visible()
    page.get_by_text("Raw replies that could not be read (2)").click()
    assert page.locator("pre").all_inner_texts() == ["I cannot say", "really not"]


def test_keys_alone(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the rows"
    page.locator("#table tbody a").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#row-title")
    assert page.url.endswith("#row=q1")
    assert page.evaluate("document.activeElement.id") == "row"
    page.keyboard.press("ArrowRight")
    until(page, "document.getElementById('row-title').textContent === 'row 4'")
    page.keyboard.press("k")
    until(page, "document.getElementById('row-title').textContent === 'q1'")
    page.locator("#tab-1").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-0"
    assert page.locator("#tab-0").get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    page.wait_for_selector("#table")
    assert page.evaluate("document.activeElement.textContent") == "q1", "the focus is back on the row"


def tab_to(page: Any, expression: str) -> None:
    """Press Tab until the element in focus is the one that is meant; each on the way shows that it has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS_SHOWN), page.evaluate("document.activeElement.outerHTML")
        if page.evaluate(f"((item) => {expression})(document.activeElement)"):
            return
    raise AssertionError(f"no way leads to {expression}")


FOCUS_SHOWN = """(() => {
  const style = getComputedStyle(document.activeElement);
  return document.activeElement === document.body || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2);
})()"""


def test_from_the_top_to_the_messages_of_a_row_and_back_with_keys_alone(opened: Opener, tmp_path: Path) -> None:
    rows = [
        {
            "id": f"q{number}",
            "user_input": f"Where is {number}?",
            "response": "In Rome.",
            "retrieved_contexts": ["In Paris."],
        }
        for number in range(3)
    ]
    evaluation = evaluate(
        rows, ["faithfulness", "answer_relevance_rating"], llm=LexicalJudge(), run_dir=tmp_path / "run"
    )
    evaluation.to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    tab_to(page, "item.className === 'skip'")
    page.keyboard.press("Enter")
    until(page, "document.activeElement.id === 'rows'")
    tab_to(page, "item.id === 'text'")
    page.keyboard.type("is 2")
    until(page, "document.querySelectorAll('#table tbody tr').length === 1")
    tab_to(page, "item.closest('th[data-sort]')")
    page.keyboard.press("Enter")
    tab_to(page, "item.textContent === 'q2'")
    page.keyboard.press("Enter")
    until(page, "document.activeElement.id === 'row'")
    tab_to(page, "item.getAttribute('role') === 'tab'")
    page.keyboard.press("End")
    until(page, "document.activeElement.id === 'tab-1'")
    page.keyboard.press("Home")
    until(page, "document.activeElement.id === 'tab-0'")
    tab_to(page, "item.textContent === 'show in the text'")
    page.keyboard.press("Enter")
    assert page.locator("mark.lit").count() == 1
    tab_to(page, "item.textContent === 'Messages and replies (2 calls)'")
    page.keyboard.press("Enter")
    tab_to(page, "item.localName === 'pre'")
    assert page.locator(".calls pre").first.is_visible()
    page.keyboard.press("Escape")
    until(page, "document.activeElement.textContent === 'q2'")


def test_a_row_without_an_id_has_an_address_and_an_unknown_one_is_told(opened: Opener, report: Path) -> None:
    page = opened(report, "#n=4")
    assert page.locator("#row-title").inner_text() == "row 4"
    page.get_by_text("← All rows").click()
    page.wait_for_selector("#table")
    page.evaluate("location.hash = '#row=nobody'")
    page.wait_for_selector("#trouble")
    assert page.locator("#trouble").inner_text() == "This report has no such row."
    page.go_back()
    page.go_back()
    page.wait_for_selector("#row-title")


def test_messages_and_replies_are_one_click_away(opened: Opener, tmp_path: Path) -> None:
    question = {"id": "q", "user_input": "Where?", "response": "In <Paris>.", "retrieved_contexts": ["In Paris."]}
    evaluation = evaluate([question], "faithfulness", llm=LexicalJudge(), run_dir=tmp_path / "run")
    evaluation.to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html", "#row=q")
    messages = page.locator(".calls .message")
    assert not messages.first.is_visible()
    page.get_by_text("Messages and replies (2 calls)").click()
    assert page.locator(".calls h3").all_inner_texts() == ["1. extract_claims", "2. verify_claims"]
    assert page.locator(".calls h4").all_inner_texts() == ["system", "user", "reply"] * 2
    assert messages.nth(1).locator("pre").inner_text() == '{"question": "Where?", "answer": "In <Paris>."}'
    assert messages.nth(2).locator("pre").inner_text() == '{"claims": ["In <Paris>."]}'


@pytest.mark.parametrize("address", ["", "#row=q1"])
def test_nothing_is_wider_than_a_phone(opened: Opener, report: Path, address: str) -> None:
    page = opened(report, address, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert (
        page.evaluate(
            "[...document.querySelectorAll('.scroll')].filter((item) => item.scrollWidth > item.clientWidth).length"
        )
        == 0
    )


def test_paper_shows_the_table_without_what_only_a_mouse_can_use(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.emulate_media(media="print")
    assert page.locator("#table").is_visible()
    assert not page.locator("#filters").is_visible()


def test_colours_follow_the_reader(opened: Opener, report: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    assert opened(report, scheme="light").evaluate(colour) == "rgb(247, 246, 243)"
    assert opened(report, scheme="dark").evaluate(colour) == "rgb(20, 22, 26)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("address", ["", "#row=q1", "#row=q3", "#row=nobody"])
def test_assistive_technology_can_use_it(
    opened: Opener, report: Path, axe: str, scheme: str, width: int, address: str
) -> None:
    page = opened(report, address, width=width, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
    assert violations(page, axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_assistive_technology_can_use_the_messages_of_a_row(
    opened: Opener, tmp_path: Path, axe: str, scheme: str
) -> None:
    row = {"id": "q", "user_input": "Where?", "response": "In Rome.", "retrieved_contexts": ["In Paris."]}
    evaluate([row], "diagnosis", llm=LexicalJudge(), run_dir=tmp_path / "run").to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html", "#row=q", scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
    assert violations(page, axe) == []


def violations(page: Any, axe: str) -> list[Any]:
    page.evaluate(axe)  # by the tools of the developer: the policy of the page stays as it is
    found = page.evaluate("axe.run().then((result) => result.violations)")
    return [(item["id"], [node["html"] for node in item["nodes"]]) for item in found]


def test_the_answer_is_shown_letter_by_letter(opened: Opener, report: Path) -> None:
    page = opened(report, "#row=q1")
    page.locator("#tab-1").click()  # it has no claims, so nothing is marked
    assert page.locator(".part", has_text="Answer").locator("p.text").first.inner_text() == ANSWER
