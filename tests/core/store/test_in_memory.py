"""Finished rows in memory: kept in columns, put together again when they are looked at."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from ragmetrics_core import Evidence, Metric, Sample, Score, evaluate
from ragmetrics_core._store._records import KeptRecords, Record
from ragmetrics_core._store._run_dir import InMemory
from ragmetrics_core._values._requests import Usage
from ragmetrics_core.metrics import NDCG, AveragePrecision, Recall, ReciprocalRank

RANKING: list[Metric] = [AveragePrecision(), ReciprocalRank(), NDCG(), Recall()]
SCALE = (0.0, 1.0)


def rankings(count: int) -> list[Sample]:
    return [
        Sample(retrieved_documents=[f"a{row}", f"b{row}", f"c{row}"], reference_documents=[f"b{row}", f"d{row}"])
        for row in range(count)
    ]


def record(index: int, **scores: Score) -> Record:
    return Record(index, f"row {index + 1}", Sample(id=str(index)), scores)


def kept(*records: Record) -> InMemory:
    keeper = InMemory()
    for item in records:
        keeper.add(item)
    return keeper


@dataclass(frozen=True)
class Noted(Score):
    pass


class Counted(Usage):
    """A user's own."""


class TestRecords:
    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
    def test_come_back_in_input_order(self, order: tuple[int, ...]) -> None:
        records = [
            record(index, m=Score(index / 4, details={"at": index}, metric="m", scale=SCALE)) for index in range(3)
        ]
        found = kept(*(records[index] for index in order)).snapshot()

        assert found == records
        assert [found[place] for place in (0, 1, 2)] == found[:] == records
        assert (found[-1], found[1:], found[::2]) == (records[2], records[1:], records[::2])
        assert found.samples() == [item.sample for item in records]
        assert found.places() == ["row 1", "row 2", "row 3"]
        assert found.scores("m") == [item.scores["m"] for item in records]
        with pytest.raises(IndexError):
            found[3]

    def test_without_any_row(self) -> None:
        found = InMemory().snapshot()

        assert (list(found), found.samples(), found.scores("m"), len(found)) == ([], [], [], 0)

    def test_a_snapshot_does_not_grow(self) -> None:
        keeper = kept(record(1, m=Score(0.5)))
        before = keeper.snapshot()
        keeper.add(record(0, m=Score(0.25)))

        assert [item.index for item in before] == [1]
        assert [item.index for item in keeper.snapshot()] == [0, 1]

    @pytest.mark.parametrize(
        "score",
        [
            Score(0.5, metric="m", scale=SCALE),
            Score(0.5, details={"ranks": [1, 2], "deep": {"a": [None]}}, metric="m", scale=SCALE),
            Score(0.5, passing=True, metric="m", scale=SCALE),
            Score(0.5, reason="why", metric="m", scale=SCALE),
            Score(0.5, usage=Usage(calls=1), metric="m", scale=SCALE),
            Score(0.5, metric="m", scale=(0.0, 5.0)),
            Score(0.5, metric="m"),
            Score(0.5, metric="another", scale=SCALE),
            Score.unscored("nothing there", details={"ranks": []}),
            Score.failed("it broke"),
            Score(0.5, label="odd", usage=Usage(1, 2, 3, 4), metric="m", scale=SCALE),
            Score(0.5, usage=Counted(1, 2, 3, 4), metric="m", scale=SCALE),
            Score.unscored("nothing there", label="no_answer").made_by("m", SCALE, Usage(4, 3, 2, 1), {"p": "1"}),
            Score.failed("it broke").made_by("m", SCALE, Usage(4, 3, 2, 1)),
            Score(0.5, details={"rows": Evidence([{"a": [1]}], lambda: [{"b": 2}])}).made_by("m", SCALE, Usage(1)),
            Noted(0.5, metric="m", scale=SCALE),
        ],
    )
    def test_any_score_comes_back_as_it_was(self, score: Score) -> None:
        first = record(0, m=Score(0.25, metric="m", scale=SCALE))
        for found in (kept(first, record(1, m=score)).snapshot()[1], kept(record(1, m=score)).snapshot()[0]):
            assert found.scores["m"] == score
            assert type(found.scores["m"]) is type(score)
            assert type(found.scores["m"].usage) is type(score.usage)
            assert found.scores["m"].to_dict() == score.to_dict()

    def test_details_that_were_read_are_kept(self) -> None:
        looks = []
        evidence = Evidence([{"a": 1}], lambda: looks.append(1) or [{"b": 2}])  # type: ignore[func-returns-value]
        score = Score(0.5, details={"rows": evidence}).made_by("m", SCALE, Usage(1))
        records = kept(record(0, m=score)).snapshot()
        assert not looks
        found = [records[0].scores["m"], *records.scores("m"), next(iter(records)).scores["m"]]
        assert all(one is found[0] for one in found)
        assert [one.details["rows"] for one in found] == [[{"a": 1, "b": 2}]] * 3
        assert len(looks) == 1


