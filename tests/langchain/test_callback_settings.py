"""The settings of the callback, and what is refused."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import pytest
from lc_parts import ANSWER, QUESTION, lcel

from ragmetrics_core import InvalidInput
from ragmetrics_core.adapters import LiveSettings
from ragmetrics_core.metrics import ExactMatch, Faithfulness
from ragmetrics_langchain import EvaluationRecord, RagEvaluationCallback


def config(*callbacks: Any, **more: Any) -> Any:
    return {"callbacks": list(callbacks), **more}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sample_rate": 1.5}, "sample_rate is a share from 0 to 1, got 1.5"),
        ({"max_pending": 0}, "max_pending must be a whole number from 1, got 0"),
        ({"workers": 0}, "workers must be a whole number from 1, got 0"),
        ({"metrics": [ExactMatch(), ExactMatch()]}, "two metrics are named 'exact_match'"),
        ({"metrics": ["faithfulness"]}, "metric must be a Metric, got 'faithfulness'"),
        ({"metrics": [ExactMatch()], "llm": "gpt"}, "llm must be a model"),
        ({"metrics": None}, r"metrics must be a list of metrics such as \[Faithfulness\(\)\], got None"),
        ({"metrics": "faithfulness"}, "metrics must be a list of metrics .* got 'faithfulness'"),
        ({"metrics": [Faithfulness()]}, r"faithfulness asks an LLM, but none is set: give llm=.*LangChainLLM\("),
        ({"sample_rate": "1"}, "sample_rate is a share from 0 to 1, got '1'"),
        ({"sample_rate": True}, "sample_rate is a share from 0 to 1, got True"),
        ({"max_pending": None}, "max_pending must be a whole number from 1, got None"),
        ({"workers": 1.5}, "workers must be a whole number from 1, got 1.5"),
        ({"keep": 0}, "keep must be a whole number from 1, got 0"),
        ({"timeout": 0}, "timeout must be a number of seconds, at least 0.001, got 0"),
        ({"exit_timeout": -1}, "exit_timeout must be a number of seconds, at least 0, got -1"),
        ({"on_result": 3}, "on_result must be a function of an EvaluationRecord, got 3"),
        ({"question": "q"}, "question must be 'last', 'condensed' or a function, got 'q'"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        RagEvaluationCallback(**settings)


@pytest.mark.parametrize(
    ("former", "current"),
    [({"max_queue": 3}, "max_pending"), ({"max_results": 3}, "keep")],
    ids=["max_queue", "max_results"],
)
def test_settings_under_their_former_names(former: dict[str, Any], current: str) -> None:
    (name,) = former
    with pytest.warns(DeprecationWarning, match=f"^{name} is now called {current}$") as caught:
        callback = RagEvaluationCallback([], workers=1, **former)
    assert [warning.filename for warning in caught] == [__file__]
    with callback:
        lcel().batch([QUESTION] * 10, config(callback))
    assert len(callback.results) == (3 if current == "keep" else 10 - callback.dropped)
    with pytest.raises(InvalidInput, match=f"^{name} is the former name of {current}: give only {current}$"):
        RagEvaluationCallback([], **former, **{current: 3})
    with (
        pytest.warns(DeprecationWarning, match=name),
        pytest.raises(InvalidInput, match=f"^{current} must be a whole number from 1, got 0$"),
    ):
        RagEvaluationCallback([], **{name: 0})


def test_the_settings_are_shown() -> None:
    shown = inspect.signature(RagEvaluationCallback.__init__).parameters
    settings = list(LiveSettings.__annotations__)  # tests/core/adapters/test_live_evaluation.py names them
    assert list(shown)[-len(settings) :] == settings
    assert (shown["keep"].default, shown["max_pending"].default) == (None, 1000)


def test_the_former_queue_did_not_count_what_is_in_work() -> None:
    release = threading.Event()
    with pytest.warns(DeprecationWarning, match="max_queue is now called max_pending"):
        callback = RagEvaluationCallback([], max_queue=3, workers=2, question=lambda run: str(release.wait(60)))  # type: ignore[call-arg]
    with callback:
        for _ in range(10):
            lcel().invoke(QUESTION, config(callback))
        assert (callback.pending, callback.dropped) == (5, 5)
        release.set()


def test_only_the_calls_that_the_user_wants() -> None:
    """The others are skipped. If ``only`` fails, nothing is judged, and the record is not skipped."""
    received: list[str] = []

    def only(record: EvaluationRecord) -> bool:
        assert (record.sample.response, record.scores) == (ANSWER, {})
        if "broken" in record.tags:
            raise LookupError("no such tenant")
        return "wanted" in record.tags

    callback = RagEvaluationCallback(
        [ExactMatch()],
        only=only,
        workers=1,
        max_concurrency=1,
        on_result=lambda record: received.append(record.tags[0]),
    )
    with callback:
        for tag in ("wanted", "unwanted", "broken"):
            lcel().invoke(QUESTION, config(callback, tags=[tag], metadata={"reference": ANSWER}))
    assert [(record.status, record.error) for record in callback.results] == [
        ("scored", None),
        ("skipped", None),
        ("failed", "only raised LookupError: no such tenant"),
    ]
    assert callback.results[0].scores["exact_match"].value == 1.0
    assert (received, callback.counts["failed"]) == (["wanted", "broken"], 1)


def test_results_may_be_cleared_and_replaced() -> None:
    callback = RagEvaluationCallback([], workers=1)
    with callback:
        lcel().invoke(QUESTION, config(callback))
        assert callback.flush(60)
        callback.results.clear()
        lcel().invoke(QUESTION, config(callback))
        assert callback.flush(60)
        assert len(callback.results) == 1
        callback.results = []
        lcel().invoke(QUESTION, config(callback))
    assert len(callback.results) == 1


def test_one_metric_needs_no_list() -> None:
    callback = RagEvaluationCallback(ExactMatch())  # type: ignore[arg-type]
    with callback:
        lcel().invoke(QUESTION, config(callback))
    assert list(callback.results[0].scores) == ["exact_match"]
