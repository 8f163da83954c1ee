"""The comparison of two runs in Parquet files: from their columns it is the same as from their rows."""

from __future__ import annotations

import copy
import pickle
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.report.comparing import FAILED, by_id, metric_column, not_asked, run_of, text_at
from ragmetrics_core import Comparison, Evaluation, InvalidInput, Score

pytest.importorskip("duckdb")

GATES = ("m drop <= 0.1", "k drop <= 0.05")


def written(folder: Path, *runs: Evaluation, rows_per_file: int = 5) -> list[Evaluation]:
    """The runs in Parquet files."""
    for number, run in enumerate(runs):
        run.to_parquet(folder / f"run{number}", rows_per_file=rows_per_file)
    return [Evaluation.load(folder / f"run{number}") for number in range(len(runs))]


def outcome(ask: Callable[[], Comparison]) -> Any:
    """All that is said of a comparison, or the message of its error."""
    try:
        found = ask()
        gated = found.gate(*GATES)
        said = [text_at(100_000, found), found.to_markdown(), found.to_dict(), text_at(100_000, gated), gated.verdict]
    except InvalidInput as error:
        said = [str(error)]
    return said


VALUES = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 0.25, None, FAILED]),
    st.just(not_asked("m", (0.0, 1.0))),
    st.just(Score(0.75, label="a")),
    st.just(Score.unscored("nothing to score", label="no_answer")),
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "lang": st.sampled_from(["de", "en", None]),
        "document": st.sampled_from(["a", "b", "c", None]),
        "reference": st.sampled_from(["x", "y"]),
        "rubric": st.just({1: "bad"}),
    },
)
ROWS = st.lists(
    st.tuples(st.integers(0, 14), FIELDS, VALUES, VALUES), min_size=1, max_size=15, unique_by=lambda row: row[0]
)


def run_with(rows: list[Any], name: str, better: bool | None, *, ids: bool) -> Evaluation:
    given = [
        ({"question": f"{n}?", **({"id": n} if ids else {}), **fields}, {"m": m, "k": k}) for n, fields, m, k in rows
    ]
    return run_of(given, [metric_column("k", (0.0, 1.0), "K()", better)], name=name)


@given(
    before=ROWS,
    after=ROWS,
    better=st.sampled_from([True, False, None]),
    ids=st.booleans(),
    most=st.sampled_from([3, 20_000]),
    same=st.booleans(),
    groups=st.sampled_from(
        [(None, None), ("lang", None), ("metadata.lang", "document"), (None, "document"), ("m", None)]
    ),
)
@example(  # values that are ends of the scale, but not counted one by one
    before=[(0, {}, 0.0, 1.0), (1, {}, 1.0, 0.0)],
    after=[(0, {}, 0.0, 1.0), (1, {}, 1.0, None)],
    better=True,
    ids=False,
    most=3,
    same=False,
    groups=(None, None),
)
@settings(max_examples=40, deadline=None)
def test_columns_say_what_rows_say(
    before: list[Any], after: list[Any], better: bool | None, ids: bool, most: int, same: bool, groups: Any
) -> None:
    if same:  # the same rows in the same order
        after = [(one[0], one[1], *two[2:]) for one, two in zip(before, after * len(before), strict=False)]
    runs = run_with(before, "old", better, ids=ids), run_with(after, "new", better, ids=ids)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragmetrics_core._compare._columns.MOST_DIFFERENT", most)
        patch.setattr("ragmetrics_core._compare._compare._names", lambda *_: ("old", "new"))
        found = written(Path(folder), *runs)
        one, two = (
            outcome(lambda: each[0].compare(each[1], *groups, allow_different_judges=True))  # noqa: B023
            for each in (found, runs)
        )
        assert one == two


def many(seed: int, order: list[int]) -> Evaluation:
    """A run whose rows all have different values."""
    value = random.Random(seed).random
    made = [(value(), value() > 0.4) for _ in range(60)]
    fields = [{"id": f"q{n}", "question": f"{n}?", "lang": ["de", "en"][n % 2], "document": n % 7} for n in range(60)]
    return run_of([(fields[n], {"m": made[n][0] if n % 5 else None, "k": float(made[n][1])}) for n in order])


@pytest.mark.parametrize("order", [list(range(60)), [*range(59, 20, -1), 0, 9]])
@pytest.mark.parametrize("cluster", [None, "document"])
def test_no_row_is_read_but_those_that_are_shown(
    order: list[int], cluster: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragmetrics_core._compare._columns.MOST_DIFFERENT", 30)
    monkeypatch.setattr("ragmetrics_core._compare._compare._names", lambda *_: ("old", "new"))
    runs = many(1, list(range(60))), many(2, order)
    found = written(tmp_path, *runs)
    expected = runs[0].compare(runs[1], "lang", cluster, allow_different_judges=True)
    monkeypatch.setattr("ragmetrics_core._store._parquet.ParquetRecords.__iter__", None)
    comparison = found[0].compare(found[1], "lang", cluster, allow_different_judges=True)
    assert text_at(100_000, comparison) == text_at(100_000, expected)
    assert text_at(90, comparison.gate(*GATES)) == text_at(90, expected.gate(*GATES))
    for one, two in zip(comparison.metrics, expected.metrics, strict=True):
        assert (one.before, one.after, one.difference) == (two.before, two.after, two.difference)
        assert (one.rows_before, one.rows_after, one.changes) == (two.rows_before, two.rows_after, two.changes)
    for copied in (copy.deepcopy(comparison), pickle.loads(pickle.dumps(comparison))):
        assert copied == comparison
        assert text_at(90, copied.gate(*GATES)) == text_at(90, expected.gate(*GATES))
    assert hash(comparison.only_before) == hash(expected.only_before)
    assert repr(comparison.only_before) == repr(expected.only_before)


def test_rows_are_read_where_ids_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmetrics_core._compare._compare._names", lambda *_: ("old", "new"))
    some = run_of([({"id": "q0", "question": "question 0"}, {"m": 0.5}), ({"question": "question 1"}, {"m": 1.0})])
    found = written(tmp_path, by_id([0.5, 1.0]), some)
    assert found[0].compare(found[1]).paired_by == "id, else by question and reference"
