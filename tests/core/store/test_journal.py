"""Replies survive on disk exactly as they came, processes may share the file, and what is no journal is said to be none."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ragmetrics_core import InvalidInput, RagmetricsError, Reply, SQLiteReplies, Usage

COST = Usage(1, 120, 30)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


class TestReplies:
    def test_the_first_one_stands(self, path: Path) -> None:
        first, second = SQLiteReplies(path), SQLiteReplies(path)
        assert first.keep(b"key", Reply("one", COST)) == Reply("one", COST)
        # the second one uses the reply in the file, but has paid for its own call
        assert second.keep(b"key", Reply("two", Usage(1, 7, 7), truncated=True)) == Reply("one", Usage(1, 7, 7))
        assert second.find(b"key") == Reply("one", COST)
        first.close()
        second.close()

    def test_every_reply_is_in_the_file_at_once(self, path: Path) -> None:
        journal = SQLiteReplies(path)
        journal.keep(b"key", Reply("at once", COST))
        other = sqlite3.connect(path)
        assert other.execute("SELECT value FROM replies").fetchall() == [(b"at once",)]
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        other.close()
        journal.close()


class TestOtherFiles:
    def test_a_text(self, path: Path) -> None:
        path.write_text("these are my notes\n" * 100)
        with pytest.raises(InvalidInput) as caught:
            SQLiteReplies(path)
        assert str(caught.value) == (
            f"{path} has no replies of ragmetrics (file is not a database): give another path, or move the file away"
        )
        assert path.read_text() == "these are my notes\n" * 100

    def test_another_version(self, path: Path) -> None:
        SQLiteReplies(path).close()
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 77")
        database.commit()
        database.close()
        with pytest.raises(InvalidInput) as caught:
            SQLiteReplies(path)
        assert str(caught.value) == f"{path} was written by another version of ragmetrics: give another path"

    def test_a_directory(self, path: Path) -> None:
        path.mkdir()
        with pytest.raises(RagmetricsError) as caught:
            SQLiteReplies(path)
        assert str(caught.value) == f"the replies in {path} cannot be used: unable to open database file"

    def test_a_damaged_file(self, path: Path) -> None:
        journal = SQLiteReplies(path)
        for number in range(300):
            journal.keep(b"%d" % number, Reply("x" * 500, COST))
        journal.close()
        data = bytearray(path.read_bytes())
        data[4096:] = random.Random(1).randbytes(len(data) - 4096)  # all pages but the first
        path.write_bytes(data)
        with closing(SQLiteReplies(path)) as damaged, pytest.raises(InvalidInput, match="has no replies of ragmetrics"):
            damaged.find(b"7")

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
    def test_only_the_owner_can_read_a_new_file(self, tmp_path: Path) -> None:
        path, other = tmp_path / "new.sqlite", tmp_path / "made.sqlite"
        other.touch(0o644)
        with closing(SQLiteReplies(path)) as replies, closing(SQLiteReplies(other)) as others:
            replies.keep(b"key", Reply("x", COST))
            others.keep(b"key", Reply("x", COST))
            found = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        assert found.pop("new.sqlite") == found.pop("new.sqlite-wal") == found.pop("new.sqlite-shm") == 0o600
        assert set(found.values()) == {0o644}, "a file that was there stays as it is"

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
    def test_a_read_only_directory(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        try:
            with pytest.raises(RagmetricsError, match="cannot be used: unable to open database file"):
                SQLiteReplies(tmp_path / "journal.sqlite").keep(b"key", Reply("x", COST))
        finally:
            tmp_path.chmod(0o700)

    def test_a_read_only_file(self, path: Path) -> None:
        journal = SQLiteReplies(path)
        journal.keep(b"other", Reply("x", COST))
        assert journal._db is not None
        journal._db.execute("PRAGMA query_only = 1")  # what the operating system would refuse, root or not
        with pytest.raises(RagmetricsError) as caught:
            journal.keep(b"key", Reply("x", COST))
        assert str(caught.value) == (f"the replies in {path} cannot be used: attempt to write a readonly database")
        journal.close()

    def test_a_full_disk(self, path: Path) -> None:
        journal = SQLiteReplies(path)
        journal.keep(b"other", Reply("x", COST))
        assert journal._db is not None
        pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
        journal._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(RagmetricsError) as caught:
            journal.keep(b"key", Reply("x" * 100_000, COST))
        assert str(caught.value) == f"the replies in {path} cannot be used: database or disk is full"
        journal._db.execute("PRAGMA max_page_count = 100000")
        assert journal.find(b"key") is None
        assert journal.keep(b"key", Reply("x", COST)) == Reply("x", COST)
        journal.close()


WRITER = """
import sys
from pathlib import Path
from ragmetrics_core import Reply, SQLiteReplies, Usage

path, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
journal = SQLiteReplies(path)
stood = []
for number in range(300):
    stood.append(journal.keep(b"%d" % number, Reply(f"{name} {number}", Usage(1))).value)
    journal.keep(f"{name} {number}".encode(), Reply("own"))
    journal.strike([f"{name} {number}".encode()] if number % 2 else [])
journal.close()
print("\\n".join(stood))
"""


def test_processes_share_a_file_from_its_first_moment(path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b", "c")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    outputs = [writer.communicate("go\n", timeout=300) for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], outputs
    first, *others = [out.splitlines() for out, _ in outputs]
    assert len(first) == 300
    assert all(other == first for other in others), "all work with the same replies"
    journal = sqlite3.connect(path)
    assert journal.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert journal.execute("SELECT count(*), count(digest) FROM replies").fetchone() == (300 + 3 * 300, 300 + 3 * 150)
    journal.close()
