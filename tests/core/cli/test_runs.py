"""Runs that are kept: ``--run-dir``, what a run may spend, which rows it takes, and Ctrl-C with the command that goes on."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.cli.calling import call
from killing import kept_replies
from loopback import OpenAIServer, Response, judge
from ragmetrics_core import Evaluation
from waiting import until

pytestmark = pytest.mark.slow

ROWS = 40


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(judge) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a file of rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    rows = [
        {"question": f"question {n}", "answer": f"claim {n}. claim {n + 1}", "contexts": [f"context {n}"]}
        for n in range(ROWS)
    ]
    (tmp_path / "my rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def arguments(server: OpenAIServer, *more: str) -> list[str]:
    return [
        "evaluate",
        "my rows.jsonl",
        "-m",
        "faithfulness",
        "--llm",
        "openai:judge",
        "--base-url",
        server.base_url,
        *more,
    ]


def lines(path: str = "runs/scores.jsonl") -> list[int]:
    return [json.loads(line)["row"] for line in Path(path).read_text().splitlines()]


def table(output: str) -> str:
    """What does not differ from run to run."""
    return re.sub(r", \d+\.\d+ s$", "", output, count=1, flags=re.MULTILINE)


class TestRunDir:
    def test_the_same_command_asks_nothing_twice(self, folder: Path, server: OpenAIServer) -> None:
        first = call(*arguments(server, "--run-dir", "runs"))
        assert (first.exit_code, first.stderr) == (0, "")
        assert len(server.requests) == 2 * ROWS
        second = call(*arguments(server, "--run-dir", "runs"))
        assert len(server.requests) == 2 * ROWS
        assert re.search(r"^faithfulness +80 +80 +0 +0$", second.stdout, re.MULTILINE)
        assert lines() == list(range(1, ROWS + 1))
        loaded = Evaluation.load("runs")
        assert table(str(loaded.summary())) + "\n" == table(second.stdout)

    def test_a_directory_of_another_run(self, folder: Path, server: OpenAIServer) -> None:
        call(*arguments(server, "--run-dir", "runs", "--limit", "3"))
        (folder / "other.jsonl").write_text('{"question": "else?", "answer": "no", "contexts": ["c"]}\n')
        found = call(
            *["other.jsonl" if item == "my rows.jsonl" else item for item in arguments(server, "--run-dir", "runs")]
        )
        assert (found.exit_code, found.stdout, found.stderr) == (
            2,
            "",
            (
                "ragmetrics: --run-dir runs holds the finished scores of another data set: none of the first rows of other.jsonl "
                "is among them: give another --run-dir, or --replace, which keeps those scores as scores.1.jsonl\n"
            ),
        ), "nothing to go on with here"
        found = call("evaluate", "my rows.jsonl", "-m", "relevancy", "--llm", "lexical", "--run-dir", "runs")
        assert found.stderr == (
            "ragmetrics: --run-dir runs holds the finished scores of other metrics (there: faithfulness; here: relevancy): give "
            "another --run-dir, or --replace, which keeps those scores as scores.1.jsonl\n"
        )
        assert lines() == [1, 2, 3]

    def test_another_model(self, folder: Path, server: OpenAIServer) -> None:
        call(*arguments(server, "--run-dir", "runs"))
        before = Path("runs/scores.jsonl").read_bytes()
        other = ["evaluate", "my rows.jsonl", "-m", "faithfulness", "--llm", "lexical"]
        found = call(*other, "--run-dir", "runs")
        assert (found.exit_code, found.stdout, found.stderr) == (
            2,
            "",
            (
                f"ragmetrics: --run-dir runs holds the finished scores of other settings: the LLM is judge at {server.base_url} "
                "there, LexicalJudge here: give another --run-dir, or --replace, which keeps those scores as "
                "scores.1.jsonl\n"
            ),
        )
        assert Path("runs/scores.jsonl").read_bytes() == before
        assert call(*other, "--run-dir", "runs", "--replace").exit_code == 0
        assert Path("runs/scores.1.jsonl").read_bytes() == before
        assert call(*other, "--replace").stderr == (
            "ragmetrics: --replace only applies to the scores in a run directory: give --run-dir DIR, or leave it out\n"
        )

    def test_a_forgotten_model(self, folder: Path, server: OpenAIServer) -> None:
        call(*arguments(server, "--run-dir", "runs"))
        before = {path.name: path.read_bytes() for path in Path("runs").iterdir()}
        found = call("evaluate", "my rows.jsonl", "-m", "faithfulness", "--run-dir", "runs")
        assert (found.exit_code, found.stderr) == (
            2,
            (
                "ragmetrics: faithfulness asks an LLM, but none is set in the metric or the run: give --llm MODEL "
                "(or --llm lexical, offline)\n"
            ),
        )
        assert {path.name: path.read_bytes() for path in Path("runs").iterdir()} == before

    def test_a_refused_key_tells_how_to_go_on(self, folder: Path, server: OpenAIServer) -> None:
        server.api_key = "sk-right"
        found = call(*arguments(server, "--run-dir", "runs"))
        assert found.exit_code == 2
        assert "refuses the API key (401)" in found.stderr
        assert "to go on" not in found.stderr, "nothing was finished"
        server.api_key = None
        served = server.responder

        def respond(body: dict[str, object]) -> Response:
            if len(server.requests) > 30:
                server.api_key = "sk-right"
            return served(body)  # type: ignore[no-any-return]

        server.responder = respond
        line = arguments(server, "--run-dir", "runs", "--max-concurrency", "4")
        found = call(*line)
        assert found.exit_code == 2
        message, command = found.stderr.splitlines()
        assert message.endswith("(all replies are kept in runs); to go on:")
        assert command == shlex.join(["ragmetrics", *line])


class TestSettings:
    def test_sample_and_seed(self, folder: Path, server: OpenAIServer) -> None:
        def chosen(seed: str) -> list[str]:
            out = f"out{seed}.jsonl"
            done = call(*arguments(server, "--sample", "5", "--seed", seed, "--out", out))
            assert done.exit_code == 0
            return [json.loads(line)["place"] for line in Path(out).read_text().splitlines()]

        first = chosen("1")
        assert len(first) == 5
        assert first == chosen("1")
        assert first != chosen("2")

    def test_repeats(self, folder: Path, server: OpenAIServer) -> None:
        done = call(*arguments(server, "--limit", "4", "--repeats", "3"))
        assert len(server.requests) == 24
        assert "repeats faithfulness: standard deviation 0.000 within a row, 0 of 4 rows\n      differ\n" in done.stdout

    def test_a_budget_and_the_command_that_goes_on(self, folder: Path, server: OpenAIServer) -> None:
        done = call(*arguments(server, "--run-dir", "runs", "--budget", "calls=31", "--out", "out.jsonl"))
        assert done.exit_code == 2
        assert len(server.requests) == 31
        assert done.stderr.startswith(
            "ragmetrics: the budget of 31 calls is used up (all replies are kept in runs); to go on:\nragmetrics "
        )
        finished = lines()
        assert 8 <= len(finished) <= 15
        assert lines("out.jsonl") == finished
        assert "stopped: the budget of 31 calls is used up" in done.stdout
        done = call(*arguments(server, "--run-dir", "runs"))
        assert (done.exit_code, len(server.requests)) == (0, 2 * ROWS)
        done = call(*arguments(server, "--budget", "tokens=1"))
        assert done.stderr == (
            "ragmetrics: the budget of 1 tokens is used up (with --run-dir DIR, the next run would go on from here)\n"
        )

    def test_a_dry_run(self, folder: Path, server: OpenAIServer) -> None:
        done = call(*arguments(server, "--run-dir", "runs", "--dry-run"))
        assert (done.exit_code, done.stderr) == (0, "")
        assert done.stdout.startswith(f"{ROWS} rows of my rows.jsonl: about {2 * ROWS} calls, ")
        assert "Run the first rows (--limit 20 with --run-dir DIR), and the price of" in " ".join(done.stdout.split())
        assert max(map(len, done.stdout.splitlines())) <= 80
        assert server.requests == []
        assert not Path("runs").exists()
        call(*arguments(server, "--run-dir", "runs", "--limit", "20"))
        done = call(*arguments(server, "--run-dir", "runs", "--dry-run", "--out", "out.jsonl"))
        assert len(server.requests) == 2 * 20
        assert "tokens: by the measure of 20 rows with scores" in " ".join(done.stdout.split())
        assert not Path("out.jsonl").exists()

    def test_a_budget_of_dollars_for_a_model_without_a_price(self, folder: Path, server: OpenAIServer) -> None:
        done = call(*arguments(server, "--budget", "dollars=2.5"))
        assert done.exit_code == 2
        assert server.requests == []
        if importlib.util.find_spec("genai_prices") is None:
            assert done.stderr.startswith("ragmetrics: a budget of dollars needs the table of prices: pip install ")
        else:
            assert done.stderr.startswith("ragmetrics: budget: the price of judge is not known (")
            assert done.stderr.endswith("): limit its tokens, as in --budget tokens=1000000\n")

    def test_a_budget_can_be_written_in_groups(self, folder: Path, server: OpenAIServer) -> None:
        done = call(*arguments(server, "--budget", "calls=1_000", "--budget", " tokens = 1_000_000 "))
        assert done.exit_code == 0

    @pytest.mark.parametrize(
        ("budget", "message"),
        [
            ("calls", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'calls'"),
            ("calls=", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'calls='"),
            ("calls=-3", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'calls=-3'"),
            ("calls=1.5", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'calls=1.5'"),
            ("calls=_", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'calls=_'"),
            ("calls=0", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'calls=0'"),
            ("dollars=0.0", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'dollars=0.0'"),
            ("dollars=1.2.3", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'dollars=1.2.3'"),
            ("euros=5", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'euros=5'"),
        ],
    )
    def test_impossible_budgets(self, folder: Path, server: OpenAIServer, budget: str, message: str) -> None:
        done = call(*arguments(server, "--budget", budget))
        assert (done.exit_code, done.stderr) == (2, f"ragmetrics: {message}\n")

    def test_underscores_are_only_there_to_be_read(self, folder: Path, server: OpenAIServer) -> None:
        done = call(*arguments(server, "--budget", "calls=1_0"))
        assert done.exit_code == 2
        assert done.stderr.startswith("ragmetrics: the budget of 10 calls is used up")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("kept", [True, False])
def test_ctrl_c_and_the_command_that_goes_on(folder: Path, server: OpenAIServer, kept: bool) -> None:
    slow, numbers = server.responder, itertools.count(1)
    server.responder = lambda body: replace(slow(body), delay=0.05 if next(numbers) < 25 else 600)
    more = ["--run-dir", "my  runs"] if kept else []
    command = [sys.executable, "-m", "ragmetrics_core", *arguments(server, *more, "--max-concurrency", "4")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    while len(server.requests) < 28:  # four are in flight, and the replies to all others have come
        assert process.poll() is None
        time.sleep(0.01)
    assert not kept or until(lambda: kept_replies(folder / "my  runs") == 24)
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, err = process.communicate(timeout=300)
    assert time.monotonic() - started < 100  # the answers would take ten minutes
    assert (process.returncode, out) == (130, "")
    if not kept:
        assert err == "ragmetrics: stopped (with --run-dir DIR, the next run would go on from here)\n"
        return
    message, shown_line = err.splitlines()
    assert message == "ragmetrics: stopped (all replies are kept in my  runs); to go on:"
    shown = shlex.split(shown_line)
    assert shown == ["ragmetrics", *command[3:]]
    finished = lines("my  runs/scores.jsonl")
    assert 5 <= len(finished) < ROWS
    assert len(Evaluation.load("my  runs")) == len(finished)
    answered = len(server.requests) - server.in_flight
    server.responder = slow
    before = len(server.requests)
    done = subprocess.run(
        [sys.executable, "-m", "ragmetrics_core", *shown[1:]], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert lines("my  runs/scores.jsonl") == list(range(1, ROWS + 1))
    assert len(server.requests) - before == 2 * ROWS - answered, "no finished call is repeated"


@pytest.mark.parametrize(
    ("user", "words", "shown"),
    [
        ("me:secret@", ["my rows.jsonl"], "'my rows.jsonl'"),
        (
            "",
            ["--separator", "http://h/v1?api_key=sk-abcdef123456", "sk-abcdef123456"],
            "--separator 'http://h/v1?api_key=***' '***'",
        ),
    ],
)
def test_a_password_is_not_shown_in_the_command(
    folder: Path, server: OpenAIServer, user: str, words: list[str], shown: str
) -> None:
    Path("my rows.jsonl").rename(words[-1])
    url = server.base_url.replace("://", f"://{user}")
    first, last = ("-m", "faithfulness", "--llm", "server:judge"), ("--run-dir", "r", "--budget", "calls=1")
    done = call("evaluate", "--base-url", url, *words, *first, *last)
    assert (done.exit_code, done.stderr) == (
        2,
        (
            "ragmetrics: the budget of 1 calls is used up (all replies are kept in r); to go on:\n"
            f"ragmetrics evaluate --base-url {server.base_url} {shown} {shlex.join([*first, *last])}\n"
        ),
    )


class TestWords:
    def test_a_lean_client_needs_an_address(self) -> None:
        found = call("evaluate", "rows.jsonl", "-m", "faithfulness", "--llm", "server:judge")
        assert (found.exit_code, found.stderr) == (
            2,
            (
                "ragmetrics: --llm server:judge does not say where the server is: give "
                "--base-url http://localhost:8000/v1 or set OPENAI_BASE_URL\n"
            ),
        )

    def test_progress(self) -> None:
        found = call("evaluate", "rows.jsonl", "-m", "token_f1", "--progress", "loud")
        assert (found.exit_code, found.stderr) == (
            2,
            "ragmetrics: --progress must be one of auto, always, never, got 'loud'\n",
        )
