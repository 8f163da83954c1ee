"""Rows by what they have in common: what a path names, what is one value, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from core.report.comparing import metric_column, run_of
from ragmetrics_core import Evaluation, InvalidInput


def rows(*values: Any, column: str = "lang") -> Evaluation:
    return run_of([({column: value}, {"m": 0.5}) for value in values])


def sizes(run: Evaluation, by: str) -> dict[str | None, int]:
    """By slice how many rows there are."""
    return {label: part.rows for label, part in run.summary(by=by).slices.items()}


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
    run = run_of([({"user_input": "q", "id": "7", "metadata": metadata}, {"m": 0.5})])
    assert sizes(run, path) == {label: 1}


def test_a_value_is_compared_as_text() -> None:
    numpy = pytest.importorskip("numpy")
    values = (3, "3", " 3 ", 3.0, numpy.int64(3), numpy.float64(3), 0.5, True, "true")
    assert sizes(rows(*values), "lang") == {"0.5": 1, "3": 6, "true": 2}


def test_what_says_nothing_is_no_value() -> None:
    given = [*({"lang": value} for value in ("de", None, "", "  ", float("nan"))), {}]
    assert sizes(run_of([(fields, {"m": 0.5}) for fields in given]), "lang") == {"de": 1, None: 5}


def test_slices_are_sorted_by_name_and_rows_without_come_last() -> None:
    found = sizes(rows("en", None, "de", "en"), "lang")
    assert list(found.items()) == [("de", 1), ("en", 2), (None, 1)]


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
    run = rows(label, "other", column=path.removeprefix("metadata."))
    assert run.summary(by=path).slices[label].name == shown


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
            run_of([({"question": "q"}, {"m": 0.5})]),
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
                "cluster='lang': 2 of 4 rows have none (q.jsonl, line 2, q.jsonl, line 4): give each row one; a row that shares "
                "nothing with others gets its own"
            ),
        ),
    ],
)
def test_what_is_refused(given: Evaluation, path: str, every_row: bool, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        given.gate("m >= 0", cluster=path) if every_row else given.summary(by=path)
    assert str(caught.value) == message


def test_a_slice_for_each_row_is_none() -> None:
    assert len(sizes(rows(*range(100), column="id"), "id")) == 100
    with pytest.raises(InvalidInput) as caught:
        sizes(rows(*range(101), column="id"), "id")
    assert str(caught.value) == (
        "by='id': 101 different values in 101 rows are too many for slices (at most 100): name a column that many rows share"
    )


def test_no_rows_have_no_labels() -> None:
    run = run_of([], columns=[metric_column("m", (0.0, 1.0), "M()")])
    assert sizes(run, "lang") == {}
    assert [result.rows for result in run.gate("m >= 0", cluster="lang").results] == [0]
