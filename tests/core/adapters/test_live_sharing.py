"""Metrics that are computed beside a running application: they share their calls and what was learnt about the servers."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from loopback import OpenAIServer
from ragmetrics_core import Ask, Metric, ModelError, Reply, Sample, Score, evaluate
from ragmetrics_core.adapters import HomeLoop, LiveEvaluation
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import LexicalJudge, OpenAIServerLLM
from ragmetrics_core.metrics import AnswerRelevancy, Faithfulness, Jury
from ragmetrics_core.testing import ScriptedLLM
from waiting import until

Scores = dict[str, Score]

SUPPORTED = {
    "extract_claims": '{"claims": ["It is there."]}',
    "verify_claims": '{"verdicts": [{"claim": 1, "reason": "so", "supported": true}]}',
}


@dataclass
class Call:
    """A call of an application that is judged by metrics."""

    sample: Sample
    metrics: Mapping[str, Metric]
    is_complete = True

    def complete(self) -> None:
        """Do nothing."""

    def record(self) -> Scores:
        return {}

    def judgements(self) -> dict[str, Callable[[], Any]]:
        return {name: partial(metric.ascore, self.sample) for name, metric in self.metrics.items()}

    def identity(self, name: str) -> None:
        return None

    def judged(self, outcomes: Mapping[str, Future[Score]]) -> Scores:
        return {
            name: outcome.result() if outcome.exception() is None else Score.failed(str(outcome.exception()))
            for name, outcome in outcomes.items()
        }


class Live(LiveEvaluation[Scores, Score]):
    """The handler of an application without a framework."""

    def __init__(self, *metrics: Metric, **settings: Any) -> None:
        super().__init__(logging.getLogger("ragmetrics_tests"), lambda score: score.error, **settings)
        self.metrics = {metric.name: metric for metric in metrics}

    def hear(self, question: str = "Where?", response: str = "In Paris.") -> None:
        sample = Sample(user_input=question, response=response, retrieved_contexts=["It is in Paris."])
        self._judge(Call(sample, self.metrics))  # type: ignore[arg-type]

    @property
    def records(self) -> list[Scores]:
        return self._kept


class Server:
    """A judge behind a server that takes so many calls at a time."""

    def __init__(self, most: int = 1000, seconds: float = 0.0, hangs: Callable[[str], bool] = lambda _: False) -> None:
        self.most, self.seconds, self.hangs = most, seconds, hangs
        self.in_flight = self.answered = self.refused = 0
        self.release = asyncio.Event()
        self.loops: set[asyncio.AbstractEventLoop] = set()

    async def agenerate(self, ask: Ask) -> Reply[str]:
        self.loops.add(asyncio.get_running_loop())
        if self.in_flight >= self.most:
            self.refused += 1
            raise ModelError("too many", transient=True, rate_limited=True)
        self.in_flight += 1
        try:
            await asyncio.sleep(1000 if self.hangs(ask.messages[-1].content) else self.seconds)
        finally:
            self.in_flight -= 1
        self.answered += 1
        return Reply('{"claims": []}')


def test_equal_questions_at_the_same_time_are_one_call() -> None:
    """Of two calls of the application, and of two metrics beside each other."""
    server = Server(seconds=0.3)
    with Live(Faithfulness(name="a", llm=server), Faithfulness(name="b", llm=server)) as live:
        live.hear()
        live.hear()
    scores = [score for record in live.records for score in record.values()]
    assert (server.answered, len(scores), len(server.loops)) == (1, 4, 1)
    assert sorted((score.usage.calls, score.usage.cached_calls) for score in scores) == [(1, 0)] + [(1, 1)] * 3
    live.hear()
    assert live.flush(60)
    assert server.answered == 2, "no reply is kept for later calls"


def test_one_limit_for_all_judgements() -> None:
    """What the first judgements learnt keeps the later ones from being refused."""
    server = Server(most=3, seconds=0.02)
    with Live(Faithfulness(llm=server), workers=40) as live:
        for number in range(300):
            live.hear(str(number))
    assert (live.counts["scored"], server.answered) == (300, 300)
    assert server.refused < 150, "each alone would be refused many times"


def test_judgements_that_hang_end_at_their_limit_and_later_ones_are_made() -> None:
    server = Server(hangs=lambda asked: "hang" in asked)
    with Live(Faithfulness(llm=server), workers=50, timeout=0.3) as live:
        for number in range(200):
            live.hear(f"hang {number}")
        for number in range(20):
            live.hear(f"answer {number}")
    counts = live.counts
    assert (counts["timed_out"], counts["scored"], counts["pending"]) == (200, 20, 0)
    assert until(lambda: server.in_flight == 0), "their calls are cancelled"


def test_a_call_that_another_judgement_waits_for_is_not_cancelled() -> None:
    server = Server(seconds=0.5)
    with Live(Faithfulness(llm=server), timeout=0.8, workers=2) as live:
        live.hear("hang", "first")
        assert until(lambda: server.in_flight == 1)
        live.hear("hang", "first")
    assert server.answered == 1
    assert live.counts["scored"] == 2


def test_the_scores_are_those_of_evaluate() -> None:
    """Also of models that compute in place, which are called in threads here."""
    judge, embeddings = LexicalJudge(), HashingEmbeddings()
    metrics: list[Metric] = [
        Faithfulness(llm=judge),
        AnswerRelevancy(llm=judge, embeddings=embeddings),
        Jury([Faithfulness(llm=judge), Faithfulness(llm=ScriptedLLM(SUPPORTED))]),
    ]
    rows = [("Where?", "In Paris."), ("When?", "In 1889. It was in London.")]
    with Live(*metrics) as live:
        for question, response in rows:
            live.hear(question, response)
            assert live.flush(60)
    samples = [
        Sample(user_input=question, response=response, retrieved_contexts=["It is in Paris."])
        for question, response in rows
    ]
    evaluation = evaluate(samples, metrics, progress=False)
    for metric in metrics:
        found = [record[metric.name] for record in live.records]
        assert [score.value for score in found] == [score.value for score in evaluation.scores[metric.name]]
        if metric is not metrics[-1]:  # a jury notes what each juror has paid
            assert [score.details for score in found] == [score.details for score in evaluation.scores[metric.name]]


@pytest.mark.parametrize("fatal", [False, True])
def test_a_judge_that_cannot_answer_gives_a_failed_score(fatal: bool) -> None:
    with Live(Faithfulness(llm=ScriptedLLM(ModelError("the key is refused", fatal=fatal)))) as live:
        live.hear()
    assert (live.counts["failed"], live.records[0]["faithfulness"].error) == (1, "the key is refused")


def test_models_that_are_made_for_one_judgement_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmetrics_core._engine._programs.MOST_MODELS", 3)
    left: list[weakref.ref[Server]] = []
    live = Live()
    for number in range(12):
        server = Server()
        left.append(weakref.ref(server))
        live.metrics = {"m": Faithfulness(llm=server)}
        live.hear(str(number))
        assert live.flush(60)
    assert live.counts["scored"] == 12
    del server
    live.metrics = {}
    assert until(lambda: gc.collect() >= 0 and sum(model() is not None for model in left) <= 4)


def test_a_metric_in_another_loop_makes_its_own_calls() -> None:
    """As in a function of the user's, which runs in a thread."""
    server = Server(seconds=0.2)
    metric = Faithfulness(llm=server)

    def tell(_: Scores) -> None:
        asyncio.run(metric.ascore(user_input="Where?", response="In Paris.", retrieved_contexts=["It is in Paris."]))

    with Live(metric, on_result=tell) as live:
        live.hear()
    assert live.counts["untold"] == 0
    assert (server.answered, len(server.loops)) == (2, 2)


