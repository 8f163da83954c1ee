"""The live evaluation that every adapter's handler inherits: settings, which calls are judged, what is kept, and which callbacks
are called."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ragmetrics_core import InvalidInput, Score
from ragmetrics_core.adapters import LiveEvaluation, LiveSettings, current_names
from waiting import HeldClock, until

LOGGER = logging.getLogger("ragmetrics_tests")


@dataclass(frozen=True)
class Record:
    question: str
    scores: dict[str, float | None] = field(default_factory=dict)
    problem: str | None = None


@dataclass
class Call:
    """A call of an application whose answers are judged by a function."""

    question: str
    judge: Callable[[str], Score]
    slow: Callable[[], object] | None = None

    @property
    def is_complete(self) -> bool:
        return self.slow is None

    def complete(self) -> None:
        if self.slow is not None:
            self.slow()
            self.slow = None

    def record(self) -> Record:
        return Record(self.question)

    def judgements(self) -> dict[str, Callable[[], Score]]:
        return {"m": lambda: self.judge(self.question)}

    def identity(self, name: str) -> str | None:
        return f"{name} of {self.question}"

    def judged(self, outcomes: Mapping[str, Future[Score]]) -> Record:
        return Record(self.question, {name: outcome.result().value for name, outcome in outcomes.items()})


class Watching(LiveEvaluation[Record, Score]):
    """An adapter's handler, without a framework."""

    def __init__(self, judge: Callable[[str], Score] = lambda _: Score(1.0), **settings: Any) -> None:
        super().__init__(LOGGER, lambda score: score.error, "a Record", **settings)
        self.judge = judge
        self.left_out: list[str] = []

    def hear(self, question: str, slow: Callable[[], object] | None = None) -> None:
        if (draw := self._sampling.draw({})) is not None:
            self._judge(Call(question, self.judge, slow), draw)

    def _leave_out(self, record: Record) -> None:
        self.left_out.append(record.question)

    def _with_problem(self, record: Record, function: str, problem: BaseException) -> Record:
        return replace(record, problem=f"{function}: {problem}")


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == LOGGER.name]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sample_rate": 1.5}, "sample_rate is a share from 0 to 1, got 1.5"),
        ({"sample_rate": float("nan")}, "sample_rate is a share from 0 to 1, got nan"),
        ({"sample_rate": "1"}, "sample_rate is a share from 0 to 1, got '1'"),
        ({"max_pending": 0}, "max_pending must be a whole number from 1, got 0"),
        ({"workers": True}, "workers must be a whole number from 1, got True"),
        ({"keep": 0}, "keep must be a whole number from 1, got 0"),
        ({"timeout": 0}, "timeout must be a number of seconds, at least 0.001, got 0"),
        ({"exit_timeout": None}, "exit_timeout must be a number of seconds, at least 0, got None"),
        ({"only": "q"}, "only must be a function of a Record, got 'q'"),
        ({"on_result": 3}, "on_result must be a function of a Record, got 3"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Watching(**settings)
    assert str(caught.value) == message


def constructor(**settings: Any) -> dict[str, Any]:
    """The user is the one who calls this."""
    return current_names(settings, {"sampling_rate": "sample_rate", "max_results": "keep"})


def test_a_former_name_is_warned_of_where_it_is_written() -> None:
    with pytest.warns(DeprecationWarning, match="^sampling_rate is now called sample_rate$") as caught:
        assert constructor(sampling_rate=0.5, workers=2) == {"sample_rate": 0.5, "workers": 2}
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert constructor(sample_rate=0.5, keep=3) == {"sample_rate": 0.5, "keep": 3}


def test_both_names_of_a_setting() -> None:
    with pytest.raises(InvalidInput, match="^max_results is the former name of keep: give only keep$"):
        constructor(max_results=3, keep=3)


def test_a_share_of_the_calls_the_same_one_for_the_same_seed() -> None:
    chosen = []
    for _ in range(2):
        with Watching(sample_rate=0.3, seed=1) as live:
            for number in range(200):
                live.hear(str(number))
        chosen.append(sorted(int(record.question) for record in live._kept))
    assert chosen[0] == chosen[1]
    assert 30 <= len(chosen[0]) <= 90


def test_only_what_the_user_wants_is_judged(caplog: pytest.LogCaptureFixture) -> None:
    """Asked in the background, about the record without scores; what it raises is reported, and nothing is judged."""
    asked: list[tuple[str, bool]] = []

    def only(record: Record) -> bool:
        asked.append((threading.current_thread().name, bool(record.scores)))
        if record.question == "bad":
            raise LookupError("no such tenant")
        return record.question != "unwanted"

    with Watching(only=only, workers=1) as live:
        for question in ("wanted", "unwanted", "bad"):
            live.hear(question)
    assert set(asked) == {("ragmetrics-call", False)}
    assert live.left_out == ["unwanted"]
    assert live._kept == [Record("wanted", {"m": 1.0}), Record("bad", {}, "only: no such tenant")]
    assert live.counts == {
        "scored": 1,
        "failed": 1,
        "missing": 0,
        "timed_out": 0,
        "dropped": 0,
        "pending": 0,
        "untold": 0,
    }
    assert lines(caplog) == [
        "the preparation of an evaluation failed: no such tenant; further failures are only counted, see counts"
    ]


def test_a_coroutine_function_may_choose() -> None:
    async def only(record: Record) -> bool:
        await asyncio.sleep(0)
        return record.question == "wanted"

    with Watching(only=only, workers=1) as live:
        live.hear("wanted")
        live.hear("unwanted")
    assert ([record.question for record in live._kept], live.left_out) == (["wanted"], ["unwanted"])


def test_a_choice_that_comes_too_late(held_clock: HeldClock) -> None:
    release, asked = threading.Event(), threading.Event()
    with Watching(only=lambda record: asked.set() or release.wait(60), timeout=0.1) as live:  # type: ignore[func-returns-value]
        live.hear("q")
        assert asked.wait(60)
        held_clock.move(0.1)
        assert live.flush(60)
    release.set()
    assert live._kept == [Record("q", {}, "only: no answer in time")]


def test_what_is_needed_to_read_a_call_is_called_in_the_background() -> None:
    release = threading.Event()
    with Watching() as live:
        live.hear("slow", lambda: release.wait(60))
        live.hear("quick")
        while not live._kept:
            assert not live.flush(0.01)
        release.set()
    assert [record.question for record in live._kept] == ["quick", "slow"]


def test_the_newest_are_kept_and_every_record_is_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    received: list[str] = []

    async def tell(record: Record) -> None:
        assert await live.aflush(), "it does not wait for itself"
        received.append(record.question)
        if record.question == "3":
            raise ConnectionError("lost")

    live = Watching(on_result=tell, keep=2, workers=1)
    for number in range(4):
        live.hear(str(number))
        assert live.flush(60)
    assert received == ["0", "1", "2", "3"]
    assert live._kept == [Record("2", {"m": 1.0}), Record("3", {"m": 1.0}, "on_result: lost")]
    assert lines(caplog) == ["on_result failed: lost; further failures are not logged"]


def test_the_end_of_a_block_waits_as_long_as_there_is_progress(caplog: pytest.LogCaptureFixture) -> None:
    quick, hanging = threading.Event(), threading.Event()
    waits: list[float | None] = []

    class Impatient(Watching):
        def flush(self, timeout: float | None = None) -> bool:
            """As long as it takes one of them to be judged, and then without any patience."""
            waits.append(timeout)
            quick.set()
            assert until(lambda: self._live.progress == 1)
            return super().flush(0.0)

    events = {"quick": quick, "hangs": hanging}
    with Impatient(lambda question: Score(float(events[question].wait(60)))) as live:
        live.hear("quick")
        live.hear("hangs")
    assert waits == [60.0, 60.0], "once more after there was progress"
    assert [record.question for record in live._kept] == ["quick"]
    assert lines(caplog) == ["1 evaluations are not finished: the judge does not answer"]
    hanging.set()
    assert until(lambda: live.pending == 0)


def test_one_for_two_event_loops() -> None:
    """Each block waits in its own loop, without blocking it."""
    ticks: list[int] = []
    release = threading.Event()

    async def tick() -> None:
        for number in range(3):
            await asyncio.sleep(0.01)
            ticks.append(number)
        release.set()

    async def main() -> None:
        ticking = asyncio.create_task(tick())
        async with live:
            live.hear("q")
        await ticking

    live = Watching(lambda question: Score(float(release.wait(60))))
    for _ in range(2):
        release.clear()
        asyncio.run(main())
    assert (len(live._kept), ticks, live.pending) == (2, [0, 1, 2] * 2, 0)


def test_it_cannot_be_pickled() -> None:
    message = "a Watching cannot be pickled, as it has threads and results: make one in each process"
    with pytest.raises(TypeError, match=message):
        pickle.dumps(Watching())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python's own, of forks beside threads
def test_a_fork_of_the_program_judges_by_itself() -> None:
    """The threads stay behind, with what they do: the fork waits for none of it, and has its own."""
    release, asked = threading.Event(), threading.Event()

    def judge(question: str) -> Score:
        asked.set()
        return Score(float(question == "of the fork" or release.wait(60)))

    live = Watching(judge, workers=1)
    live.hear("of the program")
    assert asked.wait(60)
    child = os.fork()
    if child == 0:
        waits_for_nothing = live.flush(60)
        live.hear("of the fork")
        received = live.flush(60) and [record.question for record in live._kept] == ["of the fork"]
        sys.stdout.flush()
        os._exit(0 if waits_for_nothing and received and live.counts["scored"] == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert live.pending == 1
    release.set()
    assert live.flush(60)
    assert [record.question for record in live._kept] == ["of the program"]


@pytest.mark.asyncio
async def test_aclose_judges_what_is_pending_and_nothing_more(caplog: pytest.LogCaptureFixture) -> None:
    live = Watching()
    live.hear("first")
    assert await live.aclose()
    live.hear("second")
    assert ([record.question for record in live._kept], live.dropped) == (["first"], 1)
    assert lines(caplog) == [
        "an evaluation was dropped: it began after close(); further ones are only counted, see counts",
    ]


def test_what_is_logged_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    """The first failure of a cause, and one after a recovery; what ``on_problem`` raises is logged, and not reported again."""
    scores = iter([Score.failed("ModelError: down")] * 3 + [Score(1.0), Score.failed("ModelError: down again")])
    received: list[tuple[str, str]] = []

    def tell(name: str, problem: BaseException | str) -> None:
        received.append((name, str(problem)))
        raise ValueError("no pager")

    live = Watching(lambda _: next(scores), workers=1, on_problem=tell)
    for number in range(5):
        live.hear(str(number))
    assert live.flush(60)
    assert received == [("m", "ModelError: down"), ("m", "ModelError: down again")]
    assert "on_problem failed: no pager; further failures are not logged" in lines(caplog)


def test_the_settings() -> None:
    assert list(LiveSettings.__annotations__) == [
        "sample_rate",
        "seed",
        "budget",
        "only",
        "on_result",
        "sinks",
        "spool",
        "redact",
        "on_problem",
        "max_pending",
        "max_concurrency",
        "workers",
        "keep",
        "timeout",
        "exit_timeout",
        "trace",
    ]


def test_stats() -> None:
    """Of a thousand and one judgements the first is forgotten."""
    scores = iter([Score.failed("ModelError: down"), Score.failed("BadReply: no JSON"), *[Score(1.0)] * 999])
    live = Watching(lambda _: next(scores), workers=1, max_pending=2000)
    for number in range(1001):
        live.hear(str(number))
    assert live.flush(120)
    stats = live.stats()
    assert {name: stats[name] for name in live.counts} == live.counts
    assert stats["causes"] == {"m: ModelError": 1, "m: BadReply": 1}
    assert 0 <= stats["seconds"]["m"]["p50"] <= stats["seconds"]["m"]["p99"] <= stats["seconds"]["m"]["most"] < 60


@pytest.mark.asyncio
async def test_stats_of_coroutine_functions() -> None:
    async def judge() -> Score:
        await asyncio.sleep(0.02)
        return Score(1.0)

    class Slow(Call):
        def judgements(self) -> dict[str, Any]:
            return {"m": judge}

    live = Watching()
    live._judge(Slow("q", lambda _: Score(1.0)))
    assert await live.aclose(60)
    assert live.stats()["seconds"]["m"]["p50"] >= 0.015
