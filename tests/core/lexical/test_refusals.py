"""How the offline judge knows a response that declines: the published figures, and what decides in a sentence of both kinds."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.truthful_judge import corpus
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import AnswerOrAbstain
from source_tree import ROOT


@pytest.fixture(scope="module")
def bench() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "bench" / "refusals.py"))


@pytest.mark.parametrize("name", ["abstention", "refusals_unseen"])
def test_the_published_figures_are_those_of_the_benchmark(bench: dict[str, Any], name: str) -> None:
    page = (ROOT / "docs" / "offline-judge.md").read_text(encoding="utf-8")
    figures = bench["table"](bench["counts"](corpus(name)))
    assert figures in page, f"publish the new figures of {name} in docs/offline-judge.md"


def test_the_wordings_that_the_patterns_were_made_with(bench: dict[str, Any]) -> None:
    rows = corpus("refusals")
    wrong = [row["response"] for row in rows if bench["taken_for"](row) != row["response_declines"]]
    assert wrong == ["Ich bin nicht in der Lage, diese Frage zu beantworten."]


def declines(response: str) -> str:
    """Whether the offline judge takes a response for one that declines."""
    row = {"user_input": "When did it open?", "response": response, "retrieved_contexts": ["It opened in 1889."]}
    return str(AnswerOrAbstain(llm=LexicalJudge()).score(row).details["response_declines"])


@pytest.mark.parametrize(
    ("response", "extent"),
    [
        ("It opened in 1889, but I am not sure.", "no"),  # a hedge is an answer
        ("I am not sure, but it opened in 1889.", "no"),
        ("It opened in May 1889, but I do not know on which day.", "partly"),
        ("It opened in May 1889. I do not know on which day.", "partly"),
        ("Unfortunately, I do not know when it opened.", "wholly"),
        ("Based on the provided context, I cannot tell when it opened.", "wholly"),
        ("Whether it opened, I cannot say.", "wholly"),
        ("As an AI language model, I cannot answer that.", "wholly"),
        ("She worked as an AI researcher in Paris.", "no"),
        ("Which of the two towers do you mean?", "wholly"),
        ("Hello!", "wholly"),  # it answers nothing
        ("", "wholly"),
        ("No.", "no"),
        ("But", "no"),
    ],
)
def test_the_extent_of_a_refusal(response: str, extent: str) -> None:
    assert declines(response) == extent


PARTS = (
    "but",
    "however",
    "aber",
    "mais",
    ",",
    ";",
    ".",
    "?",
    "I do not know",
    "sure",
    "1889",
    "if",
    " ",
    "\n",
    "、",
    "不知道",
)


@given(st.lists(st.sampled_from(PARTS)).map(" ".join))
def test_whatever_a_response_is_made_of_it_has_an_extent(response: str) -> None:
    assert declines(response) in ("no", "partly", "wholly")
