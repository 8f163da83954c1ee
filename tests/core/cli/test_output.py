"""What leaves the command: the file is whole or untouched, and no text of the data steers the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from unittest.mock import patch

import pytest

from core.cli.calling import call
from core.cli.own import OWN
from ragmetrics_core import Evaluation
from ragmetrics_core.cli import main

RUN = ("evaluate", "q.jsonl", "-m", OWN)


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def half(self: Evaluation, path: Path) -> None:
    """Write some of it and fail, as on a full disk."""
    path.write_text("half a line")
    raise OSError(28, "No space left on device")


class TestFile:
    @pytest.mark.parametrize("link", [os.symlink, os.link])
    def test_the_file_that_is_read_is_never_written(self, folder: Path, link: object) -> None:
        assert callable(link)
        link(folder / "q.jsonl", folder / "other.jsonl")
        before = (folder / "q.jsonl").read_bytes()
        result = call(*RUN, "--out", "other.jsonl")
        assert (result.exit_code, result.stdout, result.stderr) == (
            2,
            "",
            "ragmetrics: --out: other.jsonl is the file that the rows are read from: give another path\n",
        )
        assert (folder / "q.jsonl").read_bytes() == before

    def test_an_older_file_stays_until_the_new_one_is_whole(
        self, folder: Path, own_table: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / "scores.jsonl").write_text("older\n")
        monkeypatch.setattr(Evaluation, "to_jsonl", half)
        result = call(*RUN, "--out", "scores.jsonl")
        assert (result.exit_code, result.stderr) == (
            2,
            "ragmetrics: --out: scores.jsonl cannot be written: No space left on device\n",
        )
        assert "shortness  0.300  2 of 4" in result.stdout, "the table is all that is left of the run"
        assert (folder / "scores.jsonl").read_text() == "older\n"
        assert not list(folder.glob(".ragmetrics*"))

    def test_finished_rows_that_cannot_be_saved(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Evaluation, "to_jsonl", half)
        result = call(*RUN, "--on-error", "raise", "--out", "scores.jsonl")
        assert (result.exit_code, result.stderr) == (
            2,
            (
                "ragmetrics: q.jsonl, line 3: shortness: response must be a str, got int (the 2 rows finished before "
                "are lost: --out: scores.jsonl cannot be written: No space left on device)\n"
            ),
        )

    def test_a_link_is_followed_and_the_mode_kept(self, folder: Path) -> None:
        (folder / "deep").mkdir()
        real = folder / "deep" / "real.jsonl"
        real.write_text("older\n")
        real.chmod(0o640)
        (folder / "scores.jsonl").symlink_to(real)
        assert call(*RUN, "--out", "scores.jsonl").exit_code == 0
        assert (folder / "scores.jsonl").is_symlink()
        assert (lines(real), real.stat().st_mode & 0o777) == (4, 0o640)

    def test_a_device(self, folder: Path) -> None:
        assert call(*RUN, "--out", os.devnull).exit_code == 0
        assert not Path(os.devnull).is_file()

    def test_a_folder_that_takes_no_new_file(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / "scores.jsonl").write_text("older\n")
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path).is_file())
        assert call(*RUN, "--out", "scores.jsonl").exit_code == 0
        assert lines(folder / "scores.jsonl") == 4

    def test_a_place_without_permission_is_refused_before_the_run(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        result = call(*RUN, "--out", "scores.jsonl")
        assert (result.exit_code, result.stdout, result.stderr) == (
            2,
            "",
            "ragmetrics: --out: scores.jsonl cannot be written: Permission denied\n",
        )


@contextmanager
def gone() -> Iterator[TextIO]:
    """The writing end of a pipe that is no longer read."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        yield stream


@contextmanager
def full() -> Iterator[TextIO]:
    """A device that takes nothing."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w") as stream:
        yield stream


def status(*arguments: str) -> object:
    """The exit status of a command that prints to the streams of this process."""
    with patch.object(sys, "argv", ["ragmetrics", *arguments]), pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


class TestStreams:
    """What the process tests show from outside, seen from inside."""

    def test_a_reader_that_has_gone_is_no_error(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with gone() as stream:
            monkeypatch.setattr(sys, "stdout", stream)
            assert status("metrics") == 0
            assert status("metrics") == 0
        assert capsys.readouterr().err == ""

    def test_a_full_disk_is_one(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        with full() as stream:
            monkeypatch.setattr(sys, "stdout", stream)
            assert status("metrics") == 2
        assert capsys.readouterr().err == "ragmetrics: the output cannot be written: No space left on device\n"

    def test_the_status_is_set_without_stderr(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with gone() as stream:
            monkeypatch.setattr(sys, "stderr", stream)
            assert status("look", "missing.jsonl") == 2


class TestTerminal:
    def test_control_characters_are_printed_as_escapes(self, folder: Path) -> None:
        (folder / "q.jsonl").write_text(
            '{"id": "\\u001b[31mred\\u009b\\u202e\\u0007", "response": 3}\n{"response": "a"}\n'
        )
        result = call(*RUN)
        assert "(\\x1b[31mred\\x9b\\u202e\\x07)" in result.stdout
        assert not set("\x1b\x9b\u202e\x07") & set(result.stdout)

    def test_in_places_too(self, folder: Path) -> None:
        (folder / "a\x1b[2J.jsonl").write_text("{\n")
        result = call("evaluate", "a\x1b[2J.jsonl", "-m", OWN)
        assert result.stderr.startswith("ragmetrics: a\\x1b[2J.jsonl, line 1: not JSON")
        assert "\x1b" not in result.output
