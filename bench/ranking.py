"""How many queries a second each ranking metric scores: 10 retrieved documents, 3 relevant ones.

Run with ``python bench/ranking.py``. One column calls ``measure`` with checked documents, the other ``score``, which reads and
checks the sample first. Best of five rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ragmetrics_core import Document, Metric, Sample
from ragmetrics_core.metrics._average_precision import AveragePrecision
from ragmetrics_core.metrics._hit_rate import HitRate
from ragmetrics_core.metrics._ndcg import NDCG
from ragmetrics_core.metrics._precision import Precision
from ragmetrics_core.metrics._recall import Recall
from ragmetrics_core.metrics._reciprocal_rank import ReciprocalRank

QUERIES = 4_000
ROUNDS = 5


def best_rate(work: Callable[[], object]) -> float:
    """Queries a second, where one call of ``work`` scores ``QUERIES`` of them."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return QUERIES / min(times)


def samples(*, graded: bool) -> list[Sample]:
    """Queries whose three relevant documents stand on changing ranks, one of them often missing."""
    made = []
    for query in range(QUERIES):
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

    four = [AveragePrecision(), ReciprocalRank(), NDCG(), Recall()]

    def together() -> None:
        for row in plain:
            for metric in four:
                metric.score(row)

    print(f"{'the usual four':<18}{'':>12}{best_rate(together):>12,.0f}")


if __name__ == "__main__":
    main()
