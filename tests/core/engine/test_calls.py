"""What becomes of calls that are lost, refused, late or in vain; in virtual time, so that no test waits."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from core.engine.virtual_time import run
from core.evaluate.doubles import Rated, questions
from ragmetrics_core import Ask, Evaluation, ModelError, Reply, Usage, aevaluate

NEVER = 1e9

GONE = 50
"""Calls given up in a row after which a run stops."""

TRIES_IN_SILENCE, TRIES_UNHEARD = 4, 3
"""Attempts of a call that is never answered in time, and while the model has never answered at all."""


def error(message: str, **signs: Any) -> ModelError:
    made = ModelError(message)
    for name, value in signs.items():
        setattr(made, name, value)
    return made


def lost() -> ModelError:
    return error("connection reset", transient=True)


class Server:
    """Answers by a plan: from the text and the number of the attempt to the delay and the answer."""

    def __init__(self, plan: Callable[[str, int], tuple[float, Any]]) -> None:
        self.plan = plan
        self.calls: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.cancelled: list[str] = []

    @property
    def count(self) -> int:
        return sum(map(len, self.calls.values()))

    async def agenerate(self, ask: Ask) -> Any:
        text, clock = ask.inputs["text"], asyncio.get_running_loop().time
        started = clock()
        self.calls[text].append((started, NEVER))
        attempt = len(self.calls[text])
        delay, answer = self.plan(text, attempt)
        try:
            await asyncio.sleep(delay)
        except asyncio.CancelledError:
            self.cancelled.append(text)
            raise
        finally:
            self.calls[text][attempt - 1] = (started, clock())
        if isinstance(answer, ModelError):
            raise answer
        return Reply(answer, Usage(1, 10, 2))

    def durations(self, text: str) -> list[float]:
        return [end - start for start, end in self.calls[text]]

    def pauses(self, text: str) -> list[float]:
        calls = self.calls[text]
        return [start - end for (_, end), (start, _) in pairwise(calls)]


def score(server: Server, rows: int, **settings: Any) -> tuple[Evaluation, float]:
    """The evaluation and how long it took in virtual seconds."""

    async def work() -> tuple[Evaluation, float]:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        result = await aevaluate(questions(rows), Rated(), llm=server, progress=False, **settings)
        return result, loop.time() - begin

    return run(work())


def values(evaluation: Evaluation) -> list[float | None]:
    return [item.value for item in evaluation.scores["rated"]]


class TestLost:
    def test_a_lost_call_is_made_again_after_growing_pauses(self) -> None:
        server = Server(lambda text, attempt: (0.02, lost() if text == "7" and attempt <= 5 else "0.5"))
        result, _ = score(server, 20)
        assert values(result) == [0.5] * 20
        assert len(server.calls["7"]) == 6
        for number, pause in enumerate(server.pauses("7")):
            assert 0.5 * 0.25 * 2**number <= pause <= 1.5 * 0.25 * 2**number + 0.5
        assert all(len(calls) == 1 for text, calls in server.calls.items() if text != "7")
        assert result.summary()["rated"].usage == Usage(20, 200, 40), "what was lost has no known cost"

    @pytest.mark.parametrize("retries", [0, 1, 4])
    def test_it_is_given_up_after_so_many(self, retries: int) -> None:
        server = Server(lambda text, attempt: (0.02, lost() if text == "7" else "0.5"))
        result, _ = score(server, 20, max_retries=retries)
        assert len(server.calls["7"]) == 1 + retries
        assert result.scores["rated"][7].error == "ModelError: connection reset"
        assert values(result) == [None if number == 7 else 0.5 for number in range(20)]

    def test_what_once_more_would_not_change_is_asked_once(self) -> None:
        server = Server(lambda text, attempt: (0.02, ModelError("bad request") if text == "3" else "0.5"))
        result, _ = score(server, 6)
        assert [len(calls) for calls in server.calls.values()] == [1] * 6
        assert result.scores["rated"][3].error == "ModelError: bad request"

    def test_no_server_is_there(self) -> None:
        server = Server(lambda text, attempt: (0.02, lost()))
        result, seconds = score(server, 4)
        assert [len(calls) for calls in server.calls.values()] == [TRIES_UNHEARD] * 4
        assert values(result) == [None] * 4
        assert seconds < 5

    def test_a_server_that_is_gone_stops_the_run(self) -> None:
        server = Server(lambda text, attempt: (0.02, "0.5" if int(text) < 100 else lost()))
        with pytest.raises(ModelError) as caught:
            score(server, 1000, max_retries=2)
        assert str(caught.value) == (
            "connection reset (The last 50 calls all failed, so a run stops here; it can be continued when the "
            "server is back.)"
        )
        assert caught.value.fatal
        partial = caught.value.partial
        scored = [item for item in values(partial) if item is not None]
        assert scored == [0.5] * 100
        assert len(partial) == 100 + GONE - 1
        assert partial.stopped == str(caught.value)
        assert server.count <= 100 + 3 * (GONE + 16)

    def test_an_answer_now_and_then_keeps_it_going(self) -> None:
        server = Server(lambda text, attempt: (0.02, "0.5" if int(text) % 40 == 0 else lost()))
        result, _ = score(server, 200, max_retries=0)
        assert values(result) == [0.5 if number % 40 == 0 else None for number in range(200)]

    def test_what_is_answered_badly_is_an_answer(self) -> None:
        server = Server(lambda text, attempt: (0.02, ModelError("bad request")))
        result, _ = score(server, 3 * GONE)
        assert values(result) == [None] * 3 * GONE


class TestRefused:
    def test_too_many_at_once_costs_nothing_but_time(self) -> None:
        busy = 0

        class Busy(Server):
            async def agenerate(self, ask: Ask) -> Any:
                nonlocal busy
                busy += 1
                try:
                    if busy > 3:
                        raise error("too many requests", transient=True, rate_limited=True)
                    return await super().agenerate(ask)
                finally:
                    busy -= 1

        server = Busy(lambda text, attempt: (0.1, "0.5"))
        result, seconds = score(server, 60, max_retries=0)
        assert values(result) == [0.5] * 60
        assert seconds < 20

    def test_a_server_that_says_when_to_come_back(self) -> None:
        away = error("maintenance", transient=True, retry_after=5.0)
        server = Server(lambda text, attempt: (0.02, away if text == "9" and attempt == 1 else "0.5"))
        result, _ = score(server, 10, max_retries=1)
        assert values(result) == [0.5] * 10
        assert server.pauses("9") == pytest.approx([5.0])

    @pytest.mark.parametrize("retries", [0, 3])
    def test_a_failure_that_lasts_is_given_up_whenever_it_says_to_come_back(self, retries: int) -> None:
        failing = error("internal error (500)", transient=True, retry_after=2.0)
        server = Server(lambda text, attempt: (0.02, failing if text == "9" else "0.5"))
        result, seconds = score(server, 10, max_retries=retries)
        assert len(server.calls["9"]) == 1 + retries
        assert result.scores["rated"][9].error == "ModelError: internal error (500)"
        assert seconds <= 1 + 2.5 * retries

    @pytest.mark.parametrize(("asked", "calls"), [(3600.0, 1), (250.0, 3)])
    def test_nor_is_it_waited_for_longer_than_a_call_may_wait(self, asked: float, calls: int) -> None:
        failing = error("internal error (500)", transient=True, retry_after=asked)
        server = Server(lambda text, attempt: (0.02, failing if text == "9" else "0.5"))
        result, seconds = score(server, 10)
        assert len(server.calls["9"]) == calls
        assert seconds <= 600
        assert result.scores["rated"][9].error == (
            f"ModelError: internal error (500) (The server asks for a pause of {asked:.0f} seconds, but a call waits 600 at "
            "most.)"
        )
        assert values(result)[:9] == [0.5] * 9

    def test_one_that_refuses_everything_is_given_up_in_the_end(self) -> None:
        server = Server(lambda text, attempt: (0.02, error("quota?", transient=True, rate_limited=True)))
        result, seconds = score(server, 2)
        assert [item.error for item in result.scores["rated"]] == ["ModelError: quota?"] * 2
        assert 600 <= seconds <= 900


class TestLate:
    def test_a_hung_call_is_made_again(self) -> None:
        server = Server(lambda text, attempt: (NEVER if text == "42" and attempt == 1 else 0.02, "0.5"))
        result, seconds = score(server, 100)
        assert values(result) == [0.5] * 100
        assert seconds <= 15
        assert server.cancelled == ["42"]
        assert 4 <= server.durations("42")[0] <= 4.5

    def test_one_that_hangs_among_the_first(self) -> None:
        server = Server(lambda text, attempt: (NEVER if text == "0" and attempt <= 2 else 0.02, "0.5"))
        result, seconds = score(server, 100, max_concurrency=4)
        assert values(result) == [0.5] * 100
        assert seconds <= 15

    def test_one_that_is_never_answered_gets_more_time_each_time(self) -> None:
        server = Server(lambda text, attempt: (NEVER if text == "42" else 0.02, "0.5"))
        result, _ = score(server, 100, max_retries=3)
        durations = server.durations("42")
        assert [round(seconds) for seconds in durations] == [4, 8, 16, 32]
        assert result.scores["rated"][42].error == f"ModelError: Server: no answer within {durations[-1]:.3g} seconds"
        assert sum(item is not None for item in values(result)) == 99

    @pytest.mark.parametrize("usual", [0.02, 1.0, 8.0])
    def test_ten_times_slower_than_usual_is_not_late(self, usual: float) -> None:
        server = Server(lambda text, attempt: (usual * 10 if int(text) % 25 == 24 else usual, "0.5"))
        result, _ = score(server, 200, max_concurrency=8)
        assert values(result) == [0.5] * 200
        assert server.cancelled == []
        assert server.count == 200

    def test_a_first_answer_may_take_minutes(self) -> None:
        server = Server(lambda text, attempt: (300.0 if text == "0" else 0.02, "0.5"))
        result, seconds = score(server, 5, max_concurrency=1)
        assert values(result) == [0.5] * 5
        assert server.count == 5
        assert 300 < seconds < 302

    def test_a_limit_of_ones_own(self) -> None:
        server = Server(lambda text, attempt: (1.5 if text == "3" else NEVER if text == "5" else 0.02, "0.5"))
        result, _ = score(server, 10, timeout=2.0, max_retries=2)
        assert server.durations("3") == [1.5]
        assert len(server.durations("5")) == 3
        assert all(2 <= seconds <= 2.5 for seconds in server.durations("5")), "the limit is what was asked for"
        assert values(result) == [None if number == 5 else 0.5 for number in range(10)]

    def test_a_run_that_is_cancelled_in_between(self) -> None:
        server = Server(lambda text, attempt: (NEVER if int(text) >= 5 else 0.02, "0.5"))

        async def work() -> Evaluation:
            task = asyncio.ensure_future(aevaluate(questions(10), Rated(), llm=server, progress=False))
            await asyncio.sleep(1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            # Python 3.10 raises another error about the one that ended the task
            found = vars(caught.value) or vars(caught.value.__context__)
            partial: Evaluation = found["partial"]
            return partial

        partial = run(work())
        assert values(partial) == [0.5] * 5
        assert sorted(server.cancelled) == list("56789")


class TestPatience:
    def test_a_server_that_wants_hours_stops_the_run(self) -> None:
        server = Server(
            lambda text, attempt: (0.02, error("daily limit", transient=True, rate_limited=True, retry_after=3600.0))
        )
        with pytest.raises(ModelError) as caught:
            score(server, 3, max_concurrency=1)
        assert str(caught.value) == (
            "daily limit (The server asks for a pause of 3600 seconds, so a run stops here; it can be continued after that.)"
        )
        assert caught.value.fatal
        assert server.count == 1

    def test_a_question_that_is_never_answered_is_given_up_in_a_minute_or_so(self) -> None:
        server = Server(lambda text, attempt: (NEVER if text == "50" else 0.02, "0.5"))
        result, seconds = score(server, 100)
        failed = [index for index, item in enumerate(values(result)) if item is None]
        assert failed == [50]
        assert len(server.calls["50"]) == TRIES_IN_SILENCE
        assert seconds < 90
        assert "no answer within" in (result.scores["rated"][50].error or "")

    def test_a_silent_server_is_not_waited_for_twice_as_long_each_time(self) -> None:
        server = Server(lambda text, attempt: (NEVER, "0.5"))
        _, seconds = score(server, 1)
        assert seconds < TRIES_UNHEARD * 600 + 10

    def test_a_cancelled_run_ends_although_a_call_is_late_at_that_moment(self) -> None:
        calls = 0

        class Tidy:
            async def agenerate(self, ask: Ask) -> str:
                nonlocal calls
                calls += 1
                try:
                    await asyncio.sleep(NEVER)
                except asyncio.CancelledError:
                    await asyncio.sleep(1)  # closes its connection while the limit passes
                    raise
                return "never"

        async def work() -> None:
            task = asyncio.ensure_future(aevaluate(questions(1), Rated(), llm=Tidy(), timeout=0.6, progress=False))
            await asyncio.sleep(0.4)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        run(work())
        assert calls == 1

    def test_repeated_calls_are_reported(self) -> None:
        server = Server(lambda text, attempt: (0.02, lost() if attempt == 1 and text in "345" else "0.5"))
        result, _ = score(server, 10)
        assert [(item.usage.calls, item.repeated) for item in result.models] == [(10, 3)]
        assert "Server: 3 calls were refused or lost, and made again" in str(result.summary())
        assert result.summary().waited["rated"] >= 0
