"""The guide for users of Haystack's evaluators: no name is missing, and what it says of the same replies is so."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import haystack.components.evaluators as theirs
import pytest
from haystack.components.generators.chat import MockChatGenerator

import ragmetrics_core.metrics
import ragmetrics_haystack as ours
from haystack import Document
from ragmetrics_core import InvalidInput
from source_tree import ROOT

PAGE = (ROOT / "docs" / "coming-from-haystack.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `(\w+)(?:\((\w+)=\))?` \|$", PAGE, re.MULTILINE)
ASKING = {"ContextRelevanceEvaluator", "FaithfulnessEvaluator", "LLMEvaluator"}


def test_every_evaluator_is_on_the_page() -> None:
    evaluators = {name for name in dir(theirs) if name.endswith("Evaluator")}
    assert {name for name, *_ in ROWS} == evaluators | {"RecallMode"}
    assert len(ROWS) == 10


@pytest.mark.parametrize(("name", "here", "metric", "setting"), ROWS)
def test_every_name_on_the_page_exists(name: str, here: str, metric: str, setting: str) -> None:
    module = "haystack.components.evaluators" + (".document_recall" if name == "RecallMode" else "")
    assert hasattr(importlib.import_module(module), name)
    assert here in ours.__all__
    assert metric in ragmetrics_core.metrics.__all__
    assert not setting or setting in inspect.signature(getattr(ragmetrics_core.metrics, metric)).parameters


@pytest.mark.parametrize("name", [name for name, *_ in ROWS if name != "RecallMode"])
def test_constructors_take_one_more_argument_at_most(name: str) -> None:
    taken, known = (set(inspect.signature(getattr(library, name).__init__).parameters) for library in (ours, theirs))
    assert taken == known | ({"max_concurrency"} if name in ASKING else set())


def faithfulness(reply: str) -> float:
    evaluator = ours.FaithfulnessEvaluator(
        chat_generator=MockChatGenerator(reply), raise_on_failure=False, progress_bar=False
    )
    score: float = evaluator.run(questions=["q"], contexts=[["c"]], predicted_answers=["a"])["score"]
    return score


def relevance(reply: str) -> float:
    evaluator = ours.ContextRelevanceEvaluator(
        chat_generator=MockChatGenerator(reply), raise_on_failure=False, progress_bar=False
    )
    score: float = evaluator.run(questions=["q"], contexts=[["c"]])["score"]
    return score


@pytest.mark.parametrize(
    ("judged", "reply", "score"),
    [
        (faithfulness, '{"statements": ["a", "b"], "statement_scores": [1, 0.5]}', None),
        (faithfulness, '{"statements": ["a", "b"], "statement_scores": [1]}', None),
        (faithfulness, '{"statements": ["a"], "statement_scores": [5]}', None),
        (faithfulness, '```json\n{"statements": ["a"], "statement_scores": [1]}\n```', 1.0),
        (faithfulness, '{"statements": [], "statement_scores": []}', 0.0),
        (relevance, '{"relevant_statements": ["None"]}', 0.0),
        (relevance, '{"relevant_statements": "none"}', None),
    ],
)
def test_the_same_reply(judged: Callable[[str], float], reply: str, score: float | None) -> None:
    found = judged(reply)
    assert math.isnan(found) if score is None else found == score


def test_the_same_documents() -> None:
    graded: Any = [[Document(content="A", score=1.0), Document(content="B", score=-1.0)]]
    with pytest.raises(InvalidInput, match="-1.0: give 0 or more"):
        ours.DocumentNDCGEvaluator().run(graded, [[Document(content="A")]])
    listed = [[Document(content="A", meta={"tags": ["x"]})]]
    for evaluator in (
        ours.DocumentRecallEvaluator(document_comparison_field="meta.tags"),
        ours.DocumentNDCGEvaluator(document_comparison_field="meta.tags"),
    ):
        assert evaluator.run(listed, listed)["score"] == 1.0
    with pytest.raises(ValueError, match="Unknown recall mode '3'"):
        ours.DocumentRecallEvaluator(mode=3)
