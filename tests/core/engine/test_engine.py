"""What is in flight: calls, rows, threads; and what is asked once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.engine.virtual_time import run
from core.evaluate.doubles import (
    AsyncModel,
    Full,
    InstantModel,
    Length,
    Rated,
    RatedContexts,
    RatedTwice,
    SyncModel,
    questions,
)
from growth import seconds, slowness
from ragmetrics_core import ModelError, Usage, aevaluate, evaluate
from waiting import until

TESTS = Path(__file__).resolve().parents[2]


class TestInFlight:
    @pytest.mark.parametrize("kind", [AsyncModel, SyncModel])
    @pytest.mark.parametrize("limit", [1, 3, 16])
    def test_never_more_calls_than_allowed_and_as_many_as_allowed(self, kind: type[AsyncModel], limit: int) -> None:
        rows = [{"retrieved_contexts": [f"{row}-{n}" for n in range(10)]} for row in range(8)]
        if kind is SyncModel:
            model: AsyncModel = Full(limit)
            result = evaluate(rows, RatedContexts(), llm=model, max_concurrency=limit)
        else:  # in virtual time all that may run at once have started before the first is answered
            model = kind("1", delay=0.1)
            result = run(aevaluate(rows, RatedContexts(), llm=model, max_concurrency=limit))
        assert result.summary()["rated_contexts"].usage.calls == 80
        assert model.most == limit

    def test_rounds_of_one_row_are_concurrent(self) -> None:
        model = AsyncModel("1", delay=0.4)  # a run opens with a few calls, and soon takes all
        run(aevaluate([{"retrieved_contexts": list("abcdefgh")}], RatedContexts(), llm=model))
        assert model.most == 8

    def test_metrics_of_one_row_are_concurrent(self) -> None:
        model = AsyncModel("1", delay=0.01)
        metrics = [Rated(name=name, prompt=Rated().prompt.replace(instructions=name)) for name in "abc"]
        run(aevaluate(questions(1), metrics, llm=model))
        assert model.most == 3

    def test_a_generator_is_pulled_only_a_little_ahead(self) -> None:
        pulled = 0
        most_ahead = 0
        answered = 0

        def rows():
            nonlocal pulled
            for row in questions(200):
                pulled += 1
                yield row

        def answer(text: str) -> str:
            nonlocal answered, most_ahead
            most_ahead = max(most_ahead, pulled - answered)
            answered += 1
            return "1"

        evaluate(rows(), Rated(), llm=AsyncModel(answer), max_concurrency=5)
        assert pulled == 200
        assert most_ahead <= 5

    def test_few_rows_start_few_tasks_whatever_the_limit(self) -> None:
        async def main() -> int:
            most = 0

            def rows() -> Iterator[dict[str, str]]:
                nonlocal most
                for row in questions(2):
                    most = max(most, len(asyncio.all_tasks()))
                    yield row

            await aevaluate(rows(), Rated(), llm=AsyncModel("1"), max_concurrency=50_000)
            return most

        assert asyncio.run(main()) <= 4, "the caller, a worker per row, and the one that finds no third row"

    def test_as_many_workers_as_allowed_come_together(self) -> None:
        class Gathering:
            """Answers only when all have asked."""

            def __init__(self) -> None:
                self.asked = 0
                self.all_there = asyncio.Event()

            async def agenerate(self, ask: object) -> str:
                self.asked += 1
                if self.asked == 500:
                    self.all_there.set()
                await asyncio.wait_for(self.all_there.wait(), 60)
                return "1"

        result = evaluate(questions(500), Rated(), llm=Gathering(), max_concurrency=500)
        assert result.summary()["rated"].scored == 500

    def test_an_endless_generator_with_a_limit(self) -> None:
        def rows():
            while True:
                yield {"response": "abc"}

        assert len(evaluate(rows(), Length(), limit=25)) == 25

    def test_metrics_without_requests_start_no_tasks(self) -> None:
        async def main() -> set[asyncio.Task[object]]:
            before = asyncio.all_tasks()
            seen: set[asyncio.Task[object]] = set()

            def rows():
                for row in questions(100):
                    seen.update(asyncio.all_tasks() - before)
                    yield row

            await aevaluate(rows(), [Length(), Length(name="again")], max_concurrency=3)
            return seen

        assert len(asyncio.run(main())) <= 3

    @pytest.mark.usefixtures("untraced")
    def test_thousands_of_rows_per_second_without_a_model(self) -> None:
        def work(rows: int) -> None:
            evaluate(questions(rows), [Length(name=name) for name in "abcd"])

        assert seconds(work, 5000) < 5 * slowness()

    def test_threads_go_home(self) -> None:
        before = set(threading.enumerate())  # earlier tests may have left threads that hang
        evaluate(questions(5), Rated(), llm=SyncModel("1"))
        own = [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("ragmetrics-")]
        assert until(lambda: not any(thread.is_alive() for thread in own)), own


class TestAskedOnce:
    """``Rated`` and ``RatedTwice`` share a question; the second asks it one round later."""

    @pytest.mark.parametrize("kind", [AsyncModel, SyncModel, InstantModel])
    def test_equal_questions_of_one_row_are_one_call(self, kind: type[AsyncModel]) -> None:
        model = kind("0.5")
        metrics = [Rated(), Rated(name="same"), RatedTwice()]
        result = evaluate(questions(2), metrics, llm=model)
        assert sorted(model.asked) == ["0", "1", "first 0", "first 1"]
        full = Usage(calls=1, prompt_tokens=10, completion_tokens=2)
        assert result.scores["rated"][0].usage == full
        assert result.scores["same"][0].usage == Usage(calls=1, cached_calls=1)
        assert result.scores["rated_twice"][0].usage == full + Usage(calls=1, cached_calls=1)
        assert {score.value for scores in result.scores.values() for score in scores} == {0.5}

    def test_rows_share_what_is_in_flight_and_nothing_else(self) -> None:
        model = AsyncModel("1", delay=0.01)
        result = run(aevaluate([{"user_input": "same"}] * 3, Rated(), llm=model))
        assert model.asked == ["same"]
        assert result.summary()["rated"].usage == Usage(3, 10, 2, cached_calls=2)
        run(aevaluate([{"user_input": "same"}] * 3, Rated(), llm=model, max_concurrency=1))
        assert model.asked == ["same"] * 4

    def test_models_do_not_share(self) -> None:
        first, second = AsyncModel("0"), AsyncModel("1")
        result = evaluate(questions(1), [Rated(llm=first), Rated(name="b", llm=second)])
        assert [scores[0].value for scores in result.scores.values()] == [0.0, 1.0]

    def test_a_failure_in_flight_is_shared_but_not_kept(self) -> None:
        answers = iter([ModelError("busy"), "1", "1"])
        model = AsyncModel(lambda text: next(answers))
        result = evaluate(questions(1), [Rated(), Rated(name="same"), RatedTwice()], llm=model)
        assert result.scores["rated"][0].error == result.scores["same"][0].error == "ModelError: busy"
        assert result.scores["rated_twice"][0].value == 1.0
        assert model.asked == ["0", "first 0", "0"]

    def test_a_failed_instant_question_is_asked_again(self) -> None:
        answers = iter([ModelError("busy"), "1"])
        model = InstantModel(lambda text: next(answers))
        result = evaluate(questions(1), [Rated(), Rated(name="again")], llm=model)
        assert [scores[0].state for scores in result.scores.values()] == ["failed", "scored"]

    def test_instant_and_waiting_models_meet_in_one_row(self) -> None:
        class Half:
            """In place for some, by call for others: the round waits as a whole."""

            instant = True

            async def agenerate(self, ask: object) -> str:
                return "1"

        result = evaluate(questions(2), [Rated(llm=Half()), Rated(name="b", llm=InstantModel("0"))])
        assert [score.value for scores in result.scores.values() for score in scores] == [1.0, 1.0, 0.0, 0.0]

    def test_an_instant_model_is_asked_in_place_in_a_mixed_round(self) -> None:
        from dataclasses import dataclass

        from ragmetrics_core import Metric, Score, Steps, embed, together

        @dataclass(frozen=True)
        class Mixed(Metric):
            def measure(self, user_input: str) -> Steps[Score]:
                text, _ = yield from together(Rated().prompt.ask(text=user_input), embed([user_input]))
                return Score(float(text))

        class Vectors:
            async def aembed(self, texts: tuple[str, ...]) -> list[list[float]]:
                await asyncio.sleep(0)
                return [[1.0] for _ in texts]

        model = InstantModel("0.5")
        result = evaluate(questions(1), [Mixed(), Rated()], llm=model, embeddings=Vectors())
        assert [scores[0].value for scores in result.scores.values()] == [0.5, 0.5]
        assert model.asked == ["0"]
