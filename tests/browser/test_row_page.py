"""A row of a page that is open: from a claim to the sentence that it rests on, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from report_data import claim, line, score, written

from .conftest import Opener

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
