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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.read.reading import EXPECTED, ROWS, counted, jsonl, read, samples
from ragmetrics_core import InvalidInput, Metric, Sample, Score, evaluate

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
    assert [(place.partition(",")[0], sample) for place, sample, _ in read("-")] == [("stdin", row) for row in EXPECTED]
    pipe(monkeypatch, data)
    assert counted("-") == 2
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
                "neither the name nor the first line of 'stdin' shows its format: let the name end in .jsonl, .json, .csv or "
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
    copies = []

    @dataclass(frozen=True)
    class Watching(Metric):
        def measure(self, metadata: Mapping[str, Any] | None = None) -> Score:
            copies.append(len(list(tmp_path.iterdir())))
            return Score(1.0)

    evaluate("-", Watching(), progress=False)
    assert copies == [1, 1]
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
        samples("-")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stdin", [None, io.StringIO()])
def test_no_standard_input(monkeypatch: pytest.MonkeyPatch, stdin: object) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(InvalidInput) as caught:
        samples("-")
    assert str(caught.value) == "there is no standard input here, as in a notebook: give the path of a file"
