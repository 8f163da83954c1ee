"""Files and cells that are made, or grew, so as to be read wrongly, to end the command, or to hold it up."""

from __future__ import annotations

import errno
import io
import json
import random
import sys
import tempfile
import zipfile
from types import SimpleNamespace
from typing import Any

import pytest

from core.read.reading import jsonl, read, sample_of, samples, write
from growth import assert_linear, seconds
from ragmetrics_core import InvalidInput, read_samples

DEEP = 5000


class TestNumberedColumns:
    @pytest.mark.parametrize(
        ("names", "sources"),
        [
            (("retrieved_context_1", "context_1"), ("retrieved_context_1", "context_1")),
            (("context_1", "Context 1"), ("context_1", "Context 1")),
            (("context_01", "context_1"), ("context_01", "context_1")),
            (("doc1", "docs1"), ("doc1", "docs1")),
        ],
    )
    def test_two_of_one_number_are_no_two_contexts(self, names: tuple[str, str], sources: tuple[str, str]) -> None:
        row = {names[0]: "a", names[1]: "b"}
        with pytest.raises(InvalidInput) as raised:
            sample_of(row)
        first, second = sources
        assert str(raised.value).startswith(
            f"row 1: the columns {first!r} and {second!r} both mean 'retrieved_contexts' but differ: keep one of them"
        )
        assert sample_of(dict.fromkeys(names, "a")).retrieved_contexts == ["a"]

    def test_numbers_that_python_makes_no_number_of(self) -> None:
        long, longer = "p_" + "1" * 5000, "p_" + "1" * 5001
        assert sample_of({longer: "b", long: "a", "question": "q"}).user_input == "q"
        assert sample_of({longer: "b", long: "a", "p_007": "0"}, {"contexts": "p_*"}).retrieved_contexts == [
            "0",
            "a",
            "b",
        ]


class TestChats:
    OLD = ({"role": "assistant", "content": "old"}, {"role": "user", "content": "q"})

    def test_the_parts_of_the_last_message_are_its_text(self) -> None:
        parts = [{"type": "text", "text": "ne"}, {"type": "image_url"}, {"type": "text", "text": "w"}]
        assert sample_of({"answer": [*self.OLD, {"role": "assistant", "content": parts}]}).response == "new"

    @pytest.mark.parametrize("content", [None, [], [{"type": "image_url"}]])
    def test_a_last_message_without_a_text_is_not_replaced_by_that_of_an_earlier_turn(self, content: Any) -> None:
        chat = [*self.OLD, {"role": "assistant", "content": content}]
        assert sample_of({"answer": chat}).response == chat
        with pytest.raises(InvalidInput, match=r"^row 1: outputs\.messages has 3 values, but response is one text"):
            sample_of({"outputs": {"messages": chat}}, {"answer": "outputs.messages"})


class TestContexts:
    def test_each_is_read_whatever_the_first_one_is(self) -> None:
        document = '{"page_content": "d", "metadata": {}}'
        assert sample_of({"contexts": ["c", document]}).retrieved_contexts == ["c", "d"]
        assert sample_of({"user_input": "q", "retrieved_contexts": ["c", document]}).retrieved_contexts == ["c", "d"]
        documents = sample_of({"retrieved_documents": [{"id": "1"}, {"page_content": "c", "id": "2"}]})
        assert documents.retrieved_documents == [{"id": "1"}, {"content": "c", "id": "2"}]

    def test_a_text_in_json_keeps_what_no_document_has(self) -> None:
        """What a product costs is evidence as its text is."""
        text = '{"text": "a lamp", "price": 30}'
        assert sample_of({"contexts": [text]}).retrieved_contexts == [text]


class TestNesting:
    @pytest.mark.parametrize("as_text", [True, False])
    def test_lists_in_lists_on_the_way_of_a_path(self, as_text: bool) -> None:
        value: Any = "[" * 700 + "]" * 700
        if not as_text:
            value = []
            for _ in range(DEEP):
                value = [value]
        with pytest.raises(InvalidInput) as raised:
            sample_of({"outputs": value}, {"answer": "outputs.text"})
        assert str(raised.value) == "row 1: text leads through lists nested more than 100 deep"


