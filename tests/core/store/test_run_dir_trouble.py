"""Directories of other runs, files that are none of ours, full disks, and rows of all kinds."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Length, Rated, questions
from core.store.kept import Model, lines, values
from ragmetrics_core import (
    Document,
    Evaluation,
    InvalidInput,
    RagmetricsError,
    Sample,
    aevaluate,
    evaluate,
)

WAYS_OUT = "give another run_dir, or replace=True, which keeps those scores as scores.1.jsonl"


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "today"


class TestOtherRuns:
    def test_another_data_set(self, run_dir: Path) -> None:
        evaluate(questions(3), Length(), run_dir=run_dir)
        before = (run_dir / "scores.jsonl").read_text()
        model = Model()
        with pytest.raises(InvalidInput) as caught:
            evaluate([{"user_input": "else", "response": "x"}], Length(), llm=model, run_dir=run_dir)
        assert str(caught.value) == (
            f"run_dir='{run_dir}' holds the finished scores of another data set: none of the first rows of this one is among "
            f"them: {WAYS_OUT}"
        )
        assert len(caught.value.partial) == 0, "the rows of the other run are none of this one's"
        assert (run_dir / "scores.jsonl").read_text() == before
        assert model.asked == []

    def test_another_data_set_by_the_name_of_its_file(self, run_dir: Path, tmp_path: Path) -> None:
        for name in ("one.jsonl", "two.jsonl"):
            rows = "".join(json.dumps({"user_input": f"{name} {n}", "response": "x"}) + "\n" for n in range(500))
            (tmp_path / name).write_text(rows)
        evaluate(tmp_path / "one.jsonl", Length(), run_dir=run_dir, sample=10)
        with pytest.raises(
            InvalidInput, match="the finished scores of other settings: sample=10, seed=0 there, all rows here"
        ):
            evaluate(tmp_path / "two.jsonl", Length(), run_dir=run_dir)
        assert len(evaluate(tmp_path / "one.jsonl", Length(), run_dir=run_dir, replace=True)) == 500

    def test_other_metrics(self, run_dir: Path) -> None:
        evaluate(questions(3), [Length(), Rated(llm=Model())], run_dir=run_dir)
        for metrics in (Length(), [Length(), Rated(llm=Model()), Length(name="more")], [Length(), Length(name="b")]):
            with pytest.raises(InvalidInput) as caught:
                evaluate(questions(3), metrics, run_dir=run_dir)
            names = ", ".join(m.name for m in metrics) if isinstance(metrics, list) else "length"
            assert str(caught.value) == (
                f"run_dir='{run_dir}' holds the finished scores of other metrics (there: length, rated; here: {names}): "
                f"{WAYS_OUT}"
            )
        assert len(evaluate(questions(3), [Rated(llm=Model()), Length()], run_dir=run_dir)) == 3, "in any order"

    def test_files_of_other_programs(self, run_dir: Path) -> None:
        run_dir.mkdir(parents=True)
        (run_dir / "scores.jsonl").write_text("mine\n")
        with pytest.raises(
            InvalidInput, match="scores.jsonl does not belong to a run, because there is no run.json beside it"
        ):
            evaluate(questions(3), Length(), run_dir=run_dir)
        assert (run_dir / "scores.jsonl").read_text() == "mine\n"
        for text in ('{"version": 1}', '{"version": 2, "metrics": [], "settings": ""}', "[]"):
            (run_dir / "run.json").write_text(text)
            with pytest.raises(InvalidInput, match="was not written by this version of ragmetrics: give another run_"):
                evaluate(questions(3), Length(), run_dir=run_dir)

    def test_a_path_that_can_be_no_directory(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(3), Length(), run_dir=tmp_path / "file")
        assert (
            str(caught.value)
            == f"run_dir='{tmp_path / 'file'}' cannot be made a directory: {tmp_path / 'file'} is a file"
        )

    def test_a_journal_that_is_none(self, run_dir: Path) -> None:
        run_dir.mkdir(parents=True)
        (run_dir / "journal.sqlite").write_text("no" * 1000)
        with pytest.raises(InvalidInput, match="journal.sqlite has no replies of ragmetrics"):
            evaluate(questions(3), Length(), run_dir=run_dir)
        (run_dir / "journal.sqlite").unlink()
        (run_dir / "scores.jsonl").mkdir()
        with pytest.raises(InvalidInput, match="scores.jsonl cannot be opened: Is a directory"):
            evaluate(questions(3), Length(), run_dir=run_dir)
        database = sqlite3.connect(run_dir / "journal.sqlite")
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.close()


class TestFullDisk:
    @pytest.mark.parametrize("file", ["scores.jsonl", "run.json"])
    async def test_it_is_one_clear_error(self, run_dir: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
        await aevaluate(questions(3), Rated(), llm=Model(), run_dir=run_dir)

        def full(path: Path, target: Any) -> None:
            if Path(target).name == file:
                raise OSError(28, "No space left on device")
            path.rename(target)

        monkeypatch.setattr(Path, "replace", full)
        with pytest.raises(RagmetricsError) as caught:
            await aevaluate(questions(3), Rated(), llm=Model(), run_dir=run_dir)
        assert type(caught.value) is RagmetricsError
        assert str(caught.value) == f"{run_dir / file} cannot be written: No space left on device"
        monkeypatch.undo()
        model = Model()
        assert values(evaluate(questions(3), Rated(), llm=model, run_dir=run_dir)) == [0.0, 0.01, 0.02]
        assert model.asked == []

    async def test_a_file_that_can_grow_no_further(self, run_dir: Path) -> None:
        resource = pytest.importorskip("resource")
        rows = [{"user_input": str(number), "response": "x" * 1000} for number in range(200)]
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(RagmetricsError) as caught:
                await aevaluate(rows, Length(), run_dir=run_dir)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert type(caught.value) is RagmetricsError
        assert str(caught.value) == f"{run_dir / 'scores.jsonl'} cannot be written: File too large"
        # what stands there is kept, and the line that was cut is written again
        assert 0 < len(caught.value.partial) < 100_000 / 1000
        assert len(evaluate(rows, Length(), run_dir=run_dir)) == 200
        assert [line["row"] for line in lines(run_dir)] == list(range(1, 201))


def test_samples_of_all_kinds_come_back(run_dir: Path) -> None:
    rows: list[Any] = [
        Sample(
            user_input="a \ud800 lone surrogate, 日本, \x00",
            response="x",
            retrieved_contexts=["one", ""],
            reference_contexts=[],
            retrieved_documents=[Document("text", "d1", 0.5, {"page": 3}), "a text", Document(id="d2")],
            rubric={1: "bad", 5: "good"},
            id="row-1",
            metadata={"tags": ["a"], "n": 1.5, "deep": {"x": None}},
        ),
        Sample(response="xx", rubric={"low": "bad", -1: "worse"}, metadata={"rubric": {"1": "text"}}),  # type: ignore[dict-item]
        # what a metric would refuse is carried all the same
        Sample(response="xxx", retrieved_documents=5, rubric="text"),  # type: ignore[arg-type]
        Sample(response="xxxx", retrieved_documents=[{"score": 1}, 7], id=7),  # type: ignore[list-item, arg-type]
    ]
    result = evaluate(rows, Length(), run_dir=run_dir)
    assert list(result.rows) == rows
    assert list(Evaluation.load(run_dir).rows) == rows
    assert [score.value for score in result.scores["length"]] == [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(
    "row",
    [
        {"id": 7, "response": "x"},
        {"response": "x", "metadata": {"n": float("nan")}},
        {"response": "x", "retrieved_documents": [{"content": "a", "score": None, "page": 3}], "rubric": {"1": "bad"}},
        {"user_input": 5, "response": "x", "retrieved_documents": 3},
    ],
    ids=["an id", "no number", "raw documents", "wrong types"],
)
def test_rows_without_a_question_are_known_again(run_dir: Path, row: dict[str, Any]) -> None:
    for _ in range(2):
        result = evaluate([row], Length(), run_dir=run_dir)
        assert [score.value for score in result.scores["length"]] == [0.1]
    with pytest.raises(InvalidInput, match="holds the finished scores of another data set"):
        evaluate([{**row, "id": 8, "response": "y"}], Length(), run_dir=run_dir)
