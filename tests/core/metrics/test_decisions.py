"""What the page on prompts says that they decide stands in their words."""

from __future__ import annotations

import re

import pytest

from ragmetrics_core import Prompt
from ragmetrics_core.metrics import catalogue
from recording import prompts_of
from source_tree import ROOT

PAGE = ROOT / "docs" / "prompts-and-replies.md"
SECTION = re.compile(r"## What the prompts decide\n(.*?)\n## ", re.DOTALL)
QUOTED = re.compile(r'`(\w+)`: "((?:[^"\\]|\\.)+)"')


def quotations() -> list[tuple[str, str]]:
    section = SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert section is not None
    return [(name, words.replace('\\"', '"')) for name, words in QUOTED.findall(section[1])]


def prompts() -> dict[str, Prompt[object]]:
    without = {"custom_judge", "guideline", "jury", "rubric_score"}
    metrics = (entry.cls() for entry in catalogue() if entry.name not in without)
    return {prompt.name: prompt for metric in metrics for prompt in prompts_of(metric)}


@pytest.mark.parametrize(("name", "words"), quotations())
def test_a_prompt_decides_what_the_page_says(name: str, words: str) -> None:
    assert words in prompts()[name].instructions


def test_every_row_of_the_table_quotes_a_prompt() -> None:
    section = SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert section is not None
    rows = [line for line in section[1].splitlines() if line.startswith("| ") and "what a text may hold" not in line]
    assert len(rows) >= 15
    assert [row for row in rows if not QUOTED.search(row)] == []
