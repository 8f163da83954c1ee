"""Label mode, used as people use it: by keys alone, blind, with verdicts and with grades."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragmetrics_core import Evaluation
from ragmetrics_core._store._labels import COLUMNS, Label, check_rows, read_labels
from ragmetrics_core._store._run_settings import row_digest
from report_data import line, many, score, written

from .conftest import Opener
from .labels import chosen, exported, focused, labelling, order, redrawn, ticked, title, told, turned

DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
"""What is on the screen by now has been noted."""


class TestByKeysAlone:
    def test_from_opening_to_the_file(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = opened(report)
        for _ in range(9):  # past the links to sections, to the way in
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "Label rows":
                break
        page.keyboard.press("Enter")
        page.wait_for_selector("#labels-row-title")
        assert focused(page) == "labels"
        while focused(page) != "labels-annotator":
            page.keyboard.press("Tab")
        page.keyboard.type("Ada")
        page.keyboard.press("Escape")
        assert focused(page) == "labels-row-title", "out of the field, to the row"
        first, second, third, fourth = order(page)
        assert {first, second, third, fourth} == {"q1", "q2", "q3", "line 4"}, (
            "a row without an id is called by its place"
        )
        page.keyboard.press("m")
        assert focused(page) == "labels-note"
        page.keyboard.type("yes, no; n")  # letters, not keys
        page.keyboard.press("Escape")
        turned(page, "y")
        assert (title(page), focused(page)) == (second, "labels-row-title"), "the next row is announced by the focus"
        assert page.locator("#labels-told").text_content() == f"{first}: right. 1 of 4 rows labelled."
        turned(page, "n")
        turned(page, "n")
        told(page, f"{third}: wrong.")
        assert page.locator("progress").evaluate("(item) => [item.value, item.max]") == [3, 4]
        turned(page, "ArrowLeft")
        assert page.locator("#labels-told").inner_text() == "", "what was told of one row does not stand at another"
        path = exported(page, tmp_path)
        assert path.name == "labels-Ada.jsonl"
        told(page, "3 labels exported to labels-Ada.jsonl.")
        lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
        assert [tuple(item) for item in lines] == [COLUMNS] * 3
        run = Evaluation.load(tmp_path / "scores.jsonl")
        digests = {sample.id or "line 4": row_digest(sample, run.metrics[0].inputs or ()) for sample in run.rows}
        assert [item["digest"] for item in lines] == [digests[item["id"]] for item in lines]
        expected = [
            Label(first, "faithfulness", True, annotator="Ada", note="yes, no; n", blind=True),
            Label(second, "faithfulness", False, annotator="Ada", blind=True),
            Label(third, "faithfulness", False, annotator="Ada", blind=True),
        ]
        assert read_labels(path, scales={"faithfulness": (0, 1)}) == expected
        check_rows(expected, ["q1", "q2", "q3", "line 4"])
        page.keyboard.press("Escape")
        page.wait_for_selector("#table")
        assert not page.locator("#labels").is_visible()

    def test_claims(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        ticked(page, claims=True)
        chosen(page, order="input")
        page.locator("#labels-row-title").focus()
        assert page.locator(".targets li").all_inner_texts() == [
            "○\nno label:\nThe tower is in Paris.",
            "○\nno label:\nThe tower is 330 metres tall.",
            "○\nno label:\nThe tower is green.",
            "○\nno label:\nThe row as a whole",
        ]
        for key, asked in (("y", "Is claim 2 right?"), ("n", "Is claim 3 right?"), ("j", "Is this row right")):
            page.keyboard.press(key)
            assert page.locator("#labels-asked").inner_text().startswith(asked)
        turned(page, "n")
        assert page.locator(".targets").count() == 0, "the second row has no claims"
        turned(page, "k")
        assert page.locator("#labels-target").inner_text() == "✘\nwrong:\nThe row as a whole"
        assert read_labels(exported(page, tmp_path)) == [
            Label("q1", "faithfulness", True, "The tower is in Paris.", blind=True),
            Label("q1", "faithfulness", False, "The tower is 330 metres tall.", blind=True),
            Label("q1", "faithfulness", False, blind=True),
        ]

    @pytest.mark.parametrize(
        ("key", "focus"), [("Enter", "labels-row-title"), ("Tab", "labels-order"), ("Shift+Tab", "labels-metric")]
    )
    def test_keys_label_after_the_name(
        self, opened: Opener, report: Path, tmp_path: Path, key: str, focus: str
    ) -> None:
        page = labelling(opened, report)
        page.locator("#labels-annotator").focus()
        page.keyboard.type("Nina")
        page.keyboard.press(key)
        assert focused(page) == focus
        turned(page, "y")
        assert page.locator("#labels-annotator").input_value() == "Nina"
        assert [(item.label, item.annotator) for item in read_labels(exported(page, tmp_path))] == [(True, "Nina")]

    def test_letters_that_choose_in_a_list_label_nothing(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        page.locator("#labels-order").focus()
        with redrawn(page):
            page.keyboard.type("as in")  # "n" is a key, but here it goes on with the words of a choice
        assert page.locator("#labels-order").input_value() == "input"
        assert page.locator("#labels-progress").inner_text() == "0 of 4 rows labelled."
        assert focused(page) == "labels-order"

    def test_the_same_key_again_keeps_the_label(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        ticked(page, further=False)
        page.keyboard.press("y")
        told(page, ": right.")
        page.keyboard.press("y")
        told(page, ": right, as before. 1 of 4 rows labelled.")
        page.keyboard.press("u")
        assert page.locator("#labels-progress").inner_text() == "0 of 4 rows labelled.", "it was one step"

    def test_a_label_is_removed_by_its_own_key_or_button(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        ticked(page, further=False)
        page.keyboard.press("x")
        told(page, f"{title(page)} has no label to remove.")
        page.keyboard.press("y")
        page.keyboard.press("x")
        told(page, f"{title(page)}: label removed. Undo brings it back. 0 of 4 rows labelled.")
        page.keyboard.press("u")
        assert page.locator("#labels-give-true").get_attribute("aria-pressed") == "true"
        page.locator("#labels-remove").click()
        told(page, "label removed")
        assert page.locator("#labels-remove").count() == 0
        assert focused(page) == "labels-row-title"

    def test_undo(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        ticked(page, further=False)
        first = title(page)
        page.keyboard.press("y")
        assert page.locator("#labels-give-true").get_attribute("aria-pressed") == "true"
        page.keyboard.press("x")
        assert page.locator("#labels-progress").inner_text() == "0 of 4 rows labelled."
        turned(page, "ArrowRight")
        page.keyboard.press("n")
        page.keyboard.press("u")
        told(page, "Undone")
        turned(page, "u")
        assert title(page) == first, "undo leads to where it was done"
        assert page.locator("#labels-give-true").get_attribute("aria-pressed") == "true"
        page.keyboard.press("u")
        assert page.locator("#labels-undo").is_disabled()
        page.keyboard.press("u")
        told(page, "There is nothing to undo.")

    def test_keys_can_be_switched_off(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        ticked(page, keys=False)
        page.keyboard.press("y")
        assert page.locator("#labels-progress").inner_text() == "0 of 4 rows labelled."
        assert page.locator("[aria-keyshortcuts], kbd").count() == 0
        page.locator("#labels-give-true").focus()
        page.keyboard.press("Enter")
        told(page, "right. 1 of 4 rows labelled.")

    def test_a_key_that_is_held_labels_one_row(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        for _ in range(3):
            page.keyboard.down("y")  # without being released, so all but the first repeat
        told(page, "1 of 4")
        page.wait_for_timeout(100)
        assert page.locator("#labels-progress").inner_text() == "1 of 4 rows labelled."


class TestBlind:
    def test_nothing_tells_of_the_score(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        chosen(page, order="input")
        assert page.locator("#labels").locator("mark, .ref, .verdict, .reason, .bar-outer").count() == 0
        assert not page.locator("#table").is_visible()
        shown = page.locator("main").inner_text()
        assert "supported" not in shown
        assert "because of" not in shown
        assert "0.333" not in shown

    def test_what_was_asked_for_is_noted(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        chosen(page, order="input")
        ticked(page, further=False)
        page.keyboard.press("y")
        page.keyboard.press("s")
        assert page.locator("mark").count() == 5
        assert page.locator(".seen-score .score").inner_text().split() == ["▾", "poor", "0.333"]
        in_view = "(item) => item.getBoundingClientRect().bottom < innerHeight"
        assert page.locator(".seen-score .score").evaluate(in_view)
        page.get_by_role("button", name="show in the text").first.click()
        assert page.locator("mark.lit").count() > 0
        assert read_labels(exported(page, tmp_path))[0].blind is True, "the label was there before the score was seen"
        page.keyboard.press("s")
        assert page.locator("mark").count() == 0
        page.keyboard.press("n")
        assert read_labels(exported(page, tmp_path)) == [Label("q1", "faithfulness", False, blind=False)]

    def test_rows_that_were_seen_in_the_report(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = opened(report, "#row=q1")
        page.evaluate("location.hash = 'labelling'")
        page.wait_for_selector("#labels-row-title")
        chosen(page, order="input")
        for _ in range(3):
            turned(page, "y")
        page.keyboard.press("y")
        told(page, "4 of 4")
        assert [item.blind for item in read_labels(exported(page, tmp_path))] == [False, True, True, True]

    def test_rows_whose_scores_were_on_the_screen(self, opened: Opener, tmp_path: Path) -> None:
        many(tmp_path / "scores.jsonl", 60).to_html(tmp_path / "report.html")
        page = opened(tmp_path / "report.html")
        page.locator("#table tbody tr").nth(2).scroll_into_view_if_needed()
        page.evaluate(DRAWN)
        page.wait_for_timeout(200)
        box = "(item) => { const { top, bottom } = item.getBoundingClientRect(); return (top + bottom) / 2 < innerHeight; }"
        rows = page.locator("#table tbody tr")
        visible = {row.locator("th").inner_text() for row in rows.all()[:20] if row.evaluate(box)}
        assert visible
        page.evaluate("location.hash = 'labelling'")
        page.wait_for_selector("#labels-row-title")
        for _ in range(59):
            turned(page, "y")
        page.keyboard.press("y")
        told(page, "60 of 60")
        labels = read_labels(exported(page, tmp_path))
        seen = {item.id for item in labels if not item.blind}
        assert visible <= seen
        assert len(seen) < 60, "those further down were not on the screen"

    def test_an_order_by_scores(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        chosen(page, order="table")
        assert "the order or the filters of the table tell of the scores" in page.locator(".label-seen").inner_text()
        assert order(page) == ["q3", "q1", "line 4", "q2"], "worst first, as the table is"
        page.keyboard.press("y")
        assert read_labels(exported(page, tmp_path))[0].blind is False

    def test_the_random_order_is_the_same_for_everybody(self, opened: Opener, report: Path) -> None:
        assert order(labelling(opened, report)) == order(labelling(opened, report))


class TestGrades:
    @pytest.fixture
    def graded(self, tmp_path: Path) -> Path:
        rows = [
            line(
                number,
                {
                    "id": f"q{number}",
                    "user_input": "Where?",
                    "response": "There.",
                    "retrieved_contexts": ["It is there."],
                },
                score("correctness", 4.0, scale=[1.0, 5.0]),
                score("points", 40.0, scale=[0.0, 100.0]),
                score("hallucination", 0.0),
            )
            for number in (1, 2)
        ]
        written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
        return tmp_path / "report.html"

    def test_a_few_grades_have_keys(self, opened: Opener, graded: Path, tmp_path: Path) -> None:
        page = labelling(opened, graded)
        chosen(page, order="input")
        assert [text.split()[0] for text in page.locator(".give").all_inner_texts()] == ["1", "2", "3", "4", "5"]
        page.keyboard.press("y")
        page.keyboard.press("6")
        assert page.locator("#labels-progress").inner_text() == "0 of 2 rows labelled."
        turned(page, "2")
        page.locator("#labels-give-5").click()
        told(page, "q2: grade 5.")
        found = read_labels(exported(page, tmp_path), scales={"correctness": (1, 5)})
        assert [(item.id, item.label) for item in found] == [("q1", 2.0), ("q2", 5.0)]

    def test_many_have_a_field(self, opened: Opener, graded: Path, tmp_path: Path) -> None:
        page = labelling(opened, graded)
        chosen(page, metric="1", order="input")
        field = page.locator("#labels-grade")
        field.fill("101")
        page.get_by_role("button", name="Set").click()
        assert page.locator("#labels-progress").inner_text() == "0 of 2 rows labelled."
        field.fill("62.5")
        field.press("Enter")
        told(page, "q1: grade 62.5.")
        assert read_labels(exported(page, tmp_path)) == [Label("q1", "points", 62.5, blind=True)]

    def test_where_low_is_good(self, opened: Opener, graded: Path) -> None:
        page = labelling(opened, graded)
        chosen(page, metric="2")
        assert "Low scores are good here" in page.locator(".ask").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_assistive_technology_can_use_it(opened: Opener, report: Path, axe: str, scheme: str, width: int) -> None:
    page = labelling(opened, report, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    ticked(page, claims=True)
    chosen(page, order="input")
    for key in ("", "y", "s"):
        if key:
            page.keyboard.press(key)
        page.evaluate(axe)  # by the tools of the developer: the policy of the page stays as it is
        violations = page.evaluate("axe.run().then((result) => result.violations)")
        assert [(item["id"], [node["html"] for node in item["nodes"]]) for item in violations] == []


def test_rows_that_share_an_id(opened: Opener, tmp_path: Path) -> None:
    sample = {"user_input": "Where?", "response": "There.", "retrieved_contexts": ["It is there."]}
    rows = [line(number, {**sample, "id": name}, score("m", 0.5)) for number, name in ((1, "q1"), (2, "q1"), (3, "q2"))]
    written(tmp_path / "scores.jsonl", rows).to_html(tmp_path / "report.html")
    page = labelling(opened, tmp_path / "report.html")
    assert order(page) == ["q2"]
    assert page.locator("#labels .caveat").inner_text().startswith("!\n2 rows cannot be labelled: they share their ids")


def test_rows_that_are_not_in_the_file(opened: Opener, tmp_path: Path) -> None:
    many(tmp_path / "scores.jsonl", 300).to_html(tmp_path / "report.html", max_megabytes=0.2)
    page = labelling(opened, tmp_path / "report.html")
    caveat = page.locator("#labels .caveat").inner_text()
    assert "which holds those with the worst scores first. So labels given here say nothing about all rows" in caveat
    assert int(page.locator("#labels-progress").inner_text().split()[2]) < 300
