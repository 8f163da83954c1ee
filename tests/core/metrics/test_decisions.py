"""The guideline quotes the prompts, and every rule of it quotes one."""

from __future__ import annotations

import re

import pytest

from ragmetrics_core import Prompt
from ragmetrics_core.metrics import catalogue
from recording import prompts_of
from source_tree import ROOT

PAGE = (ROOT / "docs" / "guideline.md").read_text(encoding="utf-8")
QUOTED = re.compile(r'`(\w+)`: "((?:[^"\\]|\\.)+)"')


def quotations() -> list[tuple[str, str]]:
    return [(name, words.replace('\\"', '"')) for name, words in QUOTED.findall(PAGE)]


def prompts() -> dict[str, Prompt[object]]:
    without = {"custom_judge", "guideline", "jury", "rubric_score"}
    metrics = (entry.cls() for entry in catalogue() if entry.name not in without)
    return {prompt.name: prompt for metric in metrics for prompt in prompts_of(metric)}


@pytest.mark.parametrize(("name", "words"), quotations())
def test_a_prompt_says_what_the_page_quotes(name: str, words: str) -> None:
    assert words in prompts()[name].instructions


def test_every_rule_has_two_examples_and_quotes_a_prompt() -> None:
    rules = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| rule |")]
    assert len(rules) >= 30
    assert [rule for rule in rules if not QUOTED.search(rule)] == []
    assert [rule for rule in rules if not all(map(str.strip, rule.strip("|").split("|")))] == []
