"""What the judgements beside a chain share: equal calls, and what was learnt about the server."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from lc_models import chat
from lc_parts import ANSWER, D1, QUESTION, Tracer, lcel, with_sources

from loopback import OpenAIServer, rate_limited, server_error
from ragmetrics_core import evaluate
from ragmetrics_core.metrics import AnswerAccuracy, ContextRelevanceRating, Faithfulness
from ragmetrics_langchain import LangChainLLM, RagEvaluationCallback
from waiting import until


def config(*callbacks: Any, **more: Any) -> Any:
    return {"callbacks": list(callbacks), **more}


class Begun(BaseCallbackHandler):
    """Counts the judgements that have begun."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_chain_start(self, *_: Any, name: str, **__: Any) -> None:
        self.names.append(name)


def test_two_calls_with_the_same_question_pay_once(server: OpenAIServer) -> None:
    release, begun, tracer = threading.Event(), Begun(), Tracer()
    server.responder = lambda body: '{"claims": []}' if release.wait(60) else ""
    metrics = [Faithfulness(name="one"), Faithfulness(name="other")]
    with RagEvaluationCallback(metrics, llm=chat(server), config=config(begun, tracer)) as callback:
        for _ in range(2):
            lcel().invoke(QUESTION, config(callback))
        assert until(lambda: len(begun.names) == 2 and len(server.chats) == 1)
        assert not callback.flush(0.5)  # a judgement that has begun still has to ask
        release.set()
    assert len(server.chats) == 1
    scores = [score for record in callback.results for score in record.scores.values()]
    assert [score.state for score in scores] == ["unscored"] * 4
    assert sorted((score.usage.calls, score.usage.cached_calls) for score in scores) == [(1, 0)] + [(1, 1)] * 3
    assert sorted(run.name for run in tracer.roots) == ["one", "other"], "an equal call is judged once"
    asked = [child.name for run in tracer.roots for child in run.child_runs]
    assert asked == ["extract_claims"], "the call is in the trace of the judgement that made it"


def test_one_limit_for_all_judgements(server: OpenAIServer) -> None:
    """The server takes four calls at a time and refuses all others, which wait for their turn."""

    def answer(body: Any) -> str:
        time.sleep(0.05)
        return '{"claims": []}'

    server.responder = answer
    server.refusal_of = lambda _: rate_limited() if server.in_flight > 4 else None
    with RagEvaluationCallback([Faithfulness()], llm=chat(server), workers=32) as callback:
        for number in range(100):
            lcel().invoke(f"{QUESTION} {number}", config(callback))
    assert callback.counts["scored"] == 100
    assert [record.error for record in callback.results] == [None] * 100


def test_the_scores_are_those_of_evaluate(server: OpenAIServer) -> None:
    replies = {
        "extract_claims": '{"claims": ["The capital is Reykjavik.", "It is large."]}',
        "verify_claims": '{"verdicts": [{"claim": 1, "reason": "so", "supported": true},'
        ' {"claim": 2, "reason": "no", "supported": false}]}',
    }
    metrics = [Faithfulness(), AnswerAccuracy(), ContextRelevanceRating()]
    server.responder = lambda body: next(
        (said for name, said in replies.items() if name in str(body.get("response_format"))), '{"rating": 2}'
    )
    with RagEvaluationCallback(metrics, llm=chat(server)) as callback:
        with_sources().invoke(QUESTION, config(callback, metadata={"reference": ANSWER, "reference_documents": [D1]}))
    (record,) = callback.results
    evaluation = evaluate([record.sample], metrics, llm=LangChainLLM(chat(server)), progress=False)
    assert [score.value for score in record.scores.values()] == [0.5, 0.5, 0.5]
    assert record.scores == {name: scores[0] for name, scores in evaluation.scores.items()}


@pytest.mark.parametrize("former", [{}, {"retries": 4}], ids=["none", "of the client"])
def test_a_lost_call_is_made_again(server: OpenAIServer, former: dict[str, int]) -> None:
    """By the core alone, whatever the client would do."""
    server.responder = lambda body: server_error()
    settings = {"max_retries": former["retries"]} if former else {}
    with RagEvaluationCallback([Faithfulness()], llm=chat(server, **settings)) as callback:
        lcel().invoke(QUESTION, config(callback))
    assert len(server.chats) == 3
    assert callback.results[0].status == "failed"
