"""Text that is not UTF-8: what a byte order mark proves, what an option says, and the message where neither does."""

from __future__ import annotations

import codecs
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cli.calling import call
from core.evaluate.doubles import Length
from core.read.reading import counted, read, samples, write
from ragmetrics_core import InvalidInput, Sample, evaluate

TEXTS = {
    "q.csv": 'question;answer\nWo liegt Köln?;"Am Rhein\nin ""NRW"""\n\nUnd Čačak?;In Serbien\n',
    "q.tsv": 'question\tanswer\nWo liegt Köln?\t"Am Rhein\nin ""NRW"""\nUnd Čačak?\tIn Serbien\n',
    "q.jsonl": (
        '{"question": "Wo liegt Köln?", "answer": "Am Rhein\\nin \\"NRW\\""}\n \n'
        '{"question": "Und Čačak?", "answer": "In Serbien"}\n'
    ),
    "q.json": (
        '[{"question": "Wo liegt Köln?", "answer": "Am Rhein\\nin \\"NRW\\""},\n'
        '{"question": "Und Čačak?", "answer": "In Serbien"}]'
    ),
}
EXPECTED = [
    Sample(user_input="Wo liegt Köln?", response='Am Rhein\nin "NRW"'),
    Sample(user_input="Und Čačak?", response="In Serbien"),
]
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packed", [False, True])
class TestEveryFormat:
    @pytest.mark.parametrize("encoding", MARKS)
    def test_a_byte_order_mark_is_proof(self, tmp_path: Path, name: str, packed: bool, encoding: str) -> None:
        path = write(tmp_path / f"{name}{'.gz' * packed}", MARKS[encoding] + TEXTS[name].encode(encoding))
        assert samples(path) == EXPECTED
        assert counted(path) == 2
        assert samples(path, encoding=encoding) == EXPECTED

    @pytest.mark.parametrize("encoding", ["cp1250", "latin2", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-7"])
    def test_an_option_says_it(self, tmp_path: Path, name: str, packed: bool, encoding: str) -> None:
        path = write(tmp_path / f"{name}{'.gz' * packed}", TEXTS[name].encode(encoding))
        assert samples(path, encoding=encoding) == EXPECTED
        assert counted(path, encoding=encoding) == 2


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.text("\r\t "),
    st.sampled_from(["", "\n"]),
    st.sampled_from(sorted(MARKS)),
)
def test_lines_are_those_of_utf8_whatever_the_encoding(
    tmp_path_factory: pytest.TempPathFactory, text: str, blanks: str, end: str, encoding: str
) -> None:
    """Characters whose halves look like line ends, such as U+0A0D, included; a carriage return alone ends no line."""
    lines = text.split("\n")
    rows = [f'{{"response":{blanks}{json.dumps(line, ensure_ascii=False)}}}{blanks}' for line in lines]
    data = "\n".join(rows) + end
    path = write(tmp_path_factory.mktemp("lines") / "q.jsonl", MARKS[encoding] + data.encode(encoding))
    found = [(place, sample.response) for place, sample, _ in read(path)]
    assert found == [(f"q.jsonl, line {number}", line) for number, line in enumerate(lines, 1)]


MUNICH = "id;answer\n1;a\n2;Wo liegt München? In Bayern\n".encode("cp1252")


@pytest.mark.parametrize(
    ("name", "data", "options", "message"),
    [
        (
            "q.csv",
            MUNICH,
            {},
            (
                "q.csv, line 3: not UTF-8 text (byte 0xFC at position 13): if '2;Wo liegt München? In B' is right there, give "
                "encoding='cp1252'; else name its encoding, or save the file as UTF-8 (the file was read up to there: 1 row)"
            ),
        ),
        (
            "q.json",
            b'["\x81 K\xf6ln"]',
            {},
            (
                "q.json, line 1: not UTF-8 text (byte 0x81 at position 3): name its encoding with encoding=..., or save the file "
                "as UTF-8"
            ),
        ),
        (
            "q.csv",
            b"id;answer\n1;\x81\n",
            {"encoding": "cp1252"},
            (
                "q.csv, line 2: not text in cp1252 (byte 0x81 at position 3): give another encoding, or save "
                "the file as UTF-8"
            ),
        ),
        (
            "q.tsv",
            codecs.BOM_UTF16_LE + "id\tanswer\n1\ta\n".encode("utf-16-le") + b"\x00\xd8\n\x00",
            {},
            "q.tsv, after line 0: not text in utf-16-le (illegal UTF-16 surrogate)",
        ),
        (
            "q.csv",
            b"id\n1\n",
            {"encoding": "cp999"},
            "encoding must be one such as cp1252, latin-1, utf-16 or utf-8, got 'cp999'",
        ),
        (
            "q.csv",
            b"id\n1\n",
            {"encoding": "base64"},
            "encoding must be one such as cp1252, latin-1, utf-16 or utf-8, got 'base64'",
        ),
        ("q.csv", b"id\n1\n", {"encoding": 5}, "encoding must be one such as cp1252, latin-1, utf-16 or utf-8, got 5"),
        (
            "q.parquet",
            b"",
            {"encoding": "cp1252"},
            "encoding='cp1252' does not apply to q.parquet, which is not a text file: leave it out",
        ),
    ],
)
def test_messages(tmp_path: Path, name: str, data: bytes, options: dict[str, str], message: str) -> None:
    path = write(tmp_path / name, data)
    with pytest.raises(InvalidInput) as caught:
        evaluate(path, Length(), **options)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_a_byte_order_mark_counts_more_than_an_option(tmp_path: Path) -> None:
    path = write(tmp_path / "q.csv", "\ufeffanswer\nKöln\n")
    assert [sample.response for sample in samples(path, encoding="cp1252")] == ["Köln"]


def test_rows_in_memory_have_no_encoding() -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate([{"response": "a"}], Length(), encoding="cp1252")
    assert str(caught.value) == "encoding='cp1252' does not apply to rows in memory: leave it out"


def test_a_line_of_jsonl_costs_one_row(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", b'{"response": "a"}\n{"response": "\xfc"}\n{"response": "b"}\n')
    assert read(path, encoding=None)[1][2] == (
        'q.jsonl, line 2: not UTF-8 text (byte 0xFC at position 15): if \'response": "ü"}\' is right there, give '
        "encoding='cp1252'; else name its encoding, or save the file as UTF-8"
    )
    assert [sample.response for sample in samples(path)] == ["a", None, "b"]
    assert [sample.response for sample in samples(path, encoding="cp1252")] == ["a", "ü", "b"]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv.gz").write_bytes(gzip.compress("response;reference\nKöln;Köln\n".encode("cp1252")))
    command = ("evaluate", "q.csv.gz", "-m", "exact_match")
    result = call(*command)
    assert (result.exit_code, result.stderr) == (
        2,
        (
            "ragmetrics: q.csv.gz, line 2: not UTF-8 text (byte 0xF6 at position 2): if 'Köln;Köln' is right there, give "
            "--encoding cp1252; else name its encoding, or save the file as UTF-8\n"
        ),
    )
    assert call(*command, "--encoding", "cp1252").exit_code == 0
    assert call(*command, "--encoding", "cp999").stderr == (
        "ragmetrics: --encoding must be one such as cp1252, latin-1, utf-16 or utf-8, got 'cp999'\n"
    )
