"""Batches that fail, are lost, are cut short or are very large: no row pays for another one."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Any

import pytest

from core.engine.vectors import Vectors, expected, samples, score, values
from core.engine.virtual_time import run
from core.evaluate.doubles import RATE, AsyncModel
from ragmetrics_core import (
    Metric,
    ModelError,
    Reply,
    Score,
    Steps,
    aevaluate,
    embed,
)
from ragmetrics_core.metrics import SemanticSimilarity


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
                return Reply(
                    [[0.0, 0.0] if text == "text 5" else found for text, found in zip(texts, reply.value, strict=True)]
                )

        result, _ = score(Zero(), 40)
        assert [n for n, value in enumerate(values(result)) if value is None] == [5]
        assert "zero vector" in str(result.scores["semantic_similarity"][5].error)

    def test_a_lost_batch_is_made_again_as_one(self) -> None:
        error = ModelError("reset")
        error.transient = True
        model = Vectors(refuses=["text 0"], error=error)
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
        for rows in (300, 3000):  # one batch, and more
            model = Vectors(refuses=["text 0"], error=ModelError("the key is refused", fatal=True))
            with pytest.raises(ModelError, match="the key is refused"):
                score(model, rows)
            assert model.begun == 1

    def test_a_model_that_takes_nothing_is_not_asked_about_every_text(self) -> None:
        class Broken(Vectors):
            def answer(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
                self.calls.append(texts)
                return Reply([[math.nan, 1.0] for _ in texts])

        model = Broken()
        result, _ = score(model, 3000)
        assert values(result) == [None] * 3000
        assert all("not a finite number" in item.error for item in result.scores["semantic_similarity"] if item.error)
        assert result.summary()["semantic_similarity"].failed == 3000
        assert len(model.calls) < 60

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
        everything = expected(3000)
        assert values(result) == pytest.approx([everything[record.index] for record in result.records])

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
        run(aevaluate(more, SemanticSimilarity(), embeddings=model, progress=False, run_dir=tmp_path, replace=True))
        assert model.calls[calls:] == [("text 99", "other 1")]


class TestBursts:
    def test_a_large_batch_after_many_small_ones_is_not_late(self) -> None:
        """A model in this process takes as long as its batch is large, and small ones say nothing about large ones."""

        @dataclass(frozen=True)
        class Afterwards(Metric):
            def measure(self, user_input: str, response: str) -> Steps[Score]:
                yield from RATE.ask(text=user_input)
                (found,) = yield from embed([response])
                return Score(abs(found[0]))

        class Judge(AsyncModel):
            async def agenerate(self, ask: Any) -> object:
                number = int(ask.inputs["text"].split()[-1])
                await asyncio.sleep(min(number, 20))
                return self.reply(ask)

        class Slow(Vectors):
            async def aembed(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
                reply = self.answer(texts)
                await asyncio.sleep(0.03 * len(texts))
                return reply

        model = Slow()
        result, _ = score(model, 500, Afterwards(), llm=Judge("0.5"), max_concurrency=600)
        assert values(result, "afterwards") == pytest.approx([abs(math.cos(n / 100)) for n in range(500)])
        assert max(map(len, model.calls)) > 400
        assert sum(map(len, model.calls)) == 500, "none is computed twice"


class TestSizes:
    def test_a_model_that_says_how_many_texts_make_a_request(self) -> None:
        model = Vectors()
        model.texts_per_call = 20  # type: ignore[attr-defined]
        result, seconds = score(model, 500)
        assert values(result) == pytest.approx(expected(500))
        assert max(map(len, model.calls)) == 20
        assert model.most > 1, "several calls are under way where there is enough to fill them"
        assert seconds < 0.02 * len(model.calls)

    def test_a_budget_counts_requests(self) -> None:
        model = Vectors()
        model.texts_per_call = 20  # type: ignore[attr-defined]
        result, _ = score(model, 500, budget={"calls": 3})
        assert len(model.calls) == 3
        assert 0 < len(result) <= 30, "a call holds the texts of ten rows; a slow machine sends one that is not full"

    def test_what_is_too_much_at_once_is_remembered(self) -> None:
        class Small(Vectors):
            def answer(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
                if len(texts) > 64:
                    self.calls.append(texts)
                    raise ModelError("too many texts")
                return super().answer(texts)

        model = Small()
        result, _ = score(model, 2000)
        assert values(result) == pytest.approx(expected(2000))
        refused = [texts for texts in model.calls if len(texts) > 64]
        assert len(refused) < len(model.calls) / 5

    def test_a_time_limit_is_one_for_each_row_of_a_batch(self) -> None:
        class PerText(Vectors):
            async def aembed(self, texts: tuple[str, ...]) -> Reply[list[list[float]]]:
                await asyncio.sleep(0.005 * len(texts))
                return self.answer(texts)

        result, _ = score(PerText(), 1500, timeout=1)
        assert result.summary()["semantic_similarity"].scored == 1500
