"""How many queries a second each ranking metric scores: 10 retrieved documents, 3 relevant ones.

Run with ``python bench/ranking.py``. One column calls ``measure`` with checked documents, the other ``score``, which reads and
checks the sample first; best of five rounds. Then the four usual metrics together: by ``score``, and by ``evaluate`` over 100,000
queries in three forms, in CPU time of this one process, garbage collection included; median of three rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from ragmetrics_core import Document, Metric, Sample, evaluate
from ragmetrics_core.metrics._average_precision import AveragePrecision
from ragmetrics_core.metrics._hit_rate import HitRate
from ragmetrics_core.metrics._ndcg import NDCG
from ragmetrics_core.metrics._precision import Precision
from ragmetrics_core.metrics._recall import Recall
from ragmetrics_core.metrics._reciprocal_rank import ReciprocalRank

QUERIES = 4_000
ROUNDS = 5
MANY = 100_000
MANY_ROUNDS = 3


def best_rate(work: Callable[[], object]) -> float:
    """Queries a second, where one call of ``work`` scores ``QUERIES`` of them."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return QUERIES / min(times)


def evaluate_rate(metrics: list[Metric], rows: list[Any]) -> float:
    """Queries a second through ``evaluate``."""
    times = []
    for _ in range(MANY_ROUNDS):
        start = time.process_time()
        evaluate(rows, metrics, progress=False)
        times.append(time.process_time() - start)
    return len(rows) / median(times)


def samples(count: int = QUERIES, *, graded: bool) -> list[Sample]:
    """Queries whose three relevant documents stand on changing ranks, one of them often missing."""
    made = []
    for query in range(count):
        retrieved = [Document(f"text {query} {rank}", f"d{query}-{rank}") for rank in range(10)]
        wanted = (query % 10, (query * 7 + 3) % 10, (query * 3 + 5) % 14)
        relevant = [
            Document(f"text {query} {rank}", f"d{query}-{rank}", float(place + 1) if graded else None)
            for place, rank in enumerate(wanted)
        ]
        made.append(Sample(retrieved_documents=retrieved, reference_documents=relevant))
    return made


def main() -> None:
    plain, graded = samples(graded=False), samples(graded=True)
    cases: list[tuple[str, Metric, list[Sample]]] = [
        ("AveragePrecision", AveragePrecision(), plain),
        ("ReciprocalRank", ReciprocalRank(), plain),
        ("NDCG", NDCG(), plain),
        ("NDCG, graded", NDCG(), graded),
        ("Recall", Recall(), plain),
        ("Precision(k=5)", Precision(k=5), plain),
        ("HitRate", HitRate(), plain),
    ]
    print(f"{'metric':<18}{'measure/s':>12}{'score/s':>12}")
    for label, metric, rows in cases:

        def by_measure(metric: Metric = metric, rows: list[Sample] = rows) -> None:
            for row in rows:
                metric.measure(row.retrieved_documents, row.reference_documents)

        def by_score(metric: Metric = metric, rows: list[Sample] = rows) -> None:
            for row in rows:
                metric.score(row)

        print(f"{label:<18}{best_rate(by_measure):>12,.0f}{best_rate(by_score):>12,.0f}")

    four: list[Metric] = [AveragePrecision(), ReciprocalRank(), NDCG(), Recall()]

    def together() -> None:
        for row in plain:
            for metric in four:
                metric.score(row)

    print(f"{'the usual four':<18}{'':>12}{best_rate(together):>12,.0f}")
    many = samples(MANY, graded=False)
    print(f"\n{'evaluate, the usual four':<36}{'queries/s':>12}")
    print(f"{'Samples of Documents':<36}{evaluate_rate(four, many):>12,.0f}")
    print(f"{'dicts of Documents':<36}{evaluate_rate(four, [as_row(row, None) for row in many]):>12,.0f}")
    print(f"{'dicts of plain texts':<36}{evaluate_rate(four, [as_row(row, 'content') for row in many]):>12,.0f}")


def as_row(sample: Sample, attribute: str | None) -> dict[str, list[Any]]:
    """The sample as a mapping, with its documents or with one attribute of each in their place."""
    names = ("retrieved_documents", "reference_documents")
    lists = {name: list(getattr(sample, name)) for name in names}
    return lists if attribute is None else {name: [getattr(d, attribute) for d in lists[name]] for name in names}


if __name__ == "__main__":
    main()
