"""What the engine itself costs per row, in processor time, beside the calls.

    python bench/row_cost.py [--rows 500] [--rounds 5]

One row with everything: RAGChecker's eleven, Diagnosis, AnswerOrAbstain and the five metrics of citations, which is 18 metrics and
8 calls; and, for comparison, Faithfulness alone, which is 2. They run through ``evaluate``, in one process and with the garbage
collector as it is. A double in the place of a model answers at once: in place, as models do that compute in the process, or awaited
as servers are, after the others of the loop had their turn. The scores stay in memory, and nobody looks at their details; what it
costs to look at all of them, or to store them with every reply in the directory of a run, is told beside. What a row costs without
the engine, the making of its data and the double's answers to its questions, is measured by itself and subtracted. The row: five
contexts of 150 words, an answer and a reference of 80 words with markers, six claims in each; no two rows have a text in common.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from row_data import Double, row

from ragmetrics_core import Evaluation, Metric, evaluate
from ragmetrics_core.metrics import (
    AnswerOrAbstain,
    CitationPrecision,
    CitationRecall,
    Diagnosis,
    FabricatedCitations,
    Faithfulness,
    Misattribution,
    UncitedClaims,
    ragchecker_metrics,
)

EVERYTHING: list[Metric] = [
    *ragchecker_metrics(),
    Diagnosis(),
    AnswerOrAbstain(),
    CitationRecall(),
    CitationPrecision(),
    Misattribution(),
    FabricatedCitations(),
    UncitedClaims(),
]


class Awaited(Double):
    """The same for those who await it."""

    instant = False

    async def agenerate(self, ask: Any) -> Any:
        await asyncio.sleep(0)
        return Double.generate(self, ask)


def cpu(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    gc.collect()
    started = time.process_time()
    kept = work()
    spent = time.process_time() - started
    del kept
    return spent


def of_calls(double: Double, rows: list[dict[str, Any]], metrics: list[Metric]) -> Callable[[], object]:
    """What a run of these metrics asks of the double, without an engine; and the making of the rows."""
    double.asked = []
    evaluate(rows, metrics, llm=double, progress=False)
    asks, double.asked = double.asked, None

    def work() -> object:
        made = list(map(row, range(len(rows))))
        return made, [double.generate(ask) for ask in asks]

    return work


def scored(metrics: list[Metric], count: int, double: Double, directory: str | None = None) -> Evaluation:
    return evaluate(map(row, range(count)), metrics, llm=double, progress=False, run_dir=directory)


def looked_at(metrics: list[Metric], count: int, double: Double) -> Evaluation:
    result = scored(metrics, count, double)
    for record in result.records:
        for score in record.scores.values():
            score.details  # noqa: B018  they are made when somebody looks
    return result


def stored(metrics: list[Metric], count: int, double: Double) -> Evaluation:
    with tempfile.TemporaryDirectory() as directory:
        return scored(metrics, count, double, directory)


def contenders(count: int) -> Iterator[tuple[str, Double, Callable[[], Evaluation], Callable[[], object]]]:
    """Name, the model that counts, the run, and what of it is no engine."""
    rows = list(map(row, range(count)))
    for name, metrics in (("everything", EVERYTHING), ("Faithfulness", [Faithfulness()])):
        calls = of_calls(Double(rows), rows, metrics)
        in_place, awaited = Double(rows), Awaited(rows)
        for kind, work, double in (
            ("in place", scored, in_place),
            ("looked at", looked_at, in_place),
            ("stored", stored, in_place),
            ("awaited", scored, awaited),
        ):
            yield f"{name}, {kind}", double, partial(work, metrics, count, double), calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5, help="of which the median counts")
    chosen = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {}
    calls: dict[str, float] = {}
    entrants = list(contenders(chosen.rows))
    for _, _, run, alone in entrants:
        alone()
        run().raise_for_errors()  # what is made once is made now
    for _ in range(chosen.rounds):
        for name, double, run, alone in entrants:
            before = double.calls
            spent = cpu(run)
            calls[name] = (double.calls - before) / chosen.rows
            found.setdefault(name, []).append((spent, cpu(alone)))
    print(
        f"Python {platform.python_version()}; CPU ms, {chosen.rows} rows, the median (and the least) of {chosen.rounds} rounds"
    )
    print(f"{'':24}{'calls/row':>10}{'all/row':>9}{'beside':>9}{'engine/row':>12}{'least':>8}{'/call':>8}")
    for name, rounds in found.items():
        runs, beside = ([1000 * value / chosen.rows for value in column] for column in zip(*rounds, strict=True))
        engine = [run - alone for run, alone in zip(runs, beside, strict=True)]
        middle = statistics.median(engine)
        print(
            f"{name:24}{calls[name]:>10.2f}{statistics.median(runs):>9.3f}{statistics.median(beside):>9.3f}{middle:>12.3f}"
            f"{min(engine):>8.3f}{middle / calls[name]:>8.3f}"
        )


if __name__ == "__main__":
    main()
