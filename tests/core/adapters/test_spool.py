"""The spool: calls outlive kills, full queues and forks; ``redact`` keeps texts from spool and sinks."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Evaluation, InvalidInput
from ragmetrics_core.adapters import JsonlSink, Observer, Spool, observe
from ragmetrics_core.metrics import ExactMatch, Faithfulness
from waiting import until

KILLS = int(os.environ.get("RAGMETRICS_KILLS", "10"))
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks")


class Judge:
    """An LLM that finds no claims, once it may answer."""

    def __init__(self, *, free: bool = True) -> None:
        self.questions: list[str] = []
        self.free = threading.Event()
        if free:
            self.free.set()

    async def agenerate(self, ask: Any) -> str:
        import asyncio

        self.questions.append(ask.messages[-1].content)
        await asyncio.to_thread(self.free.wait, 60)
        return '{"claims": []}'


def hear(observer: Observer, *numbers: int, **more: Any) -> None:
    for number in numbers:
        with observer as record:
            record.update(question=f"q{number}", answer=f"a{number}", contexts=["c"], **more)


def kept(path: Path) -> list[dict[str, Any]]:
    """The calls in a spool; none if it is not made yet."""
    if not (path / "spool.sqlite").exists():
        return []
    with closing(sqlite3.connect(path / "spool.sqlite", timeout=60)) as database:
        if not database.execute("SELECT * FROM sqlite_master WHERE name = 'calls'").fetchone():
            return []
        return [json.loads(data)["call"] for (data,) in database.execute("SELECT data FROM calls ORDER BY at")]


def judged(observer: Observer) -> list[str]:
    """The questions that were judged, in order."""
    assert observer.flush(60)
    return sorted(str(record.sample.user_input) for record in observer.results if record.sample and record.scores)


def test_a_call_is_kept_until_it_is_judged_and_its_sinks_have_returned(tmp_path: Path) -> None:
    judge, may_return = Judge(free=False), threading.Event()
    path = tmp_path / "spool"
    observer = observe(Faithfulness(), llm=judge, spool=path, sinks=[lambda _: may_return.wait(60)])
    hear(observer, 1, 2, lang="en")
    assert until(lambda: len(kept(path)) == 2)
    assert [call["sample"]["metadata"] for call in kept(path)] == [{"lang": "en"}] * 2
    if sys.platform != "win32":
        assert (path.stat().st_mode & 0o777, (path / "spool.sqlite").stat().st_mode & 0o777) == (0o700, 0o600)
    judge.free.set()
    assert until(lambda: observer.counts["scored"] == 2)
    assert len(kept(path)) == 2  # the sink has not returned
    may_return.set()
    assert judged(observer) == ["q1", "q2"]
    assert kept(path) == []


def test_what_is_left_is_judged_by_the_next(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With its time, its metadata, and what ``Sampling`` drew for it."""
    first = observe(
        [Faithfulness(), ExactMatch()], llm=Judge(free=False), spool=tmp_path, sample_rate={"exact_match": 0.0}
    )
    hear(first, 1, 2, reference="a1")
    assert not first.close(0.3)
    assert caplog.messages[-1].endswith(
        f"2 pending, after 0.3 seconds: set exit_timeout=... or close(timeout=...); those pending and 0 more are kept in {tmp_path}"
    )
    times = [call["timestamp"] for call in kept(tmp_path)]
    assert len(times) == 2
    with closing(sqlite3.connect(tmp_path / "spool.sqlite")) as database, database:
        database.execute("UPDATE calls SET owner = 'process-gone'")
    other = observe(ExactMatch(), spool=tmp_path)
    hear(other, 4, reference="a4")
    assert judged(other) == ["q4"]
    assert caplog.messages[-1] == (
        "spool failed: 2 calls in the spool stay there, because they were recorded in another way or for other metrics than "
        "this live evaluation has (Observer with exact_match); further failures are not logged"
    )
    second = observe([Faithfulness(), ExactMatch()], llm=Judge(), spool=tmp_path, sample_rate={"exact_match": 0.0})
    hear(second, 3)
    assert until(lambda: len(second.results) == 3)
    assert judged(second) == ["q1", "q2", "q3"]
    states = {record.scores["exact_match"].reason for record in second.results}
    assert states == {"not asked: this call is outside the sample of the metric"}
    assert sorted(record.timestamp.isoformat() for record in second.results)[:2] == sorted(times)
    assert kept(tmp_path) == []


