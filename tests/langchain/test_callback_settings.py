"""The settings of the callback, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from lc_parts import QUESTION, lcel

from ragmetrics_core import InvalidInput
from ragmetrics_core.metrics import ExactMatch, Faithfulness
from ragmetrics_langchain import RagEvaluationCallback


def config(*callbacks: Any, **more: Any) -> Any:
    return {"callbacks": list(callbacks), **more}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sample_rate": 1.5}, "sample_rate is a share from 0 to 1, got 1.5"),
        ({"max_queue": 0}, "max_queue must be at least 1, got 0"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
        ({"metrics": [ExactMatch(), ExactMatch()]}, "two metrics are named 'exact_match'"),
        ({"metrics": ["faithfulness"]}, "MetricRunnable takes a metric, got 'faithfulness'"),
        ({"metrics": [ExactMatch()], "llm": "gpt"}, "llm must be a model"),
        ({"metrics": None}, r"metrics must be a list of metrics such as \[Faithfulness\(\)\], got None"),
        ({"metrics": "faithfulness"}, "metrics must be a list of metrics .* got 'faithfulness'"),
        ({"metrics": [Faithfulness()]}, r"faithfulness asks an LLM, but none is set: give llm=.*LangChainLLM\("),
        ({"sample_rate": "1"}, "sample_rate is a share from 0 to 1, got '1'"),
        ({"sample_rate": True}, "sample_rate is a share from 0 to 1, got True"),
        ({"max_queue": None}, "max_queue must be a whole number, got None"),
        ({"workers": 1.5}, "workers must be a whole number, got 1.5"),
        ({"max_results": 0}, "max_results must be at least 1, got 0"),
        ({"timeout": 0}, "timeout must be a number of seconds, at least 0.001, got 0"),
        ({"exit_timeout": -1}, "exit_timeout must be a number of seconds, at least 0, got -1"),
        ({"on_result": 3}, "on_result must be a function of an EvaluationRecord, got 3"),
        ({"question": "q"}, "question must be a function of a FinishedRun, got 'q'"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        RagEvaluationCallback(**settings)


def test_one_metric_needs_no_list() -> None:
    callback = RagEvaluationCallback(ExactMatch())  # type: ignore[arg-type]
    with callback:
        lcel().invoke(QUESTION, config(callback))
    assert list(callback.results[0].scores) == ["exact_match"]
