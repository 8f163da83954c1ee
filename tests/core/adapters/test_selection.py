"""Which calls are judged by which metrics: samples, sessions, ``only``, budgets, equal calls; and which functions hear of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Evaluation, InvalidInput, MissingExtra, ModelError
from ragmetrics_core.adapters import JsonlSink, Observer, observe
from ragmetrics_core.metrics import ExactMatch, Faithfulness, TokenF1
from ragmetrics_core.testing import ScriptedLLM
from waiting import until


def hear(observer: Observer, number: int, **more: Any) -> None:
    with observer as record:
        record.update(question=f"q{number}", answer=f"a{number}", contexts=["c"], reference="a0", **more)


def asked(observer: Observer) -> dict[str, list[str]]:
    """The questions that each metric was asked, in order."""
    assert observer.flush(60)
    found: dict[str, list[str]] = {}
    for record in observer.results:
        assert record.sample is not None
        for name, score in record.scores.items():
            if score.reason != "not asked: this call is outside the sample of the metric":
                found.setdefault(name, []).append(record.sample.user_input or "")
    return {name: sorted(questions) for name, questions in found.items()}


class Judge:
    """An LLM that finds no claims; ``fails``: with how many calls it fails first."""

    def __init__(self, fails: int = 0) -> None:
        self.questions: list[str] = []
        self.fails = fails

    async def agenerate(self, ask: Any) -> str:
        self.questions.append(ask.messages[-1].content)
        if len(self.questions) <= self.fails:
            raise ModelError("down")
        return '{"claims": []}'


class TestSampling:
    def test_a_share_for_each_metric(self, tmp_path: Path) -> None:
        path = tmp_path / "live.jsonl"
        metrics = [ExactMatch(), TokenF1(), Faithfulness(llm=ScriptedLLM(lambda _: '{"claims": []}'))]
        rates = {"token_f1": 0.3, "faithfulness": 0.0}
        observer = observe(metrics, sample_rate=rates, seed=1, sinks=[JsonlSink(path)])
        for number in range(200):
            hear(observer, number)
        found = asked(observer)
        assert len(found["exact_match"]) == 200
        assert 40 <= len(found["token_f1"]) <= 80
        assert "faithfulness" not in found
        loaded = Evaluation.load(path)  # a metric that was not asked has scores without a value
        assert [len([score for score in loaded.scores[name] if score.value is not None]) for name in found] == [
            200,
            len(found["token_f1"]),
        ]

    def test_sessions_are_whole(self) -> None:
        """The same in each process, and nested: the sessions of a smaller share are among those of a larger one."""
        chosen = []
        for rate, name in ((0.3, "session_id"), (0.3, "thread_id"), (0.6, "session_id")):
            observer = observe(ExactMatch(), sample_rate=rate)
            for number in range(100):
                hear(observer, number, **{name: f"s{number // 5}"})
            chosen.append(asked(observer).get("exact_match", []))
        assert chosen[0] == chosen[1]
        assert set(chosen[0]) < set(chosen[2])
        sessions = [int(question[1:]) // 5 for question in chosen[0]]
        assert sessions
        assert all(sessions.count(session) == 5 for session in sessions)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"sample_rate": {"exact_match": 2}}, "sample_rate of exact_match is a share from 0 to 1, got 2"),
            ({"sample_rate": {"recall": 0.5}}, "sample_rate names 'recall', but the metrics are exact_match"),
            ({"budget": {"week": {"calls": 1}}}, "budget is a mapping such as"),
            ({"budget": 5}, "budget is a mapping such as"),
            ({"budget": {"hour": {"calls": 0}}}, "budget: calls must be a whole number from 1, got 0"),
        ],
    )
    def test_impossible(self, settings: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            observe(ExactMatch(), **settings)
        assert message in str(caught.value)

    def test_only_names_metrics(self) -> None:
        def only(record: Any) -> Any:
            return {"q0": ["token_f1"], "q1": True, "q2": []}[record.sample.user_input]

        observer = observe([ExactMatch(), TokenF1()], only=only)
        for number in range(3):
            hear(observer, number)
        assert asked(observer) == {"token_f1": ["q0", "q1"], "exact_match": ["q1"]}
        assert len(observer.results) == 2


class TestBudget:
    def test_calls_of_an_hour(self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ragmetrics_core.adapters._selection.WINDOWS", {"hour": 2.0, "day": 86400.0})
        judge = Judge()
        observer = observe(Faithfulness(), llm=judge, budget={"hour": {"calls": 3}, "day": {"calls": 5}})
        for number in range(6):
            hear(observer, number)
            assert observer.flush(60)
        assert (len(judge.questions), observer.dropped) == (3, 3)
        assert caplog.messages == [
            "an evaluation was dropped: the budget of 3 calls is used up for this hour; further ones are only counted, see counts"
        ]

        def is_judged() -> bool:
            hear(observer, len(judge.questions) + 100)
            return observer.flush(60) and len(judge.questions) == 5

        assert until(is_judged)  # the next hour has begun
        before = observer.dropped
        hear(observer, 200)
        assert (observer.dropped, len(judge.questions)) == (before + 1, 5)  # those of the day
        assert len(caplog.messages) == 1  # not again within a minute

    def test_it_ends_in_the_middle_of_a_judgement(self) -> None:
        judge = ScriptedLLM(lambda _: '{"claims": ["It is so."]}')
        observer = observe(Faithfulness(), llm=judge, budget={"day": {"calls": 1}})
        hear(observer, 0)
        assert observer.flush(60)
        error = observer.results[0].scores["faithfulness"].error
        assert error == "ModelError: the budget of 1 calls is used up for this day, so this judgement was not finished"
        assert observer.counts["failed"] == 1

    def test_dollars_need_a_price(self) -> None:
        with pytest.raises((InvalidInput, MissingExtra), match="price"):
            observe(Faithfulness(), llm=Judge(), budget={"day": {"dollars": 1}})


class TestEqualCalls:
    def test_they_are_judged_once(self) -> None:
        judge = Judge()
        observer = observe(Faithfulness(), llm=judge)
        for number in (1, 1, 2, 1):
            hear(observer, number, user=str(len(observer.results)))
        assert observer.flush(60)
        hear(observer, 2)
        assert observer.flush(60)
        assert len(judge.questions) == 2
        usage = [record.scores["faithfulness"].usage for record in observer.results]
        assert sorted((each.calls, each.cached_calls) for each in usage) == [(1, 0)] * 2 + [(1, 1)] * 3
        assert observer.counts["scored"] == 5

    def test_a_failure_is_tried_again(self) -> None:
        judge = Judge(fails=1)
        observer = observe(Faithfulness(), llm=judge)
        hear(observer, 1)
        assert observer.flush(60)
        hear(observer, 1)
        assert observer.flush(60)
        assert [record.scores["faithfulness"].state for record in observer.results] == ["failed", "unscored"]

    def test_one_that_is_too_slow_is_no_answer_for_others(self) -> None:
        hangs = threading.Event()

        class Hangs(Judge):
            async def agenerate(self, ask: Any) -> str:
                import asyncio

                hangs.set()
                await asyncio.sleep(0 if self.questions else 1000)
                return await super().agenerate(ask)

        judge = Hangs()
        observer = observe(Faithfulness(), llm=judge, timeout=0.5)
        hear(observer, 1)
        hear(observer, 1)
        assert observer.flush(60)
        errors = {record.scores["faithfulness"].error for record in observer.results}
        assert all("no answer within 0.5 seconds" in str(error) or "was cut off" in str(error) for error in errors)
        judge.questions.append("free")
        hear(observer, 1)
        assert observer.flush(60)
        assert observer.results[-1].scores["faithfulness"].state == "unscored"


def test_a_sink_that_hangs_delays_no_other() -> None:
    release = threading.Event()
    heard: list[str] = []
    observer = observe(
        ExactMatch(),
        on_result=lambda _: release.wait(60),
        sinks=[lambda _: release.wait(60), lambda record: heard.append(record.sample.user_input)],
    )
    for number in range(50):
        hear(observer, number)
    assert until(lambda: len(heard) == 50)
    assert observer.pending > 0
    release.set()
    assert observer.flush(60)


def test_a_sink_says_how_many_calls_of_it_run() -> None:
    """One at a time, in order, unless it has ``workers``."""
    most = {"plain": 0, "several": 0}
    running = {"plain": 0, "several": 0}
    lock = threading.Lock()

    class Sink:
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self, _: Any) -> None:
            with lock:
                running[self.name] += 1
                most[self.name] = max(most[self.name], running[self.name])
            until(lambda: self.name == "plain" or most[self.name] == 3)
            with lock:
                running[self.name] -= 1

    several = Sink("several")
    several.workers = 3  # type: ignore[attr-defined]
    observer = observe(ExactMatch(), sinks=[Sink("plain"), several])
    for number in range(9):
        hear(observer, number)
    assert observer.flush(60)
    assert most == {"plain": 1, "several": 3}
