"""What the callback does with a run: judging in the background, sampling, extractors, references, and never in the chain's way."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from datetime import datetime, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest
from langchain_core.language_models import FakeListLLM
from langchain_core.runnables import RunnableLambda
from lc_parts import ANSWER, D1, QUESTION, Scripted, Shelf, Tracer, lcel, with_sources

from ragmetrics_core import ModelError
from ragmetrics_core.adapters import _live_evaluation
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import ContextRecall, ExactMatch, Faithfulness, Recall
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import (
    EvaluationRecord,
    FinishedRun,
    MetricRunnable,
    RagEvaluationCallback,
)


def config(*callbacks: Any, **more: Any) -> Any:
    return {"callbacks": list(callbacks), **more}


def test_a_run_is_scored_by_every_metric() -> None:
    callback = RagEvaluationCallback([Faithfulness(), ExactMatch()], llm=LexicalJudge())
    run_id, begun = uuid4(), datetime.now(timezone.utc)
    with callback:
        lcel().invoke(
            QUESTION,
            config(callback, run_id=run_id, run_name="rag", tags=["t"], metadata={"reference": ANSWER, "m": 1}),
        )
    (record,) = callback.results
    assert (record.run_id, record.status, record.error, record.name) == (run_id, "scored", None, "rag")
    assert {name: score.value for name, score in record.scores.items()} == {"faithfulness": 1.0, "exact_match": 1.0}
    assert record.tags == ("t",)
    assert record.metadata["m"] == 1
    assert record.sample.metadata["m"] == 1
    assert "reference" not in record.sample.metadata
    written = record.to_dict()
    assert (written["run_id"], written["scores"]["exact_match"]["value"]) == (str(run_id), 1.0)
    assert (written["trace_id"], written["timestamp"]) == (str(run_id), record.timestamp.isoformat())
    assert begun <= record.timestamp <= datetime.now(timezone.utc)
    assert isinstance(record.run_id, UUID)


def test_references_arrive_through_the_metadata() -> None:
    callback = RagEvaluationCallback([Recall(field="id")])
    metadata = {"ground_truth": ANSWER, "reference_documents": [D1.id], "reference_contexts": ["x"], "example_id": 7}
    with callback:
        list(with_sources().stream(QUESTION, config(callback, metadata=metadata)))
    (record,) = callback.results
    sample = record.sample
    assert (sample.reference, sample.reference_documents, sample.reference_contexts) == (ANSWER, ["d1"], ["x"])
    assert sample.id == "7"
    assert record.scores["recall"].value == 1.0


def test_references_that_disagree_are_reported() -> None:
    callback = RagEvaluationCallback([ExactMatch()])
    with callback:
        lcel().invoke(QUESTION, config(callback, metadata={"ground_truth": "a", "reference": "b"}))
    (record,) = callback.results
    assert str(record.error).startswith(
        "InvalidInput: the columns 'reference' and 'ground_truth' both mean 'reference'"
    )
    sample = record.sample
    assert (sample.user_input, sample.response, sample.reference) == (QUESTION, ANSWER, None)
    assert [item.id for item in sample.retrieved_documents or ()] == ["d1", "d2"]  # type: ignore[union-attr]


def test_a_missing_field_is_a_failed_score() -> None:
    callback = RagEvaluationCallback([ContextRecall(), Faithfulness()], llm=LexicalJudge())
    with callback:
        lcel().invoke(QUESTION, config(callback))
    (record,) = callback.results
    assert record.status == "scored"
    assert record.scores["faithfulness"].value == 1.0
    failed = record.scores["context_recall"]
    assert (failed.state, failed.metric) == ("failed", "context_recall")
    assert str(failed.error).startswith("MissingInput: context_recall needs 'reference', which is missing")
    assert record.error == f"context_recall: {failed.error}"


@pytest.mark.parametrize(
    "raised",
    [ModelError("out of order"), RuntimeError("surprise"), TypeError("bug"), SystemExit(3), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_a_judge_that_fails_changes_nothing(raised: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    def fail(ask: Any) -> str:
        raise raised

    callback = RagEvaluationCallback([Faithfulness(), ExactMatch()], llm=ScriptedLLM(fail))
    for _ in range(2):
        assert lcel().invoke(QUESTION, config(callback, metadata={"reference": ANSWER})) == ANSWER
        assert "".join(lcel().stream(QUESTION, config(callback))) == ANSWER
    assert callback.flush(60)
    assert len(callback.results) == 4
    for record in callback.results:
        assert record.status == ("scored" if record.sample.reference else "failed")
        assert record.scores["faithfulness"].state == "failed"
        assert type(raised).__name__ in str(record.scores["faithfulness"].error)
    assert sorted(str(record.scores["exact_match"].value) for record in callback.results) == [
        "1.0",
        "1.0",
        "None",
        "None",
    ]
    failed = {"scored": 2, "failed": 4, "missing": 2, "timed_out": 0, "dropped": 0, "pending": 0, "untold": 0}
    assert callback.counts == failed
    assert caplog.text.count("further failures are only counted, see counts") == 1
    assert caplog.text.count("further rows with missing fields are only counted, see counts") == 1
    assert caplog.text.count("Traceback") == (0 if isinstance(raised, ModelError) else 1)


def test_a_judge_that_hangs_delays_nothing(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(_live_evaluation, "PATIENCE", 0.05)
    release = threading.Event()

    def hang(ask: Any) -> str:
        release.wait(60)
        return '{"claims": []}'

    callback = RagEvaluationCallback([Faithfulness()], llm=ScriptedLLM(hang), max_pending=5, workers=2)
    start = time.perf_counter()
    with callback, caplog.at_level(logging.WARNING):
        for _ in range(10):
            assert lcel().invoke(QUESTION, config(callback)) == ANSWER
            time.sleep(0.01)  # lets the workers take their jobs
    assert time.perf_counter() - start < 25  # the judge hangs for longer
    assert (callback.dropped, callback.pending, callback.results) == (5, 5, [])
    assert "5 evaluations are not finished" in caplog.text
    assert callback.flush(0.01) is False
    release.set()
    assert callback.flush(60)
    assert [record.scores["faithfulness"].state for record in callback.results] == ["unscored"] * 5


def test_only_a_share_is_judged() -> None:
    judge = ScriptedLLM({"extract_claims": '{"claims": []}'})
    callback = RagEvaluationCallback([Faithfulness(llm=judge)], sample_rate=0.25, seed=1)
    with callback:
        lcel().batch([f"{QUESTION} {number}" for number in range(200)], config(callback))
    statuses = [record.status for record in callback.results]
    assert len(statuses) == 200
    assert set(statuses) == {"scored", "skipped"}
    assert 20 <= statuses.count("scored") <= 85
    assert judge.calls == statuses.count("scored")
    assert all(record.sample.response == ANSWER for record in callback.results)
    none = RagEvaluationCallback([ExactMatch()], sample_rate=0)
    lcel().invoke(QUESTION, config(none))
    assert [record.status for record in none.results] == ["skipped"]


def test_extractors_can_be_replaced() -> None:
    seen: list[FinishedRun] = []

    def question(run: FinishedRun) -> str:
        seen.append(run)
        return f"{run.name}: {run.inputs}"

    callback = RagEvaluationCallback(
        [], question=question, answer=lambda run: run.outputs.upper(), contexts=lambda run: ["own", D1]
    )
    with callback:
        lcel().invoke(QUESTION, config(callback, run_name="rag"))
    sample = callback.results[0].sample
    assert sample.user_input == f"rag: {QUESTION}"
    assert sample.response == ANSWER.upper()
    assert sample.retrieved_contexts == ["own", D1.page_content]
    (run,) = seen
    assert [document.id for document in run.documents or ()] == ["d1", "d2"]
    assert (run.kind, run.queries, run.outputs) == ("chain", (QUESTION,), ANSWER)


def test_an_extractor_that_fails_is_reported() -> None:
    callback = RagEvaluationCallback([ExactMatch()], answer=lambda run: run.outputs["nothing"])
    with callback:
        assert lcel().invoke(QUESTION, config(callback)) == ANSWER
    (record,) = callback.results
    assert (record.sample.user_input, record.sample.response) == (QUESTION, None)
    assert str(record.error).startswith("the extractor of the answer raised TypeError")


def test_attached_to_all_chains() -> None:
    callback = RagEvaluationCallback([ExactMatch()])
    with callback.attached() as same:
        assert same is callback
        lcel().invoke(QUESTION)
        asyncio.run(lcel().ainvoke(QUESTION))
        lcel().invoke(QUESTION, config(callback))
        lcel().batch([QUESTION, QUESTION])
        RunnableLambda(lambda question: lcel().invoke(question)).invoke(QUESTION)
    assert [record.sample.response for record in callback.results] == [ANSWER] * 6
    lcel().invoke(QUESTION)
    assert len(callback.results) == 6


def test_asynchronous_blocks() -> None:
    async def main() -> RagEvaluationCallback:
        async with RagEvaluationCallback([Faithfulness()], llm=LexicalJudge()) as callback:
            await lcel().ainvoke(QUESTION, config(callback))
            assert await callback.aflush(60)
            assert len(callback.results) == 1
            await lcel().ainvoke(QUESTION, config(callback))
        return callback

    assert [record.scores["faithfulness"].value for record in asyncio.run(main()).results] == [1.0, 1.0]


def test_judges_are_never_watched() -> None:
    """Not the callback's own, though its judge reports to it, nor metrics that the user runs."""
    callback = RagEvaluationCallback([ExactMatch()], max_pending=5)
    judge = Scripted(says='{"claims": []}', callbacks=[callback])
    watching = RagEvaluationCallback([Faithfulness()], llm=judge)
    with watching.attached(), callback:
        lcel().invoke(QUESTION, config(watching))
        MetricRunnable(Faithfulness(), llm=judge).invoke({"question": "q", "answer": "a", "context": ["c"]})
        with_sources().assign(score=MetricRunnable(Faithfulness(), llm=judge)).invoke(QUESTION)
    assert [record.sample.response for record in watching.results] == [ANSWER, ANSWER]
    assert [record.scores["faithfulness"].state for record in watching.results] == ["unscored"] * 2
    assert callback.results == []


