"""An application that is asked the questions of a data set, and the arguments that two functions have in common."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from functools import partial
from typing import Any

import pytest

from ragmetrics_core import Ask, InvalidInput, Prompt, Reply, Sample, evaluate
from ragmetrics_core.adapters import (
    Attempts,
    FormsOfReply,
    LLMBridge,
    asked_rows,
    check_whole,
    in_own_thread,
    prompts_of,
    with_arguments_of,
)
from ragmetrics_core.metrics import ExactMatch, Faithfulness

SAMPLES = [Sample(user_input=name, reference=f"answer to {name}", id=name) for name in ("one", "two", "three", "four")]


class Application:
    """Answers all questions but one, and knows how many it was asked at the same time."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.asked, self.now, self.most = error, list[str](), 0, 0

    async def ask(self, question: str) -> dict[str, Any]:
        self.asked.append(question)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        if question == "two" and self.error is not None:
            raise self.error
        return {"response": f"answer to {question}"}


@pytest.mark.parametrize("workers", [1, 3])
async def test_questions_are_asked_a_few_at_a_time_and_rows_stay_in_order(workers: int) -> None:
    application = Application()
    rows = await asked_rows(SAMPLES, application.ask, who="chain", workers=workers)
    assert rows == [Sample(**{**vars(sample), "response": sample.reference}) for sample in SAMPLES]
    assert application.most == workers


async def test_a_question_that_fails_costs_its_row_only_and_tells_no_secret() -> None:
    error = RuntimeError("no answer,\nkey=sk-secret-4711-abcdefghijklmnop")
    rows = await asked_rows(SAMPLES, Application(error).ask, who="chain")
    assert [type(row) for row in rows] == [Sample, InvalidInput, Sample, Sample]
    assert str(rows[1]) == "the chain failed: RuntimeError: no answer, key=***"
    evaluation = await asyncio.to_thread(partial(evaluate, rows, ExactMatch(), progress=False))
    assert [score.value for score in evaluation.scores["exact_match"]] == [1.0, None, 1.0, 1.0]
    assert evaluation.rows[1] == SAMPLES[1]


async def test_a_failure_is_raised_where_that_is_asked_for_and_ends_the_others() -> None:
    application = Application(KeyError("choices"))
    with pytest.raises(KeyError, match="choices"):
        await asked_rows(SAMPLES, application.ask, who="chain", workers=1, record=False)
    assert "four" not in application.asked


async def test_a_cancelled_question_is_never_recorded() -> None:
    async def ask(question: str) -> dict[str, Any]:
        raise asyncio.CancelledError(question)

    with pytest.raises(asyncio.CancelledError):
        await asked_rows(SAMPLES[:1], ask, who="chain")


async def test_a_blocking_application_is_asked_on_threads() -> None:
    def ask(question: str) -> dict[str, Any]:
        return {"response": asyncio.run(Application().ask(question))["response"]}

    rows = await asked_rows(SAMPLES, lambda question: in_own_thread(partial(ask, question)), who="chain")
    assert [row.response for row in rows if isinstance(row, Sample)] == [sample.reference for sample in SAMPLES]


async def test_nothing_is_asked_where_something_is_wrong() -> None:
    application = Application()
    with pytest.raises(InvalidInput, match="^sample 's1' has no user_input to ask$"):
        await asked_rows([*SAMPLES, Sample(user_input=" ", id="s1")], application.ask, who="chain")
    with pytest.raises(InvalidInput, match="^workers must be a whole number from 1, got 0$"):
        await asked_rows(SAMPLES, application.ask, who="chain", workers=0)
    assert application.asked == []


@pytest.mark.parametrize("wrong", [True, 1.0, "2", None, -1])
def test_what_is_no_whole_number(wrong: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_whole("size", wrong, least=0)
    assert str(caught.value) == f"size must be a whole number from 0, got {wrong!r}"
    assert check_whole("size", 0, least=0) is None  # type: ignore[func-returns-value]


def test_the_prompts_of_a_metric() -> None:
    found = prompts_of(Faithfulness())
    assert found
    assert all(isinstance(prompt, Prompt) and getattr(Faithfulness(), name) == prompt for name, prompt in found.items())
    assert prompts_of(ExactMatch()) == {}


def scaled(number: int, factor: int = 2, *, name: str = "n", **options: Any) -> str:
    """A number in words."""
    return f"{name}={number * factor} {options}"


@with_arguments_of(scaled)
async def ascaled(**given: Any) -> dict[str, Any]:
    """The same, awaited."""
    return given


@with_arguments_of(scaled)
def listed(**given: Any) -> list[Any]:
    """The values alone."""
    return list(given.values())


async def test_a_function_with_the_arguments_of_another_one() -> None:
    assert await ascaled(3, name="m", more=1) == {"number": 3, "factor": 2, "name": "m", "options": {"more": 1}}
    assert listed(3, 4) == [3, 4, "n", {}]
    assert inspect.iscoroutinefunction(ascaled)
    assert not inspect.iscoroutinefunction(listed)
    assert (
        str(inspect.signature(listed))
        == "(number: 'int', factor: 'int' = 2, *, name: 'str' = 'n', **options: 'Any') -> 'list[Any]'"
    )
    assert (ascaled.__name__, ascaled.__doc__) == ("ascaled", "The same, awaited.")
    with pytest.raises(TypeError, match="missing a required argument: 'number'"):
        listed()  # type: ignore[call-arg]


class Given(LLMBridge):
    """A bridge to a model that can be pickled: a text, which it says."""

    def _ask(self, model: str, question: Ask, form: Attempts) -> str:
        return f"{model} {form.rung}"

    def _read(self, answer: str) -> Reply[str]:
        return Reply(answer)


def test_a_bridge_is_pickled_without_what_it_knows_of_this_process() -> None:
    bridge = Given("yes", overlap=True, forms=FormsOfReply("json")).without_retries()
    again = pickle.loads(pickle.dumps(bridge))
    assert (again._given, again._overlap, again._home is bridge._home) == ("yes", True, False)
    assert again._changes == bridge._changes
    assert list(again._forms._ladder.rungs({})) == ["json", "text"]
