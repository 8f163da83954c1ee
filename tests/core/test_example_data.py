"""The example data: two systems on the same questions, whose passages all stand in the documents beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import FactualCorrectness, Faithfulness

FOLDER = Path(__file__).parents[2] / "examples" / "lindholm"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["before.jsonl", "after.jsonl"])
def test_every_passage_is_a_paragraph_of_the_document_of_its_language(name: str) -> None:
    assert len(rows(name)) == 48
    for row in rows(name):
        document = FOLDER / "documents" / f"{row['metadata']['lang']}.md"
        paragraphs = document.read_text(encoding="utf-8").strip().split("\n\n")
        assert len(row["retrieved_contexts"]) == 3
        assert set(row["retrieved_contexts"]) < set(paragraphs)


def test_both_systems_answer_the_same_questions() -> None:
    one, other = (
        {row["id"]: (row["user_input"], row["reference"], row["metadata"]) for row in rows(name)}
        for name in ("before.jsonl", "after.jsonl")
    )
    assert one == other
    assert len(one) == 48


def test_the_second_system_is_better_by_the_offline_judge_too() -> None:
    before, after = (
        evaluate(rows(name), [Faithfulness(), FactualCorrectness()], llm=LexicalJudge(), progress=False).summary()
        for name in ("before.jsonl", "after.jsonl")
    )
    for name in ("faithfulness", "factual_correctness"):
        low, high = before[name].mean, after[name].mean
        assert low is not None
        assert high is not None
        assert low < high


def test_labels_are_of_rows_of_the_first_system() -> None:
    labels, ids = rows("labels.jsonl"), {row["id"] for row in rows("before.jsonl")}
    assert {row["id"] for row in labels} < ids
    assert {(row["metric"], row["annotator"]) for row in labels} == {("faithfulness", "editor")}
    assert [row["label"] for row in labels].count(True) == 15
    assert len(labels) == 30
