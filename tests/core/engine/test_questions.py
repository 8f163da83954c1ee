"""Questions that are asked once for several: what happens to the others when the one who asks fails."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ragmetrics_core import Ask, Metric, ModelError, Prompt, Reply, Score, Steps, Usage, aevaluate, evaluate, together
from ragmetrics_core.replies import YesNoReply

YES = Prompt("Is it?", YesNoReply())
PAID, SHARED = Usage(calls=1, prompt_tokens=7), Usage(calls=1, cached_calls=1)


@dataclass
class Slow:
    """Answers after a moment; fails first, if it is set to."""

    failing: int = 0
    calls: int = 0

    async def agenerate(self, ask: Ask) -> Reply[str]:
        self.calls += 1
        call = self.calls
        await asyncio.sleep(0.01)
        if call <= self.failing:
            raise ModelError("no")
        return Reply("yes", PAID)


@dataclass(frozen=True)
class IsIt(Metric):
    def measure(self) -> Steps[Score]:
        return Score(float((yield from YES.ask())))


def ask_together(model: Slow, budget: dict[str, float] | None = None) -> list[Score]:
    """The scores of four rows that ask the same at once."""
    result = evaluate([{}] * 4, IsIt(), llm=model, budget=budget, max_retries=0, progress=False)
    return list(result.scores["is_it"])


class TestShared:
    def test_one_pays(self) -> None:
        model = Slow()
        assert sorted(score.usage.prompt_tokens for score in ask_together(model)) == [0, 0, 0, 7]
        assert [score.usage for score in ask_together(Slow())].count(SHARED) == 3
        assert model.calls == 1

    def test_each_program_gets_the_failure_and_none_pays_twice(self) -> None:
        """For each program notes on it what it had spent itself."""
        model = Slow(failing=1)
        scores = ask_together(model)
        assert [score.error for score in scores] == ["ModelError: no"] * 4
        assert [score.usage for score in scores] == [Usage()] * 4
        assert model.calls == 1

    def test_a_budget_of_one_call_is_enough_for_all_who_ask_the_same(self) -> None:
        assert [score.value for score in ask_together(Slow(), {"calls": 1})] == [1.0] * 4

    def test_two_questions_of_one_row_are_one_call(self) -> None:
        model = Slow()
        result = evaluate([{}], [IsIt(), IsIt(name="again")], llm=model, progress=False)
        assert [scores[0].usage for scores in result.scores.values()] == [PAID, SHARED]
        assert model.calls == 1


@dataclass(frozen=True)
class ThreeQuestions(Metric):
    """One of them is asked by a third of the rows."""

    def measure(self, user_input: str) -> Steps[Score]:
        third = user_input.split("/")[1]
        found = yield from together(*(YES.ask(q=text) for text in (third, user_input, f"again {user_input}")))
        return Score(float(all(found)))


@dataclass
class Hasty:
    """Answers sooner or later, in a different order."""

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