class TestEvaluation:
    def test_scores_are_those_of_each_metric_alone(self) -> None:
        rows = rankings(3)
        result = evaluate(rows, RANKING, progress=False)

        for metric in RANKING:
            assert result.scores[metric] == [metric.score(row) for row in rows]
            assert type(result.scores[metric]) is list
        assert [item.scores[metric.name] for item in result.records for metric in RANKING] == [
            metric.score(row) for row in rows for metric in RANKING
        ]
        assert all(given is found for given, found in zip(rows, result.rows, strict=True))

    def test_equal_runs_have_equal_records(self) -> None:
        one, other = (evaluate(rankings(3), RANKING, progress=False).records for _ in range(2))

        assert one == other
        assert one != evaluate(rankings(2), RANKING, progress=False).records
        assert repr(one) == repr(list(other))

    def test_its_repr_reads_no_scores(self) -> None:
        result = evaluate(rankings(2), RANKING, progress=False)

        assert repr(result) == "<Evaluation of 2 rows, 4 metrics: average_precision, reciprocal_rank, ndcg, recall>"
        assert "scores" not in vars(result)

    @pytest.mark.slow
    def test_the_garbage_collector_has_little_to_walk_through(self) -> None:
        rows = rankings(500)
        evaluate(rows[:10], RANKING, progress=False)

        def added() -> Counter[str]:
            gc.collect()
            before = Counter(type(item).__name__ for item in gc.get_objects())
            result = evaluate(rows, RANKING, progress=False)
            gc.collect()
            assert len(result) == 500
            return Counter(type(item).__name__ for item in gc.get_objects()) - before

        least = min((added() for _ in range(2)), key=Counter.total)  # other threads may have added something of theirs
        assert (least["Score"], least["Record"]) == (0, 0)
        assert least.total() < 2.5 * len(rows)  # the evidence, which the four scores of a row share, and its ranks

    @pytest.mark.slow
    def test_a_run_leaves_no_garbage(self) -> None:
        """What refers to itself in a circle stays in memory until the garbage collector looks, with all that was scored."""
        evaluate(rankings(2), RANKING, progress=False)

        def left() -> int:
            gc.collect()
            result = evaluate(rankings(50), RANKING, progress=False)
            kept = weakref.ref(result.records)
            del result
            assert kept() is None
            return gc.collect()

        gc.disable()
        try:
            assert min(left() for _ in range(3)) == 0  # that of other threads is not there each time
        finally:
            gc.enable()


def test_a_row_counts_when_it_is_complete() -> None:
    """Other threads may look at any time: at a progress bar, at the records so far."""
    kept = KeptRecords()
    counted: list[int] = []

    class Watched(dict[str, Score]):
        def items(self) -> Any:
            for item in super().items():
                yield item
                counted.append(len(kept))

    kept.add(record(0, a=Score(0.5), b=Score(1.0)))
    kept.add(Record(1, "row 2", Sample(id="1"), Watched(a=Score(0.5), b=Score(1.0))))
    assert counted == [1, 1]
    assert len(kept) == 2
