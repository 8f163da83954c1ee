"""Refusals that have nothing to do with our own load: they must not slow a run down, and limits must still be found among them."""

from __future__ import annotations

import itertools
import random
import statistics
import time

import pytest

from core.engine.simulated import Noise, Places, Server, TokenBucket, lognormal, retried, simulate
from core.evaluate.doubles import Rated, questions
from loopback import OpenAIServer, rate_limited
from ragmetrics_core import evaluate
from ragmetrics_core.llms import OpenAIServerLLM

pytestmark = pytest.mark.slow

USUAL = lognormal(0.2, 0.3)


def noisy(latency: float, share: float, retry_after: float | None, seed: int = 1) -> Server:
    server = Server(lognormal(latency, 0.3), refusal_time=latency / 4, seed=seed)
    server.noise = Noise(share, retry_after, seed)
    return server


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("retry_after", [None, 0.2, 1.0])
@pytest.mark.parametrize("share", [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6])
@pytest.mark.parametrize(("latency", "in_flight"), [(0.02, 16), (0.2, 16), (0.2, 32)])
def test_it_costs_no_more_than_its_refusals(
    latency: float, in_flight: int, share: float, retry_after: float | None
) -> None:
    """Nearly as much gets through as for a client that only repeats what was refused."""
    plain = retried(noisy(latency, share, retry_after), 4000, in_flight)
    outcome = simulate(noisy(latency, share, retry_after), 4000, in_flight)
    assert plain / outcome.seconds >= 0.8


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("in_flight", [8, 16, 32, 64, 128])
@pytest.mark.parametrize("latency", [0.02, 0.2, 1.0])
def test_a_run_of_1200_calls_finds_out_in_time(latency: float, in_flight: int) -> None:
    """With 128 in flight that is ten rounds."""
    for share, retry_after in itertools.product([0.01, 0.05, 0.2, 0.4, 0.6], [None, 0.2, 1.0]):
        reached = statistics.median(
            retried(noisy(latency, share, retry_after, seed), 1200, in_flight)
            / simulate(noisy(latency, share, retry_after, seed), 1200, in_flight).seconds
            for seed in (1, 2, 3)
        )
        hardest = in_flight == 128 and share == 0.6
        assert reached >= (0.65 if hardest else 0.8), (share, retry_after)


def test_a_short_run_is_not_held_up() -> None:
    plain = retried(noisy(0.02, 0.02, 1.0), 1000, 32)
    assert plain / simulate(noisy(0.02, 0.02, 1.0), 1000, 32).seconds >= 0.8


@pytest.mark.parametrize("phases", [((20.0, 0.0), (1e9, 0.1)), ((20.0, 0.1), (1e9, 0.0))], ids=["begins", "ends"])
def test_noise_that_begins_or_ends(phases: tuple[tuple[float, float], ...]) -> None:
    server = Server(USUAL, refusal_time=0.05, seed=1)
    server.noise = Noise(phases, 0.2, 1)
    assert 4000 * 0.2 / 16 / simulate(server, 4000, 16).seconds >= 0.85


@pytest.mark.parametrize(("share", "of_limit"), [(0.02, 0.7), (0.1, 0.7)])
@pytest.mark.parametrize(("rate", "in_flight"), [(10, 32), (40, 128)])
def test_a_limit_among_noise(rate: int, in_flight: int, share: float, of_limit: float) -> None:
    """What the limit allows is used; some more refusals than noise alone would bring are the price."""
    server = TokenBucket(rate, lognormal(1.5), seed=1)
    server.noise = Noise(share, 0.2, 1)
    outcome = simulate(server, 2400, in_flight)
    assert server.ideal(2400) / outcome.seconds >= of_limit
    assert outcome.refusals - server.noise.refusals <= 0.6 * outcome.requests


def test_a_limit_that_appears_after_noise() -> None:
    server = TokenBucket(10, USUAL, phases=((60.0, 400.0),), refusal_time=0.05, seed=1)
    server.noise = Noise(((60.0, 0.1), (1e9, 0.0)), 0.2, 1)
    outcome = simulate(server, 6000, 16)
    assert sum(moment <= 60 for moment in outcome.answers) >= 0.85 * 60 * 16 / 0.2 * 0.9
    late = [moment for moment in outcome.answers if moment > 60]
    assert len(late) / (late[-1] - 60) >= 0.85 * 10
    assert outcome.refusals - server.noise.refusals <= 0.12 * outcome.requests


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_server_that_refuses_all_for_ten_seconds(share: float) -> None:
    server = Server(USUAL, refusal_time=0.05, seed=1, refuses=(20.0, 30.0))
    server.noise = Noise(share, 0.2, 1)
    outcome = simulate(server, 4000, 16)
    assert (10 + 4000 * 0.2 / 16) / outcome.seconds >= 0.75
    assert outcome.refusals - server.noise.refusals <= 160


def test_places_among_noise_are_kept_full() -> None:
    server = Places(16, lognormal(0.2), seed=1)
    server.noise = Noise(0.02, 0.2, 1)
    assert 3000 * 0.2 / 16 / simulate(server, 3000, 32).seconds >= 0.75


def test_a_real_server_behind_a_noisy_gateway() -> None:
    """Two seconds if refusals are distinguished from a limit, minutes if they are not: the bound is far from both."""
    chance = random.Random(1)

    def answer(body: object) -> object:
        if chance.random() < 0.1:
            return rate_limited(retry_after="0.1")
        time.sleep(0.05)
        return "0.5"

    with OpenAIServer(answer) as server:
        started = time.monotonic()
        result = evaluate(questions(300), Rated(), llm=OpenAIServerLLM(server.base_url, "m"), progress=False)
        assert time.monotonic() - started < 60
    assert result.summary()["rated"].scored == 300
