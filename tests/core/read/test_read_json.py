"""JSONL and JSON: what is read, and every message about what cannot be."""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Length
from core.read.reading import EXPECTED, ROWS, jsonl, read, samples, write
from ragmetrics_core import InvalidInput, Sample, Testset, evaluate


class TestJSONL:
    @pytest.mark.parametrize("name", ["q.jsonl", "q.ndjson", "q.JSONL", "q.jsonl.gz"])
    def test_rows(self, tmp_path: Path, name: str) -> None:
        path = write(tmp_path / name, jsonl(ROWS))
        assert read(path) == [(f"{name}, line 1", EXPECTED[0], None), (f"{name}, line 2", EXPECTED[1], None)]
        assert read(str(path)) == read(path)

    def test_blank_lines_byte_order_mark_and_windows_line_ends(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.jsonl", b"\xef\xbb\xbf\r\n" + b'{"id": "1"}\r\n  \r\n{"id": "2"}')
        assert [(place, sample.id) for place, sample, _ in read(path)] == [
            ("q.jsonl, line 2", "1"),
            ("q.jsonl, line 4", "2"),
        ]

    def test_unicode_line_separators_are_no_line_ends(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.jsonl", '{"id": "1", "response": "a\u2028b\x85c"}\n')
        assert samples(path) == [Sample(id="1", response="a\u2028b\x85c")]

    def test_limit_reads_no_further(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.jsonl", jsonl(ROWS).encode() + b"\xff\xff")
        assert len(read(path, limit=2)) == 2

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            (
                '{"id": 1',
                (
                    "not JSON (Expecting ',' delimiter at column 9): every line must hold one whole JSON object "
                    "(a file with one JSON value over several lines is named .json)"
                ),
            ),
            ("[1]", 'a row must be a JSON object such as {"user_input": "..."}, got a list'),
            ('"x"', 'a row must be a JSON object such as {"user_input": "..."}, got a text'),
            ("null", 'a row must be a JSON object such as {"user_input": "..."}, got null'),
            ("true", 'a row must be a JSON object such as {"user_input": "..."}, got true or false'),
            ("1.5", 'a row must be a JSON object such as {"user_input": "..."}, got a number'),
        ],
    )
    def test_a_bad_line(self, tmp_path: Path, line: str, problem: str) -> None:
        path = write(tmp_path / "q.jsonl", '{"response": "abc"}\n\n' + line + '\n{"response": "ab"}\n')
        assert read(path)[1] == ("q.jsonl, line 3", Sample(), f"q.jsonl, line 3: {problem}")
        result = evaluate(path, Length())
        assert [score.value for score in result.scores["length"]] == [0.3, None, 0.2]
        assert result.scores["length"][1].error == f"InvalidInput: q.jsonl, line 3: {problem}"
        with pytest.raises(InvalidInput) as caught:
            evaluate(path, Length(), on_error="raise")
        assert str(caught.value) == f"q.jsonl, line 3: {problem}"

    def test_a_bad_first_line_means_that_the_file_is_something_else(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.jsonl", json.dumps(ROWS, indent=2))
        with pytest.raises(
            InvalidInput, match=r"^q\.jsonl, line 1: not JSON \(Expecting value at column 2\): every line"
        ):
            evaluate(path, Length())

    def test_deep_nesting_and_endless_numbers(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.jsonl", '{"id": "1"}\n' + "[" * 200_000 + '\n{"a": ' + "9" * 5000 + "}\n")
        problems = [problem for _, _, problem in read(path)]
        assert problems[0] is None
        assert str(problems[1]).startswith("q.jsonl, line 2: not JSON")
        assert sys.version_info < (3, 10, 7) or str(problems[2]).startswith(
            "q.jsonl, line 3: not JSON that can be read (Exceeds"
        )

    def test_other_encodings(self, tmp_path: Path) -> None:
        path = write(
            tmp_path / "q.jsonl", b'{"question": "q", "response": "a"}\n{"response": "\xe9"}\n{"response": "ab"}\n'
        )
        problems = [problem for _, _, problem in read(path)]
        assert [str(problem)[:40] for problem in problems] == [
            "None",
            "q.jsonl, line 2: not UTF-8 text (byte 0x",
            "None",
        ]
        assert [score.value for score in evaluate(path, Length()).scores["length"]] == [0.1, None, 0.2]
        with pytest.raises(InvalidInput) as caught:
            Testset.load(path)  # which has no option for the encoding
        assert str(caught.value) == "q.jsonl, line 2: not UTF-8 text: save the file as UTF-8"
        with pytest.raises(InvalidInput) as caught:
            Testset.load(write(tmp_path / "latin.json", b'["\xe9"]'))
        assert str(caught.value) == "latin.json, line 1: not UTF-8 text: save the file as UTF-8"

    @pytest.mark.parametrize(
        ("line", "key"),
        [
            ('{"response": "abc", "response": "ab"}', "response"),
            ('{"id": "1", "rubric": {"1": "bad", "2": "good", "1": "worse"}}', "1"),
            ('{"retrieved_documents": [{"id": "d", "content": "x", "id": "e"}]}', "id"),
        ],
    )
    def test_a_key_that_stands_twice(self, tmp_path: Path, line: str, key: str) -> None:
        problem = f"the key '{key}' occurs twice in one object of this row: keep one of them"
        lines = write(tmp_path / "q.jsonl", line + '\n{"response": "ab"}\n')
        items = write(tmp_path / "q.json", "[" + line + ', {"response": "ab"}]')
        assert [found for *_, found in read(lines)] == [f"q.jsonl, line 1: {problem}", None]
        assert [found for *_, found in read(items)] == [f"q.json, item 1: {problem}", None]

    def test_a_file_without_rows(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(write(tmp_path / "q.jsonl", "\n \n"), Length())
        assert str(caught.value) == "q.jsonl holds no rows"

    def test_damaged_gzip(self, tmp_path: Path) -> None:
        chance = random.Random(1)
        whole = gzip.compress(jsonl([{"response": chance.randbytes(50).hex()} for _ in range(500)]).encode())
        (tmp_path / "short.jsonl.gz").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(
            InvalidInput, match=r"^short\.jsonl\.gz, after line \d+: the gzip data is damaged \("
        ) as caught:
            evaluate(tmp_path / "short.jsonl.gz", Length())
        assert len(caught.value.partial) > 100, "what came before the damage is scored"
        (tmp_path / "none.jsonl.gz").write_bytes(b'{"response": "a"}\n')
        with pytest.raises(
            InvalidInput, match=r"^none\.jsonl\.gz, after line 0: the gzip data is damaged \(Not a gzip"
        ):
            evaluate(tmp_path / "none.jsonl.gz", Length())


class TestJSON:
    @pytest.mark.parametrize(
        "wrap", [lambda rows: rows, lambda rows: {"samples": rows}, lambda rows: {"data": rows, "v": 1}]
    )
    @pytest.mark.parametrize("name", ["q.json", "q.json.gz"])
    def test_rows(self, tmp_path: Path, wrap: Any, name: str) -> None:
        path = write(tmp_path / name, json.dumps(wrap(ROWS), indent=1))
        assert read(path) == [(f"{name}, item 1", EXPECTED[0], None), (f"{name}, item 2", EXPECTED[1], None)]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('[\n{"id": 1},\nid]', "q.json, line 3: not JSON (Expecting value)"),
            (
                '{"id": 1}\n{"id": 2}',
                "q.json, line 2: not JSON (Extra data): a file with one JSON object per line is named .jsonl",
            ),
            (
                '{\n "id": 1\n}\n{"id": 2}',
                (
                    "q.json, line 4: not JSON (Extra data): a JSON file holds only one value: put several values into "
                    "a list, as `jq -s .` does"
                ),
            ),
            (
                '{"rows": []}',
                'q.json must hold a list of rows, or an object with such a list under "samples", "data", "examples" or "results"',
            ),
            (
                '{"data": {"id": ["1"]}}',
                'q.json must hold a list of rows, or an object with such a list under "samples", "data", "examples" or "results"',
            ),
            (
                "7",
                'q.json must hold a list of rows, or an object with such a list under "samples", "data", "examples" or "results"',
            ),
            (
                '{"data": [{"id": 1}], "data": []}',
                "q.json: the key 'data' occurs twice in one object of this file: keep one of them",
            ),
            ("[]", "q.json holds no rows"),
            ("", "q.json holds no rows"),
            ("[[1]]", 'q.json, item 1: a row must be a JSON object such as {"user_input": "..."}, got a list'),
        ],
    )
    def test_a_file_that_is_something_else(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(write(tmp_path / "q.json", text), Length())
        assert str(caught.value) == message

    def test_deep_nesting(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match=r"^q\.json"):
            read(write(tmp_path / "q.json", "[" * 200_000))

    def test_a_bad_item(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.json", '[{"response": "abc"}, 5]')
        assert (
            read(path)[1][2]
            == 'q.json, item 2: a row must be a JSON object such as {"user_input": "..."}, got a number'
        )
