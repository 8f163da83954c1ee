"""Rows on standard input, and in files whose names tell nothing: the first line tells the format."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.read.reading import EXPECTED, ROWS, jsonl, open_rows, read, samples
from ragmetrics_core import InvalidInput, Sample

TEXTS = {
    "JSON lines": jsonl(ROWS),
    "JSON lines, the first one blank": "\n \n" + jsonl(ROWS),
    "JSON": json.dumps(ROWS),
    "JSON over several lines": json.dumps(ROWS, indent=1),
    "an object with rows": json.dumps({"rows": ROWS}),
    "an object over several lines": json.dumps({"data": ROWS}, indent=1),
    "a table": 'id;user_input;retrieved_contexts\nq1;Où ?;"[""a, b"", ""c \\""d\\""""]"\nq2;"Wo?\nUnd wann?";e\n',
    "a table with a hint": "sep=;\n"
    'id;user_input;retrieved_contexts\nq1;Où ?;"[""a, b"", ""c \\""d\\""""]"\nq2;"Wo?\nUnd wann?";e\n',
}


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("packed", [False, True])
def test_the_format_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, packed: bool) -> None:
    data = gzip.compress(text.encode()) if packed else text.encode()
    pipe(monkeypatch, data)
    opened = open_rows("-")
    assert (opened.name, opened.count(None)) == ("stdin", 2)
    assert [row.sample for row in opened.rows] == EXPECTED
    (tmp_path / f"export.txt{'.gz' * packed}").write_bytes(data)
    assert samples(tmp_path / f"export.txt{'.gz' * packed}") == EXPECTED


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ('{"question": "a", "calls": [{"n": 1}]}', Sample(user_input="a", metadata={"calls": [{"n": 1}]})),
        ('{"runs": [{"question": "a"}]}', Sample(user_input="a")),
    ],
)
def test_one_object_is_a_row_or_holds_rows(monkeypatch: pytest.MonkeyPatch, text: str, sample: Sample) -> None:
    pipe(monkeypatch, text.encode())
    assert samples("-") == [sample]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "stdin holds no rows"),
        ("{}{", "stdin, line 1: not JSON (Extra data): a file with one JSON object per line is named .jsonl"),
        (
            "Dear colleague",
            (
                "the name of 'stdin' does not tell its format, nor does its first line: let it end in .jsonl, .json, .csv or "
                ".tsv (.gz may follow), in .xlsx or in .parquet"
            ),
        ),
    ],
)
def test_what_is_no_rows(monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    pipe(monkeypatch, text.encode())
    with pytest.raises(InvalidInput) as caught:
        read("-")
    assert str(caught.value) == message


def test_no_copy_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pipe(monkeypatch, jsonl(ROWS).encode())
    opened = open_rows("-")
    assert len(list(tmp_path.iterdir())) == 1
    assert len(list(opened.rows)) == 2
    del opened
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_without_a_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "63")
    writing = threading.Thread(target=(tmp_path / "63").write_text, args=(jsonl(ROWS), "utf-8"))
    writing.start()
    assert read(tmp_path / "63") == [("63, line 1", EXPECTED[0], None), ("63, line 2", EXPECTED[1], None)]
    writing.join()


class Interrupted(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        raise KeyboardInterrupt


def test_no_copy_is_left_of_what_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Interrupted()))
    with pytest.raises(KeyboardInterrupt):
        open_rows("-")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stdin", [None, io.StringIO()])
def test_no_standard_input(monkeypatch: pytest.MonkeyPatch, stdin: object) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(InvalidInput) as caught:
        open_rows("-")
    assert str(caught.value) == "there is no standard input here, as in a notebook: give the path of a file"
