"""A run directory has one writer: a second one is refused, by name; a dead one holds no lock; those who read need none."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.cli.calling import call
from core.evaluate.doubles import Length, Rated, questions, refused
from core.store.kept import Model, values
from killing import KilledRun
from loopback import OpenAIServer, Response
from ragmetrics_core import (
    Evaluation,
    InvalidInput,
    ModelError,
    aevaluate,
    estimate,
    evaluate,
    generate_testset,
    join_runs,
)
from ragmetrics_core.testing import ScriptedLLM
from waiting import until

LOCK = ".ragmetrics.lock"
TESTS = Path(__file__).resolve().parents[2]
unix_only = pytest.mark.skipif(sys.platform == "win32", reason="flock and signals of Unix")


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "today"


def names(run_dir: Path) -> set[str]:
    return {path.name for path in run_dir.iterdir()}


class TestTwoRuns:
    """A second run in a directory, out of the first one."""

    @pytest.fixture
    def during(self, run_dir: Path) -> Any:
        """What a function does while a run of three rows goes on."""

        def during(act: Any) -> Any:
            results = []

            def answer(text: str) -> str:
                results.append(act())
                return "0.5"

            model = Model(answer)
            assert values(evaluate(questions(3), Rated(), llm=model, run_dir=run_dir, max_concurrency=1)) == [0.5] * 3
            return results

        return during

    def message(self, run_dir: Path, **more: Any) -> str:
        other = Model(model="other")
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(3), Rated(), llm=other, run_dir=run_dir, **more)
        assert other.asked == []
        return str(caught.value)

    @pytest.mark.parametrize("replace", [False, True])
    def test_the_message_names_the_one_that_writes(self, run_dir: Path, during: Any, replace: bool) -> None:
        def act() -> tuple[str, Any]:
            return self.message(run_dir, replace=replace), json.loads((run_dir / LOCK).read_text())

        for message, holder in during(act):
            assert (holder["host"], holder["process"]) == (socket.gethostname(), os.getpid())
            assert message == (
                f"run_dir='{run_dir}' is in use: process {os.getpid()} on {socket.gethostname()} has been writing there since "
                f"{holder['started']}: wait until it ends, or give another run_dir"
            )
        assert names(run_dir) == {"journal.sqlite", "run.json", "scores.jsonl"}

    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"\xff\x00",
            b"[]",
            b"[" * 1000,
            b'{"process": 3, "host": "a"}',
            b'{"process": 3, "host": "a", "started": null}',
            b'{"process": 1.5, "host": "a", "started": "b"}',
        ],
    )
    def test_a_damaged_text(self, run_dir: Path, during: Any, text: bytes) -> None:
        def act() -> str:
            (run_dir / LOCK).write_bytes(text)
            return self.message(run_dir)

        expected = (
            f"run_dir='{run_dir}' is in use: another process writes there: wait until it ends, or give another run_dir"
        )
        assert during(act) == [expected] * 3

    def test_a_hostile_text_is_escaped(self, run_dir: Path, during: Any) -> None:
        def act() -> str:
            (run_dir / LOCK).write_text(json.dumps({"process": 3, "host": "\x1b[2J", "started": "now"}))
            return self.message(run_dir)

        assert "process 3 on \\x1b[2J has been writing there since now" in during(act)[0]

    def test_every_function_that_writes_there(self, run_dir: Path, during: Any) -> None:
        part = evaluate(questions(1), Length())
        (run_dir.parent / "a.txt").parent.mkdir(parents=True)
        (run_dir.parent / "a.txt").write_text("Ada was born in London.")

        def act() -> None:
            with pytest.raises(InvalidInput, match="is in use"):
                join_runs([part], run_dir, replace=True)
            with pytest.raises(InvalidInput, match="is in use"):
                generate_testset(run_dir.parent / "a.txt", llm=ScriptedLLM({}), run_dir=run_dir)

        during(act)

    def test_the_command(self, run_dir: Path, during: Any, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text('{"response": "a", "reference": "a"}\n')
        command = ("evaluate", str(tmp_path / "rows.jsonl"), "-m", "exact_match", "--run-dir", str(run_dir))
        done = during(lambda: call(*command))[0]
        assert done.exit_code == 2
        assert done.stderr.startswith(f"ragmetrics: --run-dir {run_dir} is in use: process {os.getpid()} on ")
        assert done.stderr.endswith(": wait until it ends, or give another --run-dir\n")

    def test_those_who_read(self, run_dir: Path, tmp_path: Path) -> None:
        evaluate(questions(2), Rated(), llm=Model(), run_dir=run_dir)

        def act() -> None:
            loaded = Evaluation.load(run_dir)
            assert values(loaded) == [0.0, 0.01]
            loaded.to_jsonl(tmp_path / "out.jsonl")
            loaded.to_html(tmp_path / "out.html")
            assert estimate(questions(3), Rated(), llm=Model(), run_dir=run_dir).rows == 3
            for command in (
                ("report", str(run_dir), "--out", str(tmp_path / "r.html")),
                ("show", str(run_dir), "--worst", "1"),
            ):
                assert call(*command).exit_code == 0

        model = Model(lambda text: act() or "0.5")
        result = evaluate(questions(3), Rated(), llm=model, run_dir=run_dir)
        assert (values(result), model.asked) == ([0.0, 0.01, 0.5], ["2"])

    async def test_after_the_end_the_next_one_may(self, run_dir: Path) -> None:
        """After success, an error, Ctrl-C, a time limit."""
        evaluate(questions(1), Rated(), llm=Model(), run_dir=run_dir)
        for error in (ModelError("no", fatal=True), ZeroDivisionError(), KeyboardInterrupt()):
            with pytest.raises(type(error)):
                evaluate(questions(2), Rated(), llm=Model(lambda text, error=error: error), run_dir=run_dir)
            assert LOCK not in names(run_dir)
        slow = Model()
        slow.delay = 600
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(aevaluate(questions(2), Rated(), llm=slow, run_dir=run_dir), 0.2)
        assert LOCK not in names(run_dir)
        assert values(evaluate(questions(2), Rated(), llm=Model(), run_dir=run_dir)) == [0.0, 0.01]

    def test_a_mistyped_command_leaves_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "there").mkdir()
        for run_dir in (tmp_path / "a" / "b", tmp_path / "there"):
            with pytest.raises(ModelError, match="the key is refused"):
                evaluate(questions(2), Rated(), llm=Model(lambda text: refused()), run_dir=run_dir)
            with pytest.raises(InvalidInput, match="there is no file"):
                evaluate(tmp_path / "none.jsonl", Rated(), llm=Model(), run_dir=run_dir)
        assert [path.name for path in tmp_path.rglob("*")] == ["there"]

    def test_what_others_put_there_meanwhile_stays(self, tmp_path: Path) -> None:
        def answer(text: str) -> ModelError:
            (tmp_path / "a" / "notes.txt").write_text("mine")
            return refused()

        with pytest.raises(ModelError, match="the key is refused"):
            evaluate(questions(2), Rated(), llm=Model(answer), run_dir=tmp_path / "a" / "b" / "c")
        assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["a", "notes.txt"]

    def test_a_lock_file_that_was_replaced_is_left_alone(self, run_dir: Path, during: Any) -> None:
        def act() -> None:
            (run_dir / LOCK).unlink()
            (run_dir / LOCK).write_text("another's")

        during(act)
        assert (run_dir / LOCK).read_text() == "another's"

    def test_a_directory_in_its_place(self, run_dir: Path) -> None:
        (run_dir / LOCK).mkdir(parents=True)
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(2), Length(), run_dir=run_dir)
        assert str(caught.value) == f"run_dir='{run_dir}' cannot be written: Is a directory"


@unix_only
class TestSystem:
    """What the operating system does, and what may happen between its steps."""

    def test_a_file_system_without_locks(self, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import fcntl

        def flock(file: Any, how: int) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(fcntl, "flock", flock)
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(2), Length(), run_dir=run_dir)
        assert str(caught.value) == (
            f"run_dir='{run_dir}' is on a file system without locks (No locks available), so a second run could not be kept "
            "out: give another run_dir on a local disk"
        )
        assert not run_dir.parent.exists()

    def test_the_file_vanishes_before_it_is_locked(self, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its owner has just removed it, with the directory."""
        import fcntl

        flock, left = fcntl.flock, [2]

        def late(file: Any, how: int) -> None:
            if left[0]:
                left[0] -= 1
                (run_dir / LOCK).unlink()
                run_dir.rmdir()
            flock(file, how)

        monkeypatch.setattr(fcntl, "flock", late)
        assert len(evaluate(questions(2), Length(), run_dir=run_dir)) == 2
        assert names(run_dir) == {"run.json", "scores.jsonl"}

    @pytest.mark.parametrize(("times", "ends"), [(2, True), (99, False)])
    def test_the_directory_vanishes(
        self, run_dir: Path, monkeypatch: pytest.MonkeyPatch, times: int, ends: bool
    ) -> None:
        mkdir, left = Path.mkdir, [times]
        run_dir.parent.mkdir()

        def fleeting(path: Path, *given: Any, **named: Any) -> None:
            mkdir(path, *given, **named)
            if path == run_dir and left[0]:
                left[0] -= 1
                path.rmdir()

        monkeypatch.setattr(Path, "mkdir", fleeting)
        if ends:
            assert len(evaluate(questions(2), Length(), run_dir=run_dir)) == 2
            return
        with pytest.raises(InvalidInput, match="is in use: another process writes there"):
            evaluate(questions(2), Length(), run_dir=run_dir)

    def test_windows_through_a_double_of_its_module(self, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The calls that are made there; what Windows makes of them is not tested."""
        part, locked = evaluate(questions(2), Length()), []

        def locking(file: int, how: int, size: int) -> None:
            if how == "held":
                raise PermissionError(errno.EACCES, "Permission denied")
            locked.append((os.lseek(file, 0, os.SEEK_CUR), how, size))

        msvcrt = SimpleNamespace(LK_NBLCK="free", locking=locking)
        monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)  # type: ignore[arg-type]
        monkeypatch.setattr(sys, "platform", "win32")
        assert len(join_runs([part], run_dir)) == 2
        assert locked == [(1 << 30, "free", 1)]
        assert names(run_dir) == {"run.json", "scores.jsonl"}
        msvcrt.LK_NBLCK = "held"
        (run_dir / LOCK).write_text('{"process": 7, "host": "h", "started": "now"}')
        with pytest.raises(InvalidInput, match="process 7 on h has been writing there since now"):
            join_runs([part], run_dir, replace=True)
        assert LOCK in names(run_dir)


@contextmanager
def holding(run_dir: Path, answered: int) -> Iterator[subprocess.Popen[str]]:
    """A process that runs there, and gets no more than so many answers."""
    left, is_over = iter(range(answered)), threading.Event()

    def answer(body: Any) -> Response:
        if next(left, None) is None:
            is_over.wait(300)
        return Response("0.5")

    with OpenAIServer(answer) as server:
        run = KilledRun(server, run_dir, "core.store.killed", ("9", "1"))
        process = run.start()
        try:
            assert until(lambda: len(server.requests) > answered or process.poll() is not None)
            yield process
        finally:
            process.kill()
            process.communicate(timeout=300)
            is_over.set()


@unix_only
@pytest.mark.slow
class TestProcesses:
    @pytest.mark.parametrize("answered", [0, 7])
    def test_a_killed_one_holds_no_lock(self, run_dir: Path, answered: int) -> None:
        with holding(run_dir, answered) as process:
            holder = json.loads((run_dir / LOCK).read_text())
            model = Model()
            with pytest.raises(InvalidInput) as caught:
                evaluate(questions(3), Rated(), llm=model, run_dir=run_dir)
            assert str(caught.value) == (
                f"run_dir='{run_dir}' is in use: process {process.pid} on {socket.gethostname()} has been writing there since "
                f"{holder['started']}: wait until it ends, or give another run_dir"
            )
            assert model.asked == []
            if answered:
                assert len(Evaluation.load(run_dir)) == 2
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert json.loads((run_dir / LOCK).read_text()) == holder, "the file stays"
            done = evaluate(questions(3), Rated(), llm=model, run_dir=run_dir, replace=True)
        assert values(done) == [0.0, 0.01, 0.02]
        assert LOCK not in names(run_dir)

    def test_a_child_that_outlives_its_parent(self, run_dir: Path) -> None:
        """A fork shares open files: the lock would live as long as the child."""
        child = f"""
import os, sys
from core.evaluate.doubles import Rated, questions
from core.store.kept import Model
from ragmetrics_core import evaluate

def answer(text):
    child = os.fork()
    if child:
        print(child, flush=True)
        os._exit(9)
    os.execvp("sleep", ["sleep", "300"]) if text == "exec" else __import__("time").sleep(300)

evaluate(questions(2), Rated(), llm=Model(answer), run_dir={str(run_dir)!r}, progress=False)
"""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [TESTS, *sys.path]))}
        parent = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", child], env=environment, stdout=subprocess.PIPE, text=True
        )
        assert parent.stdout is not None
        number = int(parent.stdout.readline())
        try:
            assert parent.wait(60) == 9
            os.kill(number, 0)  # it lives
            assert values(evaluate(questions(2), Rated(), llm=Model(), run_dir=run_dir)) == [0.0, 0.01]
            os.kill(number, 0)
        finally:
            os.kill(number, signal.SIGKILL)
            parent.stdout.close()

    def test_many_that_come_and_go(self, run_dir: Path, tmp_path: Path) -> None:
        """Each makes the directory and removes it. Never are two in it."""
        program = f"""
from pathlib import Path
from core.evaluate.doubles import Rated, questions, refused
from core.store.kept import Model
from ragmetrics_core import InvalidInput, ModelError, evaluate

mark, run_dir = Path({str(tmp_path / "inside")!r}), {str(run_dir)!r}

def answer(text):
    mark.open("x").close()
    assert len(list(Path(run_dir).iterdir())) == 1
    mark.unlink()
    return refused()

found = []
for _ in range(60):
    try:
        evaluate(questions(1), Rated(), llm=Model(answer), run_dir=run_dir, progress=False)
    except ModelError as error:
        found.append("ran")
    except InvalidInput as error:
        assert "is in use: " in str(error), error
        found.append("refused")
print(found.count("ran"), found.count("refused"))
"""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [TESTS, *sys.path]))}
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", program],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        ended = [process.communicate(timeout=300) for process in processes]
        assert [errors for _, errors in ended] == [""] * 4
        counts = [list(map(int, out.split())) for out, _ in ended]
        assert all(sum(pair) == 60 for pair in counts)
        assert sum(ran for ran, _ in counts) >= 60
        assert not any(path.is_file() for path in run_dir.parent.rglob("*"))


def test_a_link_in_the_place_of_the_lock_is_not_written_through(tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("keep me")
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (run_dir / ".ragmetrics.lock").symlink_to(target)
    with pytest.raises(InvalidInput, match="cannot be written: "):
        evaluate([{"response": "a"}], Length(), run_dir=run_dir, progress=False)
    assert target.read_text() == "keep me"
