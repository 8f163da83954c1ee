"""``ragmetrics look``: what it says about files that are read, that have problems, and that cannot be read."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from core.cli.calling import call


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def test_a_file() -> None:
    Path("q.csv").write_text(
        'Question;response;Context 1;Context 2;Note\nWo liegt "Köln"?;Am Rhein;A\x1b[2J;B\n;x;;;\n'.replace(
            "B\n", "B;n\n"
        ),
        encoding="cp1252",
    )
    result = call("look", "q.csv", "--encoding", "cp1252", "--rows", "1")
    assert (result.exit_code, result.stderr) == (0, "")
    shown, metrics = result.stdout.split("metrics that fit: ")
    assert shown == (
        "q.csv: CSV with semicolons, cp1252: 2 rows\n"
        "\n"
        "user_input          1 of 2  Question (a common name)\n"
        "response            2 of 2  response (its name)\n"
        "retrieved_contexts  1 of 2  Context 1, Context 2 (gathered)\n"
        "not used: Note (kept as metadata)\n"
        "no column for reference: if there is one, name it with --map reference=COLUMN\n"
        "\n"
        "q.csv, line 2\n"
        '  user_input: Wo liegt "Köln"?\n'
        "  response: Am Rhein\n"
        "  retrieved_contexts: 2\n"
        "    1. A\\x1b[2J\n"
        "    2. B\n"
        '  metadata: {"Note": "n"}\n'
        "\n"
    )
    assert "faithfulness" in metrics.replace(",", "").split()
    assert "context_recall" not in metrics.replace(",", "").split()


def test_problems_are_named_and_counted() -> None:
    lines = [
        {"response": "a", "reference": "b"},
        *({"response": 5} for _ in range(24)),
        {"retrieved_contexts": ["x", 1]},
    ]
    Path("q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = call("look", "q.jsonl", "--rows", "0")
    assert result.exit_code == 0
    shown = result.stdout.splitlines()
    assert shown[0] == "q.jsonl: JSON lines, UTF-8: 26 rows, 25 of them with a problem"
    assert shown[2:5] == [
        "response            25 of 26  response (its name)",
        "retrieved_contexts   1 of 26  retrieved_contexts (its name)",
        "reference            1 of 26  reference (its name)",
    ]
    assert shown[6:10] == [
        "problems:",
        "  q.jsonl, line 2: response must be a str, got int",
        "  q.jsonl, line 3: response must be a str, got int",
        "  q.jsonl, line 4: response must be a str, got int",
    ]
    assert shown[26:28] == ["  q.jsonl, line 21: response must be a str, got int", "  and 5 more"]


def test_long_lists_and_texts() -> None:
    Path("q.jsonl").write_text(json.dumps({"contexts": ["x" * 200] * 7, "n": {"a": [1]}}) + "\n")
    shown = call("look", "q.jsonl").stdout.splitlines()
    assert shown[8:16] == [
        "  retrieved_contexts: 7",
        *(f"    {number}. {'x' * 70}..." for number in range(1, 6)),
        "    and 2 more",
        '  metadata: {"n": {"a": [1]}}',
    ]
    assert {len(line) for line in shown[9:14]} == {80}


def test_columns_that_are_not_understood() -> None:
    Path("q.csv").write_text("Frage,Antwort\na,b\n")
    result = call("look", "q.csv", "--rows", "0")
    assert (result.exit_code, result.stdout) == (
        0,
        (
            "q.csv: CSV with commas, UTF-8: 1 row\n"
            "\n"
            "not used: Frage, Antwort (kept as metadata)\n"
            "no column for user_input, response, retrieved_contexts, reference: if there is\n"
            "      one, name it with\n"
            "      --map question=COLUMN,answer=COLUMN,contexts=COLUMN,reference=COLUMN\n"
            "\n"
            "no built-in metric fits (`ragmetrics metrics` lists what each needs)\n"
        ),
    )


def test_rows_that_are_not_alike() -> None:
    Path("q.jsonl").write_text('{"answer": "a"}\n{"answer": "b"}\n{"output": "c"}\n')
    assert "response  3 of 3  answer (a common name; other rows: output)" in call("look", "q.jsonl").stdout


@pytest.mark.parametrize(
    ("header", "words", "rule"),
    [
        ("response", (), "response (its name)"),
        ("Answer", (), "Answer (a common name)"),
        ("outputs.answer", (), "outputs.answer (found inside)"),
        ("Bot", ("--map", "answer=bot"), "Bot (as given)"),
    ],
)
def test_why_a_field_is_read_from_a_column(header: str, words: tuple[str, ...], rule: str) -> None:
    Path("q.csv").write_text(f"id,{header}\n1,a\n")
    assert f"response  1 of 1  {rule}\n" in call("look", "q.csv", *words).stdout


def test_two_columns_that_say_the_same() -> None:
    Path("q.csv").write_text("id,answer,output\n1,a,a\n")
    assert "response  1 of 1  answer, output (common names)\n" in call("look", "q.csv").stdout


def test_two_columns_that_differ() -> None:
    Path("q.csv").write_text("id,answer,output\n1,a,b\n")
    output = " ".join(call("look", "q.csv").stdout.split())
    assert "both mean 'response' but differ: keep one of them, or choose: --map response=answer" in output


def test_one_numbered_column() -> None:
    Path("q.csv").write_text("id,Context 1\n1,a\n")
    assert "retrieved_contexts  1 of 1  Context 1 (gathered)\n" in call("look", "q.csv").stdout


def test_for_programs() -> None:
    Path("q.json").write_text('{"runs": [{"question": "\\u009b", "n": 1}, {"question": 5}]}')
    result = call("look", "q.json", "--json", "--rows", "1")
    assert json.loads(result.stdout) == {
        "file": "q.json",
        "form": "JSON, rows at runs, UTF-8",
        "rows": 2,
        "good": 1,
        "fields": {
            "user_input": {"rows": 2, "columns": [{"columns": ["question"], "rule": "a common name", "rows": 2}]}
        },
        "unused": {"n": 1},
        "metrics": [],
        "doubts": [],
        "problems": ["q.json, item 2: user_input must be a str, got int"],
        "first": [{"place": "q.json, item 1", "user_input": "\x9b", "metadata": {"n": 1}}],
    }


class TestWhatCannotBeScored:
    def test_no_good_row(self) -> None:
        Path("q.jsonl").write_text('{"response": 5}\n')
        result = call("look", "q.jsonl")
        assert (result.exit_code, result.stderr) == (2, "ragmetrics: no row can be scored: see the problems above\n")
        assert "  q.jsonl, line 1: response must be a str, got int\n" in result.stdout

    def test_a_file_that_breaks_off(self) -> None:
        Path("q.csv").write_text('answer\na\nb\n"c\n')
        result = call("look", "q.csv")
        assert result.exit_code == 2
        assert result.stdout.startswith("q.csv: CSV with commas, UTF-8: 2 rows\n")
        assert result.stderr == (
            "ragmetrics: q.csv, line 4: the quotes do not match (unexpected end of data): double the quotes inside of a quoted "
            "cell (the file was read up to there: 2 rows)\n"
        )

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("q.csv", "", "q.csv holds no rows"),
            ("q.pdf", "%PDF", None),
            (
                "q.jsonl",
                "[1]\n{}\n",
                'q.jsonl, line 1: a row must be a JSON object such as {"user_input": "..."}, got a list',
            ),
        ],
    )
    def test_files_that_are_something_else(self, name: str, text: str, message: str | None) -> None:
        Path(name).write_text(text)
        result = call("look", name)
        message = message or (
            f"neither the name nor the first line of {name!r} shows its format: let the name end in .jsonl, .json, .csv or .tsv "
            "(.gz may follow), in .xlsx or in .parquet"
        )
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"ragmetrics: {message}\n")


def test_standard_input() -> None:
    result = call("look", "-", stdin=b"question\tanswer\na\tb\n")
    assert result.stdout.startswith("stdin: CSV with tabs, UTF-8: 1 row\n")


def test_values_that_json_has_not() -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"answer": ["a"], "when": [date(2026, 5, 31)]}), "q.parquet")
    assert '  metadata: {"when": "2026-05-31"}\n' in call("look", "q.parquet").stdout
    assert json.loads(call("look", "q.parquet", "--json").stdout)["first"][0]["metadata"] == {"when": "2026-05-31"}


def test_what_is_kept_does_not_grow_with_the_rows() -> None:
    rows = ({"answer": "a", f"column {number}": 1} for number in range(3000))
    Path("q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = call("look", "q.jsonl", "--json", "--rows", "2")
    assert (result.exit_code, result.stderr) == (0, "")
    look = json.loads(result.stdout)
    assert (look["rows"], look["good"], len(look["unused"]), len(look["first"]), look["form"]) == (
        3000,
        3000,
        1000,
        2,
        "JSON lines, UTF-8",
    )


def test_objects_in_the_place_of_texts() -> None:
    Path("q.csv").write_text('input,output,\n"{""question"": ""a"", ""k"": 1}","{""answer"": ""b""}",0\n')
    shown = call("look", "q.csv", "--rows", "0").stdout
    assert (
        "not used: (a column without a name) (kept as metadata)\n"
        "no column for retrieved_contexts, reference: if there is one, name it with\n"
        "      --map contexts=COLUMN,reference=COLUMN\n"
        "user_input is an object with question, k: if one of these is meant, write\n"
        "      --map question=input.question\n"
        "response is an object with answer: if one of these is meant, write\n"
        "      --map answer=output.answer\n"
    ) in shown


def test_columns_that_may_be_what_is_missing_are_all_named() -> None:
    row = {
        "id": "1",
        "output": {"role": "assistant", "content": "a"},
        "metadata": {"contexts": ["c"], "output": "kept"},
        **{f"column {number}": 0 for number in range(41)},
        "inputs": {"prompt": "q", "k": 1},
    }
    Path("q.jsonl").write_text(json.dumps(row) + "\n")
    shown = " ".join(call("look", "q.jsonl", "--rows", "0").stdout.split())
    named = ", ".join(["output.role", *(f"column {number}" for number in range(39))])
    assert f"not used: {named} and 5 more (kept as metadata)" in shown
    del row["output"]
    row = {**{name: value for name, value in row.items() if not name.startswith("column")}, "user_input": "q"}
    Path("q.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({"inputs": "text", "n": 1}) + "\n")
    shown = " ".join(call("look", "q.jsonl", "--rows", "0").stdout.split())
    assert "not used: inputs.prompt, inputs.k, n, metadata.contexts, metadata.output (kept as metadata)" in shown


def test_the_part_of_an_object_that_most_likely_holds_the_field() -> None:
    cells = [{"role": "user", "content": "q"}, {"k": 1, "text": "a", "Response": "b"}]
    Path("q.csv").write_text("input,output\n" + ",".join(quoted(json.dumps(cell)) for cell in cells) + "\n")
    shown = " ".join(call("look", "q.csv", "--rows", "0").stdout.split())
    assert (
        "user_input is an object with role, content: if one of these is meant, write --map question=input.content response is an "
        "object with k, text, Response: if one of these is meant, write --map answer=output.Response"
    ) in shown


def test_words_for_a_missing_value_are_pointed_out() -> None:
    Path("q.csv").write_text("question,answer,contexts\na,NaN,N/A\nb, NaN,n/a\nnan,NaN at first,d\n")
    shown = " ".join(call("look", "q.csv", "--rows", "0").stdout.split())
    ending = "and is judged as text: where that means a missing value, write \\N in a CSV file or a sheet, and null elsewhere"
    assert (
        f"response is 'NaN' in 2 rows (column 'answer': q.csv, line 2; q.csv, line 3) {ending} "
        f"retrieved_contexts is 'N/A' or 'n/a' in 2 rows (column 'contexts': q.csv, line 2; q.csv, line 3) {ending} "
        f"user_input is 'nan' in 1 row (column 'question': q.csv, line 4) {ending}"
    ) in shown


def test_a_text_that_looks_like_a_list_is_pointed_out() -> None:
    Path("q.csv").write_text("question,contexts\na,one;two\nb,three;four;five\n")
    shown = " ".join(call("look", "q.csv", "--rows", "0").stdout.split())
    sentence = (
        "retrieved_contexts looks like a list of 2 in 2 rows (column 'contexts': q.csv, line 2; q.csv, line 3) and is read as one "
        "text: if it is a list, give separator=\";\" (command line: --separator ';')"
    )
    assert sentence in shown
    assert json.loads(call("look", "q.csv", "--json").stdout)["doubts"] == [sentence]
    assert json.loads(call("look", "q.csv", "--json", "--separator", ";").stdout)["doubts"] == []


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'
