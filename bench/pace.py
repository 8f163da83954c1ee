"""How fast a run is at a server that refuses calls: at random, by calls a second, by calls at once. In simulated time.

    python bench/pace.py [--seeds 8] [--pairs]

First table: calls that a shared key or a gateway refuses whatever we do, as a share of all. Shown is the time of a plain client,
which makes a refused call again at once or after its ``Retry-After``, over ours: the median of the seeds, and the least.
Second table: servers with a limit. Shown are the calls answered a second over the limit, and the refused share of all requests.
With ``--pairs``, only this: two runs that know nothing of each other, at a server that takes 32 calls at once. Shown is the time
until both are done over the least possible time: the median of the seeds, the most, and the share of seeds above 1.4.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from core.engine.simulated import (
    Counting,
    Noise,
    Places,
    Server,
    TokenBucket,
    ask,
    constant,
    lognormal,
    retried,
    simulate,
)
from core.engine.virtual_time import run
from ragmetrics_core._engine._gate import Gate, Pace

SHARES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6)
CELLS = [(0.02, 16), (0.2, 16), (0.2, 32), (1.0, 16), (1.0, 64), (0.2, 128)]
CALLS = 1200


def noisy(latency: float, share: float, retry_after: float | None, seed: int) -> Server:
    server = Server(lognormal(latency, 0.3), refusal_time=latency / 4, seed=seed)
    server.noise = Noise(share, retry_after, seed)
    return server


def noise_table(seeds: int) -> None:
    print(f"{'latency':>8}{'in flight':>10}{'retry after':>12}" + "".join(f"{share:>12.0%}" for share in SHARES))
    for latency, in_flight in CELLS:
        for retry_after in (None, 0.2, 1.0):
            cells = []
            for share in SHARES:
                ratios = [
                    retried(noisy(latency, share, retry_after, seed), CALLS, in_flight)
                    / simulate(noisy(latency, share, retry_after, seed), CALLS, in_flight).seconds
                    for seed in range(1, seeds + 1)
                ]
                cells.append(f"{statistics.median(ratios):>7.2f} {min(ratios):.2f}")
            print(f"{latency:>8}{in_flight:>10}{retry_after or '-':>12}" + "".join(cells), flush=True)


LIMITED: list[tuple[str, float, int, int, Callable[[int], Server]]] = [
    (
        f"{rate}/s, {name}",
        rate,
        calls,
        in_flight,
        lambda seed, r=rate, m=latency, t=trip: TokenBucket(r, m, refusal_time=t, seed=seed),
    )
    for rate, calls in ((2, 480), (10, 1200), (40, 2400))
    for name, latency, trip in (("1.5 s", lognormal(1.5), 0.1), ("0.05 s", constant(0.05), 0.002))
    for in_flight in (16, 64)
]
LIMITED += [
    (
        "10/s with Retry-After",
        10,
        1200,
        32,
        lambda seed: TokenBucket(10, lognormal(1.5), retry_after="rounded", seed=seed),
    ),
    ("40/s by the second", 40, 2400, 64, lambda seed: Counting(40, constant(0.05), sliding=False, seed=seed)),
    ("16 places, 0.2 s", 80, 1000, 32, lambda seed: Places(16, lognormal(0.2), seed=seed)),
    ("16 places, 0.2 s", 80, 1000, 128, lambda seed: Places(16, lognormal(0.2), seed=seed)),
]


def limit_table(seeds: int) -> None:
    print(f"\n{'limit':24}{'in flight':>10}{'of limit':>10}{'least':>8}{'refused':>10}")
    for name, rate, calls, in_flight, server in LIMITED:
        runs = [simulate(server(seed), calls, in_flight) for seed in range(1, seeds + 1)]
        reached = [calls / rate / run.seconds for run in runs]
        refused = statistics.median(run.share for run in runs)
        print(
            f"{name:24}{in_flight:>10}{statistics.median(reached):>10.2f}{min(reached):>8.2f}{refused:>10.1%}",
            flush=True,
        )
    stepped = [((80.0, 40.0), (80.0, 8.0)), ((40.0, 10.0), (40.0, 40.0))]
    for phases in stepped:
        servers = [TokenBucket(phases[0][1], lognormal(1.5), phases=phases, seed=seed) for seed in range(1, seeds + 1)]
        runs = [simulate(server, 5000, 64) for server in servers]
        reached = [server.ideal(5000) / run.seconds for server, run in zip(servers, runs, strict=True)]
        name = "-".join(f"{rate:.0f}" for _, rate in phases) + f"-{phases[0][1]:.0f}/s"
        refused = statistics.median(run.share for run in runs)
        print(f"{name:24}{64:>10}{statistics.median(reached):>10.2f}{min(reached):>8.2f}{refused:>10.1%}", flush=True)


PLACES = 32


def least_seconds(latency: float, calls: tuple[int, int], starts: float) -> float:
    """The least seconds until both runs are done, if the second one starts after ``starts`` seconds."""
    left = max(0.0, calls[0] - starts * PLACES / latency)
    return max(calls[0] * latency / PLACES, starts + (left + calls[1]) * latency / PLACES)


def pair_seconds(server: Server, calls: tuple[int, int], starts: float, in_flight: int) -> float:
    """The seconds until two runs at one server are both done."""

    async def one(start: float, count: int) -> None:
        await asyncio.sleep(start)
        await ask(server, Pace(Gate(in_flight)), count, in_flight)

    async def both() -> float:
        await asyncio.gather(one(0.0, calls[0]), one(starts, calls[1]))
        return asyncio.get_running_loop().time()

    return run(both())


def pair_table(seeds: int) -> None:
    print(
        f"{'latency':>8}{'in flight':>10}{'calls':>12}{'starts':>8}{'retry after':>12}"
        f"{'median':>8}{'most':>8}{'> 1.4':>8}{'refused':>10}"
    )
    for latency, in_flight, calls in itertools.product((0.2, 1.0), (64, 256), ((2000, 2000), (3000, 1000))):
        for starts, retry_after in itertools.product((0.0, 5.0, calls[0] * latency / PLACES / 2), (None, 1.0)):
            servers = [
                Places(PLACES, lognormal(latency, 0.3), retry_after=retry_after, refusal_time=0.02, seed=seed)
                for seed in range(1, seeds + 1)
            ]
            least = least_seconds(latency, calls, starts)
            times = [pair_seconds(server, calls, starts, in_flight) / least for server in servers]
            refused = statistics.median(server.refusals / server.requests for server in servers)
            above = sum(time > 1.4 for time in times) / seeds
            print(
                f"{latency:>8}{in_flight:>10}{f'{calls[0]}+{calls[1]}':>12}{starts:>8.1f}{retry_after or '-':>12}"
                f"{statistics.median(times):>8.2f}{max(times):>8.2f}{above:>8.0%}{refused:>10.1%}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast a run is at a server that refuses calls.")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--pairs", action="store_true", help="two runs at one server instead")
    given = parser.parse_args()
    if given.pairs:
        pair_table(given.seeds)
    else:
        noise_table(given.seeds)
        limit_table(given.seeds)


if __name__ == "__main__":
    main()
