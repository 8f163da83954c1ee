"""Scorers in ``mlflow.genai.evaluate``: the same scores as the core, with their evidence, and errors where there is no score."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any, ClassVar

import mlflow
import pytest
from mlflow.entities import Document, SpanType

from ragmetrics_core import InvalidInput, ModelError, Reply, Usage, evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import ContextRecall, ExactMatch, Faithfulness, Guideline, Recall, Relevancy, TokenF1
from ragmetrics_mlflow import scorer, scorers

CONTEXT = "Guido van Rossum created Python."
ROW: dict[str, Any] = {
    "inputs": {"question": "Who created Python?", "contexts": [CONTEXT]},
    "outputs": "Guido created Python. Larry wrote Perl.",
    "expectations": {"expected_response": CONTEXT},
}


class Judge:
    """Says the same each time, after a while."""

    def __init__(self, text: str | Exception, seconds: float = 0.0) -> None:
        self.text, self.seconds = text, seconds
        self.calls = self.busy = self.most_at_once = 0

    identity: ClassVar = {"model": "judge-1"}

    async def agenerate(self, ask: Any) -> Reply[str]:
        import asyncio

        self.calls += 1
        self.busy += 1  # on the one event loop of a scorer
        self.most_at_once = max(self.most_at_once, self.busy)
        await asyncio.sleep(self.seconds)
        self.busy -= 1
        if isinstance(self.text, Exception):
            raise self.text
        return Reply(self.text, Usage(1, 30, 5))


def test_a_row_that_cannot_be_judged_has_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for nothing."""

    def no_thread_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    (judging,) = scorers(Faithfulness(), llm=LexicalJudge())
    monkeypatch.setattr(threading.Thread, "start", no_thread_left)
    (feedback,) = judging(inputs=ROW["inputs"], outputs=ROW["outputs"])
    assert (feedback.value, feedback.error.error_code) == (None, "FAILED")
    assert "the system can start no thread" in feedback.error.error_message


def test_a_row_has_a_feedback_of_every_metric_with_its_evidence(feedbacks: Any) -> None:
    (row,) = feedbacks([ROW], scorers([Faithfulness(), TokenF1()], llm=LexicalJudge()))
    assert sorted(row) == ["faithfulness", "token_f1"]
    assert row["faithfulness"].value == 0.5  # the claims of the first sentence, but not those of the second
    assert "✔ Guido created Python." in row["faithfulness"].rationale
    assert "– Larry wrote Perl." in row["faithfulness"].rationale
    assert row["faithfulness"].source.source_type == "LLM_JUDGE"
    assert row["faithfulness"].source.source_id == "LexicalJudge"
    assert "verify_claims" in row["faithfulness"].metadata["ragmetrics.prompts"]
    # 3 of the 6 words of the answer are among the 5 of the reference: precision 1/2, recall 3/5
    assert row["token_f1"].value == pytest.approx(6 / 11)
    assert row["token_f1"].source.source_type == "CODE"
    assert row["token_f1"].source.source_id == "ragmetrics"
    assert "ragmetrics.llm" not in row["token_f1"].metadata


def test_scores_are_those_of_the_core(feedbacks: Any) -> None:
    people = [f"Person{number}" for number in range(40)]
    rows = [
        {
            "inputs": {"question": f"Who is {name}?", "contexts": [f"{name} is a baker.", "Bread is made of flour."]},
            "outputs": {"answer": f"{name} is a baker. {name} likes {'flour' if number % 3 else 'trains'}."},
            "expectations": {"ground_truth": f"{name} is a baker of bread."},
        }
        for number, name in enumerate(people)
    ]
    metrics = [Faithfulness(), ContextRecall(), TokenF1()]
    expected = evaluate(
        [{**row["inputs"], **row["outputs"], **row["expectations"]} for row in rows],
        metrics,
        llm=LexicalJudge(),
        progress=False,
    )
    found = feedbacks(rows, scorers(metrics, llm=LexicalJudge()))
    for name, values in expected.scores.items():
        assert [row[name].value for row in found] == [score.value for score in values]


def test_a_metric_is_a_scorer_with_its_name(feedbacks: Any) -> None:
    made = scorer(ExactMatch())
    assert made.name == "exact_match"
    (row,) = feedbacks([{**ROW, "outputs": CONTEXT}], [made])
    assert row["exact_match"].value == 1.0
    assert made.counts == {"scored": 1, "failed": 0, "missing": 0, "timed_out": 0}


def test_a_row_without_a_score_has_an_error_and_others_keep_theirs(feedbacks: Any) -> None:
    dead = Judge(ModelError("the server is down"))
    no_reference = {name: ROW[name] for name in ("inputs", "outputs")}
    silent = {**ROW, "outputs": ""}
    judged, missing, unscored = feedbacks(
        [ROW, no_reference, silent],
        scorers([Faithfulness(llm=dead), TokenF1(), ContextRecall()], llm=LexicalJudge()),
    )
    assert judged["faithfulness"].value is None
    assert judged["faithfulness"].error.error_code == "FAILED"
    assert "the server is down" in judged["faithfulness"].error.error_message
    assert judged["context_recall"].value == 1.0
    assert missing["token_f1"].error.error_code == "FAILED"
    assert "reference" in missing["token_f1"].error.error_message
    assert unscored["faithfulness"].error.error_code == "UNSCORED"


