"""Rows in which the system retrieved or answered nothing: unscored and counted, or the worst value; never missing, never free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ragmetrics_core import Evaluation, InvalidInput, Metric, MissingInput, Score, evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import (
    NDCG,
    ContextRecall,
    ExactMatch,
    Faithfulness,
    RefineFaithfulness,
    RubricScore,
    TokenF1,
)
from ragmetrics_core.testing import ScriptedLLM

FULL = {"user_input": "q", "response": "Paris.", "reference": "Paris.", "retrieved_contexts": ["Paris."]}


@dataclass(frozen=True)
class Errors(Metric):
    """The fewer the better."""

    scale: ClassVar[tuple[float, float] | None] = (0.0, 10.0)
    higher_is_better: ClassVar[bool | None] = False

    def measure(self, response: str) -> Score:
        return Score(response.count("!"))


@dataclass(frozen=True)
class Length(Metric):
    """Neither better nor worse."""

    scale: ClassVar[tuple[float, float] | None] = (0.0, 100.0)
    higher_is_better: ClassVar[bool | None] = None

    def measure(self, answer: str) -> Score:
        return Score(len(answer))


@pytest.mark.parametrize(
    ("changes", "label", "reason"),
    [
        ({"response": ""}, "no_answer", "response is blank"),
        ({"response": " \n"}, "no_answer", "response is blank"),
        ({"retrieved_contexts": []}, "no_retrieval", "retrieved_contexts is an empty list"),
        ({"retrieved_contexts": ()}, "no_retrieval", "retrieved_contexts is an empty list"),
        ({"retrieved_contexts": ["", " "]}, "no_retrieval", "retrieved_contexts contains only blank texts"),
        ({"response": "", "retrieved_contexts": []}, "no_retrieval", "retrieved_contexts is an empty list"),
    ],
)
async def test_nothing_retrieved_or_answered_is_unscored(changes: dict[str, Any], label: str, reason: str) -> None:
    llm = ScriptedLLM([])
    metric = Faithfulness(llm=llm)
    for score in (metric.score(FULL | changes), await metric.ascore(FULL | changes)):
        assert (score.state, score.label, score.reason, score.metric) == ("unscored", label, reason, "faithfulness")
        assert Score.from_dict(score.to_dict()) == score
    assert llm.asks == []


@pytest.mark.parametrize(
    ("metric", "changes"),
    [
        (Faithfulness(), {"response": None}),
        (Faithfulness(), {"retrieved_contexts": None}),
        (Faithfulness(), {"user_input": ""}),
        (ContextRecall(), {"reference": " "}),
        (ContextRecall(), {"reference": None}),
    ],
)
def test_what_is_missing_or_no_result_of_the_system_is_an_error(metric: Metric, changes: dict[str, Any]) -> None:
    with pytest.raises(MissingInput):
        metric.score(FULL | changes)


def test_an_error_beside_it_comes_first() -> None:
    with pytest.raises(MissingInput, match="exact_match needs 'reference', which is missing"):
        ExactMatch().score(response="")


def test_a_blank_answer_is_never_graded_by_the_rest_of_the_row() -> None:
    score = RubricScore({0: "bad", 1: "good"}, llm=ScriptedLLM([])).score(FULL | {"response": " "})
    assert (score.state, score.label) == ("unscored", "no_answer")


def test_contexts_that_a_metric_can_do_without_may_be_empty() -> None:
    llm = ScriptedLLM(['{"reason": "so", "score": 1}'])
    score = RubricScore({0: "bad", 1: "good"}, llm=llm).score(FULL | {"retrieved_contexts": []})
    assert (score.value, score.label) == (1.0, None)


def test_a_metric_s_own_name_for_the_field_changes_nothing() -> None:
    assert Length().score(answer="").label == "no_answer"


def rows() -> list[dict[str, Any]]:
    return [FULL, FULL | {"response": ""}, FULL | {"response": " ", "retrieved_contexts": []}, FULL]


def test_by_default_they_are_counted_beside_the_mean() -> None:
    summary = evaluate(rows(), [TokenF1(), Faithfulness()], llm=LexicalJudge()).summary()
    f1, faithfulness = summary.metrics
    assert (f1.mean, f1.scored, f1.unscored, f1.failed, f1.labels) == (1.0, 2, 2, 0, {"no_answer": 2})
    assert faithfulness.labels == {"no_answer": 1, "no_retrieval": 1}
    assert summary.to_dict()["metrics"]["token_f1"]["labels"] == {"no_answer": 2}
    assert "no_answer on 2 of 4 rows: token_f1\n" in str(summary)
    assert "no_answer on 1 of 4 rows, no_retrieval on 1 of 4 rows: faithfulness\n" in str(summary)


def test_counted_as_the_worst_value(tmp_path: Path) -> None:
    metrics = [TokenF1(), Errors(), Length(), NDCG()]
    result = evaluate(
        [row | {"retrieved_documents": [], "reference_documents": ["a"]} for row in rows()],
        metrics,
        empty="zero",
        run_dir=tmp_path,
    )
    for kept in (result, Evaluation.load(tmp_path)):
        assert [score.value for score in kept.scores["token_f1"]] == [1.0, 0.0, 0.0, 1.0]
        assert [score.value for score in kept.scores["errors"]] == [0.0, 10.0, 10.0, 0.0]
        assert [score.value for score in kept.scores["length"]] == [6.0, None, None, 6.0]
        assert [score.value for score in kept.scores["ndcg"]] == [0.0] * 4
        note = "no_answer on 2 of 4 rows; 2 of them counted as the worst value: token_f1, errors "
        assert note in " ".join(str(kept.summary()).split())
        assert "no_answer on 2 of 4 rows: length\n" in str(kept.summary())
        assert [item.silent for item in kept.summary().metrics] == [2, 2, 0, 0]
        score = kept.scores["token_f1"][1]
        assert (score.label, score.reason) == ("no_answer", "response is blank; counted as the worst value")
        assert kept.scores["length"][1].reason == (
            "answer is blank; length has no worst value that it could be counted as"
        )
        assert kept.summary()["token_f1"].mean == 0.5


def test_a_row_counted_as_the_worst_did_not_pass() -> None:
    judge = ScriptedLLM(lambda ask: '{"reason": "so", "answer": "yes"}')
    skipped, counted = (
        evaluate(rows(), RefineFaithfulness(), llm=judge, empty=empty).summary()["refine_faithfulness"]
        for empty in ("skip", "zero")
    )
    assert (skipped.passed, skipped.pass_rate) == (2, 1.0)
    assert (counted.passed, counted.pass_rate, counted.mean) == (2, 0.5, 0.5)


def test_repeats_keep_the_label() -> None:
    skipped, counted = (evaluate(rows(), TokenF1(), repeats=3, empty=empty) for empty in ("skip", "zero"))
    assert [score.label for score in skipped.scores["token_f1"]] == [None, "no_answer", "no_answer", None]
    assert [score.value for score in counted.scores["token_f1"]] == [1.0, 0.0, 0.0, 1.0]
    assert [score.label for score in counted.scores["token_f1"]] == [None, "no_answer", "no_answer", None]


def test_only_two_ways() -> None:
    with pytest.raises(InvalidInput, match="empty must be 'skip' or 'zero', got 'drop'"):
        evaluate(rows(), TokenF1(), empty="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize("label", ["", 5])
def test_a_label_is_a_word(label: Any) -> None:
    with pytest.raises(TypeError, match="label must be a word or None, got"):
        Score(1.0, label=label)


def test_labels_of_a_stranger_s_metric_are_counted() -> None:
    @dataclass(frozen=True)
    class Kind(Metric):
        """Labels."""

        def measure(self, response: str, retrieved_contexts: Sequence[str]) -> Score:
            return Score(1.0, label="right" if response else "wrong")

    summary = evaluate([FULL, FULL], Kind()).summary()
    assert summary["kind"].labels == {"right": 2}
