"""Questions that are asked once for several: what happens to the others when the one who asks fails or is cancelled."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Ask, Metric, ModelError, Prompt, Reply, Score, Steps, Usage, aevaluate, together
from ragmetrics_core._engine import Budget, Rules
from ragmetrics_core._engine._pending import RowMemory
from ragmetrics_core._engine._questions import Answers
from ragmetrics_core._kernel._drive import Models
from ragmetrics_core._values._requests import Message
from ragmetrics_core.replies import YesNoReply

YES = Prompt("Is it?", YesNoReply())
PAID, SHARED = Usage(calls=1, prompt_tokens=7), Usage(calls=1, cached_calls=1)


@dataclass
class Slow:
    """Answers after a moment; fails first, if it is told to."""

    failing: int = 0
    calls: int = 0

    async def agenerate(self, ask: Ask) -> Reply[str]:
        self.calls += 1
        call = self.calls
        await asyncio.sleep(0.01)
        if call <= self.failing:
            raise ModelError("no")
        return Reply("yes", PAID)


def ask_together(model: Slow, cancelled: tuple[int, ...] = (), budget: dict[str, int] | None = None) -> list[Any]:
    """What becomes of four rows that ask the same at once, of which some are cancelled while the answer is awaited."""

    async def main() -> list[Any]:
        answers = Answers(8, Rules(), Budget(budget), None)
        models = Models(model)
        question = Ask((Message("user", "?"),), YES.reply, YES, {})

        async def one() -> Any:
            memory = RowMemory()
            found = await answers.later(answers.resolve(models, [question], 0, memory), memory)
            return found and found[0]

        tasks = [asyncio.ensure_future(one()) for _ in range(4)]
        await asyncio.sleep(0.003)
        for number in cancelled:
            tasks[number].cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert not answers._in_flight
        assert answers.gathering == 0
        return found

    return asyncio.run(main())


class TestShared:
    def test_one_pays(self) -> None:
        model = Slow()
        assert [reply.usage for reply in ask_together(model)] == [PAID, SHARED, SHARED, SHARED]
        assert model.calls == 1

    @pytest.mark.parametrize("cancelled", [(0,), (0, 1), (0, 2, 3)])
    def test_who_waits_for_one_that_is_cancelled_asks_itself(self, cancelled: tuple[int, ...]) -> None:
        model = Slow()
        found = ask_together(model, cancelled)
        assert [type(found[number]) for number in cancelled] == [asyncio.CancelledError] * len(cancelled)
        left = [item.usage for number, item in enumerate(found) if number not in cancelled]
        assert left == [PAID] + [SHARED] * (3 - len(cancelled))
        assert model.calls == 2

    def test_those_who_wait_may_be_cancelled(self) -> None:
        model = Slow()
        found = ask_together(model, (1, 3))
        assert [found[0].usage, found[2].usage] == [PAID, SHARED]
        assert model.calls == 1

    def test_a_failure_is_told_to_each_in_an_object_of_its_own(self) -> None:
        """For each program notes on it what it had spent itself."""
        model = Slow(failing=1)
        found = ask_together(model)
        assert [str(error) for error in found] == ["no"] * 4
        assert len(set(map(id, found))) == 4
        assert model.calls == 1

    def test_a_budget_that_is_used_up_leaves_all_without(self) -> None:
        model = Slow(failing=1)
        assert [type(item) for item in ask_together(model, budget={"calls": 1})] == [ModelError] * 4

        async def main() -> Any:
            answers = Answers(8, Rules(), budget, None)
            question = Ask((Message("user", "?"),), YES.reply, YES, {})
            memory = RowMemory()
            return await answers.later(answers.resolve(Models(Slow()), [question], 0, memory), memory)

        budget = Budget({"calls": 1})
        assert budget.take()
        assert asyncio.run(main()) is None


@dataclass(frozen=True)
class ThreeQuestions(Metric):
    """One of them is asked by a third of the rows."""

    def measure(self, user_input: str) -> Steps[Score]:
        third = user_input.split("/")[1]
        found = yield from together(*(YES.ask(q=text) for text in (third, user_input, f"again {user_input}")))
        return Score(float(all(found)))


@dataclass
class Hasty:
    """Answers sooner or later, in an order of its own."""

    chance: random.Random
    identity: dict[str, int] = field(default_factory=lambda: {"model": 1})
    asked: list[str] = field(default_factory=list)

    async def agenerate(self, ask: Ask) -> str:
        self.asked.append(ask.messages[-1].content)
        for _ in range(self.chance.randrange(4)):
            await asyncio.sleep(0)
        return "yes"


@pytest.mark.parametrize("seed", range(30))
def test_what_was_kept_meanwhile_is_found_in_the_journal(seed: int, tmp_path: Path) -> None:
    """An answer can come in after a round of questions was looked up, and before each of them is asked."""
    model = Hasty(random.Random(seed))
    rows = [{"user_input": f"{number}/{number % 3}"} for number in range(40)]
    work = aevaluate(rows, ThreeQuestions(), llm=model, run_dir=tmp_path, max_concurrency=4, progress=False)
    result = asyncio.run(work)
    assert [score.value for score in result.scores["three_questions"]] == [1.0] * 40
    assert len(model.asked) == len(set(model.asked)) == 83
