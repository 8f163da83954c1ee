"""Paths, data frames, data sets and rows in memory, and every message about those that cannot be used."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from core.evaluate.doubles import Length
from core.evaluate.reading import EXPECTED, ROWS, read, samples, write
from ragmetrics_core import Document, InvalidInput, MissingExtra, Sample, evaluate
from ragmetrics_core._read import open_source

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

    @pytest.mark.parametrize("name", ["q.txt", "q", "q.gz", "q.xlsx", "q.parquet.gz"])
    def test_a_name_without_a_format(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(write(tmp_path / name, "x"), Length())
        assert str(caught.value) == (
            f"the name of {name!r} does not tell its format: "
            "let it end in .jsonl, .json, .csv or .tsv (.gz may follow), or in .parquet"
        )

    def test_a_file_that_may_not_be_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> object:
            raise PermissionError(13, "Permission denied")

        path = write(tmp_path / "q.jsonl", "{}")
        monkeypatch.setattr(Path, "open", refuse)
        with pytest.raises(InvalidInput, match=r"^q\.jsonl cannot be read: Permission denied$"):
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
        assert open_source(self.FRAME).total == 3
        assert open_source(self.FRAME, limit=2).total == 2

    def test_a_long_frame_keeps_counting(self) -> None:
        rows = read(pd.DataFrame({"response": [str(number) for number in range(2500)]}))
        assert [rows[index][0] for index in (0, 999, 1000, 2499)] == ["row 1", "row 1000", "row 1001", "row 2500"]
        assert [rows[index][1].response for index in (999, 1000, 2499)] == ["999", "1000", "2499"]

    def test_two_columns_of_one_name(self) -> None:
        with pytest.raises(InvalidInput, match=r"^the DataFrame has two columns 'a': rename or drop one of them$"):
            read(pd.DataFrame([[1, 2]], columns=["a", "a"]))

    @pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
    def test_parquet(self, tmp_path: Path) -> None:
        path = tmp_path / "q.parquet"
        self.FRAME.to_parquet(path)
        assert [place for place, _, _ in read(path)] == [f"q.parquet, row {number}" for number in (1, 2, 3)]
        result = evaluate(path, Length())
        assert [score.value for score in result.scores["length"]] == [0.1, None, 0.1]
        write(tmp_path / "bad.parquet", "no parquet at all")
        with pytest.raises(InvalidInput, match=r"^bad\.parquet is not a Parquet file that can be read: "):
            read(tmp_path / "bad.parquet")

    def test_parquet_through_pandas(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write(tmp_path / "q.parquet", "x")
        monkeypatch.setattr(pd, "read_parquet", lambda _: self.FRAME)
        assert samples(path) == self.SAMPLES
        monkeypatch.setattr(pd, "read_parquet", lambda _: int("no parquet"))
        with pytest.raises(InvalidInput, match=r"^q\.parquet is not a Parquet file that can be read: invalid literal"):
            read(path)

    @pytest.mark.parametrize("package", ["pandas", "pyarrow"])
    def test_parquet_without_its_packages(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setitem(sys.modules, "fastparquet", None)
        with pytest.raises(MissingExtra) as caught:
            read(write(tmp_path / "q.parquet", "x"))
        assert str(caught.value) == (
            'reading q.parquet needs pandas and pyarrow: pip install "ragmetrics-core[pandas]" pyarrow'
        )


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
        assert open_source(FakeDataset()).total == 2

    def test_a_generator(self) -> None:
        source = open_source(row for row in ROWS)
        assert source.total is None
        assert [row.sample for row in source.rows] == EXPECTED

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
            (Sample(), "samples must be several samples, got one Sample: write [sample]"),
            ({"question": "a"}, "samples must be several rows, got one mapping: write [row]"),
            (
                {"train": FakeDataset(), "test": FakeDataset()},
                "samples is a dictionary of data sets: choose one of its splits ('train', 'test')",
            ),
            (5, "samples must be a path, an iterable of mappings or Samples, a DataFrame or a Dataset, got int"),
            (
                None,
                "samples must be a path, an iterable of mappings or Samples, a DataFrame or a Dataset, got NoneType",
            ),
        ],
    )
    def test_no_samples_at_all(self, samples: Any, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(samples, Length())
        assert str(caught.value) == message
