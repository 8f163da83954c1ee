"""The settings of the callback, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from lc_parts import QUESTION, lcel

from ragmetrics_core import InvalidInput
from ragmetrics_core.metrics import ExactMatch
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
