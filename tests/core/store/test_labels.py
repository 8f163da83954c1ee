"""Lines of labels: every form in which people write them, and every message about what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import InvalidInput
from ragmetrics_core._store._labels import COLUMNS, Label, check_rows, read_labels

WHOLE = {
    "id": "q1",
    "metric": "faithfulness",
    "claim": "The tower is 330 metres tall.",
    "label": False,
    "annotator": "Ada",
    "note": "it is 300",
    "blind": True,
    "weight": 2.5,
    "digest": "0123456789abcdef0123456789abcdef",
}


def jsonl(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def line(**fields: Any) -> dict[str, Any]:
    return {"id": "q1", "metric": "m", "label": True, **fields}


def labels(*lines: Any, **options: Any) -> list[Any]:
    return [item.label for item in read_labels(lines, **options)]


def problem(*lines: Any, **options: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_labels(lines, **options)
    return str(caught.value)


class TestForms:
    def test_a_whole_line(self, tmp_path: Path) -> None:
        (found,) = read_labels(jsonl(tmp_path / "labels.jsonl", WHOLE))
        assert {name: getattr(found, name) for name in COLUMNS} == WHOLE
        assert found.place == "labels.jsonl, line 1"

    def test_the_least_line(self) -> None:
        assert read_labels([line()]) == [Label("q1", "m", True)]

    def test_lines_with_nulls_as_the_report_writes_them(self) -> None:
        bare = dict.fromkeys(COLUMNS) | line()
        assert read_labels([bare]) == [Label("q1", "m", True)]

    def test_csv(self, tmp_path: Path) -> None:
        path = tmp_path / "sheet.csv"
        path.write_text(
            "ID;Metric;claim;question;Label;annotator;note;blind;weight\n"
            "7;faithfulness;;Where?;yes; Ada ;fine;TRUE;1.5\n"
            "7;faithfulness;2;Where?;wrong;Ada;;;\n"
            "8;faithfulness;;When?;;;;;\n",
            encoding="utf-8",
        )
        assert read_labels(path) == [
            Label("7", "faithfulness", True, None, "Ada", "fine", True, 1.5),
            Label("7", "faithfulness", False, 2, "Ada"),
        ]

    def test_a_frame_whose_ids_became_floats(self) -> None:
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"id": [7.0, 8.0], "label": [1.0, float("nan")], "annotator": ["Ada", None]})
        assert read_labels(frame, metric="m") == [Label("7", "m", True, annotator="Ada")]

    def test_labels_that_were_read_before(self) -> None:
        once = read_labels([WHOLE, line()])
        again = read_labels(once)
        assert again == once
        assert [item.place for item in again] == ["label 1", "label 2"]

    def test_the_metric_of_lines_that_name_none(self) -> None:
        found = read_labels([{"id": 1, "label": 1}, {"id": 2, "label": 0, "metric": "own"}], metric="given")
        assert found == [Label("1", "given", True), Label("2", "own", False)]

    def test_lines_without_a_label_are_rows_to_label(self, tmp_path: Path) -> None:
        path = jsonl(
            tmp_path / "labels.jsonl", line(label=None, weight=3), line(id="q2", weight=3), line(id="q3", label="")
        )
        assert read_labels(path) == [Label("q2", "m", True, weight=3.0)]
        none = jsonl(tmp_path / "none.jsonl", line(label=None), line(id="q2", label=" "))
        with pytest.raises(InvalidInput, match=r"^none\.jsonl: no line has a label: fill in the column 'label'$"):
            read_labels(none)

    def test_several_annotators(self) -> None:
        found = read_labels([line(annotator="Ada"), line(annotator="Bob", label=False), line(annotator="Ada", id="q2")])
        assert [(item.annotator, item.id, item.label) for item in found] == [
            ("Ada", "q1", True),
            ("Bob", "q1", False),
            ("Ada", "q2", True),
        ]


class TestWords:
    @pytest.mark.parametrize(
        "word", [True, 1, 1.0, "1", "1.0", "true", "TRUE", " Yes ", "y", "t", "pass", "passed", "right", "correct", "✔"]
    )
    def test_right(self, word: Any) -> None:
        assert labels(line(label=word)) == [True]
        assert isinstance(labels(line(label=word))[0], bool)

    @pytest.mark.parametrize(
        "word",
        [False, 0, 0.0, "0", "false", "No", "n", "FAIL", "wrong", "incorrect", "not  supported", "contradicted", "✘"],
    )
    def test_wrong(self, word: Any) -> None:
        assert labels(line(label=word)) == [False]
        assert isinstance(labels(line(label=word))[0], bool)

    @pytest.mark.parametrize("word", ["maybe", "nan", "inf", "1_0", "4,5", [], {}, float("1e400")])
    def test_neither(self, word: Any) -> None:
        assert problem(line(label=word)) == (
            f"label 1: the label {word!r} is neither a pass nor a fail nor a number: write true or false (also yes/no, pass/fail, "
            "right/wrong, correct/incorrect, 1/0) or a grade on the metric's scale, or leave it empty if it has no label yet"
        )


class TestGrades:
    def test_another_number_makes_grades_of_all(self) -> None:
        assert labels(line(label="1"), line(id="q2", label=4.5), line(id="q3", label=0)) == [1.0, 4.5, 0.0]

    def test_a_scale_makes_grades_of_1_and_0(self) -> None:
        found = labels(line(label=1), line(id="q2", label="0"), scales={"m": (0, 5)})
        assert found == [1.0, 0.0]
        assert [type(item) for item in found] == [float, float]
        assert [type(item) for item in labels(line(label=1), scales={"m": (0.0, 1.0)})] == [bool]
        assert [type(item) for item in labels(line(label=1), scales={"m": None})] == [bool]

    def test_each_metric_for_itself(self) -> None:
        assert labels(line(label=1), line(label=3, metric="grades")) == [True, 3.0]

    def test_passes_of_a_graded_metric(self) -> None:
        assert labels(line(label="yes"), scales={"m": (1, 5)}) == [True]

    def test_both(self) -> None:
        assert problem(line(label=3.5), line(id="q2", label="yes")) == (
            "label 2: a pass or a fail of 'm', which has the grade 3.5 in label 1: label all rows of a metric in the same way"
        )

    def test_off_the_scale(self) -> None:
        assert problem(line(label=7), scales={"m": (1, 5)}) == "label 1: the label 7 is not on the scale of 'm', 1 to 5"
        assert problem(line(label=0), scales={"m": (1, 5)}) == (
            "label 1: the label 0 is not on the scale of 'm', 1 to 5: write true or false for a pass or a fail"
        )

    def test_a_metric_that_the_run_has_not(self) -> None:
        assert problem(line(), scales={"a": (0, 1), "b": None}) == "label 1: the run has no metric 'm'; it has 'a', 'b'"


class TestClaims:
    def test_by_number_and_by_text(self) -> None:
        found = read_labels([line(claim=1), line(claim="2", label=0), line(claim="3 towers", label="no")])
        assert [(item.claim, item.label) for item in found] == [(1, True), (2, False), ("3 towers", False)]

    def test_claims_of_a_graded_metric_are_right_or_wrong(self) -> None:
        lines = [line(label=4), line(claim=1, label=1)]
        assert labels(*lines, scales={"m": (1, 5)}) == [4.0, True]
        assert problem(line(claim=1, label=0.5)) == (
            "label 1: a claim is right or wrong, got the label 0.5: write true or false"
        )

    @pytest.mark.parametrize("claim", [0, "0", -1, 1.5, True, ["a"]])
    def test_no_number_of_a_claim(self, claim: Any) -> None:
        assert problem(line(claim=claim)) == (
            f"label 1: the claim {claim!r} is not a whole number from 1: write its number or its text"
        )


class TestMessages:
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (
                {"id": "q1", "Verdict": True},
                "the field 'label' is missing: a line needs id, metric and label; this one has 'id'",
            ),
            (
                {"Verdict": True},
                "the field 'id' is missing: a line needs id, metric and label; this one has none of the columns of labels",
            ),
            (
                {"id": "q1", "label": True},
                (
                    "the field 'metric' is missing: name the metric that the label is about, in this line, or for all lines with "
                    "the argument metric (--metric on the command line)"
                ),
            ),
            (line(id=" "), "the field 'id' is empty: write the id of the row that the label is about"),
            (line(id=True), "the field 'id' must be a text, got True"),
            (line(annotator=["Ada"]), "the field 'annotator' must be a text, got ['Ada']"),
            (line(blind="perhaps"), "blind is 'perhaps': write true or false, or leave it out"),
            (line(blind=2), "blind is 2: write true or false, or leave it out"),
            (
                line(weight=0),
                "the weight 0 is not a number from 1e-12 to 1e+12: write how many rows this row represents, or leave it out",
            ),
            (
                line(weight="much"),
                "the weight 'much' is not a number from 1e-12 to 1e+12: write how many rows this row represents, or leave it out",
            ),
            (line(ID="q2"), "the line has the field 'id' twice: keep one of them"),
            (
                7,
                'a line of labels must be an object such as {"id": "q1", "metric": "faithfulness", "label": true}, got int',
            ),
        ],
    )
    def test_a_line(self, value: Any, message: str) -> None:
        assert problem(value) == f"label 1: {message}"

    def test_a_file(self, tmp_path: Path) -> None:
        path = jsonl(tmp_path / "labels.jsonl", line(), ["q2"])
        with pytest.raises(InvalidInput) as caught:
            read_labels(path)
        assert str(caught.value) == (
            "labels.jsonl, line 2: a line of labels must be an object such as "
            '{"id": "q1", "metric": "faithfulness", "label": true}, got a list'
        )
        path.write_text('{"id": 1\n', encoding="utf-8")
        with pytest.raises(
            InvalidInput, match=r"^labels\.jsonl, line 1: not JSON \(Expecting ',' delimiter at column 9\)"
        ):
            read_labels(path)
        with pytest.raises(InvalidInput, match=r"^there is no file "):
            read_labels(tmp_path / "none.jsonl")

    @pytest.mark.parametrize("source", [{"id": "q1"}, 7, Label("q1", "m", True)])
    def test_no_lines(self, source: Any) -> None:
        with pytest.raises(InvalidInput) as caught:
            read_labels(source)
        assert str(caught.value) == (
            f"labels must be a path, lines of labels or a DataFrame, got {type(source).__name__}"
        )

    def test_a_hostile_label_is_shown_escaped_and_cut(self) -> None:
        found = problem(line(label="\x1b[2J" + "x" * 500))
        assert "\x1b" not in found
        assert found.startswith("label 1: the label '\\x1b[2Jxxx")
        assert len(found) < 350


class TestOnce:
    def test_two_things(self) -> None:
        lines = [line(annotator="Ada"), line(annotator="Bob"), line(annotator="Ada", label=False)]
        assert problem(*lines) == (
            "label 3: 'Ada' labelled the row, for 'm' of 'q1', twice, and differently (True and False), here and in label 1: keep "
            "one of the lines"
        )

    def test_one_thing_twice(self) -> None:
        assert problem(line(claim="a"), line(claim="a")) == (
            "label 2: someone without a name labelled the claim, for 'm' of 'q1', twice, here and in label 1: keep one of the "
            "lines, or name the annotators if they are two"
        )

    def test_row_and_claims_and_metrics_are_different_things(self) -> None:
        assert len(read_labels([line(), line(claim=1), line(claim=2), line(metric="other"), line(id=2)])) == 5


class TestRows:
    def test_known(self) -> None:
        check_rows(read_labels([line(id="7"), line(id="q1")]), [7, "q1", "q2", None])

    def test_unknown(self, tmp_path: Path) -> None:
        path = jsonl(tmp_path / "labels.jsonl", *(line(id=f"q{number}") for number in range(1, 9)))
        with pytest.raises(InvalidInput) as caught:
            check_rows(read_labels(path), ["q1", "q2"])
        assert str(caught.value) == (
            "labels.jsonl, line 3: no row of this run has the id 'q3' (5 more ids are unknown: 'q4', 'q5', 'q6', 'q7', ...): "
            "use the ids of its rows"
        )
        with pytest.raises(InvalidInput) as caught:
            check_rows(read_labels([line()]), [None])
        assert str(caught.value) == (
            "label 1: no row of this run has the id 'q1': none of its rows has an id, and only rows with ids can have labels"
        )

    def test_shared(self) -> None:
        with pytest.raises(InvalidInput) as caught:
            check_rows(read_labels([line()]), ["q1", "q1"])
        assert str(caught.value) == (
            "label 1: 2 rows of this run have the id 'q1', so it is not clear which of them is meant: give every row a "
            "different id"
        )
