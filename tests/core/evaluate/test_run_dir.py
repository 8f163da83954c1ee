"""A directory that keeps a run: it goes on where it stopped, asks nothing twice, and holds one run, never a mixture."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import RATE, AsyncModel, InstantModel, Length, PlainReply, Rated, questions, refused
from ragmetrics_core import (
    BadReply,
    Document,
    Evaluation,
    InvalidInput,
    ModelError,
    Prompt,
    RagmetricsError,
    Sample,
    Usage,
    aevaluate,
    evaluate,
)


class Model(AsyncModel):
    """A model with an identity, whose answer is the text itself over a hundred."""

    def __init__(self, answer: object = lambda text: str(int(text) / 100), **settings: Any) -> None:
        super().__init__(answer)
        self.identity = {"model": "hundredth", "base_url": "http://localhost:1/v1", **settings}


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "today"


def lines(run_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run_dir / "scores.jsonl").read_text().splitlines()]


def values(evaluation: Evaluation) -> list[float | None]:
    return [score.value for score in evaluation.scores["rated"]]


class TestAgain:
    def test_a_second_run_asks_nothing_and_scores_the_same(self, run_dir: Path) -> None:
        model = Model()
        first = evaluate(questions(30), [Rated(), Length()], llm=model, run_dir=run_dir)
        assert len(model.asked) == 30
        assert first.summary()["rated"].usage == Usage(30, 300, 60)
        second = evaluate(questions(30), [Rated(), Length()], llm=model, run_dir=run_dir)
        assert len(model.asked) == 30
        assert second.summary()["rated"].usage == Usage(30, 0, 0, cached_calls=30)
        assert values(second) == values(first) == [number / 100 for number in range(30)]
        assert list(second.rows) == list(first.rows)
        assert [item.usage for item in second.models] == [Usage()]

    def test_it_equals_a_run_without_a_directory(self, run_dir: Path) -> None:
        kept = evaluate(questions(20), [Rated(), Length()], llm=Model(), run_dir=run_dir)
        plain = evaluate(questions(20), [Rated(), Length()], llm=Model())
        assert kept.scores == plain.scores
        assert kept.rows == plain.rows
        assert kept.places == plain.places
        assert (plain.run_dir, kept.run_dir) == (None, run_dir)

    def test_one_changed_sample_is_one_call(self, run_dir: Path) -> None:
        model, rows = Model(), questions(20)
        evaluate(rows, Rated(), llm=model, run_dir=run_dir)
        rows[7]["user_input"] = "99"
        model.asked.clear()
        result = evaluate(rows, Rated(), llm=model, run_dir=run_dir)
        assert model.asked == ["99"]
        assert values(result) == [0.99 if number == 7 else number / 100 for number in range(20)]

    def test_other_order_and_more_rows(self, run_dir: Path) -> None:
        model = Model()
        evaluate(questions(10), Rated(), llm=model, run_dir=run_dir)
        model.asked.clear()
        result = evaluate([*reversed(questions(10)), {"user_input": "50"}], Rated(), llm=model, run_dir=run_dir)
        assert model.asked == ["50"]
        assert values(result) == [*(number / 100 for number in reversed(range(10))), 0.5]
        assert [line["row"] for line in lines(run_dir)] == list(range(1, 12))

    @pytest.mark.parametrize(
        ("metric", "model"),
        [
            (Rated(prompt=RATE.replace(instructions="Rate the text with care.")), Model()),
            (Rated(), Model(model="another")),
            (Rated(), Model(base_url="http://localhost:2/v1")),
            (Rated(), Model(parameters={"temperature": 0})),
        ],
        ids=["prompt", "model", "address", "parameter"],
    )
    def test_other_settings_are_asked_anew_and_never_mixed(self, run_dir: Path, metric: Rated, model: Model) -> None:
        evaluate(questions(6), Rated(), llm=Model("0.25"), run_dir=run_dir)
        model.answer = lambda text: refused() if text == "3" else "0.75"
        with pytest.raises(ModelError) as caught:
            evaluate(questions(6), metric, llm=model, run_dir=run_dir, max_concurrency=1)
        assert values(caught.value.partial) == [0.75, 0.75, 0.75], "nothing of the other settings is among them"
        model.answer = "0.75"
        evaluate(questions(6), metric, llm=model, run_dir=run_dir)
        assert len(model.asked) == 7
        assert values(Evaluation.load(run_dir)) == [0.75] * 6
        old = Model("0.5")
        assert values(evaluate(questions(6), Rated(), llm=old, run_dir=run_dir)) == [0.25] * 6
        assert old.asked == []

    def test_first_a_few_then_all(self, run_dir: Path) -> None:
        model = Model()
        assert len(evaluate(questions(40), Rated(), llm=model, run_dir=run_dir, limit=5)) == 5
        assert len(lines(run_dir)) == 5
        result = evaluate(questions(40), Rated(), llm=model, run_dir=run_dir)
        assert sorted(map(int, model.asked)) == list(range(40))
        assert values(result) == [number / 100 for number in range(40)]
        assert len(evaluate(questions(40), Rated(), llm=model, run_dir=run_dir, limit=5)) == 5
        assert len(lines(run_dir)) == 5

    @pytest.mark.parametrize("first", [{"sample": 20}, {}], ids=["few first", "all first"])
    def test_a_sample_and_all_of_them(self, run_dir: Path, first: dict[str, int]) -> None:
        """Rows chosen out of thousands are mostly none of the first ones, and yet of the same data set."""
        rows = [{"user_input": str(number % 100), "id": str(number), "response": "x"} for number in range(3000)]
        for row in rows:
            row["user_input"] = f"question {row['id']}"
        second = {} if first else {"sample": 20, "seed": 5}
        one = evaluate(rows, Length(), run_dir=run_dir, **first)
        other = evaluate(rows, Length(), run_dir=run_dir, **second)
        assert sorted([len(one), len(other)]) == [20, 3000]
        assert len(lines(run_dir)) == len(other)

    async def test_several_at_once(self, run_dir: Path) -> None:
        """One process, two runs in one directory: the file of each is whole, and both know all the rows."""
        import asyncio

        models = Model(), Model()
        found = await asyncio.gather(
            *(aevaluate(questions(40), Rated(), llm=model, run_dir=run_dir, max_concurrency=3) for model in models)
        )
        assert values(found[0]) == values(found[1]) == [number / 100 for number in range(40)]
        assert [line["row"] for line in lines(run_dir)] == list(range(1, 41))


class TestFailures:
    def test_failures_are_asked_again(self, run_dir: Path) -> None:
        model = Model(lambda text: ModelError("no") if int(text) % 3 == 0 else "0.5")
        first = evaluate(questions(9), Rated(), llm=model, run_dir=run_dir)
        assert first.summary()["rated"].failed == 3
        model.asked.clear()
        model.answer = "0.5"
        second = evaluate(questions(9), Rated(), llm=model, run_dir=run_dir)
        assert sorted(model.asked) == ["0", "3", "6"]
        assert values(second) == [0.5] * 9

    @pytest.mark.parametrize("kind", [AsyncModel, InstantModel])
    def test_what_nobody_could_read_is_asked_again(self, run_dir: Path, kind: type[AsyncModel]) -> None:
        class Picky(PlainReply):
            def parse(self, text: str) -> str:
                if text == "gibberish":
                    raise BadReply("it is no number", text)
                return text

        metric = Rated(prompt=Prompt("Rate the text.", Picky(), name="rate"))
        model = kind("gibberish")
        model.identity = {"model": "unsteady"}  # type: ignore[attr-defined]
        rows = questions(1)
        first = evaluate(rows, metric, llm=model, run_dir=run_dir)
        assert first.scores["rated"][0].details["raw"] == ["gibberish", "gibberish"]
        assert model.asked == ["0", "0"]
        answers = iter(["gibberish", "0.5"])
        model.answer = lambda text: next(answers)
        second = evaluate(rows, metric, llm=model, run_dir=run_dir)
        assert values(second) == [0.5]
        assert len(model.asked) == 4, "both replies were struck out"
        assert values(evaluate(rows, metric, llm=model, run_dir=run_dir)) == [0.5]
        assert len(model.asked) == 4, "a bad reply that led to a good one is kept with it"

    def test_a_model_that_does_not_say_what_it_is(self, run_dir: Path) -> None:
        model = AsyncModel("0.5")
        evaluate(questions(3), Rated(), llm=model, run_dir=run_dir)
        result = evaluate(questions(3), Rated(), llm=model, run_dir=run_dir)
        assert len(model.asked) == 6
        caveat = (
            "the answers of AsyncModel are not in the journal, because it does not say what it is: give it an attribute "
            "`identity`, a mapping of every setting that can change an answer"
        )
        assert result.caveats == (caveat,)
        assert str(result.summary()).endswith(f"\n\nnote: {caveat}")
        assert evaluate(questions(3), Rated(), llm=model).caveats == ()
        named = Model("0.5")
        assert evaluate(questions(3), Rated(), llm=named, run_dir=run_dir.parent / "other").caveats == ()

    def test_a_refused_key_keeps_what_is_finished(self, run_dir: Path) -> None:
        model = Model(lambda text: refused() if text == "5" else "0.5")
        with pytest.raises(ModelError, match="the key is refused") as caught:
            evaluate(questions(10), Rated(), llm=model, run_dir=run_dir, max_concurrency=1)
        assert values(caught.value.partial) == [0.5] * 5
        loaded = Evaluation.load(run_dir)
        assert (values(loaded), loaded.stopped) == ([0.5] * 5, "ModelError")
        model.answer = "0.5"
        model.asked.clear()
        result = evaluate(questions(10), Rated(), llm=model, run_dir=run_dir)
        assert sorted(model.asked) == list("56789")
        assert (values(result), result.stopped) == ([0.5] * 10, None)


class TestOtherRuns:
    def test_another_data_set(self, run_dir: Path) -> None:
        evaluate(questions(3), Length(), run_dir=run_dir)
        before = (run_dir / "scores.jsonl").read_text()
        model = Model()
        with pytest.raises(InvalidInput) as caught:
            evaluate([{"user_input": "else", "response": "x"}], Length(), llm=model, run_dir=run_dir)
        assert str(caught.value) == (
            f"run_dir {run_dir} holds the scores of another data set: none of the first rows of this one is among them. "
            "Give another run_dir"
        )
        assert len(caught.value.partial) == 0, "the rows of the other run are none of this one's"
        assert (run_dir / "scores.jsonl").read_text() == before
        assert model.asked == []

    def test_another_data_set_by_the_name_of_its_file(self, run_dir: Path, tmp_path: Path) -> None:
        for name in ("one.jsonl", "two.jsonl"):
            rows = "".join(json.dumps({"user_input": f"{name} {n}", "response": "x"}) + "\n" for n in range(500))
            (tmp_path / name).write_text(rows)
        evaluate(tmp_path / "one.jsonl", Length(), run_dir=run_dir, sample=10)
        with pytest.raises(InvalidInput, match="none of the first rows of two.jsonl is among them"):
            evaluate(tmp_path / "two.jsonl", Length(), run_dir=run_dir)
        assert len(evaluate(tmp_path / "one.jsonl", Length(), run_dir=run_dir)) == 500

    def test_other_metrics(self, run_dir: Path) -> None:
        evaluate(questions(3), [Length(), Rated(llm=Model())], run_dir=run_dir)
        for metrics in (Length(), [Length(), Rated(llm=Model()), Length(name="more")], [Length(), Length(name="b")]):
            with pytest.raises(InvalidInput) as caught:
                evaluate(questions(3), metrics, run_dir=run_dir)
            names = ", ".join(m.name for m in metrics) if isinstance(metrics, list) else "length"
            assert str(caught.value) == (
                f"run_dir {run_dir} is that of other metrics (length, rated, not {names}): give another run_dir"
            )
        assert len(evaluate(questions(3), [Rated(llm=Model()), Length()], run_dir=run_dir)) == 3, "in any order"

    def test_somebody_elses_files(self, run_dir: Path) -> None:
        run_dir.mkdir(parents=True)
        (run_dir / "scores.jsonl").write_text("mine\n")
        with pytest.raises(InvalidInput, match="scores.jsonl is not that of a run, for there is no run.json beside it"):
            evaluate(questions(3), Length(), run_dir=run_dir)
        assert (run_dir / "scores.jsonl").read_text() == "mine\n"
        for text in ('{"version": 1}', '{"version": 2, "metrics": [], "settings": ""}', "[]"):
            (run_dir / "run.json").write_text(text)
            with pytest.raises(InvalidInput, match="was not written by this version of ragmetrics: give another run_"):
                evaluate(questions(3), Length(), run_dir=run_dir)
        (run_dir / "run.json").write_text("{")
        with pytest.raises(InvalidInput, match=r"run.json cannot be read \(Expecting property name"):
            evaluate(questions(3), Length(), run_dir=run_dir)

    def test_a_path_that_can_be_no_directory(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(3), Length(), run_dir=tmp_path / "file")
        assert str(caught.value) == f"run_dir {tmp_path / 'file'} cannot be made a directory: File exists"

    def test_a_journal_that_is_none(self, run_dir: Path) -> None:
        run_dir.mkdir(parents=True)
        (run_dir / "journal.sqlite").write_text("no" * 1000)
        with pytest.raises(InvalidInput, match="journal.sqlite is no journal of ragmetrics"):
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
        assert {path.name for path in run_dir.iterdir()} >= {"run.json", "scores.jsonl", "journal.sqlite"}
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
