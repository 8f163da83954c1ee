"""Runs in batches: whether a question is paid for twice when they are killed, and how much memory many rows need.

    python bench/batches.py --server ../shared/batch/batch_server.py [--points 200] [--rows 100000]

A run is killed (SIGKILL) at every write and call, then at random times, and started again until it ends. The server counts how
often each line of a batch was paid for. Then the memory of a run of many rows is measured. A line that was paid for twice ends the
command with status 1.
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
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ragmetrics_core import Batch, evaluate
from ragmetrics_core.llms import OpenAILLM

METRICS = ["faithfulness", "answer_accuracy"]
SMALL = 10
LONGEST = 3.0
"""Seconds after which a small run is killed at most."""


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


def child(url: str, run_dir: str, count: int, step: int) -> None:
    """Run; die at a step if it is not 0."""
    left = step

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            die()
            result = function(*given, **named)
            die()
            return result

        return call

    def die() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    if step:
        from ragmetrics_core._store._journal import Journal
        from ragmetrics_core.llms._wire._batches import OpenAIBatches

        steps: list[tuple[Any, tuple[str, ...]]] = [
            (os, ("fsync",)),
            (Path, ("replace", "rename", "unlink")),
            (OpenAIBatches, ("upload", "create", "retrieve", "download", "list")),
            (Journal, ("keep",)),
        ]
        for owner, names in steps:
            for name in names:
                setattr(owner, name, dying(getattr(owner, name)))
    data = Path(run_dir).with_suffix(".jsonl")
    if not data.exists():
        data.write_text("".join(json.dumps(row) + "\n" for row in rows(count)))
    start = time.perf_counter()
    result = evaluate(
        data,
        METRICS,
        llm=OpenAILLM("judge", base_url=url),
        run_dir=run_dir,
        progress=False,
        batch=Batch(poll=0.05 if count <= SMALL else 5.0, grace=0.5),
    )
    print(json.dumps({
        "stopped": result.stopped,
        "steps_left": left,
        "seconds": round(time.perf_counter() - start, 1),
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


def killed(server: Server, step: int, seconds: float) -> tuple[int, int, int]:
    """Kill a run at a step or after some seconds, and start it again until it ends.

    Returns the number of deaths, of lines paid for twice, and of questions paid for twice online.
    """
    server.reset()
    deaths = 0
    with tempfile.TemporaryDirectory() as folder:
        for attempt in range(10):
            # a fork has everything loaded: it takes a tenth of the time of a new process
            arguments = (f"{server.origin}/v1", str(Path(folder) / "run"), SMALL, 0 if attempt else step)
            process = multiprocessing.get_context("fork").Process(target=quiet_child, args=arguments)
            process.start()
            if seconds and not attempt:
                process.join(seconds)
                process.kill()
            process.join()
            if process.exitcode == 0:
                break
            if process.exitcode != -signal.SIGKILL:
                raise SystemExit(f"the run failed after it was killed at step {step}, or after {seconds:.1f} s")
            deaths += 1
    paid = server.paid()
    return deaths, paid["lines"], paid["paid_more_than_once"] - paid["lines"]


def batches(program: Path, points: int, count: int) -> int:
    """Print the figures of runs in batches; return how many lines were paid for twice."""
    deaths = twice = online = 0
    generator = random.Random(7)
    with serving(program, in_progress=0.1) as server:
        step = 0
        while deaths < points:
            step += 1
            at_step = step if step < MOST_STEPS else 0
            died, lines, again = killed(server, at_step, 0.0 if at_step else generator.uniform(0.1, LONGEST))
            deaths, twice, online = deaths + died, twice + lines, online + again
            if step % 10 == 0:
                print(f"{deaths} deaths: {twice} lines paid twice, {online} questions online", flush=True)
    print(f"killed {deaths} times: {twice} lines of batches paid twice, {online} questions paid twice online")
    if count:
        with serving(program, in_progress=1.0) as server, tempfile.TemporaryDirectory() as folder:
            process = start(server, Path(folder) / "run", count, 0)
            print(f"{count:,} rows:", process.communicate()[0].strip())
    return twice


MOST_STEPS = 170
"""More steps than a small run has."""


def main() -> None:
    """Run the command."""
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, required=True, help="the program of the server of batches")
    parser.add_argument("--points", type=int, default=200, help="how often runs are killed")
    parser.add_argument("--rows", type=int, default=0, help="rows of the run whose memory is measured")
    given = parser.parse_args()
    sys.exit(1 if batches(given.server, given.points, given.rows) else 0)


if __name__ == "__main__":
    main()
