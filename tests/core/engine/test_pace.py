"""The pace of calls, against simulated servers in virtual time: goals first, then what is promised to each caller."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from core.engine.simulated import Counting, Outcome, Places, Server, TokenBucket, ask, constant, lognormal, simulate
from core.engine.virtual_time import Stuck, run
from growth import seconds, slowness
from ragmetrics_core._engine._gate import Gate, Pace

pytestmark = pytest.mark.slow

STEPS = ((80.0, 40.0), (80.0, 8.0))
RETRY_AFTER = ("exact", "rounded", "none")


def bucket(rate: float, model: str, **settings: object) -> TokenBucket:
    """As a language model answers ("slow"), or a small one next door ("fast")."""
    if model == "slow":
        return TokenBucket(rate, lognormal(1.5), refusal_time=0.1, **settings)  # type: ignore[arg-type]
    return TokenBucket(rate, constant(0.05), refusal_time=0.002, **settings)  # type: ignore[arg-type]


@pytest.mark.usefixtures("untraced")
# Most refusals come in the first seconds, when the limit is not known yet.
@pytest.mark.parametrize("retry_after", RETRY_AFTER)
@pytest.mark.parametrize(
    ("rate", "calls", "burst", "in_flight", "model", "refused"),
    [
        (2, 480, 1, 16, "slow", 0.25),
        (2, 480, 2, 64, "slow", 0.25),
        (2, 480, 1, 64, "fast", 0.93),
        (10, 2400, 0.5, 32, "slow", 0.06),
        (10, 2400, 1, 64, "slow", 0.09),
        (10, 2400, 1, 128, "fast", 0.1),
        (40, 2400, 1, 64, "slow", 0.03),
        (40, 2400, 1, 128, "slow", 0.4),
        (40, 2400, 0.5, 64, "fast", 0.45),
    ],
)
def test_a_limit_of_calls_a_second_is_used_and_seldom_exceeded(
    rate: float, calls: int, burst: float, in_flight: int, model: str, refused: float, retry_after: str
) -> None:
    server = bucket(rate, model, burst=burst, retry_after=retry_after)
    outcome = simulate(server, calls, in_flight)
    assert server.ideal(calls) / outcome.seconds >= 0.82
    assert outcome.share <= refused


# Such a server takes all of a second's calls at its beginning, and then refuses everything for the rest of it.
@pytest.mark.parametrize("sliding", [True, False])
@pytest.mark.parametrize("refusal_time", [0.002, 0.1])
@pytest.mark.parametrize(("rate", "calls", "in_flight"), [(10, 600, 32), (40, 2400, 64)])
def test_a_server_that_counts_by_the_second(
    rate: int, calls: int, in_flight: int, refusal_time: float, sliding: bool
) -> None:
    server = Counting(rate, constant(0.05), sliding=sliding, refusal_time=refusal_time)
    outcome = simulate(server, calls, in_flight)
    assert (calls - rate) / rate / outcome.seconds >= 0.5
    assert outcome.share <= 0.7


# A bucket that holds a single call, and one that holds many and so invites an opening of many.
@pytest.mark.parametrize(
    ("rate", "calls", "burst", "in_flight", "model", "most_refusals"),
    [
        (2, 480, 0.5, 32, "slow", 80),
        (2, 480, 0.5, 32, "fast", 200),
        (10, 600, 5, 128, "slow", 800),
        (40, 2400, 2, 128, "slow", 900),
    ],
)
def test_hard_openings_cost_little(
    rate: float, calls: int, burst: float, in_flight: int, model: str, most_refusals: int
) -> None:
    server = bucket(rate, model, burst=burst)
    outcome = simulate(server, calls, in_flight)
    assert server.ideal(calls) / outcome.seconds >= 0.7
    assert outcome.refusals <= most_refusals


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("retry_after", RETRY_AFTER)
@pytest.mark.parametrize(("model", "in_flight"), [("slow", 64), ("slow", 128), ("fast", 32)])
def test_a_limit_that_falls_and_rises_is_followed(model: str, in_flight: int, retry_after: str) -> None:
    server = bucket(40, model, phases=STEPS, retry_after=retry_after)
    outcome = simulate(server, 7040, in_flight)
    assert server.ideal(7040) / outcome.seconds >= 0.85
    assert outcome.share <= (0.4 if in_flight == 128 else 0.15)


@pytest.mark.parametrize("retry_after", [None, 1.0])
@pytest.mark.parametrize(("calls", "in_flight"), [(500, 32), (1000, 32), (500, 64), (1000, 64)])
@pytest.mark.parametrize(("latency", "mean"), [(constant(0.05), 0.05), (lognormal(0.2), 0.2)], ids=["50ms", "200ms"])
def test_a_server_with_16_places_is_kept_full(
    latency: object, mean: float, calls: int, in_flight: int, retry_after: float | None
) -> None:
    """A call that is held back for a second near the end of a short run is allowed for."""
    server = Places(16, latency, retry_after=retry_after)  # type: ignore[arg-type]
    ideal = calls * mean / 16
    assert simulate(server, calls, in_flight).seconds <= 1.2 * ideal + (1.0 if retry_after else 0.25)
    assert server.refusals <= 400


@pytest.mark.parametrize(
    ("in_flight", "latency", "calls", "over"),
    [
        (32, 0.05, 1000, 1.03),
        (256, 0.5, 2560, 1.11),
        (16, 0.05, 500, 1.03),
        (1, 0.05, 20, 1.0001),
        (3, 0.05, 30, 1.0001),
    ],
)
def test_a_server_without_limits_is_used_from_the_start(
    in_flight: int, latency: float, calls: int, over: float
) -> None:
    outcome = simulate(Server(constant(latency)), calls, in_flight)
    assert outcome.seconds <= over * calls * latency / in_flight
    assert outcome.refusals == 0


@pytest.mark.parametrize(
    ("model", "since", "calls", "soon"), [("bucket", 20.0, 600, 100), ("unlimited", 0.0, 4000, 1000)]
)
def test_a_server_that_recovers_is_used_again_within_seconds(model: str, since: float, calls: int, soon: int) -> None:
    refuses = (since, since + 60)
    server = bucket(10, "slow", refuses=refuses) if model == "bucket" else Server(constant(0.05), refuses=refuses)
    outcome = simulate(server, calls, 32)
    after = [moment - refuses[1] for moment in outcome.answers if moment > refuses[1]]
    assert sum(moment < 20 for moment in after) >= soon
    assert sum(moment < 6 for moment in after) >= 3
    assert outcome.refusals < 300


def test_losses_do_not_change_the_pace() -> None:

    async def work() -> tuple[float, float, int]:
        server = bucket(10, "slow", fails=(60.0, 90.0))
        pace = Pace(Gate(32))
        asking = asyncio.ensure_future(ask(server, pace, 1200, 32))
        await asyncio.sleep(60.0)
        before, refusals = pace.rate, server.refusals
        await asyncio.sleep(31.0)
        after = pace.rate
        await asking
        return before, after, server.refusals - refusals

    before, after, refusals = run(work())
    assert 8 < before < 15
    assert after == pytest.approx(before, rel=0.35)
    assert refusals < 30


def test_a_long_retry_after_pauses_everything() -> None:
    server = Server(constant(0.05), refuses=(0.0, 600.0), retry_after=30.0)
    outcome = simulate(server, 64, 16)
    assert outcome.refusals <= 50
    assert 600 < outcome.answers[0] <= 632


def test_the_refused_call_is_held_back_and_others_go_on() -> None:
    async def work() -> list[tuple[str, float]]:
        pace = Pace(Gate(4))
        loop = asyncio.get_running_loop()
        log: list[tuple[str, float]] = []
        started = [await pace.enter() for _ in range(4)]
        pace.refused(started.pop(), 5.0)

        async def enter(name: str, again: bool) -> None:
            one = await pace.enter(again)
            log.append((name, loop.time()))
            pace.answered(one)

        held = asyncio.ensure_future(enter("held", True))
        other = asyncio.ensure_future(enter("other", False))
        await asyncio.sleep(0.1)
        for one in started:
            pace.answered(one)
        await asyncio.gather(held, other)
        return log

    (first, at), (second, then) = run(work())
    assert (first, second) == ("other", "held")
    assert at == 0, "a single refusal need not mean anything"
    assert then == pytest.approx(5.0)


def test_first_come_first_served_and_repeated_calls_before_new_ones() -> None:
    async def work() -> list[str]:
        pace = Pace(Gate(1))
        order: list[str] = []

        async def enter(name: str, again: bool) -> None:
            started = await pace.enter(again)
            order.append(name)
            await asyncio.sleep(0.01)
            pace.answered(started)

        await asyncio.gather(*(enter(name, name.startswith("again")) for name in ("a", "b", "again1", "c", "again2")))
        return order

    assert run(work()) == ["a", "again1", "again2", "b", "c"]


def test_no_caller_overtakes_one_that_was_woken_just_before() -> None:
    """As an answer comes, its worker goes on with the next row while others, who may go too, still sleep."""

    async def work() -> list[int]:
        pace = Pace(Gate(16))
        order: list[int] = []
        numbers = iter(range(40))

        async def worker() -> None:
            for number in numbers:
                started = await pace.enter()
                order.append(number)
                await asyncio.sleep(0)
                pace.answered(started)

        await asyncio.gather(*(worker() for _ in range(16)))
        return order

    assert run(work()) == list(range(40))


def test_a_paused_model_does_not_block_another() -> None:
    async def work() -> tuple[Outcome, Outcome, int]:
        gate = Gate(16)
        closed = Server(constant(0.05), refuses=(0.0, 300.0), retry_after=60.0)
        open_ = Server(constant(0.05))
        deepest = 0

        async def watch() -> None:
            nonlocal deepest
            while True:
                deepest = max(deepest, closed.in_flight + open_.in_flight)
                await asyncio.sleep(0.01)

        watching = asyncio.ensure_future(watch())
        one, other = await asyncio.gather(ask(closed, Pace(gate), 50, 16), ask(open_, Pace(gate), 3000, 16))
        watching.cancel()
        assert gate.free == 16
        return one, other, deepest

    paused, free, deepest = run(work())
    assert free.seconds < 1.1 * 3000 * 0.05 / 16
    assert paused.seconds > 300
    assert deepest <= 16


def test_models_that_wait_for_the_gate_take_turns() -> None:
    async def work() -> tuple[Outcome, Outcome]:
        gate = Gate(8)
        servers = Server(constant(0.05)), Server(constant(0.05))
        one, other = await asyncio.gather(*(ask(server, Pace(gate), 400, 32) for server in servers))
        return one, other

    one, other = run(work())
    assert one.seconds == pytest.approx(other.seconds, rel=0.05)
    assert max(one.seconds, other.seconds) <= 1.05 * 800 * 0.05 / 8


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.02])
def test_cancelled_callers_take_nothing_with_them(delay: float) -> None:
    """Cancelled while they wait, and at the very moment when the slot before them is given back."""

    async def work() -> None:
        gate = Gate(1)
        pace = Pace(gate)
        started = await pace.enter()
        waiting = [asyncio.ensure_future(pace.enter(again)) for again in (False, True, False)]
        await asyncio.sleep(delay)
        pace.answered(started)  # grants the second; none of them has run since
        for task in waiting:
            task.cancel()
        assert all(
            isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*waiting, return_exceptions=True)
        )
        assert gate.free == 1
        pace.answered(await asyncio.wait_for(pace.enter(), 0.001))
        assert gate.free == 1

    run(work())


def test_callers_cancelled_at_random_lose_no_permission() -> None:
    async def work() -> tuple[int, int]:
        gate = Gate(8)
        pace = Pace(gate)
        server = bucket(40, "fast", retry_after="rounded")
        asking = [asyncio.ensure_future(ask_once(pace, server)) for _ in range(600)]
        for number, task in enumerate(asking):
            if number % 3 == 0:
                await asyncio.sleep(0.01)
                task.cancel()
        ends = await asyncio.gather(*asking, return_exceptions=True)
        assert pace.rate > 10
        return gate.free, sum(end is True for end in ends)

    free, answered = run(work())
    assert free == 8
    assert answered >= 400


async def ask_once(pace: Pace, server: Server) -> bool:
    for attempt in itertools.count():
        started = await pace.enter(again=attempt > 0)
        try:
            reply = await server.call()
        except asyncio.CancelledError:
            pace.lost(started)
            raise
        if reply is True:
            pace.answered(started)
            return True
        pace.refused(started, None if reply is False else reply.retry_after)
    raise AssertionError("counts forever")


def test_the_same_calls_take_the_same_course() -> None:
    first, second = (simulate(bucket(10, "slow", seed=3), 600, 32) for _ in range(2))
    assert first == second


@pytest.mark.usefixtures("untraced")
def test_a_free_slot_costs_next_to_nothing() -> None:
    """No task, no future, no timer: 2 µs would do, 20 are allowed for busy machines, and the quickest of three tries counts."""

    async def work(calls: int) -> None:
        pace = Pace(Gate(32))
        for _ in range(calls):
            pace.answered(await pace.enter())

    assert min(seconds(lambda calls: run(work(calls)), 20_000) for _ in range(3)) / 20_000 < 20e-6 * slowness()


def test_virtual_time_tells_when_nothing_can_go_on() -> None:
    with pytest.raises(Stuck):
        run(asyncio.Event().wait())
