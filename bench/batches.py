"""Runs in batches: whether a question is paid for twice when they are killed, and how much memory many rows need.

    python bench/batches.py --server ../shared/batch/batch_server.py [--points 200] [--random 40] [--rows 20000 100000]

A small run is killed (SIGKILL) before and after its writes and calls, evenly from first to last, then at random times, and is
started again until it ends. The server counts how often each line of a batch was paid for. Online, a run may repeat the calls in
flight when it was killed: those that the server answered and the journal has not. Then the memory of runs of many rows is measured.
A line that was paid for twice, or an online call that was repeated without need, ends the command with status 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ragmetrics_core import Batch, Evaluation, SQLiteReplies, evaluate
from ragmetrics_core.llms import OpenAILLM

METRICS = ["faithfulness", "answer_accuracy", "context_recall", "factual_correctness"]
SMALL = 12


class Server:
    """The server of batches, in a process."""

    def __init__(self, program: Path, **options: Any) -> None:
        command = [sys.executable, str(program), "--config", json.dumps(options), "--max-seconds", "7200"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.origin = f"http://127.0.0.1:{json.loads(self.process.stdout.readline())['port']}"

    def reset(self) -> None:
        """Forget what was paid."""
        urllib.request.urlopen(urllib.request.Request(f"{self.origin}/control/reset", method="POST")).close()

    def paid(self) -> dict[str, Any]:
        """What was paid; ``lines``: how many lines of batches were paid for more than once."""
        with urllib.request.urlopen(f"{self.origin}/control/paid?all=1") as answer:
            found: dict[str, Any] = json.load(answer)
        batches = [sum(one["by"] != "online" for one in item["paid"]) for item in found["all"]]
        found["lines"] = sum(count - 1 for count in batches if count > 1)
        return found


@contextlib.contextmanager
def serving(program: Path, **options: Any) -> Iterator[Server]:
    """Run the server."""
    server = Server(program, **options)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Rows of the usual size."""
    for n in range(count):
        yield {
            "user_input": f"question {n}",
            "response": f"The answer is {n}. " + "word " * 20,
            "retrieved_contexts": [f"context {n} " + "text " * 60],
            "reference": f"It is {n}.",
        }


