"""How the rows of the LLM evaluators run: side by side, begun in order, and none at the cost of another."""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from haystack.components import evaluators as haystack_evaluators

from ragmetrics_haystack import FaithfulnessEvaluator, LLMEvaluator

GOOD = '{"statements": ["a", "b"], "statement_scores": [1, 0]}'


def rows(count: int) -> dict[str, list[Any]]:
    return {
        "questions": [f"row {number}?" for number in range(count)],
        "contexts": [["context"]] * count,
        "predicted_answers": ["answer"] * count,
    }


def faithfulness(generator: Any, **settings: Any) -> FaithfulnessEvaluator:
    return FaithfulnessEvaluator(chat_generator=generator, progress_bar=False, **settings)


def own(generator: Any, instructions: str = "Is it so?", **settings: Any) -> LLMEvaluator:
    defaults = {"inputs": [("texts", list[str])], "outputs": ["score"], "examples": []}
    return LLMEvaluator(
        instructions, **{**defaults, **settings}, chat_generator=generator, progress_bar=False, raise_on_failure=False
    )


def test_an_unreadable_reply_is_asked_again_once(judge: Any) -> None:
    replies = {"row 0?": iter(["what?", GOOD]), "row 1?": iter(["what?", "what?", GOOD])}
    generator = judge(lambda text: next(replies[re.findall(r"row \d\?", text)[-1]]))
    outputs = faithfulness(generator, raise_on_failure=False).run(**rows(2))
    assert [row["status"] for row in outputs["results"]] == ["evaluated", "error"]
    asked = sorted(len(messages) for messages in generator.conversations)
    assert asked == [1, 1, 3, 3]
    again = next(messages for messages in generator.conversations if len(messages) == 3)
    assert [message.role.value for message in again] == ["user", "assistant", "user"]
    assert again[1].text == "what?"


