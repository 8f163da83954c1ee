"""The file of scores: whole lines at any moment, one per row in input order at the end, whatever a kill has left of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluate.doubles import AsyncModel, Length, Rated, RatedContexts, questions
from examples import examples
from ragmetrics_core import Document, Evaluation, InvalidInput, ModelError, Sample, Score, evaluate
from ragmetrics_core._store._records import Record, record_line, record_of
from ragmetrics_core._store._scores_file import ScoresFile
from ragmetrics_core.metrics import NDCG


def record(index: int, value: float = 0.5) -> Record:
    return Record(index, f"row {index + 1}", Sample(user_input=f"é {index}"), {"length": Score(value, metric="length")})


class TestLines:
    def test_rows_come_out_in_input_order_whatever_order_they_were_finished_in(self, tmp_path: Path) -> None:
        file = ScoresFile(tmp_path / "scores.jsonl", writing=True)
        for index in (3, 0, 7, 1):
            file.add(record(index))
        file.add(record(3, 0.75))
        found = file.records()
        assert [item.index for item in found] == [0, 1, 3, 7]
        assert found[2] == record(3, 0.75), "the last line of a row counts"
        assert found[-1] == record(7)
        assert found[1:3] == [record(1), record(3, 0.75)]
        assert len((tmp_path / "scores.jsonl").read_text().splitlines()) == 5
        file.settle(lambda index: index < 7)
        assert [item.index for item in file.records()] == [0, 1, 3]
        assert (tmp_path / "scores.jsonl").read_text() == "".join(
            map(record_line, [record(0), record(1), record(3, 0.75)])
        )

    @examples(60)
    @given(cut=st.integers(0, 2000), tail=st.integers(1, 3))
    def test_any_cut_loses_no_line_before_it(
        self, tmp_path_factory: pytest.TempPathFactory, cut: int, tail: int
    ) -> None:
        path = tmp_path_factory.mktemp("cut") / "scores.jsonl"
        whole = b"".join(record_line(record(index)).encode() for index in range(4))
        cut = min(cut, len(whole))
        path.write_bytes(whole[:cut])
        complete = whole[:cut].count(b"\n")
        file = ScoresFile(path, writing=True)
        for index in range(4, 4 + tail):
            file.add(record(index))
        found = [item.index for item in file.records()]
        kept = [*range(complete), *range(4, 4 + tail)]
        # where nothing but the line end was cut off, the line is whole
        assert found in (kept, sorted([*kept, complete]))
        file.settle(lambda index: True)
        lines = path.read_bytes().splitlines()
        assert [json.loads(line)["row"] - 1 for line in lines] == found
        again = ScoresFile(path, writing=False)
        assert list(again.records()) == [record(index) for index in found]

    def test_a_line_without_its_end_is_a_separate_line(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.jsonl"
        path.write_text(record_line(record(0)).rstrip("\n"))
        file = ScoresFile(path, writing=True)
        file.add(record(1))
        file.settle(lambda index: True)
        assert path.read_text() == record_line(record(0)) + record_line(record(1))

    def test_what_is_no_record_is_passed_over(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.jsonl"
        other = [
            '{"row": 1}',
            "[]",
            "null",
            '"text"',
            "",
            "\x00\x00",
            '{"row": 1, "place": 3, "sample": {"x": 1}, "scores": {}}',
        ]
        path.write_text("\n".join(other) + "\n" + record_line(record(2)))
        assert list(ScoresFile(path, writing=False).records()) == [record(2)]

    def test_two_who_write_into_one_file(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.jsonl"
        one, two = ScoresFile(path, writing=True), ScoresFile(path, writing=True)
        for index in range(6):
            (one, two)[index % 2].add(record(index))
        assert [item.index for item in one.records()] == [0, 2, 4]
        assert [item.index for item in two.records()] == [1, 3, 5]
        assert [item.index for item in ScoresFile(path, writing=False).records()] == list(range(6))
        one.settle(lambda index: True)
        two.add(record(7))
        assert list(two.records()) == [record(1), record(3), record(5), record(7)]

    def test_documents_and_rubrics(self) -> None:
        sample = Sample(
            retrieved_documents=[Document("a", "1", 0.5, {"page": 1}), "text"],
            rubric={1: "bad", -2: "worse", "01": "kept", "²": "kept"},  # type: ignore[dict-item]
        )
        kept = replace(record(0), sample=sample)
        assert record_of(record_line(kept)) == kept


class TestAtAnyMoment:
    def test_the_file_is_valid_after_every_row(self, tmp_path: Path) -> None:
        seen: list[int] = []

        def look(text: str) -> str:
            if not tmp_path.exists() or not (tmp_path / "scores.jsonl").exists():
                return "0.5"  # nothing is made before the first answer
            text = (tmp_path / "scores.jsonl").read_text()
            assert text == "" or text.endswith("\n")
            seen.append(len({json.loads(line)["row"] for line in text.splitlines()}))
            loaded = Evaluation.load(tmp_path)
            assert len(loaded) == seen[-1]
            assert loaded.stopped == "the run has not come to its end"
            return "0.5"

        evaluate(questions(25), Rated(), llm=AsyncModel(look), run_dir=tmp_path, max_concurrency=4)
        assert seen == sorted(seen)
        assert seen[0] <= 1
        assert seen[-1] >= 20
        assert Evaluation.load(tmp_path).stopped is None

    def test_rows_that_a_stopped_run_had_not_come_to(self, tmp_path: Path) -> None:
        """A run that goes over finished rows again, and is stopped, loses none of those that it had not come to."""

        class Named(AsyncModel):
            identity: ClassVar = {"model": "the same"}

        evaluate(questions(10), Rated(), llm=Named("0.5"), run_dir=tmp_path)
        (tmp_path / "journal.sqlite").unlink()  # so that rows are judged anew

        def answer(text: str) -> object:
            return ModelError("gone", fatal=True) if text == "4" else "0.75"

        with pytest.raises(ModelError) as caught:
            evaluate(questions(10), Rated(), llm=Named(answer), run_dir=tmp_path, max_concurrency=1)
        expected = [0.75] * 4 + [0.5] * 6
        assert [score.value for score in caught.value.partial.scores["rated"]] == expected
        assert [score.value for score in Evaluation.load(tmp_path).scores["rated"]] == expected


class TestLoad:
    def test_it_equals_what_was_returned(self, tmp_path: Path) -> None:
        model = AsyncModel(lambda text: ModelError("no") if text == "b" else "0.5")
        model.identity = {"model": "gpt-4o-mini", "base_url": "https://api.openai.com/v1"}  # type: ignore[attr-defined]
        model.caveat = "these scores are guesses"  # type: ignore[attr-defined]
        rows = [
            {
                "id": f"row-{number}",
                "response": "x" * number or "?",
                "retrieved_contexts": contexts,
                "retrieved_documents": [Document("one", id="d1"), Document("two", id="d2")],
                "reference_documents": [Document("two", id="d2", score=2.0)],
                "rubric": {1: "bad", 2: "good"},
                "extra": number,
            }
            for number, contexts in enumerate((["a"], ["a", "b"], [], ["c", "d"], 5))
        ]
        metrics = [Length(), RatedContexts(), NDCG(k=1)]
        returned = evaluate(iter(rows), metrics, llm=model, run_dir=tmp_path / "run")
        loaded = Evaluation.load(tmp_path / "run")
        in_memory = evaluate(iter(rows), metrics, llm=model)
        for other in (loaded, in_memory):
            assert other.scores == returned.scores
            assert other.rows == returned.rows
            assert other.places == returned.places
            assert other.metrics == returned.metrics
            assert other.models == returned.models
            assert other.caveats[0] == "these scores are guesses"
            assert other.to_dict()["rows"] == returned.to_dict()["rows"]
            timeless = [replace(item, seconds=None, waited={}).summary() for item in (other, returned)]
            assert timeless[0] == timeless[1]
        assert str(loaded.summary()) == str(returned.summary())
        assert loaded.summary().to_dict() == returned.summary().to_dict()
        assert loaded.summary().models[0].cost() == returned.summary().models[0].cost()
        states = [[score.state for score in column] for column in loaded.scores.values()]
        assert states == [
            ["unscored", *["scored"] * 4],
            ["scored", "failed", "unscored", "scored", "failed"],
            ["scored"] * 5,
        ]
        assert loaded.rows[0].rubric == {1: "bad", 2: "good"}
        assert loaded.rows[0].metadata == {"extra": 0}

    def test_rows_are_read_when_they_are_looked_at(self, tmp_path: Path) -> None:
        evaluate(questions(100), Length(), run_dir=tmp_path)
        loaded = Evaluation.load(tmp_path)
        assert loaded.rows[3] == loaded.records[3].sample
        assert [row.user_input for row in loaded.rows[-2:]] == ["98", "99"]
        assert loaded.scores["length"][1:3] == [
            Score(0.2, metric="length", scale=(0, 1)),
            Score(0.3, metric="length", scale=(0, 1)),
        ]
        assert len(loaded.to_pandas()) == 100
        loaded.to_jsonl(tmp_path / "copy.jsonl")
        assert (tmp_path / "copy.jsonl").read_bytes() == (tmp_path / "scores.jsonl").read_bytes()

    def test_nothing_to_load(self, tmp_path: Path) -> None:
        for path, why in (
            (tmp_path, "it contains neither run.json nor Parquet files"),
            (tmp_path / "missing", "there is no such directory"),
        ):
            with pytest.raises(InvalidInput) as caught:
                Evaluation.load(path)
            assert str(caught.value) == f"{path} is not the directory of a run: {why}"
        (tmp_path / "run.json").write_text('{"version": 1, "metrics": [], "judged": {}, "run": {}}')
        with pytest.raises(InvalidInput) as caught:
            Evaluation.load(tmp_path)
        assert str(caught.value) == f"{tmp_path} contains no scores.jsonl: no row of the run was finished"
        for text in ('{"version": 0, "metrics": [], "judged": {}, "run": {}}', '{"version": 1}', "3"):
            (tmp_path / "run.json").write_text(text)
            with pytest.raises(InvalidInput, match="was not written by this version of ragmetrics"):
                Evaluation.load(tmp_path)

    def test_a_torn_last_line(self, tmp_path: Path) -> None:
        evaluate(questions(5), Length(), run_dir=tmp_path)
        scores = tmp_path / "scores.jsonl"
        scores.write_bytes(scores.read_bytes()[:-30])
        assert len(Evaluation.load(tmp_path)) == 4
        assert len(evaluate(questions(5), Length(), run_dir=tmp_path)) == 5
        assert len(scores.read_text().splitlines()) == 5
