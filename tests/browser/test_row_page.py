"""A row of a page that is open: from a claim to the sentence that it rests on, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Ask, Reply, evaluate
from ragmetrics_core.metrics import Faithfulness, Jury
from report_data import claim, line, score, written

from .conftest import Opener, until
from .test_report_page import violations

LONG = " ".join(f"Room {number} of the castle is {number * 7} feet long." for number in range(400))
FOCUS = "document.activeElement"


def page_of(folder: Path, sample: dict[str, Any], *scores: dict[str, Any]) -> Path:
    """The page of one row."""
    written(folder / "scores.jsonl", [line(1, {"id": "q", "user_input": "Where?", **sample}, *scores)]).to_html(
        folder / "report.html"
    )
    return folder / "report.html"


def inside(page: Any, expression: str = FOCUS) -> bool:
    """Whether an element stands in the window as a whole."""
    found: bool = page.evaluate(
        f"(({{ top, bottom }}) => top >= 0 && bottom <= innerHeight)({expression}.getBoundingClientRect())"
    )
    return found


@pytest.fixture
def castle(tmp_path: Path) -> Path:
    """Two claims about a passage of 400 sentences, and one that no sentence is near to."""
    verdicts = [
        claim("Room 3 is 21 feet long.", "supported", [0, 23], [2], []),
        claim("Room 333 of the castle is one foot long.", "contradicted", [24, 64], [], [2]),
        claim("Xyzzy.", "supported", None, [2], []),
    ]
    sample = {
        "response": "Room 3 is 21 feet long. Room 333 of the castle is one foot long.",
        "retrieved_contexts": ["A castle.", LONG],
    }
    return page_of(tmp_path, sample, score("faithfulness", 2 / 3, details={"verdicts": verdicts}))


@pytest.mark.parametrize("width", [1280, 360])
def test_a_citation_leads_to_its_sentence_however_long_the_passage_is_and_back(
    opened: Opener, castle: Path, width: int
) -> None:
    page = opened(castle, "#row=q", width=width)
    citation = page.locator(".claims li", has_text="one foot").locator(".passage")
    citation.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(f"[{FOCUS}.localName, {FOCUS}.className]") == ["mark", "bad lit"]
    assert page.evaluate(f"{FOCUS}.textContent") == "Room 333 of the castle is 2331 feet long."
    assert inside(page)
    assert page.locator("mark.lit").all_inner_texts() == [
        "Room 333 of the castle is one foot long.",
        "Room 333 of the castle is 2331 feet long.",
    ]
    page.keyboard.press("Tab")
    assert page.evaluate(f"{FOCUS}.textContent") == "↩ Back to the claim"
    assert inside(page)
    page.keyboard.press("Enter")
    assert citation.evaluate("(item) => item === document.activeElement")
    assert inside(page)
    assert page.locator(".way-back").count() == 0


def test_the_mouse_leads_there_too_and_the_mark_leads_to_the_claim(opened: Opener, castle: Path) -> None:
    page = opened(castle, "#row=q")
    page.locator(".claims li", has_text="21 feet").locator(".passage").click()
    assert page.evaluate(f"{FOCUS}.textContent") == "Room 3 of the castle is 21 feet long."
    assert inside(page)
    page.get_by_role("button", name="Back to the claim").click()
    assert page.evaluate(f"{FOCUS}.textContent") == "✔ context 2"
    page.locator(".contexts .ref.bad").click()
    assert page.evaluate(f"[{FOCUS}.localName, {FOCUS}.id]") == ["li", "claim-0-1"]
    assert inside(page)
    page.get_by_role("button", name="Back to the text").click()
    assert page.evaluate(f"{FOCUS}.getAttribute('aria-label')") == "claim 2: contradicted"
    assert inside(page)


def test_a_claim_that_no_sentence_is_near_to_leads_to_the_beginning_of_its_passage(
    opened: Opener, castle: Path
) -> None:
    page = opened(castle, "#row=q")
    page.locator(".claims li", has_text="Xyzzy").locator(".passage").click()
    assert page.evaluate(f"{FOCUS}.localName") == "mark"
    assert page.evaluate(f"{FOCUS}.textContent").startswith("Room 0 of the castle")
    assert inside(page)


def test_what_a_statement_cites_itself_is_a_way_too(opened: Opener, tmp_path: Path) -> None:
    cited = [{"marker": "2", "passages": [2]}, {"marker": "9", "passages": []}, {"marker": "a", "passages": [1, 2]}]
    statements = [{"claim": "Room 200 of the castle is 1400 feet long.", "citations": cited, "span": [0, 40]}]
    sample = {
        "response": "Room 200 of the castle is 1400 feet long [2].",
        "retrieved_contexts": ["A castle.", LONG],
    }
    page = opened(
        page_of(tmp_path, sample, score("citation_recall", 0.0, details={"statements": statements})), "#row=q"
    )
    assert page.locator(".places span").first.inner_text() == "cites 2 9 a context 1 context 2"
    page.get_by_role("button", name="2", exact=True).click()
    assert page.evaluate(f"{FOCUS}.textContent") == "Room 200 of the castle is 1400 feet long."
    assert inside(page)


def test_claims_of_a_second_table_are_marked_when_they_are_looked_for(opened: Opener, tmp_path: Path) -> None:
    first = [claim("Room 1 of the castle is 7 feet long.", "supported", None, [1], [])]
    second = [claim("Room 300 of the castle is 2100 feet long.", "supported", None, [1], [])]
    details = {"verdicts": first, "others": second}
    page = opened(
        page_of(tmp_path, {"response": "It is long.", "retrieved_contexts": [LONG]}, score("m", 1.0, details=details)),
        "#row=q",
    )
    assert page.locator(".contexts mark").all_inner_texts() == ["Room 1 of the castle is 7 feet long."]
    page.locator(".claims .passage").nth(1).click()
    assert page.evaluate(f"{FOCUS}.textContent") == "Room 300 of the castle is 2100 feet long."
    assert inside(page)
    assert page.locator(".contexts mark").count() == 2


def test_rejected_claims_come_first_and_keep_their_numbers(opened: Opener, tmp_path: Path) -> None:
    words = ["supported", "not stated", "contradicted", "supported", "not supported", "contradicted"]
    verdicts = [claim(f"Claim {number}.", word, None, [], []) for number, word in enumerate(words, 1)]
    verdicts.append({"claim": "Claim 7.", "supported": True, "contradicted": True})
    path = page_of(tmp_path, {"response": "Long."}, score("faithfulness", 0.5, details={"verdicts": verdicts}))
    page = opened(path, "#row=q")
    claims = page.locator(".claims li")
    assert claims.locator(".claim").all_inner_texts() == [f"Claim {number}." for number in (3, 6, 7, 5, 2, 1, 4)]
    assert [" ".join(text.split()) for text in claims.locator(".verdict").all_inner_texts()] == [
        "✘ contradicted 3",
        "✘ contradicted 6",
        "✔ supported, and contradicted 7",
        "– not supported 5",
        "– not stated 2",
        "✔ supported 1",
        "✔ supported 4",
    ]


TWO = "The tower is in Paris. It is 330 metres tall."
PLACES = ["The tower stands in Paris.", "It is 300 metres tall."]


class Undecided:
    """A judge that finds the second claim supported when it is asked for the first time, and contradicted from then on."""

    def __init__(self, name: str = "undecided", patience: int = 1) -> None:
        self.identity = {"model": name}
        self._patience = patience

    def generate(self, ask: Ask) -> Reply[str]:
        if ask.prompt.name == "extract_claims":
            return Reply(json.dumps({"claims": ["The tower is in Paris.", "The tower is 330 metres tall."]}))
        self._patience -= 1
        last = "supported" if self._patience >= 0 else "contradicted"
        verdicts = [
            {"number": 1, "reason": "It says so.", "supported_by": [1], "contradicted_by": [], "verdict": "supported"},
            {
                "number": 2,
                "reason": f"It is {last}.",
                "supported_by": [2] if last == "supported" else [],
                "contradicted_by": [2] if last == "contradicted" else [],
                "verdict": last,
            },
        ]
        return Reply(json.dumps({"verdicts": verdicts}))


def judged(folder: Path, metric: Any, **settings: Any) -> Path:
    row = {"id": "q", "user_input": "Where?", "response": TWO, "retrieved_contexts": PLACES}
    evaluate([row], metric, run_dir=folder / "run", **settings).to_html(folder / "report.html")
    return folder / "report.html"


def lines(page: Any) -> list[str]:
    found = page.locator(".judgements button")
    return [
        f"{'* ' if button.get_attribute('aria-pressed') == 'true' else ''}{' '.join(button.inner_text().split())}"
        for button in found.all()
    ]


def marks(page: Any) -> list[tuple[str | None, str]]:
    return [(mark.get_attribute("class"), mark.inner_text()) for mark in page.locator("#row mark").all()]


def test_repeats_are_a_line_each_and_the_chosen_one_marks_the_texts(opened: Opener, tmp_path: Path) -> None:
    page = opened(judged(tmp_path, "faithfulness", llm=Undecided(), repeats=3), "#row=q")
    assert lines(page) == ["Judgement 1 1", "* Judgement 2 0.5", "Judgement 3 0.5"]
    contradicted = [("good", TWO[:21]), ("bad", TWO[23:]), ("good", PLACES[0]), ("bad", PLACES[1])]
    assert marks(page) == contradicted
    assert page.locator(".claims .verdict").first.inner_text().split() == ["✘", "contradicted", "2"]
    page.locator(".judgements button").first.click()
    assert page.evaluate("document.activeElement.textContent") == "Judgement 11"
    assert lines(page) == ["* Judgement 1 1", "Judgement 2 0.5", "Judgement 3 0.5"]
    assert marks(page) == [("good", text) for _, text in contradicted]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert lines(page) == ["Judgement 1 1", "* Judgement 2 0.5", "Judgement 3 0.5"]
    assert marks(page) == contradicted
    page.locator(".claims .passage.bad").click()
    assert page.evaluate(f"{FOCUS}.textContent") == PLACES[1]


def test_jurors_are_a_line_each_and_those_of_the_majority_are_shown_first(opened: Opener, tmp_path: Path) -> None:
    jury = Jury([Faithfulness(llm=Undecided(f"judge-{number}", patience)) for number, patience in enumerate((1, 0, 0))])
    page = opened(judged(tmp_path, jury), "#row=q")
    names = [f"faithfulness (judge-{number})" for number in range(3)]
    assert lines(page) == [f"{names[0]} 1", f"* {names[1]} 0.5", f"{names[2]} 0.5"]
    assert page.locator(".judgement h2").first.inner_text() == names[1]
    assert [kind for kind, _ in marks(page)] == ["good", "bad", "good", "bad"]
    page.locator(".judgements button").first.click()
    assert [kind for kind, _ in marks(page)] == ["good", "good", "good", "good"]


def test_of_a_jury_that_judged_several_times_both_are_chosen(opened: Opener, tmp_path: Path) -> None:
    jury = Jury([Faithfulness(llm=Undecided("judge-0", 1)), Faithfulness(llm=Undecided("judge-1", 0))])
    page = opened(judged(tmp_path, jury, repeats=2), "#row=q")
    assert lines(page) == [
        "* Judgement 1 0.75",
        "Judgement 2 0.5",
        "* faithfulness (judge-0) 1",
        "faithfulness (judge-1) 0.5",
    ]
    page.get_by_role("button", name="Judgement 2").click()
    assert [kind for kind, _ in marks(page)] == ["good", "bad", "good", "bad"]
    page.get_by_role("button", name="Judgement 1").click()
    assert [kind for kind, _ in marks(page)] == ["good", "good", "good", "good"]


def test_a_judgement_without_a_value_is_not_shown_first(opened: Opener, tmp_path: Path) -> None:
    failed = {"value": None, "state": "failed", "error": "BadReply: no JSON", "details": {"raw": ["what?"]}}
    passed = {"value": 1.0, "state": "scored", "passing": True, "label": "right", "details": {}}
    details = {"jurors": [{"juror": "one", **failed}, {"juror": "two", "model": "m", **passed}], "rule": "median"}
    page = opened(page_of(tmp_path, {"response": TWO}, score("jury", 1.0, details=details)), "#row=q")
    assert lines(page) == ["one ✘ failed", "* two (m) ✔ passed 1 right"]
    page.get_by_role("button", name="one").click()
    assert page.locator(".judgement .bad").inner_text() == "✘\nfailed\nBadReply: no JSON"
    assert page.locator(".judgement pre").text_content() == "what?"
    assert "median" in page.locator("#panel .details").inner_text()


def copied(page: Any) -> str:
    until(page, "document.getElementById('copied').textContent !== ''")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def test_a_link_to_the_row_and_the_row_as_json_are_copied(opened: Opener, tmp_path: Path) -> None:
    text = "</script> \u2028 <img src=x> ü"
    rows = [line(number, {"id": f"a&b {number}", "response": text}, score("m", 0.5)) for number in (1, 2)]
    evaluation = written(tmp_path / "scores.jsonl", rows)
    evaluation.to_html(tmp_path / "report.html")
    evaluation.to_jsonl(tmp_path / "again.jsonl")
    page = opened(tmp_path / "report.html", "#rows&text=img")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="a&b 2").click()
    page.get_by_role("button", name="Copy link").click()
    link = copied(page)
    assert page.locator("#copied").inner_text() == "The link is copied."
    assert link == (tmp_path / "report.html").as_uri() + "#row=a%26b%202"
    page.get_by_role("button", name="Copy as JSON").focus()
    page.keyboard.press("Enter")
    until(page, "document.getElementById('copied').textContent === 'The row is copied.'")
    row = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert (row["sample"], row["scores"]["m"]["value"]) == ({"id": "a&b 2", "response": text}, 0.5)
    assert row == json.loads((tmp_path / "again.jsonl").read_text(encoding="utf-8").split("\n")[1])
    page.goto(link)
    page.wait_for_selector("#row-title")
    assert page.locator("#row-title").inner_text() == "a&b 2"


def test_where_a_page_may_not_copy_the_text_is_shown_and_selected(opened: Opener, castle: Path) -> None:
    page = opened(castle, "#row=q")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy link").click()
    until(page, f"{FOCUS}.localName === 'textarea'")
    assert page.evaluate("String(getSelection())") == castle.as_uri() + "#row=q"
    assert page.locator("#copied").inner_text() == (
        "The browser does not let this page copy. The text is selected: copy it with the keys, Ctrl+C or ⌘C."
    )
    page.get_by_role("button", name="Copy as JSON").click()
    assert json.loads(page.locator(".to-copy").input_value())["sample"]["id"] == "q"


def test_a_passage_that_scrolls_by_itself_in_a_closed_part_is_opened_and_scrolled(opened: Opener, castle: Path) -> None:
    page = opened(castle, "#row=q")
    page.evaluate(
        """(() => {
          const box = document.querySelectorAll('.contexts p.text')[1];
          Object.assign(box.style, { maxHeight: '6rem', overflow: 'auto' });
          const around = document.createElement('details');
          box.replaceWith(around);
          around.append(box);
        })()"""
    )
    page.locator(".claims li", has_text="one foot").locator(".passage").click()
    assert page.evaluate(f"{FOCUS}.textContent") == "Room 333 of the castle is 2331 feet long."
    assert inside(page)
    seen = f"({FOCUS}.getBoundingClientRect().top - {FOCUS}.closest('p').getBoundingClientRect().top)"
    assert 0 <= page.evaluate(seen) < 96


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_assistive_technology_can_use_jurors_and_the_way_back(
    opened: Opener, tmp_path: Path, axe: str, scheme: str, width: int
) -> None:
    jury = Jury([Faithfulness(llm=Undecided(f"judge-{number}", number)) for number in range(2)])
    page = opened(judged(tmp_path, jury), "#row=q", width=width, scheme=scheme)
    page.locator(".claims .passage").first.click()
    assert page.get_by_role("button", name="Back to the claim").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert violations(page, axe) == []
