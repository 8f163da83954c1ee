"""What ``evaluate`` promises: order, independence of rows, states, arguments, both worlds."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from core.engine.virtual_time import run
from core.evaluate.doubles import (
    AsyncModel,
    Embedded,
    Full,
    InstantModel,
    Length,
    Rated,
    SyncModel,
    questions,
    refused,
)
from ragmetrics_core import (
    Ask,
    InvalidInput,
    ModelError,
    Sample,
    Score,
    Usage,
    aevaluate,
    evaluate,
)


def unit(text: str) -> str:
    """A reply that tells the rows apart: 7 becomes 0.07."""
    return str(int(text) / 100)


class TestResult:
    def test_rows_keep_their_order_under_random_delays(self) -> None:
        model = AsyncModel(unit, delay=0.01, seed=7)
        result = evaluate(questions(60), Rated(), llm=model, max_concurrency=8)
        assert [score.value for score in result.scores["rated"]] == [number / 100 for number in range(60)]
        assert [row.user_input for row in result.rows] == [str(number) for number in range(60)]
        assert model.asked != sorted(model.asked, key=int), "the delays must have mixed the order of the answers"

    def test_score_carries_metric_scale_usage_and_prompts(self) -> None:
        result = evaluate(questions(1), [Rated()], llm=AsyncModel("0.25"))
        assert result.scores["rated"] == [
            Score(
                0.25,
                details={"said": "0.25", "prompts": {"rate": "1"}},
                usage=Usage(calls=1, prompt_tokens=10, completion_tokens=2),
                metric="rated",
                scale=(0.0, 1.0),
            )
        ]

    def test_scores_are_found_by_metric_and_by_name(self) -> None:
        metric = Length(name="size")
        result = evaluate(questions(2), metric)
        assert result.scores[metric] is result.scores["size"]
        assert list(result.scores) == ["size"]
        assert len(result.scores) == 1
        with pytest.raises(KeyError, match="no metric 'length'; there are size"):
            result.scores["length"]

    def test_samples_and_mappings_mix(self) -> None:
        result = evaluate([Sample(response="ab"), {"answer": "abcd"}], Length())
        assert [score.value for score in result.scores["length"]] == [0.2, 0.4]

    def test_no_rows(self) -> None:
        result = evaluate([], Length())
        assert len(result) == 0
        assert result.summary()["length"].mean is None

    def test_limit(self) -> None:
        assert len(evaluate(questions(10), Length(), limit=3)) == 3
        assert len(evaluate(questions(2), Length(), limit=3)) == 2


class TestModels:
    def test_a_metric_s_own_model_wins(self) -> None:
        own, general = AsyncModel("1"), AsyncModel("0")
        result = evaluate(questions(1), [Rated(llm=own), Rated(name="other")], llm=general)
        assert [result.scores[name][0].value for name in ("rated", "other")] == [1.0, 0.0]
        assert len(own.asked) == len(general.asked) == 1

    def test_embeddings_reach_the_metric(self) -> None:
        class Vectors:
            async def aembed(self, texts: tuple[str, ...]) -> list[list[float]]:
                return [[0.5, 0.5] for _ in texts]

        result = evaluate(questions(1), Embedded(), embeddings=Vectors())
        assert result.scores["embedded"][0].value == 0.5

    def test_a_missing_model_stops_the_run_and_is_no_failed_score(self) -> None:
        with pytest.raises(ModelError) as caught:
            evaluate(questions(3), [Length(), Rated()])
        assert str(caught.value) == ("rated asks an LLM, but none is set in the metric or the run: give llm=...")
        assert len(caught.value.partial) == 0

    def test_sync_only_models_run_on_threads_side_by_side(self) -> None:
        model = Full(20)
        result = evaluate(questions(40), Rated(), llm=model, max_concurrency=20)
        assert result.summary()["rated"].scored == 40
        assert model.most == 20
        assert len(model.threads) <= 20
        assert all(name.startswith("ragmetrics-") for name in model.threads)

    def test_instant_models_are_asked_in_place(self) -> None:
        model = InstantModel("0.5")
        result = evaluate(questions(3), Rated(), llm=model)
        assert model.most == 0, "agenerate would have counted"
        assert result.summary()["rated"].usage == Usage(calls=3, prompt_tokens=30, completion_tokens=6)

    def test_context_variables_reach_models_of_every_kind(self) -> None:
        tracing = contextvars.ContextVar("tracing", default="lost")
        seen: list[str] = []

        def answer(text: str) -> str:
            seen.append(tracing.get())
            return "1"

        async def inside() -> None:
            evaluate(questions(1), Rated(), llm=AsyncModel(answer))
            evaluate(questions(1), Rated(), llm=SyncModel(answer))
            await aevaluate(questions(1), Rated(), llm=SyncModel(answer))

        tracing.set("kept")
        for model in (AsyncModel(answer), SyncModel(answer), InstantModel(answer)):
            evaluate(questions(1), Rated(), llm=model)
        asyncio.run(inside())
        assert seen == ["kept"] * 6


class TestBothWorlds:
    async def test_evaluate_works_inside_a_running_loop(self) -> None:
        result = evaluate(questions(5), Rated(), llm=AsyncModel(unit))
        assert [score.value for score in result.scores["rated"]] == [0.0, 0.01, 0.02, 0.03, 0.04]

    async def test_aevaluate_leaves_the_loop_free(self) -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        def slow_rows():
            for row in questions(50):
                time.sleep(0.01)
                yield row

        ticking = asyncio.create_task(tick())
        await aevaluate(slow_rows(), Length())
        ticking.cancel()
        assert ticks >= 10, "half a second of work without a model, in bites of 0.02 s"

    async def test_errors_come_through_from_the_other_thread(self) -> None:
        with pytest.raises(ModelError, match="the key is refused"):
            evaluate(questions(2), Rated(), llm=AsyncModel(refused()))

    async def test_cancelling_aevaluate_ends_it(self) -> None:
        model = AsyncModel("1", delay=30)
        task = asyncio.create_task(aevaluate(questions(5), Rated(), llm=model))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert model.now == 0

    def test_a_cancelled_run_keeps_what_is_finished(self) -> None:
        class Half(AsyncModel):
            async def agenerate(self, ask: Ask) -> object:
                if ask.inputs["text"] == "1":
                    await asyncio.sleep(60)
                return self.reply(ask)

        async def work() -> None:
            await asyncio.wait_for(aevaluate(questions(3), Rated(), llm=Half("1")), 0.2)

        with pytest.raises(asyncio.TimeoutError) as caught:
            run(work())
        cause = caught.value.__cause__
        assert isinstance(cause, asyncio.CancelledError)
        partial = vars(cause if sys.version_info >= (3, 11) else cause.__context__)["partial"]
        assert [row.user_input for row in partial.rows] == ["0", "2"]

    async def test_ctrl_c_from_inside_a_model_comes_through_with_what_is_finished(self) -> None:
        def answer(text: str) -> object:
            return KeyboardInterrupt() if text == "1" else "1"

        with pytest.raises(KeyboardInterrupt) as caught:
            evaluate(questions(2), Rated(), llm=InstantModel(answer))
        assert [row.user_input for row in vars(caught.value)["partial"].rows] == ["0"]


class TestTime:
    def test_the_wall_time_of_the_run_is_kept(self) -> None:
        begun = time.perf_counter()
        seconds = evaluate(questions(1), Rated(), llm=AsyncModel("1", delay=0.2)).seconds
        whole = time.perf_counter() - begun
        assert seconds is not None
        assert 0.2 <= seconds <= whole


class TestProgress:
    @pytest.mark.parametrize("progress", [True, False, "always"])
    def test_a_process_without_stderr(self, monkeypatch: pytest.MonkeyPatch, progress: bool) -> None:
        monkeypatch.setattr("sys.stderr", None)
        assert len(evaluate(questions(2), Length(), progress=progress)) == 2


IMPOSSIBLE: dict[str, Any] = {
    "llm": "acme:judge",
    "embeddings": "acme:embedder",
    "run_dir": 5,
    "max_concurrency": 0,
    "on_error": "stop",
    "progress": "loud",
    "limit": 0,
    "sample": 0,
    "seed": 0.5,
    "repeats": 0,
    "budget": {"euros": 5},
    "timeout": 0,
    "max_retries": -1,
    "empty": "worst",
    "sinks": print,
    "replace": 1,
    "encoding": "cp1252",
    "at": "train",
    "columns": {"question": "nowhere"},
    "separator": "",
    "batch": "yes",
    "gates": "length >= 3",
    "stop": "soon",
}
"""By argument of ``evaluate``, a value that a run over rows in memory cannot have."""


@pytest.mark.parametrize("function", [evaluate, aevaluate])
def test_every_argument_is_an_option_of_the_run(function: Callable[..., Any]) -> None:
    def begin(**arguments: Any) -> None:
        result = function(questions(1), Rated(), **{"llm": InstantModel("1"), **arguments})
        asyncio.run(result) if inspect.iscoroutine(result) else result

    names = [name for name, item in inspect.signature(function).parameters.items() if item.kind is item.KEYWORD_ONLY]
    assert names == list(IMPOSSIBLE)
    for name, value in IMPOSSIBLE.items():
        with pytest.raises(InvalidInput, match=f"^{name}[ =]"):
            begin(**{name: value})