def test_a_model_of_a_framework_is_not_called_in_the_loop_of_the_judging() -> None:
    """Its client may be the application's, whose connections belong to another loop."""
    home, found = HomeLoop(), []

    class Framework(Server):
        async def agenerate(self, ask: Ask) -> Reply[str]:
            found.append(home.is_here())
            return await super().agenerate(ask)

    async def application() -> bool:
        return home.is_here()

    with Live(Faithfulness(llm=Framework())) as live:
        live.hear()
    assert (found, asyncio.run(application())) == ([False], True)


def test_the_connections_to_a_server_outlive_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """One session serves all judgements, also after the thread has been idle, and is closed with the loop."""
    monkeypatch.setattr("ragmetrics_core.adapters._background.IDLE", 0.05)
    with OpenAIServer(lambda _: '{"claims": []}') as server:
        live = Live(Faithfulness(llm=OpenAIServerLLM(server.base_url, "judge")))
        for number in range(8):
            live.hear(str(number))
            assert live.flush(60)
            assert until(lambda: not any(thread.name == "ragmetrics-judge" for thread in threading.enumerate()))
        assert (live.counts["scored"], len(server.chats)) == (8, 8)
        assert server.connections <= 2, "the thread may stop before the first connection is given back"
        del live
        gc.collect()
