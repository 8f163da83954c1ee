"""How far the offline judge agrees with people: faithfulness against human labels, source by source.

    python bench/lexical_agreement.py [DATA_FOLDER]

Prints, for each source, the records, the share of the larger class, and AUROC and balanced accuracy (faithful from 0.5
on, for every source alike) of the lexical judge and of a plain content-word overlap; then the time. Records that make
no claim are unscored: they are counted, and left out of both columns. The labels of halueval-qa are constructed, those
of the other sources were given by people.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Faithfulness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Record = Mapping[str, Any]

SOURCES = ("begin", "mtrag", "wice", "halueval-qa")
FAITHFUL = 0.5  # value from which an answer counts as faithful: half of its claims
SHARED = Path(os.environ.get("RAGMETRICS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Agreement:
    """One source: how many records there are and how well the values of two scorers agree with the labels."""

    source: str
    records: int
    unscored: int
    larger_class: float
    auroc: float
    balanced_accuracy: float
    overlap_auroc: float
    overlap_balanced_accuracy: float
    seconds: float


METRIC = Faithfulness(llm=LexicalJudge())
NO_QUESTION = "What is claimed?"  # wice has claims without questions, and the metric wants one


def judged(record: Record) -> float | None:
    """The record's faithfulness by the lexical judge; None where the answer makes no claim."""
    return METRIC.score(
        user_input=record["question"] or NO_QUESTION,
        response=record["answer"],
        retrieved_contexts=record["contexts"],
    ).value


_FUNCTION_WORDS = re.compile(
    r"(?:a|an|the|and|or|but|if|of|at|by|for|with|about|to|from|in|on|off|"
    r"over|is|am|are|was|were|be|been|being|has|have|had|do|does|did|i|you"
    r"|he|she|it|we|they|me|him|her|us|them|my|your|his|its|our|their|"
    r"this|that|these|those|as|not|no|so|than|too|very|can|will|just|there|"
    r"here|what|which|who|whom|when|where|why|how|also|would|could|should|may|"
    r"might|into|out|up|down|then|under)"
)
_LIST_MARK = re.compile(r"^[ \t]*(?:\d+[.)]|[-*•])[ \t]+", re.MULTILINE)


def overlap(record: Record) -> float:
    """Plain content-word overlap: half the mean over sentences, half the minimum; halved when a number is missing."""
    answer, contexts = _LIST_MARK.sub("", record["answer"]), " ".join(record["contexts"])
    held = set(re.findall(r"\w+", contexts.lower()))
    shares = []
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", answer):
        words = [word for word in re.findall(r"\w+", sentence.lower()) if not _FUNCTION_WORDS.fullmatch(word)]
        if words:
            shares.append(sum(word in held for word in words) / len(words))
    if not shares:
        return 0.0
    value = (sum(shares) / len(shares) + min(shares)) / 2
    return value if set(re.findall(r"\d+", answer)) <= set(re.findall(r"\d+", contexts)) else value / 2


def auroc(values: Sequence[float], labels: Sequence[bool]) -> float:
    """The chance that a true record gets a higher value than a false one; ties count one half."""
    pairs = sorted(zip(values, labels, strict=True))
    positives = sum(labels)
    ranks, at = 0.0, 0
    while at < len(pairs):
        end = at
        while end < len(pairs) and pairs[end][0] == pairs[at][0]:
            end += 1
        ranks += (at + end + 1) / 2 * sum(label for _, label in pairs[at:end])
        at = end
    return (ranks - positives * (positives + 1) / 2) / (positives * (len(pairs) - positives))


def balanced_accuracy(values: Sequence[float], labels: Sequence[bool]) -> float:
    """The mean of the shares of true and of false records on the right side of the threshold."""
    right = [
        sum((value >= FAITHFUL) is want for value, label in zip(values, labels, strict=True) if label is want)
        for want in (True, False)
    ]
    return (right[0] / sum(labels) + right[1] / (len(labels) - sum(labels))) / 2


def load(folder: Path) -> dict[str, list[Record]]:
    """The records with contexts and a label, by source."""
    with gzip.open(folder / "rag_records.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    labelled = [record for record in records if record["contexts"] and record["faithful"] is not None]
    return {source: [r for r in labelled if r["id"].startswith(source)] for source in SOURCES}


def agreement(source: str, records: Sequence[Record], score: Callable[[Record], float | None] = judged) -> Agreement:
    """Score all ``records`` of one source, and compare with their labels."""
    started = time.perf_counter()
    values = [score(record) for record in records]
    seconds = time.perf_counter() - started
    scored = [(value, record) for value, record in zip(values, records, strict=True) if value is not None]
    found = [value for value, _ in scored]
    plain = [overlap(record) for _, record in scored]
    labels = [bool(record["faithful"]) for _, record in scored]
    share = sum(labels) / len(labels)
    return Agreement(
        source=source,
        records=len(records),
        unscored=len(records) - len(scored),
        larger_class=max(share, 1 - share),
        auroc=auroc(found, labels),
        balanced_accuracy=balanced_accuracy(found, labels),
        overlap_auroc=auroc(plain, labels),
        overlap_balanced_accuracy=balanced_accuracy(plain, labels),
        seconds=seconds,
    )


def table(rows: Sequence[Agreement]) -> str:
    """The figures as lines of text; the documentation publishes them as they are."""
    lines = [
        "                               larger   lexical judge      plain overlap",
        "source       records unscored   class   AUROC  bal.acc.    AUROC  bal.acc.",
    ]
    lines += [
        f"{row.source:12s} {row.records:7d} {row.unscored:8d} {row.larger_class:7.3f} {row.auroc:7.3f} "
        f"{row.balanced_accuracy:9.3f} {row.overlap_auroc:8.3f} {row.overlap_balanced_accuracy:9.3f}"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Agreement of the offline judge with human labels of faithfulness.")
    parser.add_argument("data", nargs="?", type=Path, default=SHARED, help="folder that holds rag_records.jsonl.gz")
    rows = [agreement(source, records) for source, records in load(parser.parse_args().data).items()]
    print(table(rows))
    seconds, records = sum(row.seconds for row in rows), sum(row.records for row in rows)
    print(f"{records} records in {seconds:.2f} s: {1e6 * seconds / records:.0f} microseconds per record")


if __name__ == "__main__":
    main()
