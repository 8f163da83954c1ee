"""Calls of a chain that come back from the spool."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from lc_parts import ANSWER, QUESTION, lcel, with_sources

from ragmetrics_core.metrics import ExactMatch, Faithfulness
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import RagEvaluationCallback
from waiting import given_up, until


@pytest.mark.parametrize(
    "settings", [{}, {"question": lambda run: str(run.inputs)}, {"only": lambda record: bool(record.tags)}]
)
def test_a_call_comes_back(tmp_path: Path, settings: dict[str, Any]) -> None:
    hangs, free = threading.Event(), threading.Event()
    about: Any = {"tags": ["t"], "metadata": {"reference": ANSWER, "session_id": "s"}, "run_name": "rag"}
    metrics = [ExactMatch(), Faithfulness()]
    judge = ScriptedLLM(lambda _: (hangs.set(), free.wait(60), '{"claims": []}')[-1])
    first = RagEvaluationCallback(metrics, llm=judge, spool=tmp_path, **settings)
    lcel().invoke(QUESTION, {"callbacks": [first], **about})
    assert hangs.wait(60)
    assert until(lambda: given_up(tmp_path) == 1)
    second = RagEvaluationCallback(metrics, llm=ScriptedLLM(lambda _: '{"claims": []}'), spool=tmp_path, **settings)
    with_sources().invoke("Another one?", {"callbacks": [second], **about})
    assert until(lambda: len(second.results) == 2)
    free.set()
    assert first.flush(60)
    (there,) = first.results
    (here,) = [record for record in second.results if record.run_id == there.run_id]
    assert here.to_dict() == there.to_dict()
    assert here.scores["exact_match"].value == 1.0
    assert (here.sample.user_input, here.status, here.trace_id) == (QUESTION, "scored", there.run_id)
