"""The judging beside a chain: several metrics at once, and time limits for judges and extractors."""

from __future__ import annotations

import asyncio
import pickle
import threading
from typing import Any

import pytest
from langsmith import Client
from langsmith.run_helpers import tracing_context
from langsmith.utils import tracing_is_enabled
from lc_parts import QUESTION, lcel

from ragmetrics_core.metrics import ExactMatch, Faithfulness
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import FinishedRun, RagEvaluationCallback
from waiting import HeldClock, until


def config(*callbacks: Any, **more: Any) -> Any:
    return {"callbacks": list(callbacks), **more}


def test_judges_that_hang_starve_no_other(caplog: pytest.LogCaptureFixture, held_clock: HeldClock) -> None:
    release, hanging = threading.Event(), threading.Semaphore(0)
    hung = iter([True] * 4)

    def judge(ask: Any) -> str:
        if next(hung, False):
            hanging.release()
            release.wait(60)
        return '{"claims": []}'

    callback = RagEvaluationCallback([Faithfulness()], llm=ScriptedLLM(judge), timeout=0.2)
    for number in range(40):  # equal questions would share one call
        lcel().invoke(f"{QUESTION} {number}", config(callback))
    assert all(hanging.acquire(timeout=60) for _ in range(4))
    assert until(lambda: callback.counts["pending"] == 4), callback.counts  # others would time out as well
    held_clock.move(0.2)
    assert callback.flush(60)
    release.set()
    assert callback.counts == {
        "scored": 36,
        "failed": 0,
        "missing": 0,
        "timed_out": 4,
        "dropped": 0,
        "pending": 0,
        "untold": 0,
    }
    failed = [record for record in callback.results if record.status == "failed"]
    problem = "no answer within 0.2 seconds: give it more time with timeout=..."
    assert [record.error for record in failed] == [f"faithfulness: ModelError: {problem}"] * 4
    assert [record.scores["faithfulness"].error for record in failed] == [f"ModelError: {problem}"] * 4
    # again where others have scored in between, which is a matter of chance
    assert {record.message for record in caplog.records if record.name == "ragmetrics_langchain"} == {
        f"faithfulness failed: {problem}; further failures are only counted, see counts"
    }


def test_the_metrics_of_one_call_judge_at_the_same_time() -> None:
    together = threading.Barrier(3)

    def judge(ask: Any) -> str:
        together.wait(60)
        return '{"claims": []}'

    extract = Faithfulness().extract  # equal questions would share one call
    metrics = [Faithfulness(name=name, extract=extract.replace(instructions=name)) for name in ("a", "b", "c")]
    callback = RagEvaluationCallback(metrics, llm=ScriptedLLM(judge))
    with callback:
        lcel().invoke(QUESTION, config(callback))
    assert {name: score.state for name, score in callback.results[0].scores.items()} == dict.fromkeys("abc", "unscored")
    assert list(callback.results[0].scores) == ["a", "b", "c"]


def test_an_extractor_that_hangs(held_clock: HeldClock) -> None:
    release, hanging = threading.Event(), threading.Event()
    received: list[str] = []

    def hang(run: FinishedRun) -> str:
        hanging.set()
        release.wait(60)
        return "late"

    callback = RagEvaluationCallback(
        [ExactMatch()],
        answer=hang,
        timeout=0.2,
        workers=1,
        on_result=lambda record: received.append(record.status),
    )
    lcel().invoke(QUESTION, config(callback))
    assert hanging.wait(60)
    held_clock.move(0.2)
    assert callback.flush(60)
    release.set()
    (record,) = callback.results
    assert (record.status, record.scores, record.sample.user_input, received) == ("failed", {}, QUESTION, ["failed"])
    assert record.error == "the extractor of the answer did not return in time"


@pytest.mark.parametrize("trace", [True, False])
def test_the_judging_may_stay_out_of_langsmith(trace: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def judge(ask: Any) -> str:
        seen.append(tracing_is_enabled() is True)
        return '{"claims": []}'

    callback = RagEvaluationCallback([Faithfulness()], llm=ScriptedLLM(judge), trace=trace)
    lcel().invoke(QUESTION, config(callback))
    assert callback.flush(60)
    monkeypatch.setattr(Client, "create_run", lambda *args, **kwargs: None)
    monkeypatch.setattr(Client, "update_run", lambda *args, **kwargs: None)
    with tracing_context(enabled=True):
        asyncio.run(callback._judgement(callback._metrics["faithfulness"], callback.results[0].sample))
    assert seen == [False, trace]


def test_it_cannot_be_pickled() -> None:
    with pytest.raises(TypeError, match="a RagEvaluationCallback cannot be pickled, as it has threads and results"):
        pickle.dumps(RagEvaluationCallback([]))