class TestWrappers:
    def test_a_list_with_a_bad_row_is_a_list_of_rows(self, tmp_path: Any) -> None:
        data = {"train": [{"question": "a"}, None], "test": [{"question": "b"}]}
        with pytest.raises(InvalidInput) as raised:
            read(write(tmp_path / "rows.json", json.dumps(data)))
        assert (
            str(raised.value)
            == "rows.json holds several lists that could be the rows: train (2), test (1): choose one, as in at='train'"
        )


class TestTime:
    @pytest.mark.parametrize(
        "cell", ["['" + "\\'" * 50_000, "['a', '" + "\\'" * 50_000, "[" * 100_000, "{'a':" * 20_000, "['a' " * 20_000]
    )
    def test_cells_that_are_nearly_lists(self, cell: str) -> None:
        def work(_: int) -> None:
            with pytest.raises(InvalidInput, match="is not a JSON or Python list"):
                sample_of({"contexts": cell if cell.startswith("[") else f"[{cell}"})

        assert seconds(work, 1) < 5

    def test_many_columns_of_which_two_have_one_name(self, tmp_path: Any) -> None:
        def in_csv(size: int) -> None:
            names = [f"c{number}" for number in range(size)]
            with pytest.raises(InvalidInput, match=f"two columns are named 'c{size - 1}'"):
                read(write(tmp_path / "rows.csv", ",".join([*names, names[-1]]) + "\n"))

        def in_json(size: int) -> None:
            inner = ",".join(f'"c{number}":1' for number in range(size))
            (row,) = read(write(tmp_path / "rows.jsonl", f'{{{inner},"c0":2,"c{size - 1}":2}}\n'))
            assert row[2] is not None
            assert "the key 'c0' occurs twice" in row[2]

        assert_linear(in_csv, 20_000)
        assert_linear(in_json, 20_000)

    def test_rows_whose_empty_cells_are_never_the_same(self) -> None:
        """Each would be understood anew if an empty cell made it a row of another kind."""
        generator = random.Random(1)
        rows = [{f"c{number}": generator.choice([None, "x", 1]) for number in range(300)} for _ in range(50)]
        assert [sample.metadata for sample in samples(rows)] == rows
        together = min(seconds(lambda _: samples(rows), 1) for _ in range(3))
        alone = min(seconds(lambda _: [samples([row]) for row in rows], 1) for _ in range(3))
        assert together < alone / 2, "alone, each is understood anew, which takes five times as long"

    def test_nan_is_no_value_whatever_stands_beside_it(self) -> None:
        nan, values = float("nan"), (None, "x", 1, 1.5)
        for value, sample in zip(
            values, samples([{"question": nan, "a": nan, "b": value} for value in values]), strict=True
        ):
            assert (sample.user_input, sample.metadata) == (None, {"a": None, "b": value})


def test_the_rows_of_a_file_are_read_after_a_hostile_one(tmp_path: Any) -> None:
    data = jsonl([{"q" + "1" * 5000: 1}, {"question": "q"}])
    assert [row[1].user_input for row in read(write(tmp_path / "rows.jsonl", data))] == [None, "q"]


def test_a_row_below_the_last_one_of_a_sheet(tmp_path: Any) -> None:
    """The rows between are gone through one by one, which would not come to an end."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["question"])
    book.active.append(["q"])
    book.save(tmp_path / "small.xlsx")
    with zipfile.ZipFile(tmp_path / "small.xlsx") as small, zipfile.ZipFile(tmp_path / "rows.xlsx", "w") as large:
        for name in small.namelist():
            data = small.read(name).replace(b'<row r="2"', b'<row r="900000000"').replace(b'"A2"', b'"A900000000"')
            large.writestr(name, data)
    with pytest.raises(InvalidInput) as raised:
        read(tmp_path / "rows.xlsx")
    assert str(raised.value) == "rows.xlsx has more rows than Excel allows, 1,048,576: save it again"


def test_standard_input_without_an_end(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `/dev/zero`: the disk is full at some time, and what was written is gone then."""

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Endless()))
    with pytest.raises(InvalidInput) as raised:
        read_samples("-")
    assert str(raised.value) == f"stdin cannot be copied to {tmp_path}, to be read there: No space left on device"
    assert list(tmp_path.iterdir()) == []
