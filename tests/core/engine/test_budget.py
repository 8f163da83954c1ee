"""What a run may spend: never more calls than allowed, rows complete or not at all, and on it goes with the next run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from core.engine.estimating import tokens_in
from core.evaluate.doubles import (
    AsyncModel,
    Embedded,
    InstantModel,
    Length,
    Rated,
    RatedContexts,
    RatedTwice,
    SyncModel,
    questions,
)
from loopback import OpenAIServer, Response
from ragmetrics_core import Evaluation, InvalidInput, ModelError, Reply, Usage, evaluate
from ragmetrics_core.llms import OpenAIServerLLM


class InMemory:
    """Vectors that cost no tokens as far as it says."""

    texts_per_call = 1

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        return Reply([[1.0, 2.0] for _ in texts])


def _messages(llm: OpenAIServerLLM, server: OpenAIServer) -> list[dict[str, str]]:
    """What one row sends."""
    evaluate(questions(1), Rated(), llm=llm, progress=False)
    messages: list[dict[str, str]] = server.chats[0]["messages"]
    return messages


def named(kind: type[AsyncModel], answer: object = "0.5", **settings: Any) -> AsyncModel:
    model = kind(answer, **settings)
    model.identity = {"model": "named"}  # type: ignore[attr-defined]
    return model


class TestCalls:
    @pytest.mark.parametrize("kind", [AsyncModel, SyncModel, InstantModel])
    @pytest.mark.parametrize("most", [1, 7, 20, 39])
    def test_never_more_calls_than_allowed_and_rows_complete(self, kind: type[AsyncModel], most: int) -> None:
        model = kind("0.5")
        metrics = [Rated(), RatedTwice(), Length()]
        result = evaluate(questions(20), metrics, llm=model, budget={"calls": most})
        assert len(model.asked) == most
        assert result.stopped == f"the budget of {most} calls is used up"
        assert str(result.summary()).endswith(f"\n\nstopped: the budget of {most} calls is used up")
        assert all(item.state == "scored" for column in result.scores.values() for item in column)
        assert len({len(column) for column in result.scores.values()}) == 1
        assert len(result) <= most // 2, "each row needs two calls"

    def test_exactly_enough_is_enough(self) -> None:
        result = evaluate(questions(20), Rated(), llm=AsyncModel("0.5"), budget={"calls": 20})
        assert (len(result), result.stopped) == (20, None)

    def test_rows_that_ask_nothing_are_not_lost_to_it(self) -> None:
        model = AsyncModel("0.5")
        rows = [{"retrieved_contexts": [] if number % 2 else ["a"], "user_input": "x"} for number in range(4)]
        result = evaluate(rows, RatedContexts(), llm=model, budget={"calls": 2}, max_concurrency=1)
        assert (len(result), result.stopped) == (4, None)

    def test_attempts_that_are_lost_count(self) -> None:
        lost = ModelError("reset")
        lost.transient = True
        model = AsyncModel(lost)
        result = evaluate(questions(1), Rated(), llm=model, budget={"calls": 2})
        assert (len(model.asked), len(result)) == (2, 0)
        assert result.stopped == "the budget of 2 calls is used up"

    def test_embeddings_count_by_call(self) -> None:
        class Vectors:
            calls = 0

            async def aembed(self, texts: tuple[str, ...]) -> list[list[float]]:
                self.calls += 1
                await asyncio.sleep(0.002)
                return [[0.5] for _ in texts]

        model = Vectors()
        result = evaluate(questions(200), Embedded(), embeddings=model, budget={"calls": 2}, max_concurrency=4)
        assert model.calls == 2
        assert 0 < len(result) < 200
        assert result.stopped == "the budget of 2 calls is used up"

    @pytest.mark.parametrize("kind", [AsyncModel, InstantModel])
    def test_the_next_run_goes_on(self, tmp_path: Path, kind: type[AsyncModel]) -> None:
        undisturbed = evaluate(questions(30), RatedTwice(), llm=kind("0.5"))
        model = named(kind)
        lengths = []
        for _ in range(12):
            result = evaluate(questions(30), RatedTwice(), llm=model, run_dir=tmp_path, budget={"calls": 7})
            lengths.append(len(result))
            assert len(Evaluation.load(tmp_path)) == len(result)
            assert Evaluation.load(tmp_path).stopped == result.stopped
            if result.stopped is None:
                break
        assert len(lengths) == 9, "60 calls, 7 at a time"
        assert lengths == sorted(lengths)
        assert len(model.asked) == len(set(model.asked)) == 60
        values = [item.value for item in result.scores["rated_twice"]]
        assert values == [item.value for item in undisturbed.scores["rated_twice"]]


class TestTokens:
    @pytest.mark.parametrize("kind", [AsyncModel, InstantModel])
    def test_no_call_is_made_once_they_are_used_up(self, kind: type[AsyncModel]) -> None:
        model = kind("0.5")
        result = evaluate(questions(50), Rated(), llm=model, budget={"tokens": 100}, max_concurrency=4)
        # 12 tokens a call: after 9 calls 108 are used, and 3 more may be in flight by then
        assert 9 <= len(model.asked) <= 12
        assert len(result) == len(model.asked)
        assert result.stopped == "the budget of 100 tokens is used up"

    def test_replayed_answers_are_free(self, tmp_path: Path) -> None:
        model = named(AsyncModel)
        evaluate(questions(20), Rated(), llm=model, run_dir=tmp_path)
        result = evaluate(questions(21), Rated(), llm=model, run_dir=tmp_path, budget={"tokens": 1, "calls": 1})
        assert (len(result), result.stopped) == (21, None)
        assert len(model.asked) == 21

    def test_both_limits(self) -> None:
        model = InstantModel("0.5")
        result = evaluate(questions(50), Rated(), llm=model, budget={"tokens": 10_000, "calls": 3})
        assert (len(result), result.stopped) == (3, "the budget of 3 calls is used up")

    @pytest.mark.parametrize("most", [500, 1000])
    def test_they_are_estimated_where_the_server_reports_none(self, most: int) -> None:
        """By the estimate that the price of a run rests on too; no score says that it cost what is only estimated."""
        with OpenAIServer(lambda body: Response("0.5", usage=None)) as server:
            llm = OpenAIServerLLM(server.base_url, "silent")
            sent = sum(tokens_in(item["content"]) for item in _messages(llm, server)) + tokens_in("0.5")
            result = evaluate(questions(200), Rated(), llm=llm, budget={"tokens": most}, max_concurrency=1)
            calls = len(server.chats) - 1
        assert abs(calls - most / sent) <= 0.1 * most / sent
        assert len(result) == calls
        assert result.stopped == f"the budget of {most} tokens is used up (estimated: silent reports no tokens)"
        assert {score.usage for score in result.scores["rated"]} == {Usage(1)}
        (caveat,) = result.summary().caveats
        counted = re.fullmatch(
            r"silent reports no tokens: for the budget, ([\d,]+) tokens were estimated from the texts", caveat
        )
        assert counted is not None
        assert most <= int(counted[1].replace(",", "")) <= most + 2 * sent
        assert caveat in " ".join(str(result.summary()).split())

    def test_a_prompt_of_no_tokens_is_estimated(self) -> None:
        """Some servers count only what they have written."""
        model = AsyncModel()
        model.reply = lambda ask: Reply("0.5", Usage(1, 0, 40))  # type: ignore[method-assign]
        result = evaluate(questions(200), Rated(), llm=model, budget={"tokens": 1000}, max_concurrency=1)
        assert 5 < len(result) < 1000 / 40
        assert result.stopped is not None
        assert result.stopped.startswith("the budget of 1000 tokens is used up (estimated: ")

    def test_a_budget_of_calls_estimates_nothing(self) -> None:
        model = AsyncModel()
        model.reply = lambda ask: "0.5"  # type: ignore[method-assign]
        result = evaluate(questions(5), Rated(), llm=model, budget={"calls": 3})
        assert (result.stopped, result.summary().caveats) == ("the budget of 3 calls is used up", ())

    def test_vectors_of_a_server_are_estimated_and_those_of_this_machine_are_free(self) -> None:
        class Remote(InMemory):
            identity: ClassVar[dict[str, Any]] = {"model": "remote", "base_url": "http://127.0.0.1:9/v1"}

        free = evaluate(questions(50), Embedded(), embeddings=InMemory(), budget={"tokens": 20})
        assert (len(free), free.stopped) == (50, None)
        paid = evaluate(questions(50), Embedded(), embeddings=Remote(), budget={"tokens": 20}, max_concurrency=1)
        assert paid.stopped == "the budget of 20 tokens is used up (estimated: remote reports no tokens)"

    def test_unreadable_replies_cost_too(self) -> None:
        model = AsyncModel(lambda text: Reply("0.5", Usage(1, 500, 500)))
        model.reply = lambda ask: Reply("0.5", Usage(1, 500, 500))  # type: ignore[method-assign]
        result = evaluate(questions(10), Rated(), llm=model, budget={"tokens": 2500}, max_concurrency=1)
        assert len(result) == 3


EXAMPLE = 'write budget={"calls": 1000}, budget={"tokens": 1_000_000} or budget={"dollars": 5}'


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (
            {},
            f"budget must be a mapping, got {{}}: {EXAMPLE}",
        ),
        (
            100,
            f"budget must be a mapping, got 100: {EXAMPLE}",
        ),
        (
            {"euros": 1},
            'budget has no limit of \'euros\': write budget={"calls": 1000}, budget={"tokens": 1_000_000} or budget={"dollars": 5}',
        ),
        ({"calls": 0}, "budget: calls must be a whole number from 1, got 0"),
        ({"calls": 1.5}, "budget: calls must be a whole number from 1, got 1.5"),
        ({"tokens": True}, "budget: tokens must be a whole number from 1, got True"),
        ({"tokens": None}, "budget: tokens must be a whole number from 1, got None"),
        ({"dollars": 0}, "budget: dollars must be a positive number, got 0"),
        ({"dollars": float("nan")}, "budget: dollars must be a positive number, got nan"),
        ({"dollars": float("inf")}, "budget: dollars must be a positive number, got inf"),
        ({"dollars": "5"}, "budget: dollars must be a positive number, got '5'"),
        ({"dollars": True}, "budget: dollars must be a positive number, got True"),
    ],
)
def test_impossible_budgets(budget: Any, message: str) -> None:
    model = AsyncModel()
    with pytest.raises(InvalidInput) as caught:
        evaluate(questions(1), Rated(), llm=model, budget=budget)
    assert str(caught.value) == message
    assert model.asked == []
