"""CSV: what is read, and every message about what cannot be."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from core.evaluate.doubles import Length
from core.read.reading import EXPECTED, ROWS, counted, read, samples, write
from ragmetrics_core import InvalidInput, Sample, evaluate

CURE = "put texts that hold separators in double quotes (if the names stand further down, delete what is above)"


class TestCSV:
    def test_what_python_writes_is_read_back(self, tmp_path: Path) -> None:
        path = tmp_path / "q.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(ROWS[0]))
            writer.writeheader()
            writer.writerows({**row, "retrieved_contexts": json.dumps(row["retrieved_contexts"])} for row in ROWS)
        assert read(path) == [("q.csv, line 2", EXPECTED[0], None), ("q.csv, line 3", EXPECTED[1], None)]

    def test_a_row_stands_where_it_starts(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", 'id,response\n1,"a\nb"\n\n2,c\n')
        assert [(place, sample.response) for place, sample, _ in read(path)] == [
            ("q.csv, line 2", "a\nb"),
            ("q.csv, line 5", "c"),
        ]

    @pytest.mark.parametrize("name", ["q.csv", "q.csv.gz"])
    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    def test_separators(self, tmp_path: Path, name: str, separator: str) -> None:
        path = write(tmp_path / name, f"id{separator}answer\n1{separator}yes\n")
        assert samples(path) == [Sample(id="1", response="yes")]

    @pytest.mark.parametrize("name", ["q.tsv", "q.TSV", "q.tsv.gz"])
    def test_tsv_is_separated_by_tabs_alone(self, tmp_path: Path, name: str) -> None:
        path = write(tmp_path / name, "a,b,c,d\tanswer\n1,2;3\tyes, no\n")
        assert samples(path) == [Sample(response="yes, no", metadata={"a,b,c,d": "1,2;3"})]

    def test_separators_in_quotes_do_not_count(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", 'answer;"tone, style, ""class"", length"\nyes;high\n')
        assert samples(path) == [Sample(response="yes", metadata={'tone, style, "class", length': "high"})]

    def test_columns_without_a_name(self, tmp_path: Path) -> None:
        one = write(tmp_path / "q.csv", ",answer\n0,yes\n")
        assert samples(one) == [Sample(response="yes", metadata={"": "0"})]
        several = write(tmp_path / "r.csv", ";;;\nid;;answer; \n1;;yes;\n2; ;no;\n3;;;x\n")
        assert read(several) == [
            ("r.csv, line 3", Sample(id="1", response="yes"), None),
            ("r.csv, line 4", Sample(id="2", response="no"), None),
            (
                "r.csv, line 5",
                Sample(),
                (
                    "r.csv, line 5: the cell 4 holds something, but its column has no name: line 2, the first with "
                    "text, must name all columns (if their names stand further down, delete what is above)"
                ),
            ),
        ]

    @pytest.mark.parametrize("hint", ["sep=;", "SEP=;\r", "sep=\t", "sep=|"])
    def test_a_first_line_may_say_the_separator(self, tmp_path: Path, hint: str) -> None:
        separator = hint.removesuffix("\r")[-1]
        path = write(tmp_path / "q.csv", f"{hint}\nid,a,b{separator}answer\n1{separator}x\n")
        assert read(path) == [("q.csv, line 3", Sample(response="x", metadata={"id,a,b": "1"}), None)]
        assert counted(path) == 1
        file = write(tmp_path / "r.csv", "\nsep=,\n\nid,answer\n1,x\n")
        assert read(file) == [("r.csv, line 5", Sample(id="1", response="x"), None)]

    def test_the_header_is_the_first_line_that_is_not_blank(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", "\n \n\nid;answer\n1;yes\n".replace(" ", ""))
        assert read(path) == [("q.csv, line 5", Sample(id="1", response="yes"), None)]

    @pytest.mark.parametrize(
        ("cell", "contexts"),
        [
            ("one text", ["one text"]),
            ('["a", "b"]', ["a", "b"]),
            (" ['a', \"b's\"] ", ["a", "b's"]),
            ("['a',\n 'b']", ["a", "b"]),
            ("('a', 'b')", ["('a', 'b')"]),
            ("['a' 'b']", ["a", "b"]),
            ("['a'\n \"b's\"]", ["a", "b's"]),
            ("['it\\'s' 'a\\nb']", ["it's", "a\nb"]),
            ("[1] Some text, 'quoted'", ["[1] Some text, 'quoted'"]),
            ("[1][2] Some text", ["[1][2] Some text"]),
            ("[Smith's 2020]: text", ["[Smith's 2020]: text"]),
            ('[{"page_content": "a"}, {"text": "b"}, {"content": "c"}]', ["a", "b", "c"]),
            ("", None),
            ("  ", None),
        ],
    )
    @pytest.mark.parametrize("column", ["retrieved_contexts", "contexts", "context"])
    def test_list_cells(self, tmp_path: Path, column: str, cell: str, contexts: list[str] | None) -> None:
        quoted = cell.replace('"', '""')
        path = write(tmp_path / "q.csv", f'id,{column}\n1,"{quoted}"\n')
        assert samples(path) == [Sample(id="1", retrieved_contexts=contexts)]

    @pytest.mark.parametrize(
        "cell",
        ["['a' 'b', 'c']", "[a, b]", '["a"', "[nan]", "[" * 10_000, "['a']]", "[f'{x}']", "['a' ... 'b']"],
    )
    def test_a_list_cell_that_is_none(self, tmp_path: Path, cell: str) -> None:
        quoted = cell.replace('"', '""')
        path = write(tmp_path / "q.csv", f'id,contexts\n0,x\n1,"{quoted}"\n2,y\n')
        assert [problem for _, _, problem in read(path)] == [
            None,
            (
                "q.csv, line 3: contexts: the cell starts with '[' but is not a JSON or Python list: write "
                '["first text", "second text"]'
            ),
            None,
        ]

    def test_documents_rubric_and_metadata(self, tmp_path: Path) -> None:
        path = write(
            tmp_path / "q.csv",
            "retrieved_documents;rubric;metadata;lang\n"
            '"[{""id"": ""d1""}]";"{""1"": ""bad""}";"{\'a\': 1}";en\n'
            "d2;;;\n",
        )
        assert samples(path) == [
            Sample(retrieved_documents=[{"id": "d1"}], rubric={"1": "bad"}, metadata={"a": 1, "lang": "en"}),  # type: ignore[list-item,dict-item]
            Sample(retrieved_documents=["d2"], metadata={"lang": None}),
        ]

    def test_an_object_cell_that_is_none(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", "id;rubric\n1;good or bad\n")
        assert read(path)[0][2] == (
            'q.csv, line 2: rubric: the cell is neither a JSON nor a Python object: write {"key": "text"}'
        )

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "id,answer\n1,a,b\n",
                f"q.csv, line 2: line 1 names 2 columns, this row has 3: {CURE}",
            ),
            ("id,id\n1,2\n", "q.csv, line 1: two columns are named 'id': rename one of them"),
            (
                "Results of May,,\nid,answer,\n1,a,\n",
                (
                    "q.csv, line 2: the cell 2 holds something, but its column has no name: line 1, the first with "
                    "text, must name all columns (if their names stand further down, delete what is above)"
                ),
            ),
            (
                "sep=;\nResults of May\nid;answer\n1;a\n",
                (f"q.csv, line 3: line 2 names 1 column, this row has 2: {CURE}"),
            ),
            ("id,answer\n", "q.csv holds no rows"),
            ("", "q.csv holds no rows"),
            (
                'id,answer\n1,"a"b\n',
                "q.csv, line 2: the quotes do not match (',' expected after '\"'): double the quotes inside of a quoted cell",
            ),
            (
                'id,answer\n1,x\n2,"abc\n',
                (
                    "q.csv, line 3: the quotes do not match (unexpected end of data): double the quotes inside of a quoted cell "
                    "(the file was read up to there: 1 row)"
                ),
            ),
            (
                "id,answer\n1,x\n2,y\n3,\0\n",
                (
                    "q.csv, line 4: holds a NUL character: save the file again, as UTF-8 "
                    "(the file was read up to there: 2 rows)"
                ),
            ),
            (
                "id,answer\r1,x\r",
                (
                    "q.csv, line 1: a line ends in a lone carriage return, as on old Macs: "
                    "save the file with the line ends of today (LF or CRLF)"
                ),
            ),
            (
                "id,answer\n1," + "x" * 131_073 + "\n",
                "q.csv, line 2: a cell is longer than 131,072 characters, the limit of CSV: save it as JSONL",
            ),
        ],
    )
    def test_a_file_that_cannot_be_read(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(write(tmp_path / "q.csv", text), Length())
        assert str(caught.value) == message

    def test_other_encodings_end_the_reading_and_keep_what_came_before(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", b"id,answer\n1,a\n2,b\n3,\xe9\n4,d\n")
        with pytest.raises(InvalidInput) as caught:
            evaluate(path, Length())
        assert str(caught.value) == (
            "q.csv, line 4: not UTF-8 text (byte 0xE9 at position 3): if '3,é' is right there, give encoding='cp1252'; "
            "else name its encoding, or save the file as UTF-8 (the file was read up to there: 2 rows)"
        )
        assert [row.id for row in caught.value.partial.rows] == ["1", "2"]

    def test_a_short_row_is_a_bad_row(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", "id,answer\n1,a\n2\n")
        assert read(path)[1][2] == (f"q.csv, line 3: line 1 names 2 columns, this row has 1: {CURE}")
