"""How the labels of Diagnosis hold when the judge errs: rows with planted faults, and verdicts that are wrong at random.

    python bench/diagnosis.py [--runs N]

The rows are those of tests/core/metrics/corpora/diagnosis.jsonl, and the judge answers from their truth, except that each verdict
is wrong with the given chance: a claim that texts support is said to be not stated, one that they do not support is said to be
supported by one of them, and a response that declines is said to answer, and the other way round. Claims are taken apart rightly.
Prints, for each label, the percentage of rows that keep it, as a mean over the runs.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragmetrics_core.metrics import Diagnosis

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from core.metrics.truthful_judge import TruthfulJudge, asked, corpus

Row = Mapping[str, Any]

RATES = (0.0, 0.05, 0.1, 0.2)
RUNS = 50
LABELS = (
    "declined",
    "right",
    "right_unsupported",
    "contradicted",
    "misled",
    "not_retrieved",
    "not_used",
    "own_knowledge",
)


class ErringJudge(TruthfulJudge):
    """Wrong in each verdict with the chance ``rate``; which ones, follows from ``seed`` and the texts and not from their order."""

    def __init__(self, rows: Sequence[Row], rate: float, seed: int) -> None:
        super().__init__(rows)
        self.rate, self.seed = rate, seed

    def signs_of(self, claim: str, contexts: Sequence[str]) -> list[str]:
        signs, chance = super().signs_of(claim, contexts), self._chance(claim, *contexts)
        if chance.random() >= self.rate:
            return signs
        if "+" in signs:
            return ["" if sign == "+" else sign for sign in signs]
        signs[chance.randrange(len(signs))] = "+"
        return signs

    def abstention(self, question: str, contexts: Sequence[str], response: str) -> tuple[str, str]:
        suffice, declines = super().abstention(question, contexts, response)
        if self._chance(question, response).random() >= self.rate:
            return suffice, declines
        return suffice, "wholly" if declines == "no" else "no"

    def _chance(self, *texts: str) -> random.Random:
        return random.Random("\n".join((str(self.seed), *texts)))


def kept(rows: Sequence[Row], rate: float, runs: int) -> dict[str, float]:
    """The share of rows that keep their label when verdicts are wrong at ``rate``, by label and under ``all``."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for seed in range(runs):
        metric = Diagnosis(llm=ErringJudge(rows, rate, seed))
        for row in rows:
            same = metric.score(asked(row)).label == row["label"]
            found[row["label"]].append(same)
            found["all"].append(same)
    return {label: sum(same) / len(same) for label, same in found.items()}


def table(columns: Mapping[float, Mapping[str, float]]) -> str:
    """The figures as lines of text; the documentation publishes them as they are."""
    lines = ["verdicts wrong     " + "".join(f"{rate:8.0%}" for rate in columns)]
    lines += [
        f"{label:19s}" + "".join(f"{100 * shares[label]:8.1f}" for shares in columns.values())
        for label in (*LABELS, "all")
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="How the labels of Diagnosis hold when verdicts are wrong.")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs per rate, each with a seed of its own")
    runs = parser.parse_args().runs
    rows = corpus("diagnosis")
    print(table({rate: kept(rows, rate, runs) for rate in RATES}))


if __name__ == "__main__":
    main()
