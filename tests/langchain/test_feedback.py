"""Scores as feedback in LangSmith."""

from __future__ import annotations

from inspect import signature
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import CallbackManager
from langsmith import Client
from langsmith.utils import LangSmithNotFoundError
from lc_parts import ANSWER, QUESTION, lcel

from ragmetrics_core.metrics import ExactMatch, Recall
from ragmetrics_langchain import RagEvaluationCallback, langsmith_feedback


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
    """LangSmith before it has made the project of the first runs."""

    def read_project(self, *, project_name: str) -> Any:
        raise LangSmithNotFoundError(f"Project {project_name} not found")

    def create_project(self, project_name: str, **settings: Any) -> Any:
        signature(Client.create_project).bind(self, project_name, **settings)
        assert settings == {"upsert": True}, "runs may have made it meanwhile"
        return super().read_project(project_name=project_name)


def test_feedback_for_a_project_that_does_not_exist_yet() -> None:
    client = NewProject()
    callback = RagEvaluationCallback([ExactMatch()], on_result=langsmith_feedback(client, project="new"))
    with callback:
        for _ in range(2):
            lcel().invoke(QUESTION, config(callback, metadata={"reference": ANSWER}))
    assert [record.error for record in callback.results] == [None, None]
    assert [item["session_id"] for item in client.posted] == ["id of new"] * 2
    assert client.projects == ["new"]


def test_feedback_on_a_run_below_a_traced_function() -> None:
    """Its trace is not its own, and not known here."""
    client = FeedbackClient()
    callback = RagEvaluationCallback([ExactMatch()], on_result=langsmith_feedback(client))
    with callback:
        manager = CallbackManager([callback], parent_run_id=uuid4())
        lcel().invoke(QUESTION, {"callbacks": manager, "metadata": {"reference": ANSWER}})
    assert [sorted(item) for item in client.posted] == [["comment", "feedback_source_type", "key", "run_id", "score"]]
    assert callback.results[0].trace_id is None
