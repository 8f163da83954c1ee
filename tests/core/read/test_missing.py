"""What is missing, what is empty and what is a text: the same in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.cli.calling import call
from core.read.reading import read, samples, write
from core.read.test_excel import workbook
from ragmetrics_core import Evaluation, Sample, evaluate

WHERE = "where that means a missing value, write \\N in a CSV file or a sheet, and null elsewhere"

HEADER = ["id", "answer", "reference"]


def csv(path: Path, *rows: str) -> Path:
    return write(path, "\n".join([",".join(HEADER), *rows, ""]))


def jsonl_of(path: Path, *answers: Any) -> Path:
    rows = [dict(zip(HEADER, ["1", answer, "x"], strict=True)) for answer in answers]
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def parquet_of(path: Path, *answers: Any) -> Path:
    pd.DataFrame({"id": "1", "answer": list(answers), "reference": "x"}).to_parquet(path)
    return path


def pandas_csv(path: Path, *answers: Any) -> Path:
    pd.DataFrame({"id": "1", "answer": list(answers), "reference": "x"}).to_csv(path, index=False)
    return path


def outcome(source: Any) -> tuple[str, str | None]:
    """The state of the score of the first row, and its label."""
    score = evaluate(source, "exact_match", progress=False).scores["exact_match"][0]
    if score.error is not None:
        assert score.error.startswith("MissingInput: exact_match needs 'response', which is missing in ")
    return score.state, score.label


class TestAnswers:
    def test_an_empty_one_is_no_answer_in_every_format(self, tmp_path: Path) -> None:
        sources = [
            csv(tmp_path / "unquoted.csv", "1,,x"),
            csv(tmp_path / "quoted.csv", '1,"",x'),
            csv(tmp_path / "blank.csv", "1,  ,x"),
            write(tmp_path / "q.tsv", "id\tanswer\treference\n1\t\tx\n"),
            pandas_csv(tmp_path / "pandas.csv", "", "b"),
            pandas_csv(tmp_path / "none.csv", None, "b"),
            workbook(tmp_path / "q.xlsx", Rows=[HEADER, ["1", None, "x"]]),
            jsonl_of(tmp_path / "q.jsonl", ""),
            jsonl_of(tmp_path / "blank.jsonl", "  "),
            parquet_of(tmp_path / "q.parquet", "", "b"),
            pd.DataFrame({"answer": [""], "reference": ["x"]}),
            [{"answer": "", "reference": "x"}],
        ]
        assert [outcome(source) for source in sources] == [("unscored", "no_answer")] * len(sources)

    def test_a_missing_one_fails_in_every_format(self, tmp_path: Path) -> None:
        sources = [
            csv(tmp_path / "q.csv", "1,\\N,x"),
            csv(tmp_path / "quoted.csv", '1," \\N ",x'),
            write(tmp_path / "without.csv", "id,reference\n1,x\n"),
            workbook(tmp_path / "q.xlsx", Rows=[HEADER, ["1", "\\N", "x"]]),
            jsonl_of(tmp_path / "q.jsonl", None),
            parquet_of(tmp_path / "q.parquet", None, "b"),
            pd.DataFrame({"answer": [None, "b"], "reference": ["x", "x"]}),
            pd.DataFrame({"answer": [float("nan"), "b"], "reference": ["x", "x"]}),
            [{"answer": None, "reference": "x"}],
        ]
        assert [outcome(source) for source in sources] == [("failed", None)] * len(sources)

    def test_under_any_name_of_the_column(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", "outputs.answer,Bot said,question\n,,a\n")
        assert samples(path) == [Sample(user_input="a", response="", metadata={"Bot said": None})]
        mapped = evaluate(path, "exact_match", columns={"answer": "Bot said"}, progress=False).rows[0]
        assert (mapped.response, mapped.metadata) == ("", {"outputs.answer": None})
        other = evaluate(path, "exact_match", columns={"reference": "outputs.answer"}, progress=False).rows[0]
        assert (other.response, other.reference) == (None, None)

    def test_of_two_columns_the_one_that_holds_something_counts(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", "id,answer,output\n1,,b\n2,a,\n3,,\n4,\\N,\\N\n5,\\N,\n")
        assert [sample.response for sample in samples(path)] == ["b", "a", "", None, ""]

    def test_the_worst_value_if_wanted(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "q.csv", "1,,x", "2,x,x")
        found = evaluate(path, "exact_match", empty="zero", progress=False).scores["exact_match"]
        assert [score.value for score in found] == [0.0, 1.0]


def test_in_other_columns_empty_cells_are_missing(tmp_path: Path) -> None:
    row = "question,answer,contexts,reference,documents,rubric,metadata,tag\n"
    for cells in (",a,,,,,,", '"",a,"","","","","",""', "\\N,a,\\N,\\N,\\N,\\N,\\N,\\N"):
        path = write(tmp_path / "q.csv", f"{row}{cells}\n")
        assert samples(path) == [Sample(response="a", metadata={"documents": None, "tag": None})]
    numbered = write(tmp_path / "n.csv", "answer,context_1,context_2\nb,,a\nb,\\N,a\n")
    assert [sample.retrieved_contexts for sample in samples(numbered)] == [["a"], ["a"]]


def test_no_other_text_than_that_of_mysql_is_missing(tmp_path: Path) -> None:
    cells = ["NULL", "NaN", "None", "nan", "null", "N/A", "\\n", "\\N is a letter"]
    path = csv(tmp_path / "q.csv", *(f"1,{cell},x" for cell in cells))
    assert [sample.response for sample in samples(path)] == cells


class TestWarnings:
    def test_one_for_each_field_with_the_column_and_the_first_places(self, tmp_path: Path) -> None:
        answers = ["NULL", " NaN ", "None", "x", "N/A", "none of them"]
        path = csv(tmp_path / "q.csv", *(f"1,{answer},x" for answer in answers))
        result = evaluate(path, "exact_match", run_dir=tmp_path / "run", progress=False)
        sentence = (
            "response is 'NULL' or 'NaN' or 'None' or 'N/A' in 4 rows (column 'answer': q.csv, line 2; q.csv, line 3; q.csv, "
            f"line 4; ...) and is judged as text: {WHERE}"
        )
        assert result.caveats == (sentence,)
        assert Evaluation.load(tmp_path / "run").caveats == (sentence,)
        assert f"note: {sentence}" in " ".join(str(result.summary()).split())
        run = call("evaluate", str(path), "-m", "exact_match")
        assert f"note: {sentence}" in " ".join(run.stdout.split())
        again = evaluate(path, "exact_match", run_dir=tmp_path / "run", progress=False)
        assert again.caveats == (sentence,)

    def test_of_rows_in_memory_and_of_one_context_among_others(self) -> None:
        rows = [{"response": "a", "reference": "b", "contexts": ["x", "null"]}, Sample(response="<NA>", reference="a")]
        assert evaluate(rows, "exact_match", progress=False).caveats == (
            f"retrieved_contexts is 'null' in 1 row (column 'contexts': row 1) and is judged as text: {WHERE}",
            f"response is '<NA>' in 1 row (column 'response': row 2) and is judged as text: {WHERE}",
        )

    def test_none_where_all_is_well(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "q.csv", "1,,x", "2,\\N,x", "3,Nan is a river,x")
        assert evaluate(path, "exact_match", progress=False).caveats == ()


class TestListsInOneText:
    @pytest.mark.parametrize(
        ("cell", "separator", "parts"),
        [("a;b", ";", 2), ("one text;another;a third", ";", 3), ("one || two", "||", 2), ("a|b", "|", 2)],
    )
    def test_pointed_out_with_the_option(self, tmp_path: Path, cell: str, separator: str, parts: int) -> None:
        path = write(tmp_path / "q.csv", f'answer,reference,contexts\na,b,"{cell}"\na,b,c\n')
        result = evaluate(path, "exact_match", progress=False)
        assert [row.retrieved_contexts for row in result.rows] == [[cell], ["c"]]
        (caveat,) = result.caveats
        assert caveat == (
            f"retrieved_contexts looks like a list of {parts} in 1 row (column 'contexts': q.csv, line 2) and is read as one text: "
            f"if it is a list, give separator=\"{separator}\" (command line: --separator '{separator}')"
        )
        split = evaluate(path, "exact_match", separator=separator, progress=False)
        assert (len(split.rows[0].retrieved_contexts or ()), split.caveats) == (parts, ())

    @pytest.mark.parametrize(
        "cell",
        ["He came; he saw.", "R&amp;D and M&#233;x", "| a | b |", ";b", '[""a;b""]', "{a;b}", "a b c"],
    )
    def test_prose_and_lists_are_none(self, tmp_path: Path, cell: str) -> None:
        path = write(tmp_path / "q.csv", f'answer,reference,contexts\na,b,"{cell}"\n')
        assert evaluate(path, "exact_match", progress=False).caveats == ()

    def test_a_separator_in_few_of_many_texts_is_part_of_them(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", "answer,reference,contexts\n" + "a,b,c d\n" * 2 + "a,b,c;d\n")
        assert evaluate(path, "exact_match", progress=False).caveats == ()


class TestPostgresArrays:
    @pytest.mark.parametrize(
        ("cell", "contexts"),
        [
            ('{"a, b","c"}', ["a, b", "c"]),
            ("{a,b}", ["a", "b"]),
            ("{}", []),
            ('{""}', [""]),
            (r'{"say \"so\"","back\\slash",plain}', ['say "so"', "back\\slash", "plain"]),
            ('{"two\nlines","{braces}",NULL,"NULL"}', ["two\nlines", "{braces}", None, "NULL"]),
            (' {"a b"} ', ["a b"]),
            ('{"content": "a"}', ["a"]),
            ('{"text": "a lamp", "price": 30}', ['{"text": "a lamp", "price": 30}']),
            ("{a, b}", ["{a, b}"]),
            ("{name} is a name", ["{name} is a name"]),
            ("{'a', 'b'}", ["{'a', 'b'}"]),
        ],
    )
    def test_are_lists(self, tmp_path: Path, cell: str, contexts: list[str]) -> None:
        quoted = cell.replace('"', '""')
        path = write(tmp_path / "q.csv", f'id,contexts\n1,"{quoted}"\n')
        assert samples(path) == [Sample(id="1", retrieved_contexts=contexts)]

    def test_of_documents(self, tmp_path: Path) -> None:
        document = json.dumps(json.dumps({"content": "a, b", "id": "d1"}))
        quoted = document.replace('"', '""')
        path = write(tmp_path / "q.csv", f'id,retrieved_documents\n1,"{{{quoted}}}"\n')
        assert samples(path) == [Sample(id="1", retrieved_documents=[{"content": "a, b", "id": "d1"}])]  # type: ignore[list-item]

    def test_of_arrays_are_refused(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.csv", 'id,contexts\n1,"{{a,b},{""c d"",e}}"\n')
        assert read(path)[0][2] == (
            "q.csv, line 2: contexts: the cell is a nested Postgres array: write one list of texts"
        )
