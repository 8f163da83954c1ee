"""A budget finishes rows: what is left goes to those that have begun, and no more rows begin than it covers."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.virtual_time import evaluate, run
from core.evaluate.doubles import RATE, AsyncModel, InstantModel, Rated, RatedTwice, questions
from examples import examples
from ragmetrics_core import (
    Evaluation,
    InvalidInput,
    Metric,
    RagmetricsError,
    Reply,
    Score,
    Steps,
    Usage,
    aevaluate,
    embed,
    together,
)
from ragmetrics_core.embeddings import HashingEmbeddings

OPENAI = "https://api.openai.com/v1"
needs_table = pytest.mark.skipif(
    importlib.util.find_spec("genai_prices") is None, reason="genai-prices is not installed"
)


@dataclass(frozen=True)
class Rounds(Metric):
    """As many questions as the row says, round by round: ``"2 1 3"`` asks two, then one, then three."""

    def measure(self, user_input: str, reference: str) -> Steps[Score]:
        for number, count in enumerate(map(int, user_input.split())):
            yield from together(*(RATE.ask(text=f"{self.name} {reference} {number} {item}") for item in range(count)))
        return Score(0.5)


def rows(plans: list[list[int]]) -> list[dict[str, Any]]:
    return [{"reference": str(number), "user_input": " ".join(map(str, plan))} for number, plan in enumerate(plans)]


def alike(number: int, *plan: int) -> list[dict[str, Any]]:
    return rows([list(plan)] * number)


@pytest.mark.parametrize("max_concurrency", [1, 2, 16])
@pytest.mark.parametrize("plan", [(2,), (1, 1), (1, 1, 1), (1, 4, 1), (7,)])
@pytest.mark.parametrize("most", [1, 5, 60])
def test_as_many_rows_as_it_covers_at_any_concurrency(max_concurrency: int, plan: tuple[int, ...], most: int) -> None:
    model = AsyncModel()
    result = evaluate(alike(40, *plan), Rounds(), llm=model, budget={"calls": most}, max_concurrency=max_concurrency)
    assert len(result) == min(40, most // sum(plan))
    assert len(model.asked) == min(40 * sum(plan), most)
    assert result.stopped == (None if most >= 40 * sum(plan) else f"the budget of {most} calls is used up")


def test_a_row_is_finished_when_all_of_its_metrics_are() -> None:
    metrics = [Rounds(name="one"), Rounds(name="two"), Rounds(name="three")]
    model = AsyncModel(seed=1)
    result = evaluate(alike(40, 1, 2), metrics, llm=model, budget={"calls": 100}, repeats=2)
    assert (len(result), len(model.asked)) == (100 // 18, 100)
    assert {item.state for column in result.scores.values() for item in column} == {"scored"}


def test_the_first_rows_are_the_finished_ones() -> None:
    model = AsyncModel(seed=2, delay=0.005)
    result = evaluate(alike(200, 1, 1), Rounds(), llm=model, budget={"calls": 61})
    assert [record.index for record in result.records] == list(range(30))


COSTS = st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=40)


@examples(40)
@given(COSTS, st.integers(1, 120), st.integers(1, 32), st.integers(0, 5))
def test_the_bound_whatever_the_rows_cost(plans: list[list[int]], most: int, in_flight: int, seed: int) -> None:
    model = AsyncModel(seed=seed, delay=0.0002)
    result = evaluate(rows(plans), Rounds(), llm=model, budget={"calls": most}, max_concurrency=in_flight)
    dearest = max(map(sum, plans))
    bound = (most - dearest + 1) / (2 * dearest - 1)
    assert len(model.asked) == min(most, sum(map(sum, plans)))
    assert len(result) >= min(len(plans), bound)


def test_no_row_waits_where_plenty_is_left() -> None:
    """The rows in progress grow with those that were finished, up to as many as may be."""
    model = AsyncModel(delay=0.005)
    evaluate(alike(200, 1, 1), Rounds(), llm=model, budget={"calls": 1_000_000}, max_concurrency=32)
    assert model.most == 32


def test_rows_that_cost_nothing_never_wait(tmp_path: Path) -> None:
    model = AsyncModel()
    model.identity = {"model": "named"}  # type: ignore[attr-defined]
    evaluate(alike(100, 1, 1), Rounds(), llm=model, run_dir=tmp_path)
    more = alike(150, 1, 1)
    result = evaluate(more, Rounds(), llm=model, run_dir=tmp_path, budget={"calls": 41})
    assert len(result) == 120
    assert len(Evaluation.load(tmp_path)) == 120


def test_rows_that_share_a_call() -> None:
    """What is asked by several rows at once is paid by one of them."""
    same = [{"user_input": "the same"} for _ in range(50)]
    result = evaluate(same, RatedTwice(), llm=AsyncModel(delay=0.005), budget={"calls": 20})
    assert len(result) > 10


def test_an_embedding_after_the_questions() -> None:
    @dataclass(frozen=True)
    class Both(Metric):
        def measure(self, user_input: str) -> Steps[Score]:
            yield from RATE.ask(text=user_input)
            yield from embed([user_input])
            return Score(0.5)

    class Vectors:
        async def aembed(self, texts: Any) -> Any:
            await asyncio.sleep(0.001)
            return Reply([[0.5] for _ in texts], Usage(1, 5))

    result = evaluate(questions(60), Both(), llm=AsyncModel(), embeddings=Vectors(), budget={"calls": 40})
    assert 18 <= len(result) <= 39, "texts of several rows may go in one call"


class Reporting(AsyncModel):
    """A model whose calls cost what it is told."""

    def __init__(self, usage: Usage, **identity: str) -> None:
        super().__init__(delay=0.002)
        self.usage = usage
        self.identity = identity

    def reply(self, ask: Any) -> object:
        self.asked.append(ask.inputs["text"])
        return Reply("0.5", self.usage)


def test_tokens_are_hardly_overspent() -> None:
    """A row costs 2,000 tokens; of 32 calls that may be in flight, hardly any is when the budget comes to its end."""
    model = Reporting(Usage(1, 900, 100))
    result = evaluate(alike(200, 1, 1), Rounds(), llm=model, budget={"tokens": 100_500}, max_concurrency=32)
    assert (len(result), len(model.asked)) == (50, 101)
    assert result.stopped == "the budget of 100500 tokens is used up"


@needs_table
class TestDollars:
    def test_rows_are_finished_for_it(self) -> None:
        # $0.15 and $0.60 a million tokens: a call costs $0.0002, a row $0.0004
        model = Reporting(Usage(1, 1_000, 83), model="gpt-4o-mini", base_url=OPENAI)
        result = evaluate(alike(200, 1, 1), Rounds(), llm=model, budget={"dollars": 0.01})
        assert 24 <= len(result) <= 25
        assert result.stopped == "the budget of 0.01 dollars is used up"

    @pytest.mark.parametrize(
        ("identity", "why"),
        [
            ({"model": "mine"}, "the model does not say where it is called"),
            (
                {"model": "mine", "base_url": OPENAI},
                f"genai-prices VERSION has no price for it at {OPENAI}",
            ),
        ],
    )
    def test_a_price_that_is_not_known_is_said_before_the_first_call(self, identity: dict[str, str], why: str) -> None:
        model = Reporting(Usage(1, 10, 10), **identity)
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(3), Rated(), llm=model, budget={"dollars": 5})
        why = why.replace("VERSION", importlib.metadata.version("genai-prices"))
        assert str(caught.value) == (
            f"budget: the price of mine is not known ({why}): limit its tokens, as in budget={{'tokens': 1000000}}"
        )
        assert model.asked == []

    def test_what_is_computed_here_costs_nothing(self) -> None:
        result = evaluate(
            questions(3), Rated(), llm=InstantModel(), embeddings=HashingEmbeddings(), budget={"dollars": 0.5}
        )
        assert (len(result), result.stopped) == (3, None)

    def test_an_embedding_model_that_asks_to_be_paid_after_all(self) -> None:
        @dataclass(frozen=True)
        class Embedded(Metric):
            def measure(self, user_input: str) -> Steps[Score]:
                yield from embed([user_input])
                return Score(0.5)

        class Vectors:
            async def aembed(self, texts: Any) -> Any:
                return Reply([[0.5] for _ in texts], Usage(1, 5))

        with pytest.raises(InvalidInput, match="^budget: the price of Vectors is not known"):
            evaluate(questions(3), Embedded(), embeddings=Vectors(), budget={"dollars": 0.5})


def test_without_the_table_of_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    model = Reporting(Usage(1, 10, 10), model="gpt-4o-mini", base_url=OPENAI)
    with pytest.raises(RagmetricsError) as caught:
        evaluate(questions(3), Rated(), llm=model, budget={"dollars": 5})
    assert str(caught.value) == 'a budget of dollars needs the table of prices: pip install "ragmetrics-core[prices]"'


def test_stopped_while_rows_wait() -> None:
    async def main() -> Evaluation:
        model = AsyncModel(delay=0.01)
        work = aevaluate(alike(200, 1, 1), Rounds(), llm=model, budget={"calls": 60}, progress=False)
        task = asyncio.ensure_future(work)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        # on Python 3.10 the caller that awaits a task gets a new error, with the error of the task as its context
        partial: Evaluation = (vars(caught.value) or vars(caught.value.__context__))["partial"]
        return partial

    partial = run(main())
    assert 1 <= len(partial) < 30
    assert partial.stopped == "it was interrupted"
