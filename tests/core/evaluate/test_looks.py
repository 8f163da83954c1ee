"""Runs that stop when their gates are decided."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import AsyncModel, Rated
from ragmetrics_core import Ask, Evaluation, InvalidInput, Metric, RagmetricsError, Score, Stop, aevaluate, evaluate

BETS = [((2 * place + 1) / 16) ** 2 for place in range(8)]


@dataclass(frozen=True)
class Right(Metric):
    """The number in the response; a response that is no number fails."""

    name: str = "right"

    def measure(self, response: str) -> Score:
        if response == "?":
            raise InvalidInput("it is no number")
        return Score(float(response))


@dataclass(frozen=True)
class Unscored(Right):
    """A metric that must not score."""

    def measure(self, response: str) -> Score:
        raise AssertionError(response)


def rows_of(values: list[Any], **columns: Callable[[int], Any]) -> list[dict[str, Any]]:
    return [
        {"id": f"q{place}", "response": str(value), **{name: make(place) for name, make in columns.items()}}
        for place, value in enumerate(values)
    ]


def scored(rows: Any, *gates: str, stop: Any = "when_decided", **options: Any) -> Evaluation:
    return evaluate(rows, Right(), gates=gates, stop=stop, progress=False, **options)


def first_decided(limit: float) -> int:
    """The number of passes after which, by hand, a capital of 40 shows that more than this share of rows passes."""
    return next(n for n in range(1, 99) if sum((1 + bet * (1 / limit - 1)) ** n for bet in BETS) / len(BETS) >= 40)


class TestStopping:
    def test_it_stops_at_the_first_look_that_decides(self) -> None:
        run = scored(rows_of([1.0] * 60), "right >= 0.5")
        assert (len(run), run.left, run.stopped) == (first_decided(0.5), 60 - first_decided(0.5), None)
        assert run.decision is not None
        assert run.decision.passed
        assert run.gate("right >= 0.5") == run.decision

    def test_every_look_has_at_most_a_twentieth_more_rows_than_the_last(self) -> None:
        needed = first_decided(0.9)
        run = scored(rows_of([1.0] * 200), "right >= 0.9")
        assert needed <= len(run) <= math.ceil(needed * 1.05)

    def test_red_stops_it_too_and_all_gates_must_be_decided(self) -> None:
        run = scored(rows_of([0.0, 1.0] * 100), "right >= 0.9", "right >= 0.2")
        assert run.decision is not None
        assert [result.verdict for result in run.decision.results] == ["failed", "passed"]
        assert run.left > 0

    def test_a_gate_that_no_row_decides_scores_all_of_them(self) -> None:
        run = scored(rows_of([0.0, 1.0] * 30), "right >= 0.5")
        assert (len(run), run.left, run.caveats) == (60, 0, ())
        assert run.decision is not None
        (result,) = run.decision.results
        assert (result.verdict, result.rows_needed) == ("undecided", None)
        assert "not decided by any of its rows" in result.why

    def test_the_same_seed_draws_the_same_rows_and_another_seed_others(self) -> None:
        rows = rows_of([1.0] * 200)
        ids = [[row.id for row in scored(rows, "right >= 0.5", seed=seed).rows] for seed in (0, 0, 1)]
        assert ids[0] == ids[1] != ids[2]

    def test_failed_rows_do_not_stop_it_and_count_at_the_end(self) -> None:
        run = scored(rows_of([1.0, "?"] * 40), "right >= 0.5")
        assert len(run) == 80
        assert run.decision is not None
        assert run.decision.verdict == "failed"
        assert "40 of 80 rows failed" in run.decision.results[0].why
        assert scored(rows_of([1.0, "?"] * 40), "right >= 0.5", stop=Stop(min_coverage=0.2, max_failed=0.9)).left > 0

    async def test_a_look_waits_for_slow_rows_of_the_beginning(self) -> None:
        rows = [{"id": f"q{place}", "user_input": f"question {place}"} for place in range(100)]
        model = OneWaits("1", slow=drawn_first(rows), until=60)
        run = await aevaluate(
            rows, Rated(), llm=model, gates="rated >= 0.5", stop="when_decided", progress=False, max_concurrency=8
        )
        assert model.others >= 60 > first_decided(0.5)
        assert len(run) < 80


class OneWaits(AsyncModel):
    """Answers one question only when ``go`` is set, by default when so many others are answered."""

    identity = {"model": "judge"}  # noqa: RUF012

    def __init__(self, answer: object, *, slow: str, until: int, go: asyncio.Event | None = None) -> None:
        super().__init__(answer)
        self.slow, self.until, self.others = slow, until, 0
        self.enough = asyncio.Event()
        self.go = go or self.enough

    async def agenerate(self, ask: Ask) -> object:
        if ask.inputs["text"] == self.slow:
            await self.go.wait()
        else:
            self.others += 1
            if self.others >= self.until:
                self.enough.set()
        return await super().agenerate(ask)


def drawn_first(rows: list[dict[str, Any]]) -> str:
    """The question of the row that is drawn first: a run with one call at a time, stopped at its first row, has only that."""
    run = evaluate(
        rows,
        Rated(),
        llm=AsyncModel("1"),
        gates="rated >= 0.01",
        stop="when_decided",
        progress=False,
        max_concurrency=1,
    )
    return str(run.rows[0].user_input)


class TestClusters:
    def test_they_are_drawn_whole_and_counted(self) -> None:
        rows = rows_of([1.0] * 300, doc=lambda place: place // 3)
        run = scored(rows, "right >= 0.5", stop=Stop(cluster="doc"))
        docs = [row.metadata["doc"] for row in run.rows]
        assert run.left > 0
        assert {docs.count(doc) for doc in docs} == {3}
        assert run.decision is not None
        assert run.decision.results[0].clusters == first_decided(0.5)
        interval, shown = run.decision.results[0].interval, run.summary()["right"].interval
        assert interval is not None
        assert shown is not None
        assert shown.low == pytest.approx(interval.low)  # all rows of a cluster are alike, the worst that may be
        assert run.gate("right >= 0.5") == run.gate("right >= 0.5", cluster="doc") == run.decision
        with pytest.raises(InvalidInput, match="cluster='lang': the rows of this run were drawn by doc"):
            run.gate("right >= 0.5", cluster="lang")

    def test_repeats_of_a_row_are_drawn_together(self) -> None:
        rows = [{"id": f"q{place % 50}", "question": "?", "response": "1"} for place in range(100)]
        run = scored(rows, "right >= 0.5")
        ids = [row.id for row in run.rows]
        assert {ids.count(each) for each in ids} == {2}

    def test_slices_are_all_decided_and_their_number_counts_from_the_first_row(self) -> None:
        rows = rows_of([1.0] * 200, lang=lambda place: "de" if place % 10 == 0 else "en")
        run = scored(rows, "right >= 0.5", stop=Stop(by="lang"))
        assert run.decision is not None
        assert [(result.label, result.verdict) for result in run.decision.results] == [
            (None, "passed"),
            ("de", "passed"),
            ("en", "passed"),
        ]
        assert sum(row.metadata["lang"] == "de" for row in run.rows) >= first_decided(0.5)

    def test_a_slice_that_the_first_rows_lack_is_waited_for(self) -> None:
        rows = [{**row, "lang": "de"} if row["id"] > "q90" else row for row in rows_of([1.0] * 100)]
        run = scored(rows, "right >= 0.3", stop=Stop(by="lang"))
        assert run.decision is not None
        assert [result.name for result in run.decision.results] == [
            "right >= 0.3",
            "right >= 0.3, lang=de",
            "right >= 0.3, without lang",
        ]
        assert (run.decision.verdict, run.left > 0) == ("passed", True)

    def test_a_slice_that_a_metric_is_not_asked_about_is_not_waited_for(self) -> None:
        rows = rows_of([1.0] * 100, lang=lambda place: "de" if place % 2 else "en")
        only_english = {Right(): lambda sample: sample.metadata["lang"] == "en"}
        run = evaluate(rows, only_english, gates="right >= 0.5", stop=Stop(by="lang"), progress=False)
        assert sum(row.metadata["lang"] == "en" for row in run.rows) == first_decided(0.5)


class TestDrops:
    BEFORE = staticmethod(lambda rows: evaluate(rows, Right(), progress=False))

    def test_a_drop_is_decided_pair_by_pair(self) -> None:
        rows = rows_of([1.0, 0.5] * 150)
        run = scored(rows, "right drop <= 0.1", stop=Stop(baseline=self.BEFORE(rows)))
        assert run.left > 0
        assert run.decision is not None
        (result,) = run.decision.results
        assert (result.verdict, result.estimate, result.scored) == ("passed", 0.0, len(run))
        # a change is a share of the scale from -1 to 1, and no change its middle: 0.1 worse is 0.45
        gains = [(0.5 / 0.45 - 1) * bet for bet in BETS]
        assert result.interval is not None
        assert sum((1 + gain) ** len(run) for gain in gains) / len(BETS) >= 40

    def test_rows_that_only_the_baseline_has_may_turn_it(self) -> None:
        rows = rows_of([1.0] * 100)
        more = rows_of([1.0] * 200)
        run = scored(rows, "right drop <= 0.1", stop=Stop(baseline=self.BEFORE(more), min_coverage=0.2))
        assert run.left == 0
        assert run.decision is not None
        assert run.decision.verdict != "passed"

    def test_another_judge_is_refused_before_it_is_asked(self) -> None:
        rows, models = [{"id": "q1", "user_input": "question"}], [AsyncModel("1"), AsyncModel("1")]
        for name, model in zip("ab", models, strict=True):
            model.identity = {"model": name}  # type: ignore[attr-defined]
        before = evaluate(rows, Rated(), llm=models[0], progress=False)
        with pytest.raises(
            InvalidInput, match="baseline: the LLM is a in the first run, b in the second run.*: score it again"
        ):
            evaluate(
                rows, Rated(), llm=models[1], gates="rated drop <= 0.3", stop=Stop(baseline=before), progress=False
            )
        assert models[1].asked == []

    def test_rows_that_the_baseline_lacks_may_be_the_first(self) -> None:
        rows = rows_of([1.0] * 200)
        drawn = [row.id for row in scored(rows, "right >= 0.9").rows]
        known = [row for row in rows if row["id"] not in drawn]
        run = scored(rows, "right drop <= 0.5", stop=Stop(baseline=self.BEFORE(known)))
        assert len(run) > len(drawn)
        assert run.decision is not None
        assert (run.decision.verdict, run.left > 0) == ("passed", True)

    def test_a_baseline_without_the_rows_or_the_metric_is_refused_before_anything_is_scored(self) -> None:
        rows = rows_of([1.0] * 100)
        others = [{**row, "id": f"other {row['id']}"} for row in rows]
        with pytest.raises(InvalidInput, match="baseline: none of its rows is among the rows"):
            scored(rows, "right drop <= 0.1", stop=Stop(baseline=self.BEFORE(others)))
        with pytest.raises(InvalidInput, match="baseline has no scores of right; it has "):
            scored(rows, "right drop <= 0.1", stop=Stop(baseline=evaluate(rows, Right("wrong"), progress=False)))
        with pytest.raises(InvalidInput, match="the scale of right is 0 to 1, so a drop of 3 is impossible"):
            evaluate(rows, Unscored(), gates="right drop <= 3", stop=Stop(baseline=self.BEFORE(rows)), progress=False)
        early = scored(rows, "right >= 0.5")
        with pytest.raises(
            InvalidInput, match="stopped when its gates were decided, before .* a drop from it would be biased"
        ):
            scored(rows, "right drop <= 0.1", stop=Stop(baseline=early))


class TestAfterwards:
    def test_it_says_so_everywhere(self, tmp_path: Path) -> None:
        run = scored(rows_of([1.0] * 60), "right >= 0.5", run_dir=tmp_path / "run")
        said = f"stopped after {len(run)} of 60 rows, drawn at random, because the gates were decided"
        run.to_html(tmp_path / "page.html")
        run.to_parquet(tmp_path / "rows.parquet")
        texts = [*run.caveats, run.summary().to_markdown(), (tmp_path / "page.html").read_text()]
        assert all(said in text for text in texts)
        for path in ("run", "rows.parquet"):
            again = Evaluation.load(tmp_path / path)
            assert (again.left, again.caveats) == (run.left, run.caveats)
            assert again.gate("right >= 0.5") == run.decision
            interval = again.summary()["right"].interval
            assert interval is not None
            assert interval.method == "betting"

    def test_what_needs_a_fixed_number_of_rows_refuses_it(self, tmp_path: Path) -> None:
        rows = rows_of([1.0] * 60)
        run = scored(rows, "right >= 0.5", run_dir=tmp_path)
        whole = evaluate(rows, Right(), progress=False)
        labels = [{"id": f"q{place}", "metric": "right", "label": True} for place in range(20)]
        for refused in (lambda: run.compare(whole), lambda: whole.compare(run), lambda: run.calibrate(labels)):
            with pytest.raises(InvalidInput, match="stopped when its gates were decided.*score it again without stop"):
                refused()
        with pytest.raises(InvalidInput, match="of other settings: seed=0 there, seed=5 here"):
            scored(rows, "right >= 0.5", run_dir=tmp_path, seed=5)
        with pytest.raises(InvalidInput, match="holds the finished scores of other settings"):
            evaluate(rows, Right(), run_dir=tmp_path, progress=False)
        finished = evaluate(rows, Right(), run_dir=tmp_path, progress=False, replace=True)
        assert len(finished.compare(whole).metrics) == 1

    def test_the_same_command_pays_for_nothing_and_another_limit_continues_the_order(self, tmp_path: Path) -> None:
        rows = [{"id": f"q{place}", "user_input": f"question {place}"} for place in range(100)]
        runs = []
        for limit in ("0.5", "0.5", "0.7"):
            model = AsyncModel("1")
            model.identity = {"model": "judge"}  # type: ignore[attr-defined]
            options = {"llm": model, "run_dir": tmp_path, "max_concurrency": 1, "progress": False}
            runs.append(evaluate(rows, Rated(), gates=f"rated >= {limit}", stop="when_decided", **options))
            asked = len(model.asked)
            assert asked == len(runs[-1]) - (len(runs[-2]) if len(runs) > 1 else 0)
        ids = [{row.id for row in run.rows} for run in runs]
        assert ids[0] == ids[1] < ids[2]
        assert json.loads((tmp_path / "run.json").read_text())["left"] == runs[-1].left

    async def test_rows_that_an_interrupted_part_began_are_finished(self, tmp_path: Path) -> None:
        rows = [{"id": f"q{place}", "user_input": f"question {place}"} for place in range(100)]
        slow, options = drawn_first(rows), {"run_dir": tmp_path, "stop": "when_decided", "progress": False}
        model = OneWaits("1", slow=slow, until=40, go=asyncio.Event())
        part = asyncio.ensure_future(aevaluate(rows, Rated(), llm=model, gates="rated >= 0.9", **options))
        await model.enough.wait()
        part.cancel()
        with pytest.raises(asyncio.CancelledError):
            await part
        kept = Evaluation.load(tmp_path)
        assert slow not in {row.user_input for row in kept.rows}
        again = {"llm": OneWaits("1", slow="", until=0), "max_concurrency": 1, **options}
        run = await aevaluate(rows, Rated(), gates="rated >= 0.3", **again)
        assert slow in {row.user_input for row in run.rows}
        assert len(run) > len(kept) > first_decided(0.3)
        assert (len(run) + run.left, run.gate("rated >= 0.3")) == (100, run.decision)

    def test_a_part_that_asks_nothing_new_ends_the_run(self, tmp_path: Path) -> None:
        scored_so_far = itertools.count()

        class Bug(Right):
            def measure(self, response: str) -> Score:
                if next(scored_so_far) == 5:
                    raise RuntimeError
                return super().measure(response)

        options = {"gates": "right >= 0.5", "stop": "when_decided", "run_dir": tmp_path, "progress": False}
        with pytest.raises(RuntimeError):
            evaluate(rows_of([1.0] * 100), Bug(), **options)
        assert Evaluation.load(tmp_path).state == "stopped"
        run, again = evaluate(rows_of([1.0] * 100), Bug(), **options), Evaluation.load(tmp_path)
        assert (len(again), again.left, again.state) == (len(run), run.left, "finished")

    def test_a_budget_ends_it_undecided(self) -> None:
        rows = [{"id": f"q{place}", "user_input": f"question {place}"} for place in range(100)]
        options = {"llm": AsyncModel("1"), "budget": {"calls": 5}, "progress": False}
        run = evaluate(rows, Rated(), gates="rated >= 0.5", stop="when_decided", **options)
        assert (len(run), run.left, run.decision) == (5, 0, None)
        assert run.gate("rated >= 0.5").verdict == "failed"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gates": "right >= 0.5"}, "gates only decide when a run stops: give stop='when_decided'"),
        ({"gates": (), "stop": "when_decided"}, "there is no gate"),
        ({"gates": "right >= 0.5", "stop": "soon"}, "stop must be 'when_decided', a Stop or None, got 'soon'"),
        ({"gates": "wrong >= 0.5", "stop": "when_decided"}, "'wrong' is not among the metrics: right"),
        ({"gates": "right >= 1", "stop": "when_decided"}, "no number of rows can prove"),
        ({"gates": "right drop <= 0.1", "stop": "when_decided"}, "a drop needs two runs"),
        ({"gates": "right >= 0.5", "stop": Stop(cluster="doc")}, "cluster='doc': no row has it"),
        ({"gates": "right >= 0.5", "stop": Stop(min_coverage=2)}, "min_coverage must be a share"),
        ({"gates": "right >= 0.5", "stop": Stop(by="id")}, "101 different values in 101 rows are too many for slices"),
        (
            {"gates": "right >= 0.5", "stop": "when_decided", "batch": True, "run_dir": "x"},
            "batch asks for all rows at once",
        ),
    ],
)
def test_mistakes_are_found_before_anything_is_scored(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RagmetricsError, match=message):
        evaluate(rows_of([1.0] * 101), Unscored(), progress=False, **options)


def test_an_iterator_is_refused() -> None:
    with pytest.raises(InvalidInput, match="stop draws an order of all rows: give a list or a file, not an iterator"):
        scored(iter(rows_of([1.0])), "right >= 0.5")
