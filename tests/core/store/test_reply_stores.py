"""Stores of replies: both keep the contract; segments are shared, torn, damaged and killed, and never give a wrong reply."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.evaluate.doubles import PlainReply, Rated, questions
from core.store.kept import Model
from ragmetrics_core import (
    BadReply,
    InvalidInput,
    MissingExtra,
    Prompt,
    RagmetricsError,
    Reply,
    Scorer,
    SegmentReplies,
    SQLiteReplies,
    Usage,
)
from ragmetrics_core.testing import ReplyStoreContract

COST = Usage(1, 120, 30)
Open = Callable[[], Any]


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shared" / "replies"


@pytest.fixture
def url() -> Iterator[str]:
    fsspec = pytest.importorskip("fsspec")
    place = f"memory://{uuid.uuid4().hex}/replies"
    yield place
    fsspec.filesystem("memory").store.clear()


class TestSQLite(ReplyStoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Open:
        return lambda: SQLiteReplies(tmp_path / "made" / "replies.sqlite")


class TestSegments(ReplyStoreContract):
    @pytest.fixture
    def open_store(self, folder: Path) -> Open:
        return lambda: SegmentReplies(folder)


class TestSegmentsAtURL(ReplyStoreContract):
    @pytest.fixture
    def open_store(self, url: str) -> Open:
        return lambda: SegmentReplies(url, records=3)


TEXTS = st.text(alphabet=st.characters(codec=None), max_size=20)
FLOATS = st.floats(allow_nan=False)
VECTORS = st.integers(0, 3).flatmap(
    lambda width: st.lists(st.lists(FLOATS, min_size=width, max_size=width), min_size=1)
)
KEYS = st.integers(0, 4).map(key)
STEPS = st.one_of(
    st.tuples(st.just("keep"), KEYS, st.one_of(TEXTS, st.lists(FLOATS), VECTORS)),
    st.tuples(st.just("strike"), st.lists(KEYS)),
    st.tuples(st.just("open")),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=25), data=st.data())
@pytest.mark.parametrize("kind", ["sqlite", "segments", "url"])
def test_any_sequence_gives_what_a_dictionary_would(
    kind: str, tmp_path: Path, url: str, steps: list[Any], data: st.DataObject
) -> None:
    name = uuid.uuid4().hex
    opening: dict[str, Open] = {
        "sqlite": lambda: SQLiteReplies(tmp_path / name),
        "segments": lambda: SegmentReplies(tmp_path / name),
        "url": lambda: SegmentReplies(f"{url}/{name}", records=2),
    }
    store, known = opening[kind](), dict[bytes, Reply[Any]]()
    for what, *values in steps:
        if what == "keep":
            new = Reply(values[1], COST)
            assert repr(store.keep(values[0], new, None)) == repr(known.setdefault(values[0], new))
        elif what == "strike":
            store.strike(values[0])
            for struck in values[0]:
                known.pop(struck, None)
        else:
            store.close()
            store = opening[kind]()
        assert [repr(store.find(key(number))) for number in range(5)] == [
            repr(known.get(key(number))) for number in range(5)
        ]
    store.close()


class TestSharedFolder:
    """Several stores over one folder at the same time."""

    @pytest.fixture(params=["folder", "url"])
    def place(self, request: pytest.FixtureRequest) -> Any:
        return request.getfixturevalue(request.param)

    def store(self, place: Any) -> SegmentReplies:
        return SegmentReplies(place, records=1, seconds=1e-9)  # it looks, and uploads, each time

    def test_each_sees_what_the_others_write(self, place: Any) -> None:
        with closing(self.store(place)) as one, closing(self.store(place)) as two:
            one.keep(key(1), Reply("of one", COST))
            assert two.find(key(1)) == Reply("of one", COST)
            assert two.keep(key(1), Reply("of two", Usage(1, 7, 7))) == Reply("of one", Usage(1, 7, 7))
            two.keep(key(2), Reply("of two", COST))
            assert one.find(key(2)) == Reply("of two", COST)
            two.strike([key(1)])
            one.find(key(3))  # it looks
            assert (one.find(key(1)), two.find(key(1))) == (None, None)
            one.keep(key(1), Reply("anew", COST))
            assert two.find(key(1)) == Reply("anew", COST)

    def test_asked_at_the_same_time(self, place: Any) -> None:
        """Both replies are there, and everybody takes that of the segment which was begun first."""
        with closing(SegmentReplies(place, seconds=999)) as one, closing(SegmentReplies(place, seconds=999)) as two:
            for store, value in ((one, "first"), (two, "second")):
                store.keep(key(1), Reply(value, COST))
                assert store.find(key(1)) == Reply(value, COST)
        with closing(self.store(place)) as again, closing(self.store(place)) as other:
            assert again.find(key(1)) == Reply("first", COST)
            again.strike([key(1)])
            assert again.find(key(1)) is None
            other.find(key(2))
            assert other.find(key(1)) is None

    def test_struck_before_it_is_read(self, place: Any) -> None:
        """The segment that strikes a reply has an earlier name than the one that holds it."""
        with closing(self.store(place)) as striking, closing(self.store(place)) as writing:
            striking.keep(key(0), Reply("the segment begins", COST))
            for value in ("bad", "worse"):
                writing.keep(key(1), Reply(value, COST))
                assert striking.find(key(1)) == Reply(value, COST)
                striking.strike([key(1)])
                assert writing.find(key(2)) is None
            writing.keep(key(1), Reply("good", COST))
            writing.keep(key(2), Reply("other", COST))
        with closing(self.store(place)) as again:
            assert (again.find(key(1)), again.find(key(2))) == (Reply("good", COST), Reply("other", COST))


class TestFolder:
    def segments(self, folder: Path) -> list[Path]:
        return sorted(folder.glob("replies-*.jsonl"))

    def test_nothing_is_made_before_the_first_reply(self, folder: Path) -> None:
        with closing(SegmentReplies(folder)) as store:
            assert store.find(key(1)) is None
            store.strike([key(1)])
        assert not folder.exists()

    def test_a_line_says_what_it_keeps(self, folder: Path) -> None:
        with closing(SegmentReplies(folder)) as store:
            store.keep(key(1), Reply("naïve", COST, truncated=True))
            store.keep(key(2), Reply([[0.5, 1.0]], COST))
            store.strike([key(1)])
            (segment,) = self.segments(folder)
            text, vectors, struck = map(json.loads, segment.read_text("utf-8").splitlines())
        assert {**text, "digest": ""} == {
            "key": key(1).hex(),
            "width": None,
            "value": "naïve",
            "prompt_tokens": 120,
            "completion_tokens": 30,
            "truncated": 1,
            "digest": "",
        }
        assert (vectors["width"], vectors["value"]) == (2, "AAAAAAAA4D8AAAAAAADwPw==")
        assert struck["struck"] == [[key(1).hex(), segment.name, 0]]

    def test_torn_anywhere(self, folder: Path) -> None:
        """Of a file that ends at any byte, the whole lines count, and the next writer goes on."""
        replies = [Reply("a", COST), Reply("ü" * 3, COST), Reply([0.5], COST)]
        with closing(SegmentReplies(folder)) as store:
            for number, one in enumerate(replies):
                store.keep(key(number), one)
        (segment,) = self.segments(folder)
        whole = segment.read_bytes()
        ends = [place + 1 for place, byte in enumerate(whole) if byte == 10]
        for cut in range(len(whole)):
            for path in self.segments(folder):
                path.unlink()
            segment.write_bytes(whole[:cut])
            there = sum(end <= cut for end in ends)
            with closing(SegmentReplies(folder)) as store:
                assert [store.find(key(number)) for number in range(3)] == [*replies[:there], *([None] * (3 - there))]
                if cut % 20:
                    continue
                for number, one in enumerate(replies):
                    store.keep(key(number), one)
            with closing(SegmentReplies(folder)) as store:
                assert [store.find(key(number)) for number in range(3)] == replies

    def test_damaged_anywhere(self, folder: Path) -> None:
        """One changed byte costs at most the two lines that it may join, and changes no reply."""
        with closing(SegmentReplies(folder)) as store:
            for number in range(3):
                store.keep(key(number), Reply(f"reply {number}", Usage(1, number, 9)))
            store.strike([key(0)])
        (segment,) = self.segments(folder)
        whole = segment.read_bytes()
        expected = [None, *(Reply(f"reply {number}", Usage(1, number, 9)) for number in (1, 2))]
        chance = random.Random(3)
        for place in range(len(whole)):
            damaged = bytearray(whole)
            damaged[place] = chance.choice([byte for byte in range(256) if byte != whole[place]])
            segment.write_bytes(damaged)
            with closing(SegmentReplies(folder)) as store:
                found = [store.find(key(number)) for number in range(3)]
            assert found[0] in (None, Reply("reply 0", Usage(1, 0, 9))), "the line that struck it may be lost"
            assert all(one in (None, two) for one, two in zip(found[1:], expected[1:], strict=True))
            assert sum(one != two for one, two in zip(found, expected, strict=True)) <= 2

    def test_damaged_while_it_is_open(self, folder: Path) -> None:
        with closing(SegmentReplies(folder)) as store:
            store.keep(key(1), Reply("one", COST))
            (segment,) = self.segments(folder)
            whole = segment.read_bytes()
            for damage in (whole.replace(b"one", b"two"), b"", b"[" * 100_000):
                segment.write_bytes(damage)
                assert store.find(key(1)) is None
            segment.unlink()
            assert store.find(key(1)) is None
            assert store.keep(key(1), Reply("anew", COST)) == Reply("anew", COST)

    @pytest.mark.parametrize(
        "line", ["", "no JSON", "[]", "{}", '{"digest": 3}', '{"digest": "00", "key": "00"}', "[" * 100_000]
    )
    def test_other_lines_are_skipped(self, folder: Path, line: str) -> None:
        with closing(SegmentReplies(folder)) as store:
            store.keep(key(1), Reply("one", COST))
        (segment,) = self.segments(folder)
        segment.write_bytes(f"{line}\n".encode() + segment.read_bytes())
        with closing(SegmentReplies(folder)) as store:
            assert store.find(key(1)) == Reply("one", COST)

    def test_other_files_are_left_alone(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        for name in ("scores.jsonl", "replies-1.jsonl"):
            (folder / name).write_text('{"mine": 1}\n')
        with closing(SegmentReplies(folder)) as store:
            store.keep(key(1), Reply("one", COST))
        assert [(folder / name).read_text() for name in ("scores.jsonl", "replies-1.jsonl")] == ['{"mine": 1}\n'] * 2

    def test_what_cannot_be_used(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(InvalidInput) as caught:
            SegmentReplies(tmp_path / "file")
        assert str(caught.value) == f"{tmp_path / 'file'} is not a folder: give another place"
        with closing(SegmentReplies(tmp_path / "file" / "inner")) as store, pytest.raises(InvalidInput) as caught:
            store.keep(key(1), Reply("one", COST))
        assert str(caught.value) == f"{tmp_path / 'file' / 'inner'} cannot be made a directory: Not a directory"
        with pytest.raises(InvalidInput, match="records must be a whole number from 1, got 0"):
            SegmentReplies(tmp_path / "a", records=0)
        with pytest.raises(InvalidInput, match="seconds must be a positive number of seconds, got -1"):
            SegmentReplies(tmp_path / "a", seconds=-1)

    def test_stopped_while_it_reads(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What it has read by then may be read again."""
        with closing(SegmentReplies(folder)) as store:
            for number in range(5):
                store.keep(key(number), Reply("yes", COST))
        with closing(SegmentReplies(folder.parent / "other", seconds=1e-9)) as store:
            (folder.parent / "other").symlink_to(folder)
            loads, left = json.loads, [3]

            def stopped(text: str) -> Any:
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt
                return loads(text)

            monkeypatch.setattr(json, "loads", stopped)
            with pytest.raises(KeyboardInterrupt):
                store.find(key(4))
            assert [store.find(key(number)) for number in range(5)] == [Reply("yes", COST)] * 5

    def test_a_segment_that_cannot_be_read(self, folder: Path) -> None:
        with closing(SegmentReplies(folder)) as store:
            store.keep(key(1), Reply("one", COST))
            (segment,) = self.segments(folder)
            segment.unlink()
            segment.mkdir()
            with pytest.raises(RagmetricsError) as caught:
                store.find(key(1))
            assert str(caught.value) == f"{segment} cannot be read: Is a directory"

    def test_no_room_for_the_index(self, folder: Path) -> None:
        with closing(SegmentReplies(folder)) as store:
            store._index.execute("PRAGMA max_page_count = 3")

            def fill() -> None:
                for number in range(1000):
                    store.keep(key(number), Reply("yes", COST))

            with pytest.raises(RagmetricsError) as caught:
                fill()
            assert str(caught.value) == (
                f"the index of {folder}, a temporary file, cannot be used: database or disk is full"
            )
        with closing(SegmentReplies(folder)) as store:
            assert store.find(key(0)) == Reply("yes", COST)

    @pytest.mark.skipif(sys.platform == "win32", reason="RLIMIT_FSIZE")
    def test_a_full_disk(self, folder: Path) -> None:
        """The line is cut short; the next one begins a segment."""
        import resource

        with closing(SegmentReplies(folder)) as store:
            store.keep(key(1), Reply("one", COST))
            before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            try:
                resource.setrlimit(resource.RLIMIT_FSIZE, (400, limits[1]))
                with pytest.raises(RagmetricsError, match="cannot be written: File too large"):
                    store.keep(key(2), Reply("x" * 500, COST))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
                signal.signal(signal.SIGXFSZ, before)
            assert store.find(key(2)) is None
            store.keep(key(2), Reply("two", COST))
            one, two = self.segments(folder)
            assert (one.stat().st_size, one.read_bytes()[-1:], two.read_bytes()[-1:]) == (400, b"x", b"\n")
        with closing(SegmentReplies(folder)) as store:
            assert (store.find(key(1)), store.find(key(2))) == (Reply("one", COST), Reply("two", COST))


