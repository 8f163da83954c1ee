"""One structure, several faces: every sentence and number that text, Markdown or HTML shows, the others show too."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any

import pytest

from core.report.comparing import text_at
from ragmetrics_core import Metric, Score, evaluate
from ragmetrics_core.llms import LexicalJudge

ROWS = [
    {
        "id": f"q{number}",
        "user_input": "Where is it?",
        "response": "It is in Paris. " * (number % 3 + 1),
        "retrieved_contexts": ["It is in Paris."],
        "lang": "de" if number % 2 else "en",
    }
    for number in range(24)
]


def graded(self: object, response: str) -> Score:
    if len(response) > 40:
        return Score.unscored("too long to grade", label="long")
    return Score(len(response) / 100, passing=len(response) > 20, label="short" if len(response) < 20 else "fair")


GRADED = type("Graded", (Metric,), {"measure": graded})()


def results() -> dict[str, Any]:
    """Each kind of result with all that it can say."""
    rows = [*ROWS, {"id": "bad", "user_input": "x", "response": 7, "lang": "de"}]
    run = evaluate(rows, ["faithfulness", GRADED], llm=LexicalJudge(), progress=False)
    labels = [
        {"id": f"q{number}", "metric": "faithfulness", "label": number % 5 > 0, "annotator": name}
        for number in range(16)
        for name in ("ada", "bob")
    ]
    calibration = run.calibrate(labels, by="lang")
    summary = run.summary(by="lang", calibration=calibration)
    changed = [{**row, "response": "It is in Rome. " * (number % 4)} for number, row in enumerate(ROWS[:-1])]
    later = evaluate(
        [*changed, {**ROWS[-1], "id": "new"}], ["faithfulness", GRADED, "token_f1"], llm=LexicalJudge(), progress=False
    )
    labels_of_later = [{**line, "label": not line["label"]} for line in labels]
    both = (run.calibrate(labels), later.calibrate(labels_of_later))
    comparison = run.compare(later, by="lang", allow_different_judges=True, calibration=both)
    gates = ("faithfulness drop <= 0.03", "faithfulness >= 0.9", "graded <= 0.3")
    return {
        "comparison": replace(comparison, warnings=("faithfulness: the LLM is one in a, another in b",)),
        "gates": later.gate(*gates, baseline=run, by="lang", allow_different_judges=True),
        "summary": replace(summary, stopped="the budget of 5 calls is spent", waited={"faithfulness": 1.5}),
        "calibration": calibration,
    }


RESULTS = results()
MARKS = r"<[^>]*>|(?m:^ *>)|[|*\u2718\u2714\u2013]|:--|--:"
FACES = {
    "text": lambda result: text_at(100_000, result),
    "markdown": lambda result: html.unescape(re.sub(MARKS, " ", result.to_markdown())).replace("\u200b", ""),
    "html": lambda result: html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", result._repr_html_())),
}


def said(text: str) -> set[str]:
    """The words and numbers, without marks."""
    return set(re.findall(r"[\w.%+-]*\w", text.replace("\u200b", "")))


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_every_face_says_what_the_others_say(name: str) -> None:
    shown = {face: said(show(RESULTS[name])) for face, show in FACES.items()}
    folded = said("What the numbers rest on, Rows without a pair or a value, Rows that changed most, 4 slices")
    assert shown["text"] - shown["markdown"] == set()
    assert shown["markdown"] - shown["text"] <= folded
    assert shown["html"] == shown["text"]


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_every_line_of_the_text_is_in_the_other_faces(name: str) -> None:
    text = FACES["text"](RESULTS[name])
    sentences = [line.strip() for line in text.splitlines() if line.strip() and "  " not in line.strip()]
    assert len(sentences) > 5
    for face in ("markdown", "html"):
        other = " ".join(FACES[face](RESULTS[name]).split())
        for sentence in sentences:
            assert re.sub(r"\s+", "", sentence) in re.sub(r"\s+", "", other), (face, sentence)