def test_the_judging_is_not_part_of_the_chain_s_trace() -> None:
    tracer = Tracer()
    judging = Tracer()
    callback = RagEvaluationCallback(
        [Faithfulness()], llm=Scripted(says='{"claims": []}'), config={"callbacks": [judging], "tags": ["judge"]}
    )
    with callback:
        lcel().invoke(QUESTION, config(callback, tracer))
    assert [run.name for run in judging.roots] == ["faithfulness"]
    assert [run.run_type for run in judging.roots[0].child_runs] == ["llm"]
    assert "judge" in (judging.roots[0].tags or ())
    (chain,) = tracer.roots
    assert chain.name == "RunnableSequence"


def test_results_are_handed_on(caplog: pytest.LogCaptureFixture) -> None:
    got: list[EvaluationRecord] = []

    def on_result(record: EvaluationRecord) -> None:
        assert threading.current_thread() is not threading.main_thread()
        got.append(record)
        if record.status == "error":
            raise ValueError("the receiver fails")

    callback = RagEvaluationCallback([ExactMatch()], on_result=on_result)
    with callback:
        lcel().invoke(QUESTION, config(callback))
        with pytest.raises(ValueError, match="broken"):
            lcel(Shelf(error=ValueError("broken"))).invoke(QUESTION, config(callback))
    assert sorted(record.status for record in got) == ["error", "scored"]
    assert len(callback.results) == 2
    assert "on_result failed" in caplog.text


def test_the_newest_results_are_kept() -> None:
    callback = RagEvaluationCallback([], keep=3, workers=1)
    with callback:
        for number in range(10):
            lcel().invoke(f"q{number}", config(callback))
    assert [record.sample.user_input for record in callback.results] == ["q7", "q8", "q9"]


def test_a_completion_model_in_the_chain() -> None:
    callback = RagEvaluationCallback([Faithfulness()], llm=LexicalJudge())
    with callback:
        lcel(model=FakeListLLM(responses=[ANSWER])).invoke(QUESTION, config(callback))
        FakeListLLM(responses=[ANSWER]).invoke(QUESTION, config(callback))
    assert min(str(record.sample.retrieved_contexts) for record in callback.results) == "None"
    assert {(record.sample.user_input, record.sample.response) for record in callback.results} == {(QUESTION, ANSWER)}