def count_steps(act: Callable[[], None]) -> None:
    """Call ``act`` before and after each write and each call to the provider."""
    from ragmetrics_core._store._batch_ledger import Ledger
    from ragmetrics_core._store._scores_file import ScoresFile
    from ragmetrics_core.llms._wire._batches import OpenAIBatches

    def stepping(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            act()
            result = function(*given, **named)
            act()
            return result

        return call

    steps: list[tuple[Any, tuple[str, ...]]] = [
        (os, ("fsync",)),
        (Path, ("replace", "rename", "unlink")),
        (OpenAIBatches, ("upload", "create", "retrieve", "download", "list")),
        (Ledger, ("begin", "add", "note")),
        (ScoresFile, ("add", "settle")),
        (SQLiteReplies, ("keep", "strike")),
    ]
    for owner, names in steps:
        for name in names:
            setattr(owner, name, stepping(getattr(owner, name)))


def child(url: str, run_dir: str, count: int, step: int) -> None:
    """Run; die at a step if it is not 0. The number of steps is written beside a small run that has finished."""
    taken = 0

    def act() -> None:
        nonlocal taken
        taken += 1
        if taken == step:
            os.kill(os.getpid(), signal.SIGKILL)

    small = count == SMALL
    if small:
        count_steps(act)
    score(url, run_dir, count)
    if small:
        Path(run_dir).with_suffix(".steps").write_text(str(taken))


def score(url: str, run_dir: str, count: int) -> None:
    """Make a run, and print what it took."""
    small = count == SMALL
    data = Path(run_dir).with_suffix(".jsonl")
    if not data.exists():
        data.write_text("".join(json.dumps(row) + "\n" for row in rows(count)))
    start = time.perf_counter()
    result = evaluate(
        data,
        METRICS if small else METRICS[:2],
        llm=OpenAILLM("judge", base_url=url),
        run_dir=run_dir,
        progress=False,
        batch=Batch(poll=0.02, grace=0.3, window_rows=5) if small else Batch(poll=5.0),
    )
    assert result.stopped is None, result.stopped
    print(json.dumps({
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(time.process_time(), 1),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }))  # fmt: skip


def quiet_child(*given: Any) -> None:
    """Run without output."""
    with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
        child(*given)


def start(server: Server, run_dir: Path, count: int, step: int) -> subprocess.Popen[str]:
    """Start a child."""
    command = [sys.executable, __file__, "child", f"{server.origin}/v1", str(run_dir), str(count), str(step)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def in_flight(server: Server, run_dir: Path) -> int:
    """The number of online calls that the server has answered, and whose replies are not in the journal."""
    paid = [one for item in server.paid()["all"] for one in item["paid"]]
    of_batches = {one["custom_id"] for one in paid if one["by"] != "online"}
    journal = run_dir / "journal.sqlite"
    kept: list[tuple[bytes]] = []
    if journal.exists():
        with contextlib.closing(sqlite3.connect(journal)) as database, contextlib.suppress(sqlite3.OperationalError):
            kept = database.execute("SELECT key FROM replies").fetchall()
    return sum(one["by"] == "online" for one in paid) - sum(key.hex() not in of_batches for (key,) in kept)


def killed(server: Server, step: int, seconds: float = 0.0) -> tuple[int, int, int, int]:
    """Kill a run at a step or after some seconds, and start it again until it ends.

    Returns the steps of the last process, and the numbers of deaths, of lines paid for twice, and of online calls repeated without
    need.
    """
    server.reset()
    deaths = allowed = 0
    with tempfile.TemporaryDirectory() as folder:
        run_dir = Path(folder) / "run"
        while True:
            # a fork has everything loaded: it takes a tenth of the time of a new process
            arguments = (f"{server.origin}/v1", str(run_dir), SMALL, 0 if deaths else step)
            process = multiprocessing.get_context("fork").Process(target=quiet_child, args=arguments)
            process.start()
            if seconds and not deaths:
                process.join(seconds)
                process.kill()
            process.join()
            if process.exitcode == 0:
                break
            if process.exitcode != -signal.SIGKILL:
                raise SystemExit(f"the run failed after it was killed at step {step}, or after {seconds:.1f} s")
            deaths += 1
            time.sleep(0.02)  # the server answers calls whose client has died
            allowed += in_flight(server, run_dir)
            if (run_dir / "run.json").exists() and Evaluation.load(run_dir).state == "finished":
                break  # a further run of finished rows asks again what was unreadable, as it does online
        ended = run_dir.with_suffix(".steps")
        steps = int(ended.read_text()) if ended.exists() else 0
    paid = server.paid()
    return steps, deaths, paid["lines"], max(0, paid["paid_more_than_once"] - paid["lines"] - allowed)


def kills(program: Path, points: int, random_points: int) -> int:
    """Kill small runs; return how many questions were paid for twice without need."""
    generator = random.Random(7)
    total = [0, 0, 0]
    with serving(program, in_progress=0.02, validating=0.0, finalizing=0.0) as server:
        with tempfile.TemporaryDirectory() as folder:  # loads everything, also for the forks
            score(f"{server.origin}/v1", f"{folder}/run", SMALL)
        start = time.perf_counter()
        steps = killed(server, 0)[0]
        longest = time.perf_counter() - start
        print(f"a run of {SMALL} rows and {len(METRICS)} metrics has {steps} writes and calls", flush=True)
        at_steps = sorted({1 + number * (steps - 1) // max(1, points - 1) for number in range(points)})
        plans = [(step, 0.0) for step in at_steps]
        plans += [(0, generator.uniform(0.02, longest)) for _ in range(random_points)]
        generator.shuffle(plans)  # so that a bench that is stopped has seen early and late steps
        for number, (step, seconds) in enumerate(plans, 1):
            total = [one + new for one, new in zip(total, killed(server, step, seconds)[1:], strict=True)]
            if number % 20 == 0 or number == len(plans):
                print(
                    "{} deaths: {} lines paid twice, {} online calls repeated without need".format(*total), flush=True
                )
    return total[1] + total[2]


def main() -> None:
    """Run the command."""
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, required=True, help="the program of the server of batches")
    parser.add_argument("--points", type=int, default=200, help="writes and calls at which runs are killed")
    parser.add_argument("--random", type=int, default=40, help="random times at which runs are killed")
    parser.add_argument("--rows", type=int, nargs="*", default=[], help="rows of the runs whose memory is measured")
    given = parser.parse_args()
    twice = kills(given.server, given.points, given.random) if given.points else 0
    for count in given.rows:
        with serving(given.server, in_progress=1.0) as server, tempfile.TemporaryDirectory() as folder:
            print(
                f"{count:,} rows:", start(server, Path(folder) / "run", count, 0).communicate()[0].strip(), flush=True
            )
    sys.exit(1 if twice else 0)


if __name__ == "__main__":
    main()