def test_equal_rows_are_questions_of_their_own(judge: Any) -> None:
    replies = iter(['{"score": 0}', '{"score": 1}', '{"score": 2}'])
    generator = judge(lambda text: next(replies))
    assert asyncio.run(own(generator).run_async(texts=["same"] * 3))["results"] == [{"score": n} for n in range(3)]


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, a script does not count as a model."""
    monkeypatch.setattr("haystack_integrations.components.evaluators.ragmetrics._rows.SPARE", 60.0)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("count", [2, 7, 16, 40], ids=str)
@pytest.mark.parametrize(
    ("kind", "asynchronous"), [(kind, way) for kind in ("judge", "sync_judge") for way in (False, True)], ids=str
)
def test_a_script_is_played_in_the_order_of_the_rows(
    request: Any, kind: str, count: int, *, asynchronous: bool
) -> None:
    """As Haystack plays it. A reply that came in the wrong order would be the score of another row, and nothing would tell."""
    said = [RuntimeError("lost") if number in (1, 3) else json.dumps({"score": number}) for number in range(count)]
    outputs = []
    for cls in (haystack_evaluators.LLMEvaluator, LLMEvaluator):
        lines = iter(said)
        generator = request.getfixturevalue(kind)(lambda text, lines=lines: next(lines))
        evaluator = cls(
            "Is it so?", [("texts", list[str])], ["score"], [], False, raise_on_failure=False, chat_generator=generator
        )
        inputs = {"texts": [f"row {number}." for number in range(count)]}
        outputs.append(asyncio.run(evaluator.run_async(**inputs)) if asynchronous else evaluator.run(**inputs))
        asked = [int(re.findall(r"row (\d+)\.", messages[0].text)[-1]) for messages in generator.conversations]
        assert asked == list(range(count))
    assert outputs[0]["results"] == outputs[1]["results"]
    found = [row and row["score"] for row in outputs[1]["results"]]
    assert found == [None if number in (1, 3) else number for number in range(count)]


@pytest.mark.usefixtures("unhurried")
def test_a_script_is_played_in_order_in_every_event_loop(judge: Any) -> None:
    lines = iter(range(80))
    evaluator = own(judge(lambda text: json.dumps({"score": next(lines)})))

    async def scores() -> list[int]:
        return [row["score"] for row in (await evaluator.run_async(texts=["same"] * 40))["results"]]

    assert asyncio.run(scores()) + asyncio.run(scores()) == list(range(80))


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("said", ["no JSON at all", '{"other": 1}', RuntimeError("lost")], ids=["text", "keys", "lost"])
def test_the_first_failure_is_raised_at_once(judge: Any, sync_judge: Any, said: Any, *, asynchronous: bool) -> None:
    """What is in flight is the most that is paid for in vain: 16 rows at a time, each asked once more at most."""
    for cls, most in ((judge, 3 * 16), (sync_judge, 2)):
        generator = cls(said, seconds=0.002)
        evaluator = own(generator)
        evaluator.raise_on_failure = True
        inputs = {"texts": ["t"] * 300}
        with pytest.raises(ValueError, match="Error while generating|Expecting value|Missing expected keys"):
            asyncio.run(evaluator.run_async(**inputs)) if asynchronous else evaluator.run(**inputs)
        assert len(generator.conversations) <= most


def test_a_row_is_judged_to_its_end(sync_judge: Any) -> None:
    lines = iter(["what?", GOOD, GOOD])
    generator = sync_judge(lambda text: next(lines))
    assert faithfulness(generator).run(**rows(2))["individual_scores"] == [0.5, 0.5]
    assert [len(messages) for messages in generator.conversations] == [1, 3, 1]


def at_the_same_time(count: int) -> Callable[[str], str]:
    """A good reply, which no call is given before so many are made at the same time."""
    barrier = threading.Barrier(count, timeout=60)

    def say(text: str) -> str:
        barrier.wait()
        return GOOD

    return say


def test_rows_run_side_by_side(judge: Any, sync_judge: Any) -> None:
    generator = judge(GOOD, seconds=0.02)
    asyncio.run(faithfulness(generator).run_async(**rows(64)))
    assert 8 <= generator.most_at_once <= 16
    generator = judge(at_the_same_time(8), seconds=0.06)
    faithfulness(generator).run(**rows(64))
    assert 8 <= generator.most_at_once <= 16
    generator = judge(at_the_same_time(3), seconds=0.02)
    faithfulness(generator, max_concurrency=3).run(**rows(12))
    assert generator.most_at_once == 3
    # it may compute in this process, and then calls that overlap would break it
    generator = sync_judge(GOOD, seconds=0.001)
    faithfulness(generator).run(**rows(8))
    asyncio.run(faithfulness(generator).run_async(**rows(8)))
    assert generator.most_at_once == 1
    asked = [re.findall(r"row \d\?", messages[0].text)[-1] for messages in generator.conversations]
    assert asked == [f"row {number}?" for number in range(8)] * 2


def test_rows_are_judged_side_by_side_with_the_scores_that_haystack_gives_one_by_one(judge: Any) -> None:
    def say(text: str) -> str:
        number = int(re.findall(r"row (\d+)\?", text)[-1])
        return json.dumps({"statements": ["a", "b", "c"], "statement_scores": [1, number % 2, number % 3 == 0]})

    at_once, scores = [], []
    # Haystack makes one call after the other, so its calls are shorter
    for cls, seconds in ((haystack_evaluators.FaithfulnessEvaluator, 0.002), (FaithfulnessEvaluator, 0.05)):
        generator = judge(say, seconds=seconds)
        outputs = asyncio.run(cls(chat_generator=generator, progress_bar=False).run_async(**rows(100)))
        at_once.append(generator.most_at_once)
        scores.append(outputs["individual_scores"])
    assert at_once[0] == 1
    assert 8 <= at_once[1] <= 16
    assert scores[1] == pytest.approx(scores[0], abs=1e-12)


def test_it_works_inside_a_running_loop(judge: Any) -> None:
    async def cell() -> Any:
        return faithfulness(judge(GOOD)).run(**rows(2))

    assert asyncio.run(cell())["individual_scores"] == [0.5, 0.5]


class TooMany(Exception):
    status_code = 429


def test_a_server_that_takes_no_more_at_once_is_asked_more_slowly(judge: Any) -> None:
    refused: set[str] = set()

    def say(text: str) -> Any:
        row = re.findall(r"row \d+\?", text)[-1]
        if row in refused:
            return GOOD
        refused.add(row)
        return TooMany("slow down")

    outputs = asyncio.run(faithfulness(judge(say)).run_async(**rows(4)))
    assert outputs["individual_scores"] == [0.5] * 4
    generator = judge(TooMany("never"))
    outputs = faithfulness(generator, raise_on_failure=False).run(**rows(1))
    assert outputs["results"][0]["status"] == "error"
    assert len(generator.conversations) == 4


def test_a_refused_key_fails_every_row_and_stops_nothing(judge: Any) -> None:
    problem = PermissionError("who are you?")
    problem.status_code = 401  # type: ignore[attr-defined]
    outputs = faithfulness(judge(problem), raise_on_failure=False).run(**rows(3))
    assert [row["status"] for row in outputs["results"]] == ["error"] * 3
    assert math.isnan(outputs["score"])
