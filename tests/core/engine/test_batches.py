"""Embeddings and comparisons of many rows travel together, and each row gets its own values all the same."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from core.engine.virtual_time import run
from core.evaluate.doubles import AsyncModel, Embedded, Rated
from ragmetrics_core import Evaluation, Metric, ModelError, Reply, Score, Steps, Usage, aevaluate, embed, evaluate, together
from ragmetrics_core._engine._batches import MOST_TEXTS
from ragmetrics_core._steps import compare
from ragmetrics_core.metrics import SemanticSimilarity


def vector(text: str) -> list[float]:
    """On the unit circle, at an angle that is the text's number in hundredths."""
    angle = int(text.split()[-1]) / 100
    return [math.cos(angle), math.sin(angle)]


class Vectors:
    """An embedding model that takes 20 ms a call, whatever its size."""

    def __init__(self, refuses: Sequence[str] = (), problem: ModelError | None = None) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.refuses = set(refuses)
        self.problem = problem
        self.now = self.most = 0

    def answer(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
        self.calls.append(texts)
        if self.refuses & set(texts):
            raise self.problem or ModelError(f"I do not take {sorted(self.refuses & set(texts))[0]!r}")
        return Reply([vector(text) for text in texts], Usage(1, len(texts)))

    async def aembed(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1
        return self.answer(texts)


class BlockingVectors(Vectors):
    """The same with nothing but a blocking method."""

    aembed = None  # type: ignore[assignment]

    def embed(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
        time.sleep(0.02)
        return self.answer(texts)


class Scorer:
    """A pair scorer, as cross-encoders are: it blocks."""

    def __init__(self) -> None:
        self.calls: list[tuple[tuple[str, str], ...]] = []

    def compare(self, pairs: tuple[tuple[str, str], ...]) -> list[float]:
        self.calls.append(pairs)
        time.sleep(0.02)
        return [int(left.split()[-1]) / 1000 for left, _ in pairs]


def samples(count: int) -> list[dict[str, str]]:
    return [{"user_input": f"q {n}", "response": f"text {n}", "reference": f"other {2 * n % 150}"} for n in range(count)]


def expected(count: int) -> list[float]:
    return [math.cos(abs(n - 2 * n % 150) / 100) for n in range(count)]


def score(model: Any, count: int, metric: Metric | None = None, **settings: Any) -> tuple[Evaluation, float]:
    async def work() -> tuple[Evaluation, float]:
        clock = asyncio.get_running_loop().time
        begin = clock()
        result = await aevaluate(
            samples(count), metric or SemanticSimilarity(), embeddings=model, progress=False, **settings
        )
        return result, clock() - begin

    return run(work())


def values(evaluation: Evaluation, name: str = "semantic_similarity") -> list[float | None]:
    return [item.value for item in evaluation.scores[name]]


class TestTogether:
    def test_far_fewer_calls_than_rows_and_right_values(self) -> None:
        model = Vectors()
        result, seconds = score(model, 500)
        assert values(result) == pytest.approx(expected(500), abs=1e-12)
        assert len(model.calls) <= 10
        assert seconds <= 0.02 * len(model.calls) + 0.3
        usage = result.summary()["semantic_similarity"].usage
        assert usage.prompt_tokens == sum(map(len, model.calls)), "what a batch cost is booked once"
        assert usage.calls == 500
        assert usage.calls - usage.cached_calls == len(model.calls)
        assert result.models[0].usage.calls == len(model.calls)

    def test_blocking_models_too(self) -> None:
        model = BlockingVectors()
        result = evaluate(samples(500), SemanticSimilarity(), embeddings=model)
        assert values(result) == pytest.approx(expected(500), abs=1e-12)
        assert len(model.calls) <= 25

    def test_pair_scorers(self) -> None:
        model = Scorer()
        result = evaluate(samples(500), SemanticSimilarity(), embeddings=model)  # type: ignore[arg-type]
        assert values(result) == [n / 1000 for n in range(500)]
        assert len(model.calls) <= 25
        assert all(len(set(pairs)) == len(pairs) for pairs in model.calls)

    def test_one_row_waits_for_nobody(self) -> None:
        model = Vectors()
        _, seconds = score(model, 1)
        assert seconds == pytest.approx(0.02)
        assert model.calls == [("text 0", "other 0")]

    def test_a_text_that_many_rows_hold_is_sent_once_in_a_batch(self) -> None:
        model = Vectors()
        rows = [{"response": f"text {n}", "reference": "same 7"} for n in range(100)]
        result = run(aevaluate(rows, SemanticSimilarity(), embeddings=model, progress=False))
        assert values(result) == pytest.approx([math.cos((n - 7) / 100) for n in range(100)])
        assert all(len(set(texts)) == len(texts) for texts in model.calls)

    def test_equal_requests_in_flight_are_one(self) -> None:
        model = Vectors()
        rows = [{"response": "text 3"}] * 50
        result = run(aevaluate(rows, [Embedded(), Embedded(name="again")], embeddings=model, progress=False))
        assert model.calls == [("text 3",)]
        assert values(result, "embedded") == values(result, "again") == [math.cos(0.03)] * 50
        usage = result.summary()["embedded"].usage + result.summary()["again"].usage
        assert usage == Usage(100, 1, 0, cached_calls=99)

    def test_no_call_is_larger_than_servers_take(self) -> None:
        @dataclass(frozen=True)
        class Many(Metric):
            def measure(self, response: str) -> Steps[Score]:
                vectors = yield from embed([f"{response} {n}" for n in range(900)])
                return Score(abs(vectors[-1][0]))

        model = Vectors()
        result, _ = score(model, 20, Many())
        assert values(result, "many") == [abs(math.cos(8.99))] * 20
        assert max(map(len, model.calls)) <= MOST_TEXTS
        assert len(model.calls) <= 11

    def test_several_kinds_and_models_in_one_run(self) -> None:
        @dataclass(frozen=True)
        class Mixed(Metric):
            def measure(self, response: str, reference: str) -> Steps[Score]:
                ((first,), (similarity,)) = yield from together(embed([response]), compare([(response, reference)]))
                return Score((first[0] + similarity) / 2)

        model, scorer, judge = Vectors(), Vectors(), AsyncModel("0.5")
        metrics = [Mixed(), SemanticSimilarity(), SemanticSimilarity(name="other", model=scorer), Rated(llm=judge)]
        result = run(aevaluate(samples(120), metrics, embeddings=model, progress=False))
        right = expected(120)
        assert values(result) == values(result, "other") == pytest.approx(right)
        assert values(result, "mixed") == pytest.approx([(math.cos(n / 100) + right[n]) / 2 for n in range(120)])
        assert values(result, "rated") == [0.5] * 120
        assert len(judge.asked) == 120
        assert len(model.calls) < 60
        assert len(scorer.calls) < 60


class TestTrouble:
    def test_one_bad_text_costs_the_others_nothing(self) -> None:
        model = Vectors(refuses=["text 77"])
        result, _ = score(model, 300)
        assert result.scores["semantic_similarity"][77].error == "ModelError: I do not take 'text 77'"
        right = expected(300)
        assert [value for n, value in enumerate(values(result)) if n != 77] == pytest.approx(right[:77] + right[78:])
        assert len(model.calls) <= 30, "it is found by halving"

    def test_zero_vectors(self) -> None:
        class Zero(Vectors):
            def answer(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
                reply = super().answer(texts)
                return Reply([[0.0, 0.0] if text == "text 5" else found for text, found in zip(texts, reply.value, strict=True)])

        result, _ = score(Zero(), 40)
        assert [n for n, value in enumerate(values(result)) if value is None] == [5]
        assert "zero vector" in str(result.scores["semantic_similarity"][5].error)

    def test_a_lost_batch_is_made_again_as_one(self) -> None:
        problem = ModelError("reset")
        problem.transient = True
        model = Vectors(refuses=["text 0"], problem=problem)
        original = model.answer

        def answer(texts: tuple[str, ...]) -> Reply[list[list[float]]]:
            if len(model.calls) == 2:
                model.refuses.clear()
            return original(texts)

        model.answer = answer  # type: ignore[method-assign]
        result, _ = score(model, 50)
        assert values(result) == pytest.approx(expected(50))
        assert model.calls[0] == model.calls[1] == model.calls[2]

    def test_a_refused_key_stops_the_run_once(self) -> None:
        model = Vectors(refuses=["text 0"], problem=ModelError("the key is refused", fatal=True))
        with pytest.raises(ModelError, match="the key is refused"):
            score(model, 300)
        assert len(model.calls) == 1

    def test_a_bug_in_a_model_reaches_the_caller(self) -> None:
        class Bug(Vectors):
            def answer(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
                raise ZeroDivisionError("a bug")

        with pytest.raises(ZeroDivisionError, match="a bug"):
            score(Bug(), 300)

    def test_a_budget_ends_it_with_complete_rows(self) -> None:
        model = Vectors()
        result, _ = score(model, 3000, budget={"calls": 2})
        assert len(model.calls) == 2
        assert result.stopped == "the budget of 2 calls is used up"
        assert 0 < len(result) < 3000
        assert values(result) == pytest.approx(expected(3000)[: len(result)])

    def test_given_up_with_the_run(self) -> None:
        model = Vectors()

        async def work() -> None:
            rows = aevaluate(samples(500), SemanticSimilarity(), embeddings=model, progress=False)
            task = asyncio.ensure_future(rows)
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert asyncio.all_tasks() == {asyncio.current_task()}

        run(work())

    def test_kept_one_by_one_in_the_journal(self, tmp_path: Any) -> None:
        model = Vectors()
        model.identity = {"model": "circle"}  # type: ignore[attr-defined]
        first, _ = score(model, 60, run_dir=tmp_path)
        calls = len(model.calls)
        again, _ = score(model, 60, run_dir=tmp_path)
        assert len(model.calls) == calls
        assert values(again) == values(first)
        more = [*samples(60)[:30], {"response": "text 99", "reference": "other 1"}]
        run(aevaluate(more, SemanticSimilarity(), embeddings=model, progress=False, run_dir=tmp_path))
        assert model.calls[calls:] == [("text 99", "other 1")]
