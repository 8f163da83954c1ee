"""Samples judged several times, and a few samples out of many."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import RATE, AsyncModel, InstantModel, Length, Rated, RatedTwice, questions
from ragmetrics_core import Evaluation, InvalidInput, Metric, ModelError, Score, Steps, Usage, evaluate


@dataclass(frozen=True)
class Passing(Metric):
    """One question; passes from a half."""

    def measure(self, user_input: str) -> Steps[Score]:
        text = yield from RATE.ask(text=user_input)
        if text == "nothing":
            return Score.unscored("there is nothing to rate")
        return Score(float(text), passing=float(text) >= 0.5)


def playing(**answers: list[Any]) -> AsyncModel:
    """A model that answers each text by its own list, in turn."""
    lists = {text: itertools.cycle(found) for text, found in answers.items()}
    return AsyncModel(lambda text: next(lists[text]))


def rows(*texts: str) -> list[dict[str, str]]:
    return [{"user_input": text} for text in texts]


class TestRepeats:
    def test_the_mean_with_all_judgements_as_evidence(self) -> None:
        model = playing(a=["0.2", "0.4", "0.9"], b=["1", "1", "1"])
        result = evaluate(rows("a", "b"), Passing(), llm=model, repeats=3)
        a, b = result.scores["passing"]
        assert Counter(model.asked) == {"a": 3, "b": 3}, "equal questions of several repeats are several calls"
        assert (a.value, a.passing, a.reason) == (0.5, False, "mean of 3 judgements")
        assert (b.value, b.passing) == (1.0, True)
        assert sorted(item["value"] for item in a.details["repeats"]) == [0.2, 0.4, 0.9]
        assert a.usage == Usage(3, 30, 6)
        assert a.details["repeats"][0]["usage"] == Usage(1, 10, 2).to_dict()
        assert (a.metric, a.scale) == ("passing", (0.0, 1.0))
        summary = result.summary()["passing"]
        deviation = math.sqrt(((0.2 - 0.5) ** 2 + 0.1**2 + 0.4**2) / 2)
        assert summary.spread == pytest.approx(deviation / 2, abs=1e-15)
        assert (summary.unsteady, summary.scored, summary.passed) == (1, 2, 1)
        assert summary.usage == Usage(6, 60, 12)
        line = f"repeats passing: standard deviation {deviation / 2:.3f} within a row, 1 of 2 rows differ"
        assert line in str(result.summary()).splitlines()
        assert summary.to_dict()["spread"] == summary.spread

    def test_some_of_them_fail(self) -> None:
        model = playing(a=["0.5", ModelError("no"), "0.75"], b=["nothing", "1", "nothing"], c=[ModelError("no")])
        model.answer_d = None  # type: ignore[attr-defined]
        result = evaluate(rows("a", "b", "c"), Passing(), llm=model, repeats=3)
        a, b, c = result.scores["passing"]
        assert (a.value, a.passing) == (0.625, True)
        assert a.reason == "mean of 2 judgements; 1 of 3 gave no value"
        assert [item["state"] for item in a.details["repeats"]].count("failed") == 1
        assert (b.value, b.reason) == (1.0, "mean of 1 judgements; 2 of 3 gave no value")
        assert (c.state, c.error) == ("failed", "ModelError: no")
        assert len(c.details["repeats"]) == 3
        summary = result.summary()["passing"]
        assert (summary.scored, summary.failed) == (2, 1)
        assert summary.spread == pytest.approx(math.sqrt(2 * 0.125**2)), "one judgement has no spread"
        assert summary.unsteady == 1

    def test_nothing_to_score_whichever_judge_says_so(self) -> None:
        result = evaluate(
            rows("a", "b"), Passing(), llm=playing(a=["nothing"], b=["nothing", ModelError("no")]), repeats=2
        )
        a, b = result.scores["passing"]
        assert (a.state, a.reason) == ("unscored", "there is nothing to rate")
        assert (b.state, b.error) == ("failed", "ModelError: no"), "what failed might have had a value"

    @pytest.mark.parametrize(
        ("answers", "passing"),
        [(["1", "1", "0"], True), (["1", "0", "0"], False), (["1", "0"], False), (["1", "0", "1", "1"], True)],
    )
    def test_it_passes_by_majority(self, answers: list[str], passing: bool) -> None:
        result = evaluate(rows("a"), Passing(), llm=playing(a=answers), repeats=len(answers))
        assert result.scores["passing"][0].passing is passing

    def test_a_metric_without_a_model(self) -> None:
        result = evaluate(questions(4), Length(), repeats=3)
        assert [item.value for item in result.scores["length"]] == [0.1, 0.2, 0.3, 0.4]
        summary = result.summary()["length"]
        assert (summary.spread, summary.unsteady) == (0.0, 0)
        assert result.scores["length"][0].passing is None

    def test_metrics_share_within_a_repeat_alone(self) -> None:
        model = AsyncModel("0.5")
        result = evaluate(questions(2), [Rated(), RatedTwice()], llm=model, repeats=3)
        assert Counter(model.asked) == {"0": 3, "1": 3, "first 0": 3, "first 1": 3}
        assert result.summary()["rated"].spread == 0.0

    def test_once_is_as_ever(self) -> None:
        result = evaluate(questions(2), Rated(), llm=AsyncModel("0.5"), repeats=1)
        assert result.scores["rated"][0].details == {"said": "0.5", "prompts": {"rate": "1"}}
        assert result.summary()["rated"].spread is None
        assert "repeats" not in str(result.summary())

    def test_they_are_replayed_one_by_one(self, tmp_path: Path) -> None:
        asked: defaultdict[str, int] = defaultdict(int)

        def answer(text: str) -> str:
            asked[text] += 1
            return f"0.{asked[text]}"

        model = InstantModel(answer)
        model.identity = {"model": "counting"}  # type: ignore[attr-defined]
        first = evaluate(questions(3), Rated(), llm=model, run_dir=tmp_path, repeats=2)
        assert first.scores["rated"][0].value == pytest.approx(0.15)
        more = evaluate(questions(3), Rated(), llm=model, run_dir=tmp_path, repeats=4, replace=True)
        assert asked == {"0": 4, "1": 4, "2": 4}
        assert [item.value for item in more.scores["rated"]] == [pytest.approx(0.25)] * 3
        assert more.summary()["rated"].usage.cached_calls == 6
        assert Evaluation.load(tmp_path).summary()["rated"].spread == more.summary()["rated"].spread
        again = evaluate(questions(3), Rated(), llm=model, run_dir=tmp_path, repeats=2, replace=True)
        assert [item.value for item in again.scores["rated"]] == [item.value for item in first.scores["rated"]]
        assert asked["0"] == 4


class TestSample:
    def chosen(self, **settings: Any) -> list[str]:
        return [str(row.user_input) for row in evaluate(questions(1000), Length(), **settings).rows]

    def test_so_many_in_their_order_and_the_seed_decides(self) -> None:
        first = self.chosen(sample=50)
        assert len(set(first)) == 50
        assert first == sorted(first, key=int)
        assert first == self.chosen(sample=50, seed=0)
        others = [self.chosen(sample=50, seed=seed) for seed in range(1, 4)]
        assert len({tuple(item) for item in [first, *others]}) == 4
        assert int(first[-1]) > 800, "they come from everywhere"

    @pytest.mark.usefixtures("untraced")
    @pytest.mark.slow
    def test_every_row_has_the_same_chance(self) -> None:
        drawn = (evaluate(questions(20), Length(), sample=5, seed=seed) for seed in range(3000))
        found = Counter(row.user_input for result in drawn for row in result.rows)
        assert len(found) == 20
        # 750 expected, standard deviation 24
        assert 750 - 5 * 24 < min(found.values()) <= max(found.values()) < 750 + 5 * 24

    def test_it_knows_where_its_rows_stood(self) -> None:
        result = evaluate(questions(1000), Length(), sample=3)
        assert list(result.places) == [f"row {int(str(row.user_input)) + 1}" for row in result.rows]
        assert [record.index for record in result.records] == [0, 1, 2]

    def test_more_than_there_are_and_of_the_first_ones(self) -> None:
        assert self.chosen(sample=5000) == [str(number) for number in range(1000)]
        few = self.chosen(sample=5, limit=20)
        assert len(few) == 5
        assert all(int(text) < 20 for text in few)
        assert len(evaluate(iter(questions(100)), Length(), sample=7)) == 7

    @pytest.mark.parametrize("name", ["sample", "repeats", "limit", "max_concurrency"])
    @pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
    def test_impossible_numbers(self, name: str, value: Any) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(3), Length(), **{name: value})
        assert str(caught.value) == f"{name} must be a whole number from 1, got {value!r}"

    def test_other_impossible_settings(self) -> None:
        for settings, message in [
            ({"seed": "a"}, "seed must be a whole number, got 'a'"),
            ({"seed": None}, "seed must be a whole number, got None"),
            ({"max_retries": -1}, "max_retries must be a whole number from 0, got -1"),
            ({"timeout": 0}, "timeout must be a positive number of seconds, got 0"),
            ({"timeout": math.inf}, "timeout must be a positive number of seconds, got inf"),
            ({"timeout": "1"}, "timeout must be a positive number of seconds, got '1'"),
        ]:
            with pytest.raises(InvalidInput) as caught:
                evaluate(questions(3), Length(), **settings)  # type: ignore[arg-type]
            assert str(caught.value) == message
        assert len(evaluate(questions(3), Length(), seed=-7, max_retries=0, timeout=0.5)) == 3
