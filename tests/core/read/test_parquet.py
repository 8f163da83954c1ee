"""Parquet files: rows in plain values, and every message about what cannot be read."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import pytest

from core.evaluate.doubles import Length
from core.read.reading import counted, looked_at, read, samples, write
from ragmetrics_core import InvalidInput, MissingExtra, Sample, evaluate

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

COLUMNS = {
    "question": ["a", None, "c"],
    "contexts": [["x", "y"], ["z"], None],
    "answer": ["1", None, "3"],
    "n": [1, 2, None],
    "when": [date(2026, 5, 31), None, None],
}


def parquet(path: Path, table: object) -> Path:
    pa.parquet.write_table(table, path)
    return path


def test_rows(tmp_path: Path) -> None:
    path = parquet(tmp_path / "q.parquet", pa.table(COLUMNS))
    assert read(path) == [
        (
            "q.parquet, row 1",
            Sample(
                user_input="a",
                retrieved_contexts=["x", "y"],
                response="1",
                metadata={"n": 1, "when": date(2026, 5, 31)},
            ),
            None,
        ),
        ("q.parquet, row 2", Sample(retrieved_contexts=["z"], metadata={"n": 2, "when": None}), None),
        ("q.parquet, row 3", Sample(user_input="c", response="3", metadata={"n": None, "when": None}), None),
    ]
    assert (counted(path), counted(path, limit=2), looked_at(path)["form"]) == (3, 2, "Parquet")
    assert [score.value for score in evaluate(path, Length()).scores["length"]] == [0.1, None, 0.1]


def test_a_long_file_is_read_in_parts(tmp_path: Path) -> None:
    path = parquet(tmp_path / "q.pq", pa.table({"response": [str(number) for number in range(2500)]}))
    rows = read(path)
    assert [rows[index][0] for index in (0, 999, 1000, 2499)] == [
        f"q.pq, row {number}" for number in (1, 1000, 1001, 2500)
    ]
    assert [sample.response for _, sample, _ in rows[998:1002]] == ["998", "999", "1000", "1001"]


def test_the_index_of_a_frame_is_no_column(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"answer": ["a", "b"]}, index=[5, 7]).to_parquet(tmp_path / "q.parquet")
    assert samples(tmp_path / "q.parquet") == [Sample(response="a"), Sample(response="b")]


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(InvalidInput, match=r"^q\.parquet: two columns are named 'a': rename one of them$"):
        read(parquet(tmp_path / "q.parquet", table))


def test_what_is_not_parquet(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^bad\.parquet is not a Parquet file that can be read: "):
        read(write(tmp_path / "bad.parquet", "no parquet at all"))


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "q.parquet"
    pa.parquet.write_table(pa.table({"response": ["a" * 100] * 50}), path, compression="zstd", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[4:60] = bytes(56)
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match=r"^q\.parquet, after row 0: the file is damaged \("):
        read(path)


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra) as caught:
        read(write(tmp_path / "q.parquet", "x"))
    assert str(caught.value) == 'reading q.parquet needs pyarrow: pip install "ragmetrics-core[parquet]"'
