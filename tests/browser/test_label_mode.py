"""Label mode, used as people use it: by keys alone, blind, in browsers that keep nothing, and read back in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core._store._labels import COLUMNS, Label, check_rows, read_labels
from report_data import XSS, hostile, line, many, score, small, written

from .conftest import Opener, until
from .test_hostile_page import check

NO_STORE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
NO_ROOM = (
    "const put = Storage.prototype.setItem; Storage.prototype.setItem = function (name, value) "
    "{ if (value.length > 10) throw new DOMException('full', 'QuotaExceededError'); put.call(this, name, value); }"
)

ELEMENTS = "kbd progress textarea"
ATTRIBUTES = "accept aria-current aria-expanded aria-keyshortcuts aria-pressed checked data-view max maxlength rows"
"""What label mode is made of besides."""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    small(tmp_path / "scores.jsonl").to_html(path)
    return path


def labelling(opened: Opener, path: Path, **options: Any) -> Any:
    page = opened(path, "#labelling", **options)
    page.wait_for_selector("#labels-row-title")
    return page


def title(page: Any) -> str:
    return str(page.locator("#labels-row-title bdi").text_content())


def order(page: Any) -> list[str]:
    """The ids of the rows in the order in which they are asked about, seen by turning them over."""
    found = [title(page)]
    while not page.locator("#labels-next").is_disabled():
        turned(page, "ArrowRight")
        found.append(title(page))
    for _ in found[1:]:
        turned(page, "ArrowLeft")
    return found


def turned(page: Any, key: str) -> None:
    """Press a key that leads to another row, and wait for it."""
    before = title(page)
    page.keyboard.press(key)
    until(page, f"document.querySelector('#labels-row-title bdi')?.textContent !== {json.dumps(before)}")


def told(page: Any, words: str) -> None:
    until(page, f"document.getElementById('labels-told').textContent.includes({json.dumps(words)})")


def exported(page: Any, folder: Path) -> Path:
    with page.expect_download() as download:
        page.keyboard.press("e")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def chosen(page: Any, **fields: str) -> None:
    for name, value in fields.items():
        page.locator(f"#labels-{name}").select_option(value)


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id"))


class TestByKeysAlone:
    def test_from_opening_to_the_file(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = opened(report)
        for _ in range(5):  # to the way in
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
        first, second, third = order(page)
        assert {first, second, third} == {"q1", "q2", "q3"}
        page.keyboard.press("m")
        assert focused(page) == "labels-note"
        page.keyboard.type("yes, no; n")  # letters, not keys
        page.keyboard.press("Escape")
        turned(page, "y")
        assert (title(page), focused(page)) == (second, "labels-row-title"), "the next row is announced by the focus"
        assert page.locator("#labels-told").text_content() == f"{first}: right. 1 of 3 rows labelled."
        turned(page, "n")
        page.keyboard.press("n")
        told(page, f"{third}: wrong.")
        assert page.locator("progress").evaluate("(item) => [item.value, item.max]") == [3, 3]
        turned(page, "ArrowLeft")
        assert page.locator("#labels-told").inner_text() == "", "what was told of one row does not stand at another"
        path = exported(page, tmp_path)
        assert path.name == "labels-Ada.jsonl"
        told(page, "3 labels exported to labels-Ada.jsonl.")
        lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
        assert [tuple(item) for item in lines] == [COLUMNS] * 3
        expected = [
            Label(first, "faithfulness", True, annotator="Ada", note="yes, no; n", blind=True),
            Label(second, "faithfulness", False, annotator="Ada", blind=True),
            Label(third, "faithfulness", False, annotator="Ada", blind=True),
        ]
        assert read_labels(path, scales={"faithfulness": (0, 1)}) == expected
        check_rows(expected, ["q1", "q2", "q3", None])
        page.keyboard.press("Escape")
        page.wait_for_selector("#table")
        assert not page.locator("#labels").is_visible()

    def test_claims(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        page.locator("#labels-claims").check()
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

    def test_undo_and_the_same_key_again(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        page.locator("#labels-further").uncheck()
        first = title(page)
        page.keyboard.press("y")
        assert page.locator("#labels-give-true").get_attribute("aria-pressed") == "true"
        page.keyboard.press("y")
        assert page.locator("#labels-progress").inner_text() == "0 of 3 rows labelled."
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
        page.locator("#labels-keys").uncheck()
        page.keyboard.press("y")
        assert page.locator("#labels-progress").inner_text() == "0 of 3 rows labelled."
        assert page.locator("[aria-keyshortcuts], kbd").count() == 0
        page.locator("#labels-give-true").focus()
        page.keyboard.press("Enter")
        told(page, "right. 1 of 3 rows labelled.")

    def test_a_key_that_is_held_labels_one_row(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        for _ in range(3):
            page.keyboard.down("y")  # without being released, so all but the first repeat
        page.wait_for_timeout(100)
        assert page.locator("#labels-progress").inner_text() == "1 of 3 rows labelled."


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
        page.locator("#labels-further").uncheck()
        page.keyboard.press("y")
        page.keyboard.press("s")
        assert page.locator("mark").count() == 5
        assert page.locator(".seen-score .score").inner_text() == "0.333"
        assert page.locator(".seen-score .score").evaluate("(item) => item.getBoundingClientRect().bottom < innerHeight")
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
        for key in "yyy":
            page.keyboard.press(key)
            page.wait_for_timeout(50)
        assert [item.blind for item in read_labels(exported(page, tmp_path))] == [False, True, True]

    def test_rows_whose_scores_were_on_the_screen(self, opened: Opener, tmp_path: Path) -> None:
        many(tmp_path / "scores.jsonl", 60).to_html(tmp_path / "report.html")
        page = opened(tmp_path / "report.html")
        page.locator("#table tbody tr").nth(2).scroll_into_view_if_needed()
        page.wait_for_timeout(200)
        box = "(item) => { const { top, bottom } = item.getBoundingClientRect(); return (top + bottom) / 2 < innerHeight; }"
        rows = page.locator("#table tbody tr")
        visible = {row.locator("th").inner_text() for row in rows.all()[:20] if row.evaluate(box)}
        assert visible
        page.evaluate("location.hash = 'labelling'")
        page.wait_for_selector("#labels-row-title")
        for _ in range(60):
            page.keyboard.press("y")
            page.wait_for_timeout(15)
        told(page, "60 of 60")
        labels = read_labels(exported(page, tmp_path))
        seen = {item.id for item in labels if not item.blind}
        assert visible <= seen
        assert len(seen) < 60, "those further down were not on the screen"

    def test_an_order_by_scores(self, opened: Opener, report: Path, tmp_path: Path) -> None:
        page = labelling(opened, report)
        chosen(page, order="table")
        assert "the order or the filters of the table tell of the scores" in page.locator(".label-seen").inner_text()
        assert order(page) == ["q3", "q1", "q2"], "worst first, as the table is"
        page.keyboard.press("y")
        assert read_labels(exported(page, tmp_path))[0].blind is False

    def test_the_random_order_is_the_same_for_everybody(self, opened: Opener, report: Path) -> None:
        assert order(labelling(opened, report)) == order(labelling(opened, report))


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
        assert page.locator("#labels-progress").inner_text() == "1 of 3 rows labelled."
        assert page.locator(".caveat", has_text="browser").count() == 0

    def test_two_tabs_know_of_each_other(self, opened: Opener, report: Path) -> None:
        page = labelling(opened, report)
        other = page.context.new_page()
        other.goto(page.url)
        other.wait_for_selector("#labels-row-title")
        page.keyboard.press("y")
        until(other, "document.getElementById('labels-progress').textContent === '1 of 3 rows labelled.'")

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
            assert tab.locator("#labels-progress").inner_text() == f"{labelled} of 3 rows labelled."

    @pytest.mark.parametrize(("script", "words"), [(NO_STORE, "keeps nothing"), (NO_ROOM, "no room left")])
    def test_browsers_that_refuse(self, browser: Any, report: Path, tmp_path: Path, script: str, words: str) -> None:
        context = browser.new_context()
        context.set_default_timeout(5000)
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
        page.wait_for_timeout(300)
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
        until(page, "document.getElementById('labels-progress').textContent === '0 of 3 rows labelled.'")
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
        assert other.locator("#labels-progress").inner_text() == "1 of 3 rows labelled."
        other.locator("#labels-row-title").focus()
        other.keyboard.press("n")
        told(other, "wrong")
        assert [item.label for item in read_labels(exported(other, tmp_path))] == [True, False]
        other.keyboard.press("u")
        other.keyboard.press("u")
        told(other, "Undone.")
        assert other.locator("#labels-progress").inner_text() == "0 of 3 rows labelled."

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
        page.locator("#labels-clear").click()
        told(page, "Undo brings them back.")
        page.keyboard.press("u")
        until(page, "document.getElementById('labels-progress').textContent === '1 of 3 rows labelled.'")


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


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    hostile(folder / "scores.jsonl").to_html(folder / "report.html")
    return folder / "report.html"


class TestHostile:
    def test_rows_notes_and_names(self, opened: Opener, hostile_report: Path, tmp_path: Path) -> None:
        page = labelling(opened, hostile_report)
        page.locator("#labels-claims").check()
        page.locator("#labels-further").uncheck()
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_assistive_technology_can_use_it(opened: Opener, report: Path, axe: str, scheme: str, width: int) -> None:
    page = labelling(opened, report, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator("#labels-claims").check()
    chosen(page, order="input")
    for key in ("", "y", "s"):
        if key:
            page.keyboard.press(key)
        page.evaluate(axe)  # by the tools of the developer: the policy of the page stays as it is
        violations = page.evaluate("axe.run().then((result) => result.violations)")
        assert [(item["id"], [node["html"] for node in item["nodes"]]) for item in violations] == []


def test_rows_that_are_not_in_the_file(opened: Opener, tmp_path: Path) -> None:
    many(tmp_path / "scores.jsonl", 300).to_html(tmp_path / "report.html", max_megabytes=0.2)
    page = labelling(opened, tmp_path / "report.html")
    caveat = page.locator("#labels .caveat").inner_text()
    assert "which holds those with the worst scores first. So labels given here say nothing about all rows" in caveat
    assert int(page.locator("#labels-progress").inner_text().split()[2]) < 300
