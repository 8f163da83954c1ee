"""The programs of docs/serving.md in real servers: at the end of a process every call has been judged, exactly once."""

from __future__ import annotations

import json
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from pages import blocks, commands
from source_tree import ROOT
from waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks")

PAGE = blocks(ROOT / "docs" / "serving.md")
COMMANDS = {
    shlex.split(command)[0]: shlex.split(command)
    for block in PAGE
    if block.language == "console"
    for command, _ in commands(block.text)
}
QUESTIONS = [f"Question {number}?" for number in range(20)]

JUDGE = """
import asyncio, os, re

class LexicalJudge:
    '''Takes the place of the offline judge: it answers once the file `go` is there, and says what it was asked.'''

    async def agenerate(self, ask):
        while True:
            await asyncio.sleep(0.02)
            if os.path.exists("go"):
                break
        (question,) = re.findall(r"Question \\d+\\?", ask.messages[-1].content)
        with open("asked.txt", "a") as file:
            file.write(question + "\\n")
        return '{"claims": []}'
"""

BROKER = """
options = {"data_folder_in": "queue", "data_folder_out": "queue", "control_folder": "control", "polling_interval": 0.1}
app.conf.update(broker_url="filesystem://", broker_transport_options=options)
"""


@pytest.fixture(params=["", 'spool="spool"'], ids=["no spool", "spool"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The programs of the page, with and without a spool."""
    return programs(tmp_path, request.param)


def programs(folder: Path, settings: str = "") -> Path:
    """Write the programs of the page, with a judge that waits, and no time for judging at the exit of a process."""
    named = {block.file: block.text for block in PAGE if block.file}
    live = named["live.py"].replace("from ragmetrics_core.llms import", "from judge import")
    live = live.replace("keep=1000", f"keep=1000, exit_timeout=0.0, {settings}")
    assert live.count("from judge import") == live.count("exit_timeout=0.0") == 1
    for name, text in {**named, "live.py": live, "judge.py": JUDGE}.items():
        (folder / str(name)).write_text(text, encoding="utf-8")
    return folder


def check(folder: Path, questions: list[str] = QUESTIONS) -> None:
    """Each question was judged once and saved once, and nothing is left in the spool."""
    assert sorted((folder / "asked.txt").read_text().splitlines()) == sorted(questions)
    assert sorted(saved(folder)) == sorted(questions)
    assert left(folder) == 0


def saved(folder: Path) -> list[str]:
    lines = [line for file in folder.glob("scores-*.jsonl") for line in file.read_text().splitlines()]
    return [json.loads(line)["sample"]["user_input"] for line in lines]


def left(folder: Path) -> int:
    """How many calls are in the spool."""
    if not (folder / "spool" / "spool.sqlite").exists():
        return 0
    with closing(sqlite3.connect(folder / "spool" / "spool.sqlite", timeout=60)) as database:
        if not database.execute("SELECT * FROM sqlite_master WHERE name = 'calls'").fetchone():
            return 0
        return int(database.execute("SELECT count(*) FROM calls").fetchone()[0])


@contextmanager
def started(folder: Path, *command: str, is_module: bool = True) -> Iterator[subprocess.Popen[bytes]]:
    """A process in the folder, whose output goes to the file ``log``."""
    python = [sys.executable, "-m"] if is_module else [sys.executable]
    with (
        (folder / "log").open("ab") as log,
        subprocess.Popen([*python, *command], cwd=folder, stdin=subprocess.PIPE, stdout=log, stderr=log) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def log_of(folder: Path) -> str:
    return (folder / "log").read_text() if (folder / "log").exists() else ""


def ended(folder: Path, process: subprocess.Popen[bytes], seconds: float = 0.3) -> int:
    """The status of a process after SIGTERM, where the judge answers only some seconds later."""
    assert saved(folder) == []
    process.send_signal(signal.SIGTERM)
    time.sleep(seconds)
    (folder / "go").touch()
    return process.wait(PATIENCE)


@contextmanager
def serving(
    folder: Path, command: list[str], option: str
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[str], str]]]:
    """A server, and a function that asks it."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    address = f"127.0.0.1:{port}"
    place = address if option == "--bind" else str(port)

    def ask(question: str) -> str:
        return (
            httpx.get(f"http://{address}/ask", params={"question": question}, trust_env=False).raise_for_status().text
        )

    def listens() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    with started(folder, *command, option, place) as process:
        assert until(lambda: process.poll() is not None or listens()), log_of(folder)
        yield process, ask


def test_uvicorn(folder: Path) -> None:
    with serving(folder, COMMANDS["uvicorn"], "--port") as (process, ask):
        answered = [ask(question) for question in QUESTIONS]
        assert "It was built in 1871." in answered[-1]
        assert ended(folder, process) == -signal.SIGTERM
    check(folder)


@pytest.mark.parametrize("options", [[], ["--preload"]], ids=["", "preload"])
def test_gunicorn(folder: Path, options: list[str]) -> None:
    """Two workers."""
    with serving(folder, [*COMMANDS["gunicorn"], *options], "--bind") as (process, ask):
        assert {ask(question) for question in QUESTIONS} == {"It was built in 1871."}
        assert ended(folder, process) == 0
    assert log_of(folder).count("Booting worker") == 2
    check(folder)


@pytest.mark.slow
def test_celery(tmp_path: Path) -> None:
    """Two processes, which are forks of one that has imported the program. Celery takes some seconds to end them."""
    folder = programs(tmp_path, 'spool="spool"')
    for name in ("queue", "control"):
        (folder / name).mkdir()
    with (folder / "tasks.py").open("a") as program:
        program.write(BROKER)
    send = f"from tasks import ask\nfor question in {QUESTIONS}: ask.delay(question)"
    subprocess.run([sys.executable, "-c", send], cwd=folder, check=True)
    options = ["--concurrency=2", "--loglevel=INFO", "--without-mingle", "--without-gossip", "--without-heartbeat"]
    with started(folder, *COMMANDS["celery"], *options) as process:
        assert until(lambda: process.poll() is not None or log_of(folder).count(" succeeded in ") == 20), log_of(folder)
        assert ended(folder, process, 5.0) == 0
    check(folder)


def answers(folder: Path) -> int:
    """How many questions are answered in the log."""
    return log_of(folder).count("It was built in 1871.")


LAMBDA = """
import os, signal, sys
from function import handler

class Context:
    def get_remaining_time_in_millis(self):
        return 60_000

for question in sys.stdin:
    print(handler({"question": question.strip()}, Context())["answer"], flush=True)
"""


def test_lambda(tmp_path: Path) -> None:
    """Two processes, each frozen after each call, and killed after ten."""
    programs(tmp_path)
    (tmp_path / "go").touch()
    (tmp_path / "runtime.py").write_text(LAMBDA)
    for number in (0, 10):
        with started(tmp_path, "runtime.py", is_module=False) as process:
            assert process.stdin is not None
            for question in QUESTIONS[number : number + 10]:
                process.send_signal(signal.SIGCONT)
                process.stdin.write(f"{question}\n".encode())
                process.stdin.flush()
                assert until(lambda: answers(tmp_path) > QUESTIONS.index(question))  # noqa: B023  called at once
                process.send_signal(signal.SIGSTOP)
            process.kill()
    check(tmp_path)


@contextmanager
def script(folder: Path, questions: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The script, when it has answered these questions."""
    before = answers(folder)
    with started(folder, "script.py", is_module=False) as process:
        assert process.stdin is not None
        process.stdin.write("\n".join([*questions, ""]).encode())
        process.stdin.flush()
        assert until(lambda: process.poll() is not None or answers(folder) == before + len(questions)), log_of(folder)
        yield process


def test_script_at_sigterm(folder: Path) -> None:
    with script(folder, QUESTIONS) as process:
        assert ended(folder, process) == -signal.SIGTERM
    check(folder)


def test_what_a_killed_script_has_left_is_judged_by_the_next(tmp_path: Path) -> None:
    """The next one comes to its end."""
    programs(tmp_path, 'spool="spool"')
    with script(tmp_path, QUESTIONS[:-1]) as process:
        assert until(lambda: left(tmp_path) == 19)
        process.kill()
    (tmp_path / "go").touch()
    with script(tmp_path, QUESTIONS[-1:]) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    check(tmp_path)


def test_the_page_has_a_program_for_each_server() -> None:
    assert COMMANDS.keys() == {"uvicorn", "gunicorn", "celery"}
