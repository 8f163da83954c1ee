"""``ragmetrics view`` in a browser: the list, a run whose rows are loaded as they are needed, two runs, a run that goes on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import waiting
from growth import slowness_on_clock
from report_data import hostile, line, score, small

from .conftest import until

READ = "table.runs:not(:has(td .open))"
"""The list of runs, once all of them are read."""

Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts viewers of folders, each in a process of its own, and returns their addresses."""
    processes = []

    def start(folder: Path, **environment: str) -> str:
        command = [sys.executable, "-m", "ragmetrics_core", "view", str(folder), "--port", "0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        processes.append(process)
        assert process.stderr is not None
        found = re.match(r"(http://\S+/) ", process.stderr.readline())
        assert found is not None
        return found[1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def page(browser: Any, serve: Serve) -> Iterator[Any]:
    """A tab; the test fails if a script does, or if anything but the viewer is asked."""
    troubles: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    tab = context.new_page()
    tab.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    tab.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    tab.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
    tab.on(
        "request", lambda asked: troubles.append(asked.url) if not asked.url.startswith("http://127.0.0.1:") else None
    )
    yield tab
    context.close()
    assert troubles == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs with four rows, and one with hostile texts."""
    folder = tmp_path / "runs"
    folder.mkdir()
    small(folder / "a.jsonl")
    text = (folder / "a.jsonl").read_text().replace('"value": 1.0', '"value": 0.5')
    (folder / "b.jsonl").write_text(text)
    hostile(folder / "hostile.jsonl")
    for number, name in enumerate(("hostile", "a", "b")):
        os.utime(folder / f"{name}.jsonl", (1_800_000_000 + number,) * 2)
    return folder


def test_a_run_is_found_opened_and_compared(page: Any, serve: Serve, folder: Path) -> None:
    address = serve(folder)
    page.goto(address)
    page.wait_for_selector(READ)
    assert page.locator("tbody th a").all_inner_texts() == ["b.jsonl", "a.jsonl", "hostile.jsonl"]
    page.click("tbody th a >> text=a.jsonl")
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#table tbody tr").count() == 4
    page.click("#table tbody a >> nth=0")
    page.wait_for_selector("#row .contexts")
    assert "330 metres" in page.locator("#row").inner_text()
    page.go_back()
    page.click("text=All runs")
    page.check("tbody input >> nth=0")
    page.check("tbody input >> nth=1")
    page.click("text=Compare the two ticked runs")
    page.wait_for_selector("html[data-ready]")
    assert page.locator("h1 span[dir]").all_inner_texts() == ["a.jsonl", "b.jsonl"]
    page.click("#table tbody a >> nth=0")
    page.wait_for_selector("#row h1")


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_the_list_fits_and_breaks_no_word(page: Any, serve: Serve, folder: Path, width: int) -> None:
    (folder / "experiments").mkdir()
    long = "experiments/chunk-size-512-overlap-64.jsonl"
    (folder / "a.jsonl").rename(folder / long)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(serve(folder))
    page.wait_for_selector(READ)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".scroll").evaluate("(it) => it.scrollWidth - it.clientWidth") == 0
    lines = """(all) => Object.fromEntries(all.map((each) => {
      const range = document.createRange();
      range.selectNodeContents(each);
      return [each.textContent, new Set([...range.getClientRects()].map((box) => box.top)).size];
    }))"""
    if width > 900:  # on a narrow screen a row is a block, and the heads are only heard
        heads = dict.fromkeys(("Compare", "Run", "Written", "Rows", "Result"), 1)
        assert page.locator("thead th").evaluate_all(lines) == heads
    names = page.locator("tbody th a").evaluate_all(lines)
    assert (names["b.jsonl"], names["hostile.jsonl"]) == (1, 1)
    assert names[long] <= 2


def test_two_ticked_runs_are_compared_and_the_list_says_so(page: Any, serve: Serve, folder: Path) -> None:
    page.goto(serve(folder))
    page.wait_for_selector(READ)
    button, hint = page.locator("form button"), page.locator("#ticked")
    found = []
    for number in (None, 0, 1, 2):
        if number is not None:
            page.check(f"tbody input >> nth={number}")
        found.append((button.is_enabled(), hint.inner_text()))
    assert found == [
        (False, "Tick two runs to compare them."),
        (False, "Tick one more run to compare the two."),
        (True, ""),
        (False, "3 runs are ticked: a comparison needs two."),
    ]


def test_charts_name_their_runs_and_days(page: Any, serve: Serve, folder: Path) -> None:
    page.goto(serve(folder))
    page.wait_for_selector(READ)
    chart = page.locator(".trends li", has_text="faithfulness").first
    assert "latest run: b.jsonl" in chart.inner_text()
    assert chart.locator(".ends span").all_inner_texts() == ["2027-01-15", "2027-01-15"]
    titles = chart.locator("a title").all_text_contents()
    assert [text.partition(":")[0] for text in titles][-2:] == [
        "a.jsonl, 2027-01-15 08",
        "b.jsonl, 2027-01-15 08",
    ]


def test_hostile_texts_stay_texts(page: Any, serve: Serve, folder: Path) -> None:
    address = serve(folder)
    page.goto(address)
    page.wait_for_selector(READ)
    page.click("tbody th a >> text=hostile.jsonl")
    page.wait_for_selector("html[data-ready]")
    page.click("#table tbody a >> nth=0")
    page.wait_for_selector("#row h1")
    assert page.evaluate("window.hacked === undefined && document.images.length === 0")


def test_the_token_leaves_the_address(page: Any, serve: Serve, folder: Path) -> None:
    token = "a-token-of-enough-letters"
    address = serve(folder, RAGMETRICS_VIEW_TOKEN=token)
    page.goto(f"{address}?token={token}")
    page.wait_for_selector("table.runs")
    assert page.url == address
    assert page.evaluate("document.cookie") == ""


def test_a_run_that_goes_on_is_followed(page: Any, serve: Serve, folder: Path) -> None:
    lines = (folder / "a.jsonl").read_text().splitlines(keepends=True)
    run = folder / "live"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"version": 1, "metrics": [], "judged": []}))
    (run / ".ragmetrics.lock").write_text("{}")
    (run / "scores.jsonl").write_text(lines[0])
    address = serve(folder)
    page.goto(address)
    page.wait_for_selector(READ)
    page.click("tbody th a >> text=live")
    page.wait_for_selector("#live:not([hidden])")
    until(page, "document.getElementById('live').textContent.startsWith('This run is going on: 1 row so far')")
    with (run / "scores.jsonl").open("a") as file:
        file.write(lines[1])
    until(page, "document.getElementById('live').textContent.startsWith('This run is going on: 2 rows so far')")
    (run / ".ragmetrics.lock").unlink()
    until(page, "document.getElementById('live').hidden")


def label_mode(page: Any, address: str) -> str:
    """Open label mode of a run; return the address of its page."""
    page.goto(address)
    page.wait_for_selector(READ)
    page.click("tbody th a >> text=a.jsonl")
    page.wait_for_selector("html[data-ready]")
    place: str = page.url.partition("#")[0]
    page.goto(f"{place}#labelling")
    return place


def test_a_tab_that_shows_scores_takes_no_labels_out_of_another(page: Any, serve: Serve, folder: Path) -> None:
    """Tabs of one browser share which rows were seen; the labels are with the server."""
    place = label_mode(page, serve(folder))
    page.fill("#labels-annotator", "ada")
    page.press("#labels-annotator", "Enter")
    page.click("#labels-give-true")
    file = folder / "a.jsonl.labels" / "labels.jsonl"
    assert waiting.until(lambda: file.exists() and len(file.read_text().splitlines()) == 1)
    other = page.context.new_page()
    other.goto(place)
    other.wait_for_selector("html[data-ready]")
    other.click("#table tbody a >> nth=3")
    other.wait_for_selector("#row h1")
    page.bring_to_front()
    page.click("#labels-give-false")
    assert waiting.until(lambda: len(file.read_text().splitlines()) == 2)
    assert [json.loads(line)["label"] for line in file.read_text().splitlines()] == [True, False]
    page.wait_for_selector("text=Export 2 labels")


def test_labels_are_saved_as_they_are_given_and_seen_in_another_tab(page: Any, serve: Serve, folder: Path) -> None:
    place = label_mode(page, serve(folder))
    page.uncheck("#labels-further")
    page.fill("#labels-annotator", "ada")
    page.press("#labels-annotator", "Enter")
    page.click("#labels-give-true")
    page.click("#labels-give-false")
    file = folder / "a.jsonl.labels" / "labels.jsonl"

    def saved() -> list[dict[str, Any]]:
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    assert waiting.until(lambda: len(saved()) == 2)
    assert [(line["label"], line["annotator"], line["blind"]) for line in saved()] == [
        (True, "ada", True),
        (False, "ada", True),
    ]
    other = page.context.new_page()
    other.goto(f"{place}#labelling")
    other.wait_for_selector("text=Export 1 label")
    assert "row 2 of 4" in other.locator("#labels-row-title").inner_text(), "the first row without a label"
    heights = other.locator(".label-acts > :is(a, button)").evaluate_all(
        "(items) => items.map((item) => [item.getBoundingClientRect().top, item.getBoundingClientRect().bottom])"
    )
    assert len(heights) == 5
    assert heights == [heights[0]] * 5
    other.click("text=Remove mine")
    other.click("dialog >> text=Remove >> nth=-1")
    assert waiting.until(lambda: len(saved()) == 3)
    assert saved()[2]["label"] is None
    page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    until(page, "!document.getElementById('labels-export').textContent.includes('1 label')")
    other.click("text=Agreement so far")
    assert "Nothing can be said yet: " in other.inner_text("header")
    page.keyboard.press("y")
    page.wait_for_selector("text=Export 1 label")
    assert waiting.until(lambda: len(saved()) == 4)
    other.go_back()
    other.wait_for_selector("text=Export 1 label")
    assert "row 2 of 4" in other.locator("#labels-row-title").inner_text()
    other.click("text=Remove mine")
    other.click("dialog >> text=Remove >> nth=-1")
    other.keyboard.press("u")
    assert waiting.until(lambda: len(saved()) == 6)
    assert [line["label"] for line in saved()[3:]] == [True, None, True]


def test_rows_on_which_judge_and_people_differ_are_opened(page: Any, serve: Serve, tmp_path: Path) -> None:
    rows = [line(at, {"id": f"q{at}", "user_input": "Where?"}, score("faithfulness", at % 2)) for at in range(1, 13)]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = [{"id": f"q{at}", "metric": "faithfulness", "label": bool(at % 2) or at == 4} for at in range(1, 13)]
    (tmp_path / "run.jsonl.labels").mkdir()
    given = [
        {"annotator": "ada", "claim": None, "note": None, "given": "2027-01-15T08:00:00Z", **item} for item in labels
    ]
    (tmp_path / "run.jsonl.labels" / "labels.jsonl").write_text("".join(json.dumps(item) + "\n" for item in given))
    page.goto(serve(tmp_path))
    page.wait_for_selector(READ)
    page.click("tbody th a")
    page.wait_for_selector("html[data-ready]")
    page.click("text=how far judge and people agree")
    assert page.locator("#calibration .confusion").is_visible()
    page.click(".differing a")
    page.wait_for_selector("#row h1")
    assert page.locator("#row-title").inner_text() == "q4"


ROWS = 100_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of scores of so many rows."""
    folder = tmp_path_factory.mktemp("large")
    with (folder / "scores.jsonl").open("w") as file:
        for number in range(1, ROWS + 1):
            sample = {"id": f"q{number}", "user_input": f"Question {number}?", "response": f"Answer {number}. " * 20}
            scores = [score(name, (number * step) % 11 / 10) for step, name in ((3, "faithfulness"), (7, "relevancy"))]
            file.write(json.dumps(line(number, sample, *scores)) + "\n")
    return folder


def test_the_first_rows_are_there_within_a_second_and_then_all(page: Any, serve: Serve, large: Path) -> None:
    """The shortest of three times counts, as other programs take from the processor too."""
    address = serve(large)
    page.goto(address)
    place = address + page.get_attribute("tbody th a", "href").lstrip("/")
    views = []
    for _ in range(3):
        started = time.perf_counter()
        page.goto(place)
        page.wait_for_selector("#table tbody tr")
        views.append((time.perf_counter() - started) / slowness_on_clock())
    print(f"first rows of {ROWS:,} after {min(views):.2f} s")
    assert min(views) <= 1
    latest = time.monotonic() + 900  # reading all of them takes a busy machine minutes
    while not page.locator("#found").inner_text().startswith("100,000 rows"):
        assert time.monotonic() < latest
        page.wait_for_timeout(500)
    started = time.perf_counter()
    page.goto(f"{place}#row=q99999")
    page.reload()
    page.wait_for_selector("#row h1")
    assert "Answer 99999." in page.locator("#row").inner_text()
    print(f"row 99,999 after {(time.perf_counter() - started) / slowness_on_clock():.2f} s")
