"""Workbooks: the same rows as from the CSV that Excel makes of them, and every message about what cannot be read."""

from __future__ import annotations

import io
import sys
import zipfile
from datetime import date, datetime, time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.cli.calling import call
from core.evaluate.doubles import Length
from core.read.reading import counted, looked_at, read, samples, write
from ragmetrics_core import InvalidInput, MissingExtra, Sample, evaluate

openpyxl = pytest.importorskip("openpyxl")


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    """A file with these sheets; a name that begins with an underscore is that of a hidden one."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        sheet.sheet_state = "hidden" if name.startswith("_") else "visible"
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


HEADER = ["question", "answer", "contexts"]


class TestRows:
    def test_every_cell_is_a_text(self, tmp_path: Path) -> None:
        path = workbook(
            tmp_path / "q.xlsx",
            Sheet1=[
                [" question ", "answer", "contexts", "id", "when", "at", "ok", "share", "lunch"],
                [
                    "Wie viele?",
                    42,
                    '["a", "b"]',
                    7,
                    date(2026, 5, 31),
                    datetime(2026, 5, 31, 12, 30),
                    True,
                    0.25,
                    time(12),
                ],
                [None, None, None],
                ["Wann?", datetime(2026, 5, 31), "one text", 8.0, None, None, False, 0.1 + 0.2, "  "],
            ],
        )
        assert read(path) == [
            (
                "q.xlsx, row 2",
                Sample(
                    user_input="Wie viele?",
                    response="42",
                    retrieved_contexts=["a", "b"],
                    id="7",
                    metadata={
                        "when": "2026-05-31",
                        "at": "2026-05-31 12:30:00",
                        "ok": "TRUE",
                        "share": "0.25",
                        "lunch": "12:00:00",
                    },
                ),
                None,
            ),
            (
                "q.xlsx, row 4",
                Sample(
                    user_input="Wann?",
                    response="2026-05-31",
                    retrieved_contexts=["one text"],
                    id="8",
                    metadata={"when": None, "at": None, "ok": "FALSE", "share": "0.3", "lunch": None},
                ),
                None,
            ),
        ]
        look = looked_at(path)
        assert (look["file"], look["form"]) == ("q.xlsx", "Excel, sheet 'Sheet1'")
        assert (counted(path), counted(path, limit=1)) == (2, 1)

    def test_empty_rows_and_columns_around_the_table(self, tmp_path: Path) -> None:
        path = workbook(
            tmp_path / "q.xlsx", S=[[], [None, "question", None, "answer"], [], [None, "a", " ", "b"], [None, "c"]]
        )
        assert read(path) == [
            ("q.xlsx, row 4", Sample(user_input="a", response="b"), None),
            ("q.xlsx, row 5", Sample(user_input="c", response=""), None),
        ]

    def test_on_standard_input(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        data = workbook(tmp_path / "q.xlsx", S=[HEADER, ["a", "b", "c"]]).read_bytes()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert read("-") == [("stdin, row 2", Sample(user_input="a", response="b", retrieved_contexts=["c"]), None)]

    def test_bad_rows(self, tmp_path: Path) -> None:
        path = workbook(
            tmp_path / "q.xlsx",
            S=[
                HEADER,
                ["a", "b", "c"],
                ["a", "#REF!", "c"],
                ["a", "b", "c", None, "!"],
                ["a", "b", "['x', y]"],
                ["z"],
            ],
        )
        assert [problem for *_, problem in read(path)] == [
            None,
            "q.xlsx, row 3: the cell B3 holds the error #REF!: correct its formula",
            (
                "q.xlsx, row 4: the cell E4 holds something, but its column has no name: row 1, the first with text, "
                "must name all columns (if their names stand further down, delete what is above)"
            ),
            (
                "q.xlsx, row 5: contexts: the cell starts with '[' but is not a JSON or Python list: write "
                '["first text", "second text"]'
            ),
            None,
        ]


class TestSheets:
    def test_the_only_one_with_something_in_it(self, tmp_path: Path) -> None:
        path = workbook(tmp_path / "q.xlsx", Empty=[], Rows=[HEADER, ["a"]], _Hidden=[["x"]], Blank=[[" ", None]])
        assert samples(path) == [Sample(user_input="a", response="")]
        assert samples(path, at="Rows") == [Sample(user_input="a", response="")]

    def test_several(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        path = workbook(tmp_path / "q.xlsx", **{"Run 1": [["response"], ["a"]], "Run 2": [["response"], ["ab"]]})
        with pytest.raises(InvalidInput) as caught:
            evaluate(path, Length())
        assert str(caught.value) == "q.xlsx has several sheets, 'Run 1', 'Run 2': give at='Run 1'"
        assert evaluate(path, Length(), at="Run 2").scores["length"][0].value == 0.2
        result = call("evaluate", "q.xlsx")
        assert (result.exit_code, result.stderr) == (
            2,
            "ragmetrics: q.xlsx has several sheets, 'Run 1', 'Run 2': give --at 'Run 1'\n",
        )
        assert call("evaluate", "q.xlsx", "--at", "Run 3").stderr == (
            "ragmetrics: q.xlsx has no sheet 'Run 3'; it has 'Run 1', 'Run 2'\n"
        )


class TestWhatCannotBeRead:
    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([], "q.xlsx holds no rows"),
            ([HEADER], "q.xlsx holds no rows"),
            ([["id", " id"], [1, 2]], "q.xlsx, row 1: two columns are named 'id': rename one of them"),
            (
                [["Results of May"], HEADER, ["a", "b", "c"]],
                (
                    "q.xlsx, row 2: the cell B2 holds something, but its column has no name: row 1, the first with "
                    "text, must name all columns (if their names stand further down, delete what is above)"
                ),
            ),
        ],
    )
    def test_rows(self, tmp_path: Path, rows: list[list[Any]], message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(workbook(tmp_path / "q.xlsx", S=rows), Length())
        assert str(caught.value) == message

    def test_files(self, tmp_path: Path) -> None:
        write(tmp_path / "old.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
        with pytest.raises(InvalidInput) as caught:
            read(tmp_path / "old.xlsx")
        assert str(caught.value) == (
            "old.xlsx is not an Excel workbook that can be read (File is not a zip file): if it has a password or is an old .xls, "
            "save it without, as .xlsx"
        )
        with zipfile.ZipFile(tmp_path / "zip.xlsx", "w") as archive:
            archive.writestr("a.txt", "x")
        write(tmp_path / "text.xlsx", "question;answer")
        for name in ("zip.xlsx", "text.xlsx"):
            with pytest.raises(InvalidInput, match=rf"^{name} is not an Excel workbook that can be read \("):
                read(tmp_path / name)
            assert counted(tmp_path / name) is None

    def test_a_damaged_sheet(self, tmp_path: Path) -> None:
        whole = workbook(tmp_path / "whole.xlsx", S=[HEADER, ["a", "b", "c"], ["d", "e", "f"]])
        with zipfile.ZipFile(whole) as old, zipfile.ZipFile(tmp_path / "q.xlsx", "w") as new:
            for item in old.infolist():
                data = old.read(item)
                new.writestr(item, data.replace(b'<c r="A3"', b"<c <") if "sheet1" in item.filename else data)
        with pytest.raises(
            InvalidInput, match=r"^q\.xlsx, after row \d: the file is damaged \(not well-formed"
        ) as caught:
            evaluate(tmp_path / "q.xlsx", Length(), at="S")
        assert caught.value.partial is not None

    def test_without_openpyxl(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        with pytest.raises(MissingExtra) as caught:
            read(write(tmp_path / "q.xlsx", "x"))
        assert str(caught.value) == 'reading q.xlsx needs openpyxl: pip install "ragmetrics-core[excel]"'

    @pytest.mark.parametrize("at", ["", " ", 5])
    def test_no_place(self, tmp_path: Path, at: Any) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(tmp_path / "q.xlsx", Length(), at=at)
        assert str(caught.value) == f"at must name a sheet, or the path to a list in JSON, got {at!r}"

    def test_a_place_in_a_file_that_has_none(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput) as caught:
            read(write(tmp_path / "q.csv", "id\n1\n"), at="Run 1")
        assert str(caught.value) == (
            "at='Run 1' does not apply to q.csv, which is neither a workbook nor a .json file: leave it out"
        )