def test_metadata_names_the_model_and_its_tokens(store: Path) -> None:
    judge = Judge('{"reason": "it says so", "answer": "yes"}')
    (feedback,) = scorer(Relevancy(), llm=judge)(**ROW)
    assert feedback.value == 1.0
    assert feedback.source.source_id == feedback.metadata["ragmetrics.llm"] == "judge-1"
    assert feedback.metadata["mlflow.assessment.judgeInputTokens"] == str(30 * judge.calls)
    assert feedback.metadata["mlflow.assessment.judgeOutputTokens"] == str(5 * judge.calls)
    assert "mlflow.assessment.judgeCost" not in feedback.metadata  # its price is not known


def test_sixty_slow_judgements_run_at_the_same_time(feedbacks: Any) -> None:
    judge = Judge('{"feedback": "It is short.", "passing": true}', seconds=0.5)
    metrics = [Guideline(f"Have {n} points.", name=f"points_{n}") for n in range(6)]
    rows = [{**ROW, "outputs": f"Answer {number}."} for number in range(10)]
    found = feedbacks(rows, scorers(metrics, llm=judge))
    assert judge.calls == 60
    assert {feedback.value for row in found for feedback in row.values()} == {1.0}
    assert (
        judge.most_at_once > 6
    )  # metrics of several rows; on a free machine all 60 judgements take less than 6 seconds


def test_a_metric_that_hangs_fails_alone(store: Path) -> None:
    made = scorers([Faithfulness(llm=Judge("", seconds=60)), TokenF1()], timeout=0.2)[0]
    slow, quick = made(**ROW)
    assert "no answer within 0.2 seconds" in slow.error.error_message
    assert quick.value == pytest.approx(6 / 11)
    assert made.counts["timed_out"] == 1


def test_contexts_come_from_the_outermost_retrievers_of_the_trace(feedbacks: Any) -> None:
    @mlflow.trace(span_type=SpanType.RETRIEVER)
    def inner(question: str) -> list[Document]:
        return [Document("Perl is old.", id="p"), Document(CONTEXT, {"doc_uri": "guido.md"})]

    @mlflow.trace(span_type=SpanType.RETRIEVER)
    def outer(question: str) -> list[Document]:
        return inner(question)[1:]

    def answer(question: str, number: int) -> str:
        outer(question)
        return CONTEXT

    run = mlflow.genai.evaluate(
        data=[
            {
                "inputs": {"question": "Who?", "number": 0},
                "expectations": {"reference_documents": [{"id": "guido.md"}, {"id": "x"}]},
            }
        ],
        predict_fn=answer,
        scorers=scorers([Faithfulness(), Recall(field="id")], llm=LexicalJudge()),
    )
    (trace,) = mlflow.search_traces(run_id=run.run_id, return_type="list")
    values = {each.name: each.value for each in trace.info.assessments if each.name in ("faithfulness", "recall")}
    assert values == {"faithfulness": 1.0, "recall": 0.5}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"inputs": {"prompt": "Who?"}, "outputs": "Guido"}, {"user_input": "Who?", "response": "Guido"}),
        (
            {
                "inputs": {
                    "messages": [
                        {"role": "user", "content": "Hi"},
                        {"role": "assistant", "content": "Hello"},
                        {"role": "user", "content": "Who?"},
                    ]
                },
                "outputs": {"choices": [{"message": {"role": "assistant", "content": "Guido"}}]},
            },
            {
                "user_input": "Who?",
                "response": "Guido",
                "history": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
            },
        ),
        (
            {"inputs": {"q": 1}, "expectations": {"expected_facts": ["A is B.", "C is D."]}},
            {"reference": "A is B.\nC is D."},
        ),
        ({"inputs": {"question": "a", "answer": "old"}, "outputs": {"answer": "new"}}, {"response": "new"}),
    ],
)
def test_rows_are_read(row: dict[str, Any], expected: dict[str, Any]) -> None:
    from ragmetrics_mlflow._samples import sample_of

    sample = sample_of(row.get("inputs"), row.get("outputs"), row.get("expectations"), None).to_dict()
    assert {name: sample.get(name) for name in expected} == expected


def test_a_row_that_contradicts_itself_has_errors(store: Path) -> None:
    (feedback,) = scorer(TokenF1())(inputs={"question": "a", "user_input": "b"}, outputs="c")
    assert feedback.error.error_message.startswith("InvalidInput: ")


def test_settings_are_checked() -> None:
    with pytest.raises(InvalidInput, match="faithfulness asks an LLM, but none is set"):
        scorers([Faithfulness()])
    with pytest.raises(InvalidInput, match="two metrics are named 'token_f1'"):
        scorers([TokenF1(), TokenF1()])
    with pytest.raises(InvalidInput, match="at least one metric"):
        scorers([])
    with pytest.raises(InvalidInput, match="metrics must be Metric instances"):
        scorer(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="scorer takes one metric, got 'faithfulness,token_f1'"):
        scorer("faithfulness,token_f1", llm="lexical")
    assert scorer("token_f1").name == "token_f1"


def test_a_small_pool_causes_one_warning_before_any_call(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_SQLALCHEMYSTORE_POOL_SIZE")
    monkeypatch.delenv("MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW")
    with pytest.warns(UserWarning, match=r"POOL_SIZE=100 and MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW=100$"):
        (made,) = scorers(TokenF1())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(**ROW)
        monkeypatch.setenv("MLFLOW_GENAI_EVAL_MAX_WORKERS", "4")
        scorers(TokenF1())
        monkeypatch.delenv("MLFLOW_GENAI_EVAL_MAX_WORKERS")
        monkeypatch.setenv("MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW", "195")
        scorers(TokenF1())
