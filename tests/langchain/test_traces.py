"""Runs of LangSmith give the samples that the live callback recovers; all other scenarios are compared in ``lc_table``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import create_retriever_tool
from langchain_core.tracers.context import tracing_v2_enabled
from langgraph.checkpoint.memory import InMemorySaver
from langsmith import Client
from langsmith.schemas import Run
from lc_parts import ANSWER, QUESTION, Scripted, Shelf, calls, lcel, with_sources
from lc_table import judged_fields
from pydantic import BaseModel

from ragmetrics_core import samples_from_traces
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import MetricRunnable, RagEvaluationCallback


class Kept(Client):
    """Keeps the runs as an export of LangSmith has them, and sends nothing."""

    def __init__(self) -> None:
        super().__init__(api_url="http://127.0.0.1:9", api_key="x", auto_batch_tracing=False)
        self.kept: dict[str, dict[str, Any]] = {}

    def create_run(self, name: str, inputs: Any, run_type: Any, **more: Any) -> None:
        self.kept[str(more["id"])] = plain({"name": name, "inputs": inputs, "run_type": run_type, **more})

    def update_run(self, run_id: Any, **more: Any) -> None:
        self.kept[str(run_id)] |= {name: value for name, value in plain(more).items() if value is not None}


def plain(value: Any) -> Any:
    """The value as LangSmith writes it."""
    return json.loads(
        json.dumps(
            value, default=lambda item: item.model_dump(mode="json") if isinstance(item, BaseModel) else str(item)
        )
    )


@pytest.fixture
def client() -> Kept:
    return Kept()


def agent(config: Any) -> None:
    says = [calls("search", query="x"), "first answer", "second answer"]
    tool = create_retriever_tool(Shelf(), "search", "Searches.")
    made = create_agent(Scripted(says=says), [tool], checkpointer=InMemorySaver())
    for question in ("first question", "second question"):
        made.invoke({"messages": [("user", question)]}, {**config, "configurable": {"thread_id": "1"}})


CALLS: Mapping[str, Callable[[Any], Any]] = {
    "lcel": lambda config: lcel().invoke(QUESTION, config),
    "stream": lambda config: list(lcel().stream(QUESTION, config)),
    "sources": lambda config: with_sources().invoke(QUESTION, config),
    "batch": lambda config: lcel().batch(["q1", "q2"], config),
    "agent": agent,
}


@pytest.mark.parametrize("name", CALLS)
def test_runs_of_langsmith(name: str, client: Kept) -> None:
    with RagEvaluationCallback([]) as callback, tracing_v2_enabled(client=client):
        CALLS[name]({"callbacks": [callback], "metadata": {"lang": "en"}})
    live = sorted(repr(judged_fields(record.sample, in_order=True)) for record in callback.results)
    samples = list(samples_from_traces(client.kept.values()))
    assert sorted(repr(judged_fields(sample, in_order=True)) for sample in samples) == live
    assert {sample.metadata["lang"] for sample in samples} == {"en"}
    assert {sample.metadata.get("session_id") for sample in samples} == {"1" if name == "agent" else None}


def test_judges_are_left_out(client: Kept) -> None:
    with tracing_v2_enabled(client=client):
        row = {"user_input": QUESTION, "response": ANSWER, "retrieved_contexts": [ANSWER]}
        MetricRunnable(Faithfulness(), llm=LexicalJudge()).invoke(row, {"tags": ["ragmetrics"]})
    assert client.kept
    assert list(samples_from_traces(client.kept.values())) == []


def test_objects_of_the_client(client: Kept) -> None:
    with tracing_v2_enabled(client=client):
        lcel().invoke(QUESTION)
    runs = [Run(**{**run, "session_id": None}) for run in client.kept.values()]
    (sample,) = samples_from_traces(runs)
    assert (sample.user_input, sample.response) == (QUESTION, ANSWER)
    assert len(sample.retrieved_contexts or ()) == 2