@pytest.mark.parametrize("most", [1, 2, 4])
def test_too_many_calls_wait_in_the_spool(tmp_path: Path, caplog: pytest.LogCaptureFixture, most: int) -> None:
    """``flush`` waits until they are judged too."""
    judge = Judge(free=False)
    observer = observe(Faithfulness(), llm=judge, spool=tmp_path, max_pending=most)
    hear(observer, *range(20))
    assert (observer.dropped, observer.stats()["spooled"]) == (0, 20 - most)
    assert not observer.flush(0.1)
    (message,) = caplog.messages
    assert message.startswith(
        f"an evaluation is left in {tmp_path}, to be judged later: {most} are waiting or being judged"
    )
    judge.free.set()
    assert judged(observer) == sorted(f"q{number}" for number in range(20))
    assert len(judge.questions) == 20
    assert until(lambda: kept(tmp_path) == [])
    assert observer.stats()["spooled"] == 0
    assert observer.close()
    assert caplog.messages == [message]  # all are judged


def test_only_and_failures_leave_nothing(tmp_path: Path) -> None:
    def only(record: Any) -> bool:
        if record.sample.user_input == "q2":
            raise LookupError("no such tenant")
        return bool(record.sample.user_input != "q1")

    class Dead:
        async def agenerate(self, _: Any) -> str:
            raise RuntimeError("dead")

    observer = observe(Faithfulness(), llm=Dead(), spool=tmp_path, only=only)
    hear(observer, 1, 2, 3)
    assert judged(observer) == ["q3"]
    assert until(lambda: kept(tmp_path) == [])


