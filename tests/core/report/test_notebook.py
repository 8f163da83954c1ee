"""Outputs of notebooks: what they say, and that no text of data or models becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from core.evaluate.doubles import Length
from notebook_data import HOSTILE, KINDS, outputs
from ragmetrics_core import Evaluation, Sample, Score, Testset, estimate, evaluate

VOID = {"br", "hr", "meta"}


class Read(HTMLParser):
    """The elements with their attributes, in order, and the texts between them."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and "style" not in self.open:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def structure(shown: Any) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
    return Read(shown._repr_html_()).elements


def test_there_are_enough_of_them() -> None:
    assert len(set(HOSTILE)) >= 40


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_becomes_markup(text: str) -> None:
    """The elements and their attributes are exactly those that a harmless text of one word leads to."""
    harmless, hostile = outputs("word"), outputs(text)
    for kind in KINDS:
        markup = hostile[kind]._repr_html_()
        assert Read(markup).elements == structure(harmless[kind]), kind
        assert not set("\x00\u202e\u2066\x1b") & set(markup)


def test_only_elements_without_effect() -> None:
    found = [item for shown in outputs("word").values() for item in structure(shown)]
    assert {name for name, _ in found} == {
        *("div", "style", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "span"),
        *("details", "summary", "ol", "ul", "li", "svg", "title", "rect", "line"),
    }
    assert {name for _, attributes in found for name, _ in attributes} == {
        *("class", "scope", "open", "viewbox", "role", "aria-label", "preserveaspectratio"),
        *("x", "y", "width", "height", "rx", "x1", "x2", "y1", "y2"),
    }


def test_a_score() -> None:
    verdicts = [
        {"claim": "A < B.", "supported": True, "verdict": "supported", "supported_by": [2], "reason": "as it says"},
        {"claim": "C.", "supported": False, "verdict": "not stated", "supported_by": [], "reason": ""},
    ]
    score = Score(0.5, details={"verdicts": verdicts, "windows": 2}, metric="faithfulness", scale=(0, 1))
    assert Read(score._repr_html_()).texts == [
        *("faithfulness: 0.5 (scale 0 to 1)", "claims", "verdict", "reason"),
        *("✔", "A < B.", "supported by passage 2", "as it says", "–", "C.", "not stated", "windows 2"),
    ]
    assert ("span", (("class", "mark good"),)) in structure(score)
    assert ("span", (("class", "mark open"),)) in structure(score)


ROWS = [
    {"id": name, "user_input": "Q?", "response": "x" * size, "contexts": ["One.", "Two."], "lang": name}
    for name, size in (("a", 1), ("b", 5), ("c", 3), ("d", 9))
]


def test_an_evaluation_shows_its_summary_and_the_worst_rows() -> None:
    result = replace(evaluate(ROWS, Length(), progress=False), seconds=None)
    texts = Read(result._repr_html_()).texts
    assert texts[:14] == [
        "Length is 0.45 (0.11 to 0.85) on 4 rows.",
        "4 rows, 1 metric",
        *("metric", "mean", "scored", "95 % interval", "unscored", "failed", "scale"),
        *("length", "0.450", "4 of 4", str(result.summary()["length"].interval), "0"),
    ]
    assert "Distribution of 4 values from 0 to 1" in texts
    start = texts.index("length: the lowest 3")
    assert texts[start:] == [
        "length: the lowest 3",
        *("a (row 1): 0.1", "question: Q?", "answer: x", "length: 0.1 (scale 0 to 1)", "passages", "One.", "Two."),
        *("c (row 3): 0.3", "question: Q?", "answer: xxx", "length: 0.3 (scale 0 to 1)", "passages", "One.", "Two."),
        *("b (row 2): 0.5", "question: Q?", "answer: xxxxx", "length: 0.5 (scale 0 to 1)", "passages", "One.", "Two."),
    ]


def test_a_summary_shows_its_slices() -> None:
    texts = Read(evaluate(ROWS, Length(), progress=False).summary(by="lang")._repr_html_()).texts
    start = texts.index("lang=a")
    assert texts[start : start + 6] == ["lang=a", "0.100", "1 of 1", "-", "0", "0"]


def test_rows_that_hold_anything() -> None:
    """A row that could not be scored may have numbers where texts should be."""
    rows = [{"user_input": 7, "response": "x", "contexts": [1, None]}, {"response": "y", "contexts": "z"}]
    shown = evaluate(rows, Length(), progress=False).worst("length")._repr_html_()
    assert [text for text in Read(shown).texts if text in ("question: 7", "1", "None")] == ["question: 7", "1", "None"]


def test_the_earlier_turns_of_a_row_are_folded() -> None:
    rows = [{"user_input": "How high?", "response": "x", "history": [{"role": "user", "content": "Who?"}]}]
    shown = evaluate(rows, Length(), progress=False).worst("length")._repr_html_()
    assert Read(shown).texts[1:4] == ["earlier turns", "earlier user: Who?", "question: How high?"]


def test_a_test_set() -> None:
    samples = tuple(
        Sample(user_input=f"Q{n}?", reference="R.", reference_contexts=["P."], metadata={"document_id": "d"})
        for n in range(12)
    )
    texts = Read(Testset(samples, asked=12)._repr_html_()).texts
    assert texts[1:5] == ["document", "question", "reference", "passages"]
    assert texts[5:9] == ["d", "Q0?", "R.", "P."]
    assert texts[-1] == "and 2 more"
    assert Read(Testset(())._repr_html_()).texts == ["0 questions, 0 calls, 0 tokens in, 0 tokens out"]


def test_no_row_has_a_value() -> None:
    result = evaluate([{"response": "?"}], Length(), progress=False)
    assert Read(result.worst("length")._repr_html_()).texts == ["no row has a value of length"]
    assert isinstance(result, Evaluation)
    assert "the lowest" not in result._repr_html_()


def test_items_below_items() -> None:
    """What changed most in a comparison: each row, and what changed in it below."""
    before = evaluate(ROWS, Length(), progress=False)
    after = evaluate([{**row, "response": "x" * 10} for row in ROWS], Length(), progress=False)
    markup = before.compare(after)._repr_html_()
    (item,) = re.findall("<li>length of a: 0.1 to 1 [^<]*<ul>(.*?)</ul></li>", markup)
    assert re.fullmatch("(<li>[^<]+</li>)+", item), item


class Printer:
    """IPython's, as far as it is asked."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def text(self, text: str) -> None:
        self.shown.append(text)


def test_ipython_on_a_terminal_shows_texts() -> None:
    result = evaluate(ROWS, Length(), progress=False)
    for shown in (
        result.summary(),
        result.worst("length"),
        result.compare(result),
        result.gate("length >= 0.1"),
        Testset((), asked=1),
        estimate(ROWS, Length()),
    ):
        printer = Printer()
        shown._repr_pretty_(printer, cycle=False)
        assert printer.shown == [str(shown)]
