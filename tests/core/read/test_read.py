"""Paths, data frames, data sets and rows in memory, and every message about those that cannot be used."""

from __future__ import annotations

import gzip
import importlib.util
import os
import random
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from core.evaluate.doubles import Length
from core.read.reading import EXPECTED, ROWS, counted, jsonl, looked_at, read, samples, write
from ragmetrics_core import Document, InvalidInput, Sample, evaluate

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")


class TestPaths:
    def test_no_such_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InvalidInput) as caught:
            evaluate("q.jsonl", Length())
        assert str(caught.value) == f"there is no file 'q.jsonl' (looked in {Path.cwd()})"

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(tmp_path, Length())
        assert str(caught.value) == f"{str(tmp_path)!r} is a directory: give the path of a file"

    @pytest.mark.parametrize("name", ["q.txt", "q", "q.txt.gz"])
    def test_a_name_without_a_format(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(write(tmp_path / name, "x"), Length())
        assert str(caught.value) == (
            f"neither the name nor the first line of {name!r} shows its format: "
            "let the name end in .jsonl, .json, .csv or .tsv (.gz may follow), in .xlsx or in .parquet"
        )

    @pytest.mark.parametrize("name", ["q.parquet.gz", "q.xlsx.gz"])
    def test_only_text_files_may_be_gzipped(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(write(tmp_path / name, "x"), Length())
        assert str(caught.value) == f"{name} is gzipped, but only text files may be gzipped: unzip it"

    @pytest.mark.parametrize("name", ["q.xls", "q.XLSB", "q.ods", "q.numbers"])
    def test_other_spreadsheets(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            read(write(tmp_path / name, "x"))
        assert str(caught.value) == f"{name} has a format that cannot be read: save it as .xlsx or as .csv in UTF-8"

    def test_a_file_that_may_not_be_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> object:
            raise PermissionError(13, "Permission denied")

        paths = [write(tmp_path / f"q.{end}", "{}") for end in ("jsonl", "json", "csv", "txt", "xlsx")]
        monkeypatch.setattr(Path, "open", refuse)
        for path in paths:
            with pytest.raises(InvalidInput, match=rf"^{path.name} cannot be read: Permission denied$"):
                read(path)


class TestFrames:
    FRAME: ClassVar = pd.DataFrame(
        {
            "question": ["a", None, "c"],
            "contexts": [["x", "y"], ["z"], None],
            "answer": ["1", float("nan"), "3"],
            "n": [1, 2, 3],
        }
    )
    SAMPLES: ClassVar = [
        Sample(user_input="a", retrieved_contexts=["x", "y"], response="1", metadata={"n": 1}),
        Sample(retrieved_contexts=["z"], metadata={"n": 2}),
        Sample(user_input="c", response="3", metadata={"n": 3}),
    ]

    def test_a_data_frame(self) -> None:
        assert read(self.FRAME) == [(f"row {number}", sample, None) for number, sample in enumerate(self.SAMPLES, 1)]
        assert (counted(self.FRAME), counted(self.FRAME, limit=2)) == (3, 2)

    def test_a_long_frame_keeps_counting(self) -> None:
        rows = read(pd.DataFrame({"response": [str(number) for number in range(2500)]}))
        assert [rows[index][0] for index in (0, 999, 1000, 2499)] == ["row 1", "row 1000", "row 1001", "row 2500"]
        assert [rows[index][1].response for index in (999, 1000, 2499)] == ["999", "1000", "2499"]

    def test_two_columns_of_one_name(self) -> None:
        with pytest.raises(InvalidInput, match=r"^the DataFrame has two columns 'a': rename or drop one of them$"):
            read(pd.DataFrame([[1, 2]], columns=["a", "a"]))


class FakeDataset:
    """What is used of a Hugging Face ``Dataset``: it has columns, a length, and its rows are dicts."""

    column_names = ("question", "contexts")

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        return iter([{"question": "a", "contexts": ["x"]}, {"question": "b", "contexts": []}])


class TestInMemory:
    def test_a_data_set(self) -> None:
        assert samples(FakeDataset()) == [
            Sample(user_input="a", retrieved_contexts=["x"]),
            Sample(user_input="b", retrieved_contexts=[]),
        ]
        assert counted(FakeDataset()) == 2

    def test_a_generator(self) -> None:
        assert counted(row for row in ROWS) is None
        assert samples(row for row in ROWS) == EXPECTED

    def test_nan_is_a_missing_value(self) -> None:
        assert samples([{"response": float("nan"), "score": 0.5}]) == [Sample(metadata={"score": 0.5})]

    def test_a_sample_passes_as_it_is(self) -> None:
        sample = Sample(retrieved_documents=[Document(id="a")])
        assert samples([sample])[0] is sample

    def test_a_row_of_another_kind(self) -> None:
        message = "a row must be a Sample or a mapping from column names to values, got str"
        assert read([{"id": "1"}, "text"])[1] == ("row 2", Sample(), f"row 2: {message}")
        with pytest.raises(InvalidInput, match=f"^row 1: {message}$"):
            read(["text"])

    @pytest.mark.parametrize(
        ("samples", "message"),
        [
            (Sample(), "samples must be several rows, got one Sample: write [row]"),
            ({"question": "a"}, "samples must be several rows, got one dict: write [row]"),
            (
                {"train": FakeDataset(), "test": FakeDataset()},
                "samples is a dictionary of data sets: choose one of its splits ('train', 'test')",
            ),
            (5, "samples must be a path, mappings or Samples, a DataFrame or a Dataset, got int"),
            (
                None,
                "samples must be a path, mappings or Samples, a DataFrame or a Dataset, got NoneType",
            ),
        ],
    )
    def test_no_samples_at_all(self, samples: Any, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(samples, Length())
        assert str(caught.value) == message


class TestCounting:
    """The number of rows, for those who watch."""

    JSONL = "".join(f'{{"response": "{number}"}}\n' for number in range(5)) + "\n  \n"
    CSV = 'response,question\n1,"a\nb ""c""\n"\n\n2,b\n,\n3,"c,d"'

    @pytest.mark.parametrize(
        ("name", "text", "rows"),
        [
            ("q.jsonl", JSONL, 5),
            ("q.ndjson", '{"response": "1"}', 1),
            ("q.csv", CSV, 3),
            ("q.tsv", "response\tquestion\n1\t2\n", 1),
            ("q.json", '{"data": [{"response": "1"}, {"response": "2"}]}', 2),
        ],
    )
    def test_files(self, tmp_path: Path, name: str, text: str, rows: int) -> None:
        path = write(tmp_path / name, text)
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress(text.encode()))
        for file in (path, packed):
            assert counted(file) == rows == len(read(file))
            assert counted(file, limit=1) == 1
            assert counted(file, sample=2, seed=1) == min(rows, 2)
            assert counted(file, limit=1, sample=2, seed=1) == 1

    def test_no_more_lines_are_read_than_count(self, tmp_path: Path) -> None:
        """The end of this file cannot be read."""
        text = jsonl([{"response": f"{random.Random(number).random()}"} for number in range(20_000)])
        (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(text.encode())[:-8])
        assert counted(tmp_path / "q.jsonl.gz", limit=2) == 2
        assert counted(tmp_path / "q.jsonl.gz") is None

    def test_an_error_that_prevents_counting_is_reported_when_rows_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(self.JSONL.encode())[:-8])
        assert counted(tmp_path / "q.jsonl.gz") is None
        assert counted(write(tmp_path / "bad.json", "{")) is None
        with pytest.raises(InvalidInput, match=r"^bad\.json, line 1: not JSON"):
            read(tmp_path / "bad.json")

    def test_a_pipe_is_read_once(self, tmp_path: Path) -> None:
        path = tmp_path / "q.jsonl"
        os.mkfifo(path)
        for check in (lambda: counted(path) is None, lambda: looked_at(path)["form"] == "a pipe"):
            writer = threading.Thread(target=path.write_text, args=[self.JSONL])
            writer.start()
            assert check()
            writer.join()

    def test_a_bar_over_a_file_knows_how_much_is_left(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        evaluate(write(tmp_path / "q.jsonl", self.JSONL), Length(), progress="always")
        assert " 5/5 [" in capsys.readouterr().err

    def test_nothing_is_counted_if_no_bar_is_shown(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write(tmp_path / "q.jsonl", self.JSONL)
        monkeypatch.setattr("ragmetrics_core._read._files.jsonl_lines", lambda file: pytest.fail("it was counted"))
        assert len(evaluate(path, Length(), progress=True)) == 5


class Turn(BaseModel):
    """A sample as RAGAS has it: a pydantic model."""

    user_input: str | None = None
    retrieved_contexts: list[str] | None = None
    response: str | None = None
    rubrics: dict[str, str] | None = None


class TestRowsThatAreModels:
    def test_a_data_set_of_them(self) -> None:
        rows = [Turn(user_input="a", retrieved_contexts=["x"]), Turn(response="b", rubrics={"1": "poor"})]
        assert samples(rows) == [
            Sample(user_input="a", retrieved_contexts=["x"]),
            Sample(response="b", rubric={"1": "poor"}),  # type: ignore[dict-item]
        ]


class TestArrays:
    ROW: ClassVar = {
        "question": np.str_("a"),
        "contexts": np.array(["x", "y"], dtype=object),
        "retrieved_documents": np.array([{"content": "x", "tags": np.array([1, 2])}], dtype=object),
        "n": np.int64(3),
        "vector": np.array([0.5, 1.0]),
        "parts": np.array([np.array(["a"]), np.array(["b", "c"])], dtype=object),
    }

    def test_rows_hold_lists(self) -> None:
        (sample,) = evaluate([self.ROW], Length(), progress=False).rows
        assert sample.retrieved_contexts == ["x", "y"]
        assert type(sample.retrieved_contexts) is list
        assert (sample.retrieved_contexts or []) == ["x", "y"]
        assert sample.retrieved_documents == [{"content": "x", "tags": [1, 2]}]
        assert sample.metadata == {"n": 3, "vector": [0.5, 1.0], "parts": [["a"], ["b", "c"]]}
        assert type(sample.metadata["n"]) is int

    @pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
    def test_those_of_a_parquet_file_too(self, tmp_path: Path) -> None:
        pd.DataFrame({"answer": ["a"], "contexts": [["x", "y"]]}).to_parquet(tmp_path / "q.parquet")
        (sample,) = evaluate(tmp_path / "q.parquet", Length(), progress=False).rows
        assert (type(sample.retrieved_contexts), sample.retrieved_contexts) == (list, ["x", "y"])
