"""Scores as feedback in LangSmith."""

from __future__ import annotations

import time
from inspect import signature
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.callbacks import CallbackManager
from langsmith import Client
from langsmith.utils import LangSmithNotFoundError
from lc_parts import ANSWER, QUESTION, lcel

from ragmetrics_core import RagmetricsError, Sample, Score
from ragmetrics_core.metrics import ExactMatch, Recall
from ragmetrics_langchain import EvaluationRecord, RagEvaluationCallback, langsmith_feedback


def config(*callbacks: Any, **more: Any) -> Any:
    return {"callbacks": list(callbacks), **more}


class FeedbackClient:
    """Takes feedback as LangSmith's client does."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []
        self.projects: list[str] = []

    def create_feedback(self, run_id: Any, key: str, **fields: Any) -> None:
        signature(Client.create_feedback).bind(self, run_id, key, **fields)
        self.posted.append({"run_id": run_id, "key": key, **fields})

    def read_project(self, *, project_name: str) -> Any:
        self.projects.append(project_name)
        return SimpleNamespace(id=f"id of {project_name}")


def test_feedback_for_langsmith() -> None:
    client = FeedbackClient()
    metrics = [ExactMatch(), Recall(field="id")]
    callback = RagEvaluationCallback(metrics, on_result=langsmith_feedback(client, project="live"))
    with callback:
        for _ in range(2):
            lcel().invoke(QUESTION, config(callback, metadata={"reference": ANSWER}))
    run_ids = [record.run_id for record in callback.results]
    exact, recall, *_ = [{**item, "run_id": item["run_id"] in run_ids} for item in client.posted]
    known = {"feedback_source_type": "model", "session_id": "id of live", "run_id": True}
    assert {name: exact[name] for name in known} == {name: recall[name] for name in known} == known
    assert exact["comment"] == f"response {ANSWER!r}; reference {ANSWER!r}"
    assert (exact["key"], exact["score"], recall["key"], recall["score"]) == ("exact_match", 1.0, "recall", None)
    assert "reference_documents" in recall["comment"]
    assert [item["trace_id"] for item in client.posted] == [item["run_id"] for item in client.posted]
    assert client.projects == ["live"]


class NewProject(FeedbackClient):
    """LangSmith, which makes the project of the first runs after some questions for it."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self.left = questions

    def read_project(self, *, project_name: str) -> Any:
        self.left -= 1
        if self.left >= 0:
            raise LangSmithNotFoundError(f"Project {project_name} not found")
        return super().read_project(project_name=project_name)


def test_a_project_that_does_not_exist_yet_is_waited_for() -> None:
    client = NewProject(1)
    callback = RagEvaluationCallback([ExactMatch()], on_result=langsmith_feedback(client, project="new"))
    with callback:
        for _ in range(2):
            lcel().invoke(QUESTION, config(callback, metadata={"reference": ANSWER}))
    assert [record.error for record in callback.results] == [None, None]
    assert [item["session_id"] for item in client.posted] == ["id of new"] * 2
    assert set(client.projects) == {"new"}


def test_a_project_that_does_not_exist_is_not_made() -> None:
    client = NewProject(10**6)
    post = langsmith_feedback(client, project="nowhere", patience=0.2)
    begun = time.monotonic()
    for least, most in ((0.2, 2.0), (0.0, 0.2)):  # it is waited for once in all
        with pytest.raises(RagmetricsError) as caught:
            post(EvaluationRecord(uuid4(), Sample(response="a"), {"exact_match": Score(1.0)}))
        assert least <= time.monotonic() - begun <= most
        assert str(caught.value) == (
            "LangSmith has no project 'nowhere': give langsmith_feedback the project that the runs are traced to"
        )
        begun = time.monotonic()
    assert client.posted == []


CONTINUOUS = {"type": "continuous", "min": 0.0, "max": 1.0}
UNBOUNDED = {"type": "continuous", "min": None, "max": None}
VERDICT = {"type": "categorical", "categories": [{"value": 1, "label": "pass"}, {"value": 0, "label": "fail"}]}


@pytest.mark.parametrize(
    ("score", "verdicts", "expected"),
    [
        (Score(0.5, scale=(0, 1), reason="so"), (), (0.5, None, CONTINUOUS, None)),
        (Score(3, reason="so"), (), (3.0, None, UNBOUNDED, None)),
        (Score(0.5, passing=True, scale=(0, 1), reason="so"), (), (0.5, "pass", CONTINUOUS, None)),
        (Score(0.5, passing=False, label="partly", reason="so"), ["other"], (0.5, "partly", UNBOUNDED, None)),
        (Score(0.5, passing=True, label="partly", reason="so"), ["m"], (1, "pass", VERDICT, None)),
        (Score(0.5, passing=False, reason="so"), ["m"], (0, "fail", VERDICT, None)),
        (Score.unscored("so"), ["m"], (None, "unscored", VERDICT, None)),
        (Score.unscored("so", label="no_answer"), (), (None, "no_answer", UNBOUNDED, None)),
        (Score.failed("so"), (), (None, "failed", UNBOUNDED, True)),
    ],
)
def test_values_and_configurations(score: Score, verdicts: Any, expected: Any) -> None:
    client = FeedbackClient()
    langsmith_feedback(client, verdicts=verdicts)(EvaluationRecord(uuid4(), Sample(response="a"), {"m": score}))
    (posted,) = client.posted
    assert (posted["score"], posted.get("value"), posted["feedback_config"], posted.get("error")) == expected
    assert posted["comment"] == "so"


def test_feedback_on_a_run_below_a_traced_function() -> None:
    """Its trace is not its own, and not known here."""
    client = FeedbackClient()
    callback = RagEvaluationCallback([ExactMatch()], on_result=langsmith_feedback(client))
    with callback:
        manager = CallbackManager([callback], parent_run_id=uuid4())
        lcel().invoke(QUESTION, {"callbacks": manager, "metadata": {"reference": ANSWER}})
    (posted,) = client.posted
    assert {"trace_id", "session_id"} & set(posted) == set()
    assert callback.results[0].trace_id is None
