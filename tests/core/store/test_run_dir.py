"""A directory that keeps a run: it goes on where it stopped, asks nothing twice, and holds one run, never a mixture."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.evaluate.doubles import RATE, AsyncModel, InstantModel, Length, PlainReply, Rated, questions, refused
from core.report.comparing import text_at
from core.store.kept import Model, lines, values
from ragmetrics_core import (
    BadReply,
    Evaluation,
    InvalidInput,
    ModelError,
    Prompt,
    Usage,
    aevaluate,
    evaluate,
)


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "today"


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
        result = evaluate(rows, Rated(), llm=model, run_dir=run_dir, replace=True)
        assert model.asked == ["99"]
        assert values(result) == [0.99 if number == 7 else number / 100 for number in range(20)]

    def test_other_order_and_more_rows(self, run_dir: Path) -> None:
        model = Model()
        evaluate(questions(10), Rated(), llm=model, run_dir=run_dir)
        model.asked.clear()
        result = evaluate(
            [*reversed(questions(10)), {"user_input": "50"}], Rated(), llm=model, run_dir=run_dir, replace=True
        )
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
            evaluate(questions(6), metric, llm=model, run_dir=run_dir, max_concurrency=1, replace=True)
        assert values(caught.value.partial) == [0.75, 0.75, 0.75], "nothing of the other settings is among them"
        model.answer = "0.75"
        evaluate(questions(6), metric, llm=model, run_dir=run_dir)
        assert len(model.asked) == 7
        assert values(Evaluation.load(run_dir)) == [0.75] * 6
        old = Model("0.5")
        assert values(evaluate(questions(6), Rated(), llm=old, run_dir=run_dir, replace=True)) == [0.25] * 6
        assert old.asked == []

    def test_first_a_few_then_all(self, run_dir: Path) -> None:
        model = Model()
        assert len(evaluate(questions(40), Rated(), llm=model, run_dir=run_dir, limit=5)) == 5
        assert len(lines(run_dir)) == 5
        result = evaluate(questions(40), Rated(), llm=model, run_dir=run_dir)
        assert sorted(map(int, model.asked)) == list(range(40))
        assert values(result) == [number / 100 for number in range(40)]
        assert len(evaluate(questions(40), Rated(), llm=model, run_dir=run_dir, limit=5, replace=True)) == 5
        assert len(lines(run_dir)) == 5

    @pytest.mark.parametrize("first", [{"sample": 20}, {}], ids=["few first", "all first"])
    def test_a_sample_and_all_of_them(self, run_dir: Path, first: dict[str, int]) -> None:
        """Rows chosen out of thousands are mostly none of the first ones, and yet of the same data set."""
        rows = [{"user_input": str(number % 100), "id": str(number), "response": "x"} for number in range(3000)]
        for row in rows:
            row["user_input"] = f"question {row['id']}"
        second = {} if first else {"sample": 20, "seed": 5}
        one = evaluate(rows, Length(), run_dir=run_dir, **first)
        other = evaluate(rows, Length(), run_dir=run_dir, replace=True, **second)
        assert sorted([len(one), len(other)]) == [20, 3000]
        assert len(lines(run_dir)) == len(other)

    async def test_several_at_once(self, run_dir: Path) -> None:
        """One process, two runs in one directory: the second is refused, and asks nothing."""
        import asyncio

        first, second = Model(), Model()
        found, error = await asyncio.gather(
            *(aevaluate(questions(40), Rated(), llm=model, run_dir=run_dir) for model in (first, second)),
            return_exceptions=True,
        )
        assert isinstance(found, Evaluation)
        assert values(found) == [number / 100 for number in range(40)]
        assert isinstance(error, InvalidInput)
        assert str(error).startswith(f"run_dir='{run_dir}' is in use: process {os.getpid()} on ")
        assert second.asked == []
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
    def test_an_unreadable_reply_is_asked_again(self, run_dir: Path, kind: type[AsyncModel]) -> None:
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
        result = evaluate(questions(3), Rated(), llm=model, run_dir=run_dir, replace=True)
        assert len(model.asked) == 6
        caveat = (
            "the answers of AsyncModel are not in the journal, because it has no identity: give it an attribute "
            "`identity`, a mapping of every setting that can change an answer"
        )
        assert result.caveats == (caveat,)
        assert text_at(400, result.summary()).endswith(f"\n\nnote: {caveat}")
        assert evaluate(questions(3), Rated(), llm=model).caveats == ()
        named = Model("0.5")
        assert evaluate(questions(3), Rated(), llm=named, run_dir=run_dir.parent / "other").caveats == ()

    def test_a_refused_key_keeps_what_is_finished(self, run_dir: Path) -> None:
        model = Model(lambda text: refused() if text == "5" else "0.5")
        with pytest.raises(ModelError, match="the key is refused") as caught:
            evaluate(questions(10), Rated(), llm=model, run_dir=run_dir, max_concurrency=1)
        assert values(caught.value.partial) == [0.5] * 5
        loaded = Evaluation.load(run_dir)
        assert (values(loaded), loaded.stopped) == ([0.5] * 5, "the key is refused")
        model.answer = "0.5"
        model.asked.clear()
        result = evaluate(questions(10), Rated(), llm=model, run_dir=run_dir)
        assert sorted(model.asked) == list("56789")
        assert (values(result), result.stopped) == ([0.5] * 10, None)
