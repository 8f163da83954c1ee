"""Several runs as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Echo, Length, Rated
from ragmetrics_core import Evaluation, InvalidInput, evaluate, join_runs


def run(rows: list[tuple[str, str]], metrics: Any, **options: Any) -> Evaluation:
    samples = [{"id": f"{question}-{answer}", "question": question, "answer": answer} for question, answer in rows]
    return evaluate(samples, metrics, llm=options.pop("llm", None) or Echo(), progress=False, **options)


def test_rows_one_after_the_other() -> None:
    one = run([("0.5", "12345"), ("0.25", "?")], [Rated(), Length()])
    two = run([("1.0", "1")], [Rated(), Length()])
    joined = join_runs([one, two])
    assert joined["rated"] == [0.5, 0.25, 1.0]
    assert joined["length"] == [0.5, None, 0.1]
    assert [record.index for record in joined.records] == [0, 1, 2]
    assert joined.summary()["rated"].usage.calls == 3
    assert [item.usage.calls for item in joined.models] == [3]
    assert joined.seconds == pytest.approx((one.seconds or 0) + (two.seconds or 0))


def test_metrics_that_one_of_them_lacks() -> None:
    joined = join_runs([run([("0.5", "12345")], Rated()), run([("0.7", "1"), ("0.8", "")], Length())])
    assert [item.name for item in joined.metrics] == ["rated", "length"]
    assert joined["rated"] == [0.5, None, None]
    assert joined["length"] == [None, 0.1, None]
    assert [score.label for score in joined.scores["length"]] == ["not_asked", None, "no_answer"]
    assert [(item.rows, item.scored) for item in joined.summary().metrics] == [(1, 1), (2, 1)]


def test_kept_in_a_directory(tmp_path: Path) -> None:
    parts = [run([("0.5", "12345")], Rated(), run_dir=tmp_path / "a"), run([("0.7", "1")], Length())]
    joined = join_runs(parts, tmp_path / "whole", places=["test_a.py::test_x[0]", "test_b.py::test_y"])
    loaded = Evaluation.load(tmp_path / "whole")
    assert loaded["rated"] == joined["rated"] == [0.5, None]
    assert list(loaded.places) == ["test_a.py::test_x[0]", "test_b.py::test_y"]
    assert loaded.settings == joined.settings
    assert [item.usage.calls for item in loaded.models] == [1]
    assert loaded.gate("rated >= 0.2").results[0].rows == 1
    assert loaded.compare(join_runs(parts)).metrics[0].credited


def test_a_run_that_is_there_is_not_lost(tmp_path: Path) -> None:
    one, two = run([("0.5", "1")], Rated()), run([("0.75", "1")], Rated())
    join_runs([one], tmp_path)
    with pytest.raises(InvalidInput) as raised:
        join_runs([two], tmp_path)
    assert str(raised.value) == (
        f"run_dir='{tmp_path}' holds a run already (scores.jsonl, run.json): give another run_dir, or replace=True"
    )
    assert Evaluation.load(tmp_path)["rated"] == [0.5]
    assert join_runs([two], tmp_path, replace=True)["rated"] == Evaluation.load(tmp_path)["rated"] == [0.75]


def test_what_cannot_be_joined(tmp_path: Path) -> None:
    one = run([("0.5", "1")], Rated())
    with pytest.raises(InvalidInput, match=r"^these runs cannot be joined: one has other settings: the LLM is "):
        join_runs([one, run([("0.5", "1")], Rated(), llm=Echo("another"))])
    with pytest.raises(InvalidInput) as raised:
        join_runs([one, run([("0.5", "1")], Length(), repeats=2)])
    assert str(raised.value) == ("these runs cannot be joined: one has other settings: repeats=1 there, repeats=2 here")
    with pytest.raises(InvalidInput, match="^runs is empty"):
        join_runs([])
    with pytest.raises(InvalidInput, match="^runs must be Evaluations, got str$"):
        join_runs(["runs/today"])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="^places must have one entry for each of the 1 rows, got 2$"):
        join_runs([one], places=["a", "b"])
    one.to_jsonl(tmp_path / "scores-only.jsonl")
    with pytest.raises(
        InvalidInput, match=r"scores-only.jsonl cannot be joined to others: its metrics and models are unknown"
    ):
        join_runs([one, Evaluation.load(tmp_path / "scores-only.jsonl")])


def test_judges_of_different_metrics_may_differ() -> None:
    joined = join_runs([run([("0.5", "1")], Rated()), run([("0.5", "12")], Rated(name="other"), llm=Echo("another"))])
    assert joined.settings is not None
    assert joined.settings.scored_by is not None
    assert {name: item.llm and item.llm.parts for name, item in joined.settings.scored_by.items()}.keys() == {
        "rated",
        "other",
    }


def test_a_run_that_stopped_is_reported() -> None:
    one = run([("0.5", "1")], Rated())
    vars(one)["stopped"] = "the budget is used up"
    assert join_runs([run([("0.6", "1")], Rated()), one]).stopped == "the budget is used up"


def test_the_same_row_once() -> None:
    """The first score of each metric counts: the same row twice would make every interval too narrow."""
    rows = [("0.5", "12345"), ("0.25", "?")]
    parts = [run(rows, Rated()), run(rows[:1], [Rated(), Length()]), run([("0.75", "1")], Length())]
    joined = join_runs(parts, once=True, places=["a", "b", "c", "d"])
    assert joined["rated"] == [0.5, 0.25, None]
    assert joined["length"] == [0.5, None, 0.1]
    assert [(record.index, record.place) for record in joined.records] == [(0, "a"), (1, "b"), (2, "d")]
    assert [(item.rows, item.scored) for item in joined.summary().metrics] == [(2, 2), (2, 2)]
    assert len(join_runs(parts)) == 4
