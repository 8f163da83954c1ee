"""The parser of Markdown that pages of answers in Markdown have: which one it is, and which pages have it."""

from __future__ import annotations

import re
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from core.evaluate.doubles import Length
from ragmetrics_core import evaluate

VENDOR = files("ragmetrics_core") / "_page" / "sources" / "vendor"


def test_the_parser_is_the_one_of_npm_with_its_licences() -> None:
    script = (VENDOR / "markdown-it.min.js").read_bytes()
    assert sha256(script).hexdigest() == "391f2aa638e75e6c7859d0a5c5650ef0956722a45998f17e05b83bc655778e1e"
    licence = (VENDOR / "markdown-it.LICENSE").read_text(encoding="utf-8")
    assert "the npm package markdown-it 15.0.3, unchanged" in licence
    assert licence.count("Copyright") >= 6


def written(folder: Path, *answers: str, reference: str | None = None) -> str:
    rows = [{"response": answer, "reference": reference} for answer in answers]
    evaluate(rows, Length()).to_html(folder / "report.html")
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "answer", ["# Title", "- one", "3. three", "> said", "a **b**", "Call `f`.", "| a | b |", "a\n```\nb"]
)
def test_a_page_with_an_answer_in_markdown_has_the_parser(tmp_path: Path, answer: str) -> None:
    page = written(tmp_path, "plain", answer)
    assert page.count("Copyright (c) 2014 Vitaly Puzrin, Alex Kocharin.") == 1
    assert "sourceMappingURL" not in page
    scripts = re.findall(r"<script(?![^>]*octet-stream)[^>]*>", page)
    assert scripts == ["<script>"], "nothing in the parser begins or ends a script"


def test_a_reference_in_markdown_counts_too(tmp_path: Path) -> None:
    assert "Vitaly Puzrin" in written(tmp_path, "plain", reference="* one\n* two")


@pytest.mark.parametrize("answer", ["", "plain", "3 * 4 - 5", "#1 of 3", "-5 degrees", "a > b | c", "it`s"])
def test_other_pages_stay_without_it(tmp_path: Path, answer: str) -> None:
    page = written(tmp_path, answer, reference="plain")
    assert "Vitaly Puzrin" not in page
    assert len(written(tmp_path, "**bold**")) - len(page) > 100_000
