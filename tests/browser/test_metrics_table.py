"""What a page begins with: the sentence and the table of metrics, which are there at once, sort, and can be read however many
metrics there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Evaluation
from report_data import line, score, written

from .conftest import Opener

THREE = ("faithfulness", "answer_relevance", "context_recall")
MANY = tuple(
    f"{first}_{second}_{number}"
    for number in range(11)
    for first in ("answer", "context")
    for second in ("precision", "similarity")
)
ROWS = 40


def value_of(row: int, metric: int) -> float:
    """Means that fall from metric to metric."""
    return round((row * 7 % 10) / 10 / (1 + metric / 10), 3)


def run_of(path: Path, names: Iterable[str], shift: float = 0.0) -> Evaluation:
    """Forty rows: the second metric failed on the first of them, the third has no value of every second row."""
    lines = []
    for row in range(1, ROWS + 1):
        scores = []
        for place, name in enumerate(names):
            if place == 1 and row == 1:
                scores.append(score(name, None, error="BadReply: no JSON"))
            elif place == 2 and row % 2:
                scores.append(score(name, None, reason="nothing was retrieved"))
            else:
                scores.append(score(name, min(1.0, value_of(row, place) + shift)))
        sample = {
            "id": f"q{row}",
            "user_input": f"How long does parcel {row} take?",
            "response": "It takes three days.",
        }
        lines.append(line(row, {**sample, "metadata": {"lang": "de" if row % 3 else "en"}}, *scores))
    return written(path, lines)


@pytest.fixture(params=["run", "comparison"])
def page_of_three(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.html"
    run = run_of(Path("old.jsonl"), THREE)
    if request.param == "run":
        run.to_html(path)
    else:
        run.compare(run_of(Path("new.jsonl"), THREE, shift=0.1)).to_html(path)
    return path


def names(page: Any) -> list[str]:
    return page.locator("table.metrics tbody .name").all_inner_texts()


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_sentence_and_the_metrics_are_there_at_once(
    opened: Opener, page_of_three: Path, width: int, scripts: bool
) -> None:
    page = opened(page_of_three, width=width, scripts=scripts)
    sentence, table = (page.locator(name).bounding_box() for name in (".sentence", "table.metrics"))
    assert sentence["y"] + sentence["height"] < table["y"]
    assert table["y"] + table["height"] <= 700
    assert table["x"] + table["width"] <= width
    assert page.locator("table.metrics svg:visible").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [1280, 768, 360])
def test_intervals_can_be_compared_down_the_page(opened: Opener, page_of_three: Path, width: int) -> None:
    page = opened(page_of_three, width=width)
    boxes = [chart.bounding_box() for chart in page.locator("table.metrics svg").all()]
    assert len(boxes) == 3
    assert len({(round(box["x"], 1), round(box["width"], 1)) for box in boxes}) == 1


@pytest.mark.parametrize("name", ["#sections", "table.metrics thead tr"])
def test_links_and_headings_wrap_on_a_phone(opened: Opener, page_of_three: Path, name: str) -> None:
    page = opened(page_of_three, width=360)
    line = page.locator(name)
    assert line.evaluate("(item) => item.scrollWidth <= item.clientWidth")
    box = line.bounding_box()
    for item in line.locator("> *").all():
        assert item.bounding_box()["x"] + item.bounding_box()["width"] <= box["x"] + box["width"]


def test_headings_sort_metrics(opened: Opener, page_of_three: Path) -> None:
    page = opened(page_of_three)
    heads = page.locator("table.metrics th[scope=col]")
    assert {head.get_attribute("aria-sort") for head in heads.all()} == {"none"}
    page.get_by_role("button", name="Metric", exact=True).click()
    assert names(page) == ["answer_relevance", "context_recall", "faithfulness"]
    page.get_by_role("button", name="Mean" if heads.nth(1).inner_text() == "Mean" else "After").click()
    lowest_first = ["context_recall", "answer_relevance", "faithfulness"]
    assert names(page) == lowest_first
    assert page.locator("table.metrics th[aria-sort=ascending]").count() == 1
    page.keyboard.press("Enter")  # the focus has stayed on the heading
    assert names(page) == lowest_first[::-1]
    assert page.locator("table.metrics th[aria-sort=descending]").inner_text().endswith("▼")


def test_metrics_without_a_value_stay_last(opened: Opener, tmp_path: Path) -> None:
    lines = [
        line(row, {"id": f"q{row}"}, score("none", None, reason="nothing"), score("b", 1.0), score("a", row / 10))
        for row in (1, 2)
    ]
    written(tmp_path / "scores.jsonl", lines).to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html")
    mean = page.get_by_role("button", name="Mean")
    mean.click()
    assert names(page) == ["a", "b", "none"]
    mean.click()
    assert names(page) == ["b", "a", "none"]


def test_caveats_stand_beside_the_mean_in_short_and_below_in_full(opened: Opener, tmp_path: Path) -> None:
    run_of(tmp_path / "old.jsonl", THREE).to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html", scripts=False)
    cells = page.locator("table.metrics td.of-mean").all_inner_texts()
    assert [" ".join(cell.split()) for cell in cells] == [
        "0.450",
        "0.403 !1 failed",
        "0.333 !50 % scored !only 20 rows",
    ]
    assert page.locator("#caveats li").all_inner_texts() == [
        "answer_relevance: 1 of 40 rows failed and are not in the mean",
        "context_recall: 20 of 40 rows (50 %) have a value, and the mean is theirs alone",
        "context_recall: the mean is of 20 rows only, so it says little about other rows",
    ]


def test_links_lead_to_sections(opened: Opener, page_of_three: Path) -> None:
    page = opened(page_of_three)
    links = page.locator("#sections a").all()
    titles = {link.get_attribute("href"): link.inner_text() for link in links}
    sections = page.locator("main section[id]:visible h2[id$=-title]").all()
    found = {f"#{head.get_attribute('id').removesuffix('-title')}": head.inner_text() for head in sections}
    titles.pop("#labelling", None)
    assert titles == found
    assert {"#metrics", "#rows", "#rests", "#about"} <= titles.keys()
    page.locator("#sections a", has_text="Judge and cost").click()
    assert 0 <= page.locator("#about").bounding_box()["y"] < 900


BROKEN = """() => [...document.querySelectorAll('table.metrics .name, #table th[data-sort] bdi, #slice-table thead th')]
  .filter((name) => name.getClientRects().length)
  .filter((name) => name.closest('.metrics') || !matchMedia('screen and (max-width: 48rem)').matches)
  .flatMap((name) => [...name.childNodes].filter((part) => part.nodeType === Node.TEXT_NODE))
  .filter((part) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return range.getClientRects().length !== 1;
  })
  .map((part) => part.data)"""


@pytest.mark.parametrize("width", [1280, 360])
def test_names_of_many_metrics_are_never_broken_inside_a_word(opened: Opener, tmp_path: Path, width: int) -> None:
    run_of(tmp_path / "wide.jsonl", MANY).to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html", width=width)
    assert names(page) == list(MANY)
    assert page.evaluate(BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("table.metrics").bounding_box()["y"] <= 500


def test_a_wide_table_of_rows_scrolls_in_its_region_beside_the_names_of_rows(opened: Opener, tmp_path: Path) -> None:
    run_of(tmp_path / "wide.jsonl", MANY).to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html")
    for region, name in (("#table", "tbody th"), ("#slice-table", "tbody th")):
        box = page.locator(region).bounding_box()
        assert box["x"] + box["width"] <= 1280
        before = page.locator(f"{region} {name}").first.bounding_box()["x"]
        last = page.locator(f"{region} tbody tr").first.locator("td").last
        assert last.bounding_box()["x"] > 1280
        page.locator(region).evaluate("(item) => { item.scrollLeft = item.scrollWidth; }")
        assert page.locator(f"{region} {name}").first.bounding_box()["x"] == pytest.approx(before, abs=1)
        assert last.bounding_box()["x"] + last.bounding_box()["width"] <= box["x"] + box["width"] + 1
    page.locator("#table").evaluate("(item) => { item.scrollTop = 400; }")
    head = page.locator("#table thead th").last.bounding_box()
    assert 0 <= head["y"] - page.locator("#table").bounding_box()["y"] <= 2, "the headings stay too"


CUT = """() => [...document.querySelectorAll('header *, main *')]
  .filter((item) => item.getClientRects().length && item.getBoundingClientRect().right > innerWidth + 1)
  .map((item) => item.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize("metrics", [3, 44])
def test_paper_cuts_nothing(opened: Opener, tmp_path: Path, metrics: int) -> None:
    run_of(tmp_path / "run.jsonl", MANY[:metrics]).to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html", width=718)  # A4 without its margins
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []
    assert page.evaluate(BROKEN) == []
    table = page.locator("table.metrics")
    assert table.locator("thead").is_visible()
    assert table.locator("tbody tr:visible").count() == metrics
    first = page.locator("#table tbody tr").first
    assert first.locator("td.score:visible").count() == metrics
    assert page.locator("#table").evaluate("(item) => item.scrollHeight <= item.clientHeight")


def test_paper_cuts_nothing_of_a_comparison_with_slices(opened: Opener, tmp_path: Path) -> None:
    old, new = (run_of(tmp_path / f"{name}.jsonl", THREE, shift) for name, shift in (("old", 0.0), ("new", 0.1)))
    old.compare(new, by="lang").to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html", width=718)
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []
    assert page.locator("table.metrics tbody tr:visible").count() == 3
    slices = page.locator("table.slices tbody")
    assert [body.locator("th").inner_text() for body in slices.all()] == ["de", "en"], "each slice is named once"
    assert slices.locator("tr:visible").count() == 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_poor_scores_stand_out_whichever_end_is_better(opened: Opener, tmp_path: Path, scheme: str) -> None:
    values = {"q1": (0.2, 0.9), "q2": (0.9, 0.2)}
    lines = [
        line(number, {"id": name}, score("faithfulness", high), score("misattribution", low))
        for number, (name, (high, low)) in enumerate(values.items(), 1)
    ]
    written(tmp_path / "scores.jsonl", lines).to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html", scheme=scheme)
    page.locator("#sort").select_option("input up")
    cells = [cell for row in page.locator("#table tbody tr").all() for cell in row.locator("td.score").all()]
    assert [" ".join(cell.inner_text().split()) for cell in cells] == ["▾ poor 0.2", "▾ poor 0.9", "0.9", "0.2"]
    weights = [cell.locator(".value").evaluate("(item) => getComputedStyle(item).fontWeight") for cell in cells]
    assert weights == ["700", "700", "400", "400"]
    grounds = [cell.evaluate("(item) => getComputedStyle(item).backgroundColor") for cell in cells]
    assert len(set(grounds[:2])) == 1
    assert set(grounds[:2]).isdisjoint(grounds[2:])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_assistive_technology_can_use_many_metrics(
    opened: Opener, tmp_path: Path, axe: str, width: int, scheme: str
) -> None:
    run_of(tmp_path / "wide.jsonl", MANY).to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html", width=width, scheme=scheme)
    page.evaluate(axe)  # by the tools of the developer: the policy of the page stays as it is
    found = page.evaluate("axe.run().then((result) => result.violations)")
    assert [(item["id"], [node["html"] for node in item["nodes"]]) for item in found] == []
