"""Rows by what they have in common: what a path names, what is one value, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ragmetrics_core import InvalidInput, Sample
from ragmetrics_core._run._slices import RowLabels, slice_name, slices_of


def rows(*values: Any, column: str = "lang") -> list[tuple[Sample, str]]:
    return [(Sample(metadata={column: value}), f"q.jsonl, line {line}") for line, value in enumerate(values, 1)]


def labels_of(
    given: list[tuple[Sample, str]], path: str, argument: str, *, every_row: bool = False
) -> list[str | None]:
    found = RowLabels(path, argument)
    for sample, place in given:
        found.add(sample, place)
    found.check(every_row=every_row)
    return found.labels


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("lang", "de"),
        ("metadata.lang", "de"),
        ("document.id", "d1"),
        ("metadata.document.id", "d1"),
        ("a.b", "flat"),
        ("x.y.z", "deep"),
        ("user_input", "q"),
        ("question", "q"),
        ("id", "7"),
        ("metadata.id", "inner"),
    ],
)
def test_what_a_path_names(path: str, label: str) -> None:
    metadata = {
        "lang": "de",
        "document": {"id": "d1"},
        "a.b": "flat",
        "x.y": {"z": "deep"},
        "x": {"y": 1},
        "id": "inner",
    }
    sample = Sample(user_input="q", id="7", metadata=metadata)
    assert labels_of([(sample, "row 1")], path, "by") == [label]


def test_a_value_is_compared_as_text() -> None:
    numpy = pytest.importorskip("numpy")
    values = (3, "3", " 3 ", 3.0, numpy.int64(3), numpy.float64(3), 0.5, True, "true")
    assert labels_of(rows(*values), "lang", "by") == ["3"] * 6 + ["0.5", "true", "true"]


def test_what_says_nothing_is_no_value() -> None:
    found = labels_of([*rows("de", None, "", "  ", float("nan")), (Sample(), "row 6")], "lang", "by")
    assert found == ["de", None, None, None, None, None]


def test_slices_are_sorted_by_name_and_rows_without_come_last() -> None:
    found = slices_of(["en", None, "de", "en"], "lang")
    assert list(found.items()) == [("de", [2]), ("en", [0, 3]), (None, [1])]


@pytest.mark.parametrize(
    ("path", "label", "shown"),
    [
        ("metadata.lang", "de", "lang=de"),
        ("lang", None, "without lang"),
        ("lang", "\x1b[2J", r"lang=\x1b[2J"),
        ("lang", "a" * 50, f"lang={'a' * 19}...{'a' * 18}"),
        ("\x07lang", "de", r"\x07lang=de"),
    ],
)
def test_the_name_of_a_slice_can_be_shown(path: str, label: str | None, shown: str) -> None:
    assert slice_name(path, label) == shown


@pytest.mark.parametrize(
    ("given", "path", "every_row", "message"),
    [
        (rows("de"), " ", False, "by must name a column, such as 'metadata.lang', got ' '"),
        (
            rows("de", "en"),
            "langue",
            False,
            (
                "by='langue': no row has it; columns of the metadata: lang; fields have their own names, such as 'user_input'"
            ),
        ),
        (
            [(Sample(), "row 1")],
            "lang",
            False,
            "by='lang': no row has it; columns of the metadata: none; fields have their own names, such as 'user_input'",
        ),
        (
            rows("de", ["en", "fr"]),
            "lang",
            False,
            "q.jsonl, line 2: by='lang' is a list: name a column with one value per row",
        ),
        (
            rows({"code": "de"}),
            "lang",
            False,
            "q.jsonl, line 1: by='lang' is an object: name a column with one value per row, such as lang.code",
        ),
        (
            rows("de", None, "en", ""),
            "lang",
            True,
            (
                "by='lang': 2 of 4 rows have none (q.jsonl, line 2, q.jsonl, line 4): give each row one; a row that shares "
                "nothing with others gets one of its own"
            ),
        ),
    ],
)
def test_what_is_refused(given: list[tuple[Sample, str]], path: str, every_row: bool, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        labels_of(given, path, "by", every_row=every_row)
    assert str(caught.value) == message


def test_a_slice_for_each_row_is_none() -> None:
    assert len(slices_of([str(number) for number in range(100)], "id")) == 100
    with pytest.raises(InvalidInput) as caught:
        slices_of([str(number) for number in range(101)], "id")
    assert str(caught.value) == (
        "by='id': 101 different values in 101 rows are no slices (at most 100): name a column that many rows share"
    )


def test_no_rows_have_no_labels() -> None:
    assert labels_of([], "lang", "by", every_row=True) == []
    assert slices_of([], "lang") == {}
