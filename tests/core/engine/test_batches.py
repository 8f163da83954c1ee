"""Embeddings and comparisons of many rows travel together, and each row gets its own values all the same."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from core.engine.vectors import BlockingVectors, Scorer, Vectors, expected, samples, score, values
from core.engine.virtual_time import run
from core.evaluate.doubles import AsyncModel, Embedded, Rated
from ragmetrics_core import (
    Metric,
    Reply,
    Score,
    Steps,
    Usage,
    aevaluate,
    compare,
    embed,
    evaluate,
    together,
)
from ragmetrics_core.metrics import SemanticSimilarity


def asking(count: int, all_ask: threading.Event) -> Iterator[dict[str, str]]:
    """Rows that say when the last one is there: a model that answers no earlier does not depend on how fast they come."""
    yield from samples(count)
    all_ask.set()


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
        class Held(BlockingVectors):
            def embed(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
                all_ask.wait(60)
                return super().embed(texts)

        all_ask = threading.Event()
        model = Held()
        result = evaluate(asking(500, all_ask), SemanticSimilarity(), embeddings=model)
        assert values(result) == pytest.approx(expected(500), abs=1e-12)
        assert len(model.calls) <= 25

    def test_pair_scorers(self) -> None:
        class Held(Scorer):
            def compare(self, pairs: tuple[tuple[str, str], ...]) -> list[float]:
                all_ask.wait(60)
                return super().compare(pairs)

        all_ask = threading.Event()
        model = Held()
        result = evaluate(asking(500, all_ask), SemanticSimilarity(), embeddings=model)  # type: ignore[arg-type]
        assert values(result) == [n / 1000 for n in range(500)]
        assert len(model.calls) <= 25
        assert all(len(set(pairs)) == len(pairs) for pairs in model.calls)

    def test_the_model_is_at_work_while_scores_are_made(self) -> None:
        scored: list[float] = []
        before: list[int] = []

        @dataclass(frozen=True)
        class Noted(Metric):
            def measure(self, response: str, reference: str) -> Steps[Score]:
                (similarity,) = yield from compare([(response, reference)])
                scored.append(similarity)
                return Score(abs(similarity))

        class Watched(Vectors):
            async def aembed(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
                before.append(len(scored))
                return await super().aembed(texts)

        model = Watched()
        result, _ = score(model, 2048, Noted())
        assert values(result, "noted") == pytest.approx([abs(value) for value in expected(2048)], abs=1e-12)
        assert sorted(scored) == pytest.approx(sorted(expected(2048)), abs=1e-12)
        # each call begins before the rows of the one before it go on; a slow machine gathers other batches than a quick one
        assert len(before) >= 4
        assert before[:2] == [0, 0]
        assert before[1:] == sorted(set(before))

    def test_one_row_does_not_wait(self) -> None:
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
        metrics = [Embedded(), Embedded(name="again")]
        result = run(aevaluate(rows, metrics, embeddings=model, progress=False, max_concurrency=64))
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
        assert max(map(len, model.calls)) <= 2048
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