@pytest.mark.parametrize("kind", ["sqlite", "segments", "url"])
async def test_a_scorer_asks_nothing_twice(tmp_path: Path, url: str, kind: str) -> None:
    """Of what was kept by another one; a reply that no one can read is asked for again."""
    opening: dict[str, Open] = {
        "sqlite": lambda: SQLiteReplies(str(tmp_path / "replies.sqlite")),
        "segments": lambda: SegmentReplies(str(tmp_path / "replies")),
        "url": lambda: SegmentReplies(url),
    }
    metric = Rated(prompt=Prompt("Rate the text.", Picky(), name="rate"))
    asked = []
    for unreadable in ("3", ""):
        model = Model(lambda text, bad=unreadable: "gibberish" if text == bad else "0.5")
        with closing(opening[kind]()) as store:
            async with Scorer(metric, llm=model, replies=store) as scorer:
                scores = await scorer.score(questions(5))
        asked.append(sorted(model.asked))
    assert asked == [["0", "1", "2", "3", "3", "4"], ["3"]]
    assert [row["rated"].value for row in scores] == [0.5] * 5


class Picky(PlainReply):
    def parse(self, text: str) -> str:
        if text == "gibberish":
            raise BadReply("it is no number", text)
        return text


class TestURL:
    @pytest.fixture
    def files(self) -> Any:
        return pytest.importorskip("fsspec").filesystem("memory")

    def test_segments_are_written_whole(self, url: str, files: Any) -> None:
        with closing(SegmentReplies(url, records=3, seconds=999)) as store:
            counts = []
            for number in range(7):
                store.keep(key(number), Reply("yes", COST))
                counts.append(len(files.store))
            assert counts == [0, 0, 1, 1, 1, 2, 2]
            assert [store.find(key(number)) for number in range(8)] == [*([Reply("yes", COST)] * 7), None]
        assert sorted(len(file.getvalue().splitlines()) for file in files.store.values()) == [1, 3, 3]

    def test_the_age_is_looked_at_when_something_happens(
        self, url: str, files: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import time

        now = [100.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        with closing(SegmentReplies(url, seconds=10)) as store:
            store.keep(key(1), Reply("yes", COST))
            now[0] += 9
            store.keep(key(2), Reply("yes", COST))
            assert len(files.store) == 0
            now[0] += 1
            store.find(key(1))
            assert len(files.store) == 1
            store.keep(key(3), Reply("yes", COST))
            now[0] += 9
            store.find(key(3))
            assert len(files.store) == 1

    def test_what_a_dead_process_loses(self, url: str) -> None:
        """What was not uploaded, and no more."""
        dead = SegmentReplies(url, records=4, seconds=999)
        for number in range(6):
            dead.keep(key(number), Reply("yes", COST))
        with closing(SegmentReplies(url)) as store:
            found = [store.find(key(number)) is not None for number in range(6)]
        assert found == [True] * 4 + [False] * 2
        dead.close()

    def test_an_upload_that_fails_is_tried_again(self, url: str, files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        pipe_file, fails = type(files).pipe_file, [True]

        def failing(self: Any, path: str, value: bytes, **more: Any) -> None:
            if fails[0]:
                raise ConnectionError("no route to key=sk-secret-12345678")
            pipe_file(self, path, value, **more)

        monkeypatch.setattr(type(files), "pipe_file", failing)
        store = SegmentReplies(url, records=2, seconds=999)
        store.keep(key(1), Reply("one", COST))
        for number in (2, 3):
            with pytest.raises(RagmetricsError) as caught:
                store.keep(key(number), Reply("two", COST))
            assert str(caught.value) == f"{url} cannot be used: no route to key=***"
        fails[0] = False
        store.keep(key(4), Reply("four", COST))
        store.close()
        with closing(SegmentReplies(url)) as store:
            assert [store.find(key(number)) is not None for number in (1, 2, 3, 4)] == [True, True, False, True]

    def test_a_copy_that_was_not_whole_is_fetched_again(self, url: str, files: Any) -> None:
        with closing(SegmentReplies(url)) as store:
            for number in range(3):
                store.keep(key(number), Reply("yes", COST))
        ((name, file),) = files.store.items()
        whole = file.getvalue()
        files.pipe_file(name, whole[:-5])
        with closing(SegmentReplies(url, seconds=1e-9)) as store:
            assert store.find(key(2)) is None
            files.pipe_file(name, whole)
            assert store.find(key(2)) == Reply("yes", COST)

    def test_what_cannot_be_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("fsspec")
        with pytest.raises(RagmetricsError) as caught:
            SegmentReplies("nothing://me:secret@host/replies")
        assert str(caught.value) == "nothing://***@host/replies cannot be used: Protocol not known: nothing"
        monkeypatch.setitem(sys.modules, "fsspec.core", None)
        with pytest.raises(MissingExtra) as missing:
            SegmentReplies("memory://replies")
        assert str(missing.value) == 'replies at a URL need fsspec: pip install "ragmetrics-core[fsspec]"'

    def test_a_protocol_that_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("fsspec")
        monkeypatch.setitem(sys.modules, "s3fs", None)
        with pytest.raises(MissingExtra, match="s3://bucket/replies cannot be used: Install s3fs to access S3"):
            SegmentReplies("s3://bucket/replies")


PROGRAM = """
import sys, time
from ragmetrics_core import Reply, SegmentReplies, Usage

folder, name, count, pause = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
store = SegmentReplies(folder, seconds=0.001)
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    key = f"{name} {number}".encode().ljust(16)
    store.keep(key, Reply(f"{name} says {number} " + "x" * (number % 50 * 20), Usage(1, number, 1)))
    if number % 3 == 0:
        store.strike([key])
    print(number, flush=True)
    time.sleep(pause)
store.close()
"""


KILLER = """
import json, os, random, signal, sys, time
from ragmetrics_core import Reply, SegmentReplies, Usage

chance, counts = random.Random(5), []
for name in range(100):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        store = SegmentReplies(f"{sys.argv[1]}/{name % 10}")
        for number in range(10**6):
            key = f"{name} {number}".encode().ljust(16)
            store.keep(key, Reply(f"{name} says {number} " + "x" * (number % 50 * 20), Usage(1, number, 1)))
            if number % 3 == 0:
                store.strike([key])
            os.write(writing, b".")
    os.close(writing)
    kept = sum(len(os.read(reading, 1)) for _ in range(name))
    time.sleep(chance.uniform(0, 0.001))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 1000):
        kept += len(more)
    os.close(reading)
    counts.append(kept)
print(json.dumps(counts))
"""


def started(folder: Path, name: str, count: int, pause: float = 0) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), name, str(count), str(pause)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def reply(name: str, number: int) -> Reply[str]:
    return Reply(f"{name} says {number} " + "x" * (number % 50 * 20), Usage(1, number, 1))


def expected(name: str, number: int) -> Reply[str] | None:
    return None if number % 3 == 0 else reply(name, number)


def found(store: SegmentReplies, name: str, count: int) -> list[Reply[Any] | None]:
    return [store.find(f"{name} {number}".encode().ljust(16)) for number in range(count)]


@pytest.mark.slow
class TestProcesses:
    def test_writers_and_a_reader_at_the_same_time(self, folder: Path) -> None:
        """The reader sees each reply whole or not at all."""
        count, names = 600, ("a", "b", "c")
        processes = [started(folder, name, count) for name in names]
        with closing(SegmentReplies(folder, seconds=0.001)) as reader:
            for process in processes:
                go(process)
            while any(process.poll() is None for process in processes):
                for name in names:
                    for number, one in enumerate(found(reader, name, count)):
                        assert one in (None, reply(name, number)), "not yet, before it was struck, or after"
            for process in processes:
                assert process.communicate()[0].splitlines() == list(map(str, range(count)))
            reader.find(b"look again")
            for store in (reader, SegmentReplies(folder)):
                for name in names:
                    assert found(store, name, count) == [expected(name, number) for number in range(count)]
            store.close()
        assert len(list(folder.iterdir())) == 3

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
    def test_killed_at_each_reply(self, folder: Path) -> None:
        """All that was said to be kept is there, and no reply is wrong. Another process writes to one of the folders."""
        other = started(folder / "0", "other", 10_000, pause=0.005)
        go(other)
        done = subprocess.run(
            [sys.executable, "-c", KILLER, str(folder)], stdout=subprocess.PIPE, text=True, check=True, timeout=300
        )
        other.send_signal(signal.SIGKILL)
        other.communicate()
        counts = json.loads(done.stdout)
        assert len(counts) == 100
        for name, kept in enumerate(counts):
            assert kept >= name
            with closing(SegmentReplies(folder / str(name % 10))) as store:
                assert found(store, str(name), kept) == [expected(str(name), number) for number in range(kept)]
                assert found(store, str(name), kept + 1)[-1] in (None, reply(str(name), kept))
                assert found(store, str(name), kept + 2)[-1] is None, "nothing was begun after it"
