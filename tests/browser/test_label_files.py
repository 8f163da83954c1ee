"""What label mode keeps, exports and reads again: in browsers that refuse, among hostile texts, and as a calibration reads it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core._store._labels import Label, read_labels
from ragmetrics_core.llms import LexicalJudge
from report_data import XSS, small, written
from source_tree import ROOT

from .conftest import Opener, until
from .labels import ATTRIBUTES, ELEMENTS, chosen, exported, labelling, order, ticked, title, told, turned
from .test_hostile_page import check

NO_STORE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
NO_ROOM = (
    "const put = Storage.prototype.setItem; Storage.prototype.setItem = function (name, value) "
    "{ if (value.length > 10) throw new DOMException('full', 'QuotaExceededError'); put.call(this, name, value); }"
)


class TestKept:
    def test_what_the_browser_keeps(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        page.locator("#labels-annotator").fill("Ada")
        page.locator("#labels-row-title").focus()
        first = title(page)
        turned(page, "y")
        page.keyboard.press("m")
        page.keyboard.type("half a note")
        page.reload()  # while it is being written
        page.wait_for_selector("#labels-row-title")
        assert page.locator("#labels-annotator").input_value() == "Ada"
        assert title(page) != first, "it goes on with the first row without a label"
        assert page.locator("#labels-note").input_value() == "half a note"
        assert page.locator("#labels-progress").inner_text() == "1 of 4 rows labelled."
        assert page.locator(".caveat", has_text="browser").count() == 0

    def test_two_tabs_know_of_each_other(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        other = page.context.new_page()
        other.goto(page.url)
        other.wait_for_selector("#labels-row-title")
        page.keyboard.press("y")
        until(other, "document.getElementById('labels-progress').textContent === '1 of 4 rows labelled.'")

    def test_another_report_has_its_own(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        page.keyboard.press("y")
        small(tmp_path / "scores.jsonl").to_html(tmp_path / "again.html")
        text = (tmp_path / "scores.jsonl").read_text(encoding="utf-8")
        written(
            tmp_path / "other.jsonl", [json.loads(item) for item in text.replace('"q1"', '"q7"').splitlines()]
        ).to_html(tmp_path / "other.html")
        for name, labelled in (("again", 1), ("other", 0)):
            tab = page.context.new_page()
            tab.goto((tmp_path / f"{name}.html").as_uri() + "#labelling")
            tab.wait_for_selector("#labels-row-title")
            assert tab.locator("#labels-progress").inner_text() == f"{labelled} of 4 rows labelled."

    @pytest.mark.parametrize(("script", "words"), [(NO_STORE, "keeps nothing"), (NO_ROOM, "no room left")])
    def test_browsers_that_refuse(self, browser: Any, report: Path, tmp_path: Path, script: str, words: str) -> None:
        context = browser.new_context()
        context.set_default_timeout(30_000)
        page = context.new_page()
        page.add_init_script(script)
        asked: list[str] = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.goto(report.as_uri() + "#labelling")
        page.wait_for_selector("#labels-row-title")
        turned(page, "y")
        caveat = page.locator(".caveat", has_text="This browser").inner_text()
        assert words in caveat
        assert "export them before you close it" in caveat
        page.close(run_before_unload=True)
        latest = time.monotonic() + 30
        while not asked and time.monotonic() < latest:
            page.wait_for_timeout(10)
        assert asked == ["beforeunload"], "labels that are nowhere else are not lost without a word"
        assert len(read_labels(exported(page, tmp_path))) == 1
        context.close()

    def test_labels_without_a_name_belong_to_who_names_themself_first(
        self, opened: Opener, report: Path, tmp_path: Path
    ) -> None:
        page = labelling(opened, report)
        turned(page, "y")
        page.locator("#labels-annotator").fill("Ada")
        page.locator("#labels-give-false").click()  # the field is left by the click, which must not be lost
        told(page, "wrong")
        page.locator("#labels-annotator").fill("Bob")
        page.keyboard.press("Escape")
        until(page, "document.getElementById('labels-progress').textContent === '0 of 4 rows labelled.'")
        page.keyboard.press("n")
        labels = read_labels(exported(page, tmp_path))
        assert [(item.annotator, item.label) for item in labels] == [("Ada", True), ("Ada", False), ("Bob", False)]


class TestFiles:
    def take(self, page: Any, path: Path, *lines: Any) -> None:
        path.write_text(
            "".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in lines), encoding="utf-8"
        )
        page.locator("#labels-file").set_input_files(path)

    def test_to_go_on_elsewhere(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        turned(page, "y")
        path = exported(page, tmp_path)
        other = labelling(opened, report)
        other.locator("#labels-file").set_input_files(path)
        told(other, "Took 1 label from the file.")
        assert other.locator("#labels-progress").inner_text() == "1 of 4 rows labelled."
        other.locator("#labels-row-title").focus()
        other.keyboard.press("n")
        told(other, "wrong")
        assert [item.label for item in read_labels(exported(other, tmp_path))] == [True, False]
        other.keyboard.press("u")
        other.keyboard.press("u")
        told(other, "Undone.")
        assert other.locator("#labels-progress").inner_text() == "0 of 4 rows labelled."

    def test_lines_that_are_left_out(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        line_of = {"metric": "faithfulness", "label": True}
        chosen(page, order="input")
        page.keyboard.press("n")
        told(page, "q1: wrong")
        self.take(
            page,
            tmp_path / "labels.jsonl",
            {"id": "q2", **line_of},
            {"id": "q1", **line_of},
            {"id": "nobody", **line_of},
            {"id": "q3", "metric": "other", "label": True},
            "not JSON",
            {"id": "q3", "metric": "faithfulness", "label": "maybe"},
        )
        told(page, "Took 1 label from the file.")
        assert page.locator("#labels-told").inner_text() == (
            "Took 1 label from the file. 1 label that says something else here stayed as they are here. 4 lines left out: line 3: "
            'no row has the id "nobody"; line 4: this report has no metric "other"; line 5: this is not JSON: a file of labels has '
            "one JSON object per line; ..."
        )
        assert [(item.id, item.label) for item in read_labels(exported(page, tmp_path))] == [
            ("q1", False),
            ("q2", True),
        ]

    def test_rows_that_were_drawn_to_be_labelled(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        drawn = [{"id": "q3", "metric": "faithfulness", "label": None, "weight": 4.0}]
        self.take(page, tmp_path / "suggested.jsonl", *drawn)
        told(page, "Took 0 labels and 1 row to label from the file.")
        assert page.locator("#labels-order").input_value() == "drawn"
        assert page.locator("#labels-progress").inner_text() == "0 of 1 row labelled."
        assert title(page) == "q3"
        page.locator("#labels-row-title").focus()
        page.keyboard.press("y")
        told(page, "q3: right")
        assert read_labels(exported(page, tmp_path)) == [Label("q3", "faithfulness", True, blind=True, weight=4.0)]

    def test_nothing_to_export_and_notes_without_a_label(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        page.keyboard.press("e")
        told(page, "There is no label to export yet.")
        page.keyboard.press("m")
        page.keyboard.type("later")
        page.keyboard.press("Escape")
        turned(page, "ArrowRight")
        page.keyboard.press("y")
        told(page, "right")
        exported(page, tmp_path)
        told(page, "1 label exported to labels.jsonl. 1 note without a label stays here.")

    def test_labels_of_another_run(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        for key in "yny":
            turned(page, key)
        path = exported(page, tmp_path)
        lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
        other = labelling(opened, report)
        self.take(other, tmp_path / "same.jsonl", *lines)
        told(other, "Took 3 labels from the file.")
        assert other.locator("#labels-told").inner_text() == "Took 3 labels from the file."
        other.locator("#labels-row-title").focus()
        other.keyboard.press("u")
        told(other, "Undone.")
        self.take(other, tmp_path / "other.jsonl", lines[0], *({**item, "digest": "0" * 32} for item in lines[1:]))
        told(other, "Took 3 labels")
        assert other.locator("#labels-told").inner_text() == (
            "Took 3 labels from the file. 1 fits the rows of this run, 2 were given to other texts: labels of another run? "
            "Undo takes all of them out."
        )
        other.locator("#labels-row-title").focus()
        other.keyboard.press("u")
        told(other, "Undone.")
        assert other.locator("#labels-progress").inner_text() == "0 of 4 rows labelled."

    def test_only_the_labels_of_the_annotator_are_removed_and_only_when_sure(
        self, opened: Opener, report: Path, axe: str, tmp_path: Path
    ) -> None:
        page = labelling(opened, report)
        for name, keys in (("Ada", "yy"), ("<b>Bob", "nn")):
            page.locator("#labels-annotator").fill(name)
            page.keyboard.press("Enter")
            until(page, "document.getElementById('labels-progress').textContent === '0 of 4 rows labelled.'")
            page.keyboard.press(keys[0])
            told(page, "1 of 4")
            page.keyboard.press(keys[1])
            told(page, "2 of 4")
        clear = page.get_by_role("button", name="Remove mine")
        sure = page.get_by_role("dialog")
        clear.click()
        assert sure.locator("p").first.inner_text() == (
            "Remove 2 labels of <b>Bob, of every metric? Labels of others stay. Undo brings them back while this page is open."
        )
        page.evaluate(axe)
        assert page.evaluate("axe.run().then((result) => result.violations.map((item) => item.id))") == []
        page.keyboard.press("x")  # a key of label mode, which waits for the answer
        page.keyboard.press("Enter")
        assert sure.count() == 0, "the focus was on the answer that keeps them"
        clear.click()
        page.keyboard.press("Escape")
        until(page, "!document.querySelector('dialog')")
        assert page.locator("#labels").is_visible()
        assert len(read_labels(exported(page, tmp_path))) == 4
        clear.click()
        sure.get_by_role("button", name="Remove").click()
        told(page, "2 labels removed. Undo brings them back.")
        assert clear.is_disabled()
        assert [item.annotator for item in read_labels(exported(page, tmp_path))] == ["Ada", "Ada"]
        page.keyboard.press("u")
        until(page, "document.getElementById('labels-progress').textContent === '2 of 4 rows labelled.'")
        assert len(read_labels(exported(page, tmp_path))) == 4


def test_what_is_exported_calibrates_the_run_of_the_report(opened: Opener, tmp_path: Path) -> None:
    """Rows and claims of a report, as the page names them, are those that a calibration looks for."""
    evaluation = evaluate(
        ROOT / "examples" / "lindholm" / "before.jsonl", ["faithfulness", "correctness"], llm=LexicalJudge(), limit=10
    )
    evaluation.to_html(tmp_path / "report.html")
    page = labelling(opened, tmp_path / "report.html")
    drawn = evaluation.rows_to_label(4, "faithfulness")
    (tmp_path / "drawn.jsonl").write_text("".join(json.dumps(item) + "\n" for item in drawn), encoding="utf-8")
    page.locator("#labels-file").set_input_files(tmp_path / "drawn.jsonl")
    told(page, "Took 0 labels and 4 rows to label from the file.")
    assert order(page) == [item["id"] for item in drawn]
    chosen(page, order="random")
    ticked(page, claims=True)
    page.locator("#labels-row-title").focus()
    for number in range(400):
        page.keyboard.press("yyn"[number % 3])
        page.wait_for_timeout(10)
        if page.locator("#labels-progress").inner_text().startswith("10 of 10"):
            break
    chosen(page, metric="1")
    page.locator("#labels-row-title").focus()
    for key in "1234512345":
        turned(page, key) if key != "5" else page.keyboard.press(key)
        page.wait_for_timeout(20)
    path = exported(page, tmp_path)
    labels = read_labels(path)
    assert len([item for item in labels if item.claim is not None]) > 20
    weights = {item.id: item.weight for item in labels if item.weight is not None and item.claim is None}
    assert weights == {item["id"]: item["weight"] for item in drawn}
    faithfulness, correctness = evaluation.calibrate([replace(item, weight=None) for item in labels]).metrics
    assert (faithfulness.labels + faithfulness.unscored, correctness.labels + correctness.unscored) == (10, 10)
    assert faithfulness.claims is not None
    assert faithfulness.claims.claims == len({(item.id, item.claim) for item in labels if item.claim is not None})


class TestHostile:
    def test_rows_notes_and_names(self, opened: Opener, hostile_report: Path, tmp_path: Path) -> None:
        page = labelling(opened, hostile_report)
        ticked(page, claims=True)
        ticked(page, further=False)
        chosen(page, order="input")
        for number, text in enumerate(XSS):
            typed = text.replace("\ud800", "?")
            page.locator("#labels-annotator").fill(typed)
            page.locator("#labels-note").fill(typed)
            page.locator("#labels-row-title").focus()
            page.keyboard.press("y")
            page.keyboard.press("s")
            check(page, ELEMENTS, ATTRIBUTES)
            if text.isprintable():
                assert title(page) == text
            if number < len(XSS) - 1:
                turned(page, "ArrowRight")
        labels = read_labels(exported(page, tmp_path))
        assert [item.id for item in labels] == XSS
        assert [item.note for item in labels] == [text.replace("\ud800", "?") for text in XSS]
        assert all(item.claim == item.id for item in labels)
        assert page.evaluate("window.hacked") is None

    def test_a_file_of_labels(self, opened: Opener, hostile_report: Path, tmp_path: Path) -> None:
        page = labelling(opened, hostile_report)
        metric = page.locator("#labels-metric option").first.text_content()
        path = tmp_path / "labels.jsonl"
        lines = [
            {"id": XSS[0], "metric": metric, "label": True, "annotator": text, "note": text, "claim": text}
            for text in XSS
        ] + [{"id": text * 2, "metric": metric, "label": text} for text in XSS]
        path.write_text("".join(json.dumps(item) + "\n" for item in lines), encoding="utf-8")
        page.locator("#labels-file").set_input_files(path)
        told(page, "Took 40 labels")
        check(page, ELEMENTS, ATTRIBUTES)
        page.locator("#labels-row-title").focus()
        assert {item.note for item in read_labels(exported(page, tmp_path))} == set(XSS)

    def test_a_store_that_others_wrote(self, opened: Opener, hostile_report: Path) -> None:
        page = labelling(opened, hostile_report)
        page.keyboard.press("y")
        name = page.evaluate("Object.keys(localStorage)[0]")
        for text in ("nonsense", '{"labels": [{"id": "<img src=x onerror=window.hacked=1>"}]}', '{"labels": 3}'):
            page.evaluate("([name, text]) => localStorage.setItem(name, text)", [name, text])
            other = page.context.new_page()
            other.goto(page.url)
            other.wait_for_selector("#labels-row-title")
            assert "cannot be read, and is left as it is" in other.locator("#labels .caveat").first.inner_text()
            other.keyboard.press("y")
            told(other, "right")
            assert page.evaluate("(name) => localStorage.getItem(name)", name) == text
            check(other, ELEMENTS, ATTRIBUTES)
        other.evaluate("(name) => localStorage.setItem(name, 'while it is open')", name)
        until(page, "document.querySelector('#labels').textContent.includes('cannot be read')")