def test_old_calls_and_a_full_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    judge = Judge(free=False)
    observer = observe(Faithfulness(), llm=judge, spool=Spool(tmp_path, max_bytes=60_000))
    hear(observer, 0)
    assert until(lambda: len(kept(tmp_path)) == 1)
    hear(observer, *range(1, 40), text="x" * 3000)
    assert until(lambda: any("has reached max_bytes=60000" in message for message in caplog.messages))
    assert 1 <= len(kept(tmp_path)) < 20
    with closing(sqlite3.connect(tmp_path / "spool.sqlite")) as database, database:
        database.execute("UPDATE calls SET owner = 'left by x', at = at - 100")
    other = observe(Faithfulness(), llm=Judge(), spool=Spool(tmp_path, max_age=50.0))
    hear(other, 50)
    assert judged(other) == ["q50"]
    assert any("calls in the spool were older than max_age=50 seconds" in message for message in caplog.messages)
    judge.free.set()
    assert len(judged(observer)) == 40  # those that did not fit were judged too


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_bytes": 0}, "max_bytes must be a whole number from 1, got 0"),
        ({"max_age": -1}, "max_age must be a positive number of seconds, got -1"),
    ],
)
def test_impossible_limits(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Spool(tmp_path, **settings)
    assert str(caught.value) == message


def test_a_spool_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One warning; everything is judged."""
    observer = observe(Faithfulness(), llm=Judge(), spool=tmp_path / "spool")
    (tmp_path / "spool").write_text("a file")
    hear(observer, 1, 2, 3)
    assert judged(observer) == ["q1", "q2", "q3"]
    assert len([message for message in caplog.messages if message.startswith("spool failed")]) <= 1
    with pytest.raises(InvalidInput):
        observe(Faithfulness(), llm=Judge(), spool=tmp_path / "spool")


def test_calls_for_which_the_full_file_has_no_room_are_dropped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also those that cannot be written for another reason, here a text that ``redact`` refuses."""

    def redact(text: str) -> Any:
        return None if text == "q2" else text

    judge = Judge(free=False)
    observer = observe(Faithfulness(), llm=judge, spool=Spool(tmp_path, max_bytes=60_000), redact=redact, max_pending=1)
    hear(observer, 0)
    assert until(lambda: len(kept(tmp_path)) == 1)
    hear(observer, 1, text="x" * 100_000)
    hear(observer, 2, 3)
    assert until(lambda: len(kept(tmp_path)) == 2 and observer.dropped == 2)
    assert until(lambda: observer.stats()["spooled"] == 1)  # counted after it is written
    assert "the record of a call failed: redact must return a text, got NoneType; further failures are not logged" in (
        caplog.messages
    )
    judge.free.set()
    assert until(lambda: len(observer.results) == 2)  # with a single place, too
    assert judged(observer) == ["q0", "q3"]


def test_metadata_that_json_does_not_have(tmp_path: Path) -> None:
    judge = Judge(free=False)
    observer = observe(Faithfulness(), llm=judge, spool=tmp_path)
    hear(observer, 1, at=Path("here"), numbers={3}, rate=float("nan"))
    assert until(lambda: len(kept(tmp_path)) == 1)
    assert kept(tmp_path)[0]["sample"]["metadata"] == {"at": "here", "numbers": "{3}", "rate": "nan"}
    judge.free.set()
    assert judged(observer) == ["q1"]


def test_two_live_evaluations_on_one_spool(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    spool = Spool(tmp_path)
    both = [observe(Faithfulness(), llm=Judge(), spool=spool) for _ in range(2)]
    for number in range(50):
        for observer in both:
            hear(observer, number)
    assert [len(judged(observer)) for observer in both] == [50, 50]
    assert until(lambda: kept(tmp_path) == [])
    assert caplog.messages == []


def test_what_a_locked_file_refuses_is_written_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragmetrics_core._store._spool.PATIENCE", 0.05)
    judge = Judge(free=False)
    observer = observe(Faithfulness(), llm=judge, spool=tmp_path, max_pending=2)
    hear(observer, 1)
    assert until(lambda: len(kept(tmp_path)) == 1)
    with closing(sqlite3.connect(tmp_path / "spool.sqlite", isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        hear(observer, 2, 3)
        assert until(lambda: any("database is locked" in message for message in caplog.messages))
        database.execute("COMMIT")
    hear(observer, 4)
    assert until(lambda: len(kept(tmp_path)) == 4)
    judge.free.set()
    assert until(lambda: len(observer.results) == 4)
    assert judged(observer) == ["q1", "q2", "q3", "q4"]
    assert until(lambda: kept(tmp_path) == [])


def open_files() -> int:
    """The number of files that this process has open, where the system tells."""
    return len([*Path("/proc/self/fd").iterdir()]) if sys.platform == "linux" else 0


def test_a_damaged_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One warning, no file left open, and everything is judged."""
    (tmp_path / "spool.sqlite").write_bytes(b"no database" * 1000)
    observer = observe(Faithfulness(), llm=Judge(), spool=tmp_path)
    hear(observer, 0)
    assert judged(observer) == ["q0"]
    before = open_files()
    for number in range(1, 6):
        hear(observer, number)
        assert observer.flush(60)
    assert len(judged(observer)) == 6
    assert open_files() <= before
    assert [*tmp_path.iterdir()] == [tmp_path / "spool.sqlite"]
    assert len(caplog.messages) == 1


def test_redact(tmp_path: Path) -> None:
    """Neither spool nor sinks get the text, in whatever part of a record; ids and times stay."""
    secret = re.compile(r"\d{6}")
    seen: list[Any] = []
    file, spool = tmp_path / "live.jsonl", tmp_path / "spool"
    judge = Judge(free=False)
    observer = observe(
        [ExactMatch(), Faithfulness()],
        llm=judge,
        sinks=[JsonlSink(file), seen.append],
        spool=spool,
        redact=lambda text: secret.sub("***", text),
    )
    hear(observer, 123456, note="call 654321", reference="a123456")
    assert until(lambda: len(kept(spool)) == 1)
    assert kept(spool)[0]["sample"]["user_input"] == "q***"
    judge.free.set()
    assert judged(observer) == ["q123456"]
    assert "q123456" in judge.questions[0] or "a123456" in judge.questions[0]
    assert (seen[0].sample.user_input, seen[0].sample.metadata) == ("q***", {"note": "call ***"})
    assert seen[0].scores["exact_match"].value == 1.0
    line = json.loads(file.read_text())
    assert not secret.search(json.dumps({name: line[name] for name in ("sample", "scores", "error")}))
    assert line["timestamp"] == observer.results[0].timestamp.isoformat()
    assert Evaluation.load(file).records[0].sample.response == "a***"


PROGRAM = """
import asyncio, itertools, os, sqlite3, sys, time
from pathlib import Path
from ragmetrics_core.adapters import JsonlSink, observe
from ragmetrics_core.metrics import Faithfulness

spool, first, paid = Path(sys.argv[1]), int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

class Judge:
    async def agenerate(self, ask):
        os.write(paid, (ask.messages[-1].content.replace("\\n", " ") + "\\n").encode())
        await asyncio.sleep(0.02)
        return '{"claims": []}'

def left():
    return sqlite3.connect(spool / "spool.sqlite").execute("SELECT count(*) FROM calls").fetchone()[0]

sink = JsonlSink(f"{sys.argv[3]}.{os.getpid()}.jsonl")
observer = observe(Faithfulness(), llm=Judge(), spool=spool, sinks=[sink], max_concurrency=8, max_pending=200)
for number in itertools.count(first) if first >= 0 else [10**6]:
    with observer as record:
        record.update(question=f"q{number}", answer=f"a{number}.", contexts=["c"])
    time.sleep(0.01)
end = time.monotonic() + 60
while time.monotonic() < end and (not observer.flush(5) or left()):
    time.sleep(0.05)
observer.close()
"""


@UNIX
@pytest.mark.slow
def test_kills(tmp_path: Path) -> None:
    """Of processes that are killed, no call that was in the spool is lost, and few are paid twice."""
    spool, paid = tmp_path / "spool", tmp_path / "paid"
    chance = random.Random(7)
    promised: set[str] = set()
    again: Counter[str] = Counter()  # how often a call was in the spool at a kill, although its judgement was paid for
    for kill in range(KILLS):
        command = [sys.executable, "-c", PROGRAM, str(spool), str(kill * 1000), str(paid)]
        process = subprocess.Popen(command)
        try:
            assert until(lambda: list(tmp_path.glob(f"paid.{process.pid}.jsonl")))  # noqa: B023  called at once
            time.sleep(chance.uniform(0.0, 0.3))
            promised |= {call["sample"]["user_input"] for call in kept(spool)}
        finally:
            process.kill()
            process.wait()
        left = {call["sample"]["user_input"] for call in kept(spool)}
        promised |= left
        again.update(f"q{number}" for number in _paid(paid) if f"q{number}" in left)
    subprocess.run([sys.executable, "-c", PROGRAM, str(spool), "-1", str(paid)], check=True)
    assert kept(spool) == []
    written: Counter[str] = Counter()
    for file in tmp_path.glob("paid.*.jsonl"):
        for line in file.read_text().splitlines():
            if line.endswith("}"):  # a kill may cut the last one
                written[json.loads(line)["sample"]["user_input"]] += 1
    assert promised
    assert promised - written.keys() == set()
    assert {number: times for number, times in _paid(paid).items() if times > 1 + again[f"q{number}"]} == {}


def _paid(path: Path) -> Counter[str]:
    """The numbers of the calls that a judge was asked about, and how often."""
    return Counter(re.findall(r"a(\d+)\.", path.read_text()) if path.exists() else ())


@UNIX
def test_processes_share_a_spool(tmp_path: Path) -> None:
    """A forked child has its own lock, and what it leaves is judged by its parent."""
    observer = observe(Faithfulness(), llm=Judge(free=False), spool=tmp_path, exit_timeout=0.0)
    hear(observer, 1)
    assert until(lambda: len(kept(tmp_path)) == 1)
    child = os.fork()
    if child == 0:
        hear(observer, 2)
        until(lambda: len(kept(tmp_path)) == 2)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(kept(tmp_path)) == 2
    other = observe(Faithfulness(), llm=Judge(), spool=tmp_path)
    hear(other, 3)
    assert until(lambda: len(other.results) == 2)
    assert judged(other) == ["q2", "q3"]  # the first call belongs to a process that lives


@UNIX
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python's own, of forks beside threads
def test_a_fork_while_calls_wait_to_be_written(tmp_path: Path) -> None:
    """The child writes its own call, and leaves those of the parent to the parent."""
    parent, writes, may_write = os.getpid(), threading.Event(), threading.Event()

    def redact(text: str) -> str:
        if os.getpid() == parent:
            writes.set()
            may_write.wait(60)
        return text

    observer = observe(Faithfulness(), llm=Judge(free=False), spool=tmp_path, redact=redact, exit_timeout=0.0)
    hear(observer, 1)
    assert writes.wait(60)
    hear(observer, 2)  # waits until the first one is written
    child = os.fork()
    if child == 0:
        hear(observer, 3)
        is_written = until(lambda: [call["sample"]["user_input"] for call in kept(tmp_path)] == ["q3"])
        os._exit(0 if is_written else 1)
    assert os.waitpid(child, 0)[1] == 0
    may_write.set()
    assert until(lambda: len(kept(tmp_path)) == 3)
