"""The earlier turns of a row stand above its question, folded, on both pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragmetrics_core import Evaluation, evaluate
from ragmetrics_core.metrics import TokenF1

from .conftest import Opener

TURNS = [
    {"role": "user", "content": "Who built the tower?"},
    {"role": "assistant", "content": "Eiffel <b>did</b>.", "retrieved_contexts": ["It was built by Eiffel."]},
]


def run(*histories: Any) -> Evaluation:
    rows = [
        {"id": f"q{number}", "question": "How high is it?", "answer": "a", "reference": "a", "history": history}
        for number, history in enumerate(histories, 1)
    ]
    return evaluate(rows, TokenF1(), progress=False)


def test_a_row_shows_its_turns_above_the_question(opened: Opener, tmp_path: Path) -> None:
    run(TURNS, [], None, "some words").to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html", "#row=q1")
    turns = page.locator(".texts details")
    assert turns.locator("summary").inner_text() == "Earlier turns (2)"
    assert not turns.locator("li").first.is_visible()
    turns.locator("summary").click()
    assert turns.locator("ol > li").all_inner_texts() == [
        "user\n\nWho built the tower?",
        "assistant\n\nEiffel <b>did</b>.\n\nretrieved_contexts\nIt was built by Eiffel.",
    ]
    above = "(question) => question.previousElementSibling.localName"
    assert page.locator(".texts .part", has_text="How high is it?").evaluate(above) == "details"
    assert page.locator(".sources details").count() == 0, "it is not told again as the rest of the row"
    for name, count in (("q2", 0), ("q3", 0), ("q4", 1)):
        page.goto(page.url.partition("#")[0] + f"#row={name}")
        page.wait_for_function(f"document.getElementById('row-title')?.textContent === '{name}'")
        assert page.locator(".texts details").count() == count
    page.locator(".texts summary").click()
    assert page.locator(".texts details li").inner_text().strip() == "some words"


def test_a_comparison_shows_equal_turns_once_and_others_on_their_sides(opened: Opener, tmp_path: Path) -> None:
    run(TURNS, TURNS).compare(run(TURNS, TURNS[:1])).to_html(tmp_path / "comparison.html")
    for name, summaries in (("q1", ["Earlier turns (2)"]), ("q2", ["Earlier turns (2)", "Earlier turns (1)"])):
        page = opened(tmp_path / "comparison.html", f"#row={name}")
        assert page.locator("summary", has_text="Earlier turns").all_inner_texts() == summaries
        assert page.locator(".part", has_text="How high is it?").count() == len(summaries)
