"""SIGKILL at any moment, the same command again: the same scores, and no finished call is repeated.

The journal says which calls were finished when the process died; the server says which ones were made. After every kill all
the calls that are still made must be exactly those that the journal lacks. RAGMETRICS_KILLS sets how often a process is killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.store.killed import Chained, samples
from killing import KilledRun
from loopback import OpenAIServer, Response
from ragmetrics_core import Evaluation, evaluate
from ragmetrics_core.llms import OpenAIServerLLM
from waiting import until

TESTS = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("RAGMETRICS_KILLS", "8"))
KILLS_PER_RUN = 4
ROWS = 120
CALLS = 3 * ROWS
CONCURRENCY = 8

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL"),
]


def said(body: dict[str, Any]) -> str:
    """What was asked: the text that is to be rated."""
    return str(json.loads(body["messages"][-1]["content"])["text"])


def rating(body: dict[str, Any]) -> Response:
    """A number that nothing but the question decides about."""
    digest = hashlib.sha256(said(body).encode()).digest()
    return Response(f"{digest[0] / 255:.4f}", delay=0.008)


class Run(KilledRun):
    """A run of ``evaluate``."""

    def __init__(self, server: OpenAIServer, run_dir: Path) -> None:
        super().__init__(server, run_dir, "core.store.killed", (str(ROWS), str(CONCURRENCY)))

    @property
    def asked(self) -> list[str]:
        return [said(body) for body in self.server.chats]

    def kill(self, moment: random.Random) -> tuple[int, int]:
        first_call = moment.random() < 0.8  # the others die while they start
        return self.kill_after(moment.uniform(0, moment.choice([0.1, 0.3, 0.8])), calls=int(first_call))


def outcomes(evaluation: Evaluation) -> list[tuple[str, float | None, Any]]:
    return [
        (row.user_input or "", score.value, score.details)
        for row, score in zip(evaluation.rows, evaluation.scores["chained"], strict=True)
    ]


@pytest.fixture(scope="module")
def undisturbed() -> list[tuple[str, float | None, Any]]:
    with OpenAIServer(rating) as server:
        llm = OpenAIServerLLM(server.base_url, "loopback", structured="text")
        result = evaluate(samples(ROWS), Chained(), llm=llm, max_concurrency=CONCURRENCY)
    assert len(server.requests) == CALLS
    assert len({value for _, value, _ in outcomes(result)}) > ROWS / 2
    return outcomes(result)


@pytest.mark.parametrize("number", range(KILLS // KILLS_PER_RUN))
def test_killed_runs_end_as_if_nothing_had_happened(
    number: int, tmp_path: Path, undisturbed: list[tuple[str, float | None, Any]]
) -> None:
    moment = random.Random(number)
    expected = {question: (value, details) for question, value, details in undisturbed}
    with OpenAIServer(rating) as server:
        run = Run(server, tmp_path / "run")
        kills = []
        for _ in range(KILLS_PER_RUN):
            kills.append(run.kill(moment))
            if (run.run_dir / "run.json").exists() and (run.run_dir / "scores.jsonl").exists():
                part = outcomes(Evaluation.load(run.run_dir))
                assert all(expected[question] == (value, details) for question, value, details in part)
        last = run.start()
        _, errors = last.communicate(timeout=300)
        assert last.returncode == 0, errors
        asked = run.asked
    final = Evaluation.load(run.run_dir)
    assert outcomes(final) == undisturbed
    assert final.stopped is None
    lines = (run.run_dir / "scores.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in lines] == list(range(1, ROWS + 1))
    assert run.kept() == CALLS
    assert len(set(asked)) == CALLS
    for made, kept in kills:
        assert len(set(asked[made:])) == CALLS - kept, "what is in the journal is not asked again, all else is"
    repeated = sum((Counter(asked) - Counter(set(asked))).values())
    print(f"kills at {kills} calls (made, kept); {repeated} in flight asked again")
    assert repeated <= CONCURRENCY * KILLS_PER_RUN


def test_two_processes_in_one_directory(tmp_path: Path, undisturbed: list[tuple[str, float | None, Any]]) -> None:
    """The second is refused, and no reply is paid for twice."""
    is_over = threading.Event()

    def answer(body: dict[str, Any]) -> Response:
        assert is_over.wait(300)
        return rating(body)

    with OpenAIServer(answer) as server:
        run = Run(server, tmp_path / "run")
        first = run.start()
        assert until(lambda: len(server.requests) == CONCURRENCY)
        second = run.start()
        _, refused = second.communicate(timeout=300)
        is_over.set()
        _, errors = first.communicate(timeout=300)
        assert (second.returncode, first.returncode) == (1, 0), errors
        asked = Counter(run.asked)
    assert f"InvalidInput: run_dir='{run.run_dir}' is in use: process {first.pid} on " in refused
    assert outcomes(Evaluation.load(run.run_dir)) == undisturbed
    assert run.kept() == CALLS
    assert len(asked) == sum(asked.values()) == CALLS
    lines = (run.run_dir / "scores.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in lines] == list(range(1, ROWS + 1))
    assert [path.name for path in run.run_dir.iterdir() if path.name.startswith(".")] == []
