"""How well the offline judge knows a response that declines, language by language.

    python bench/refusals.py [--show]

The rows are those of three files in tests/core/metrics/corpora: abstention.jsonl and refusals.jsonl, which the patterns
were made with, and refusals_unseen.jsonl, which was written after them: what is missed there stays missed, so that it
goes on telling how far they reach. Prints, for each language, the responses that decline, how many of them it
recognises, and how many of these it takes for what they are, wholly or in part; then the answers, and how many of those
it takes for refusals. ``--show`` names the responses that it gets wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import AnswerOrAbstain

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from core.metrics.truthful_judge import asked, corpus

Row = Mapping[str, Any]

CORPORA = ("abstention", "refusals", "refusals_unseen")
METRIC = AnswerOrAbstain(llm=LexicalJudge())


def taken_for(row: Row) -> str:
    """Whether the offline judge takes the response for one that declines: no, partly or wholly."""
    return str(METRIC.score(asked(row)).details["response_declines"])


def counts(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """By language and for all: what the responses are, and what they are taken for."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        is_, taken = row["response_declines"], taken_for(row)
        kinds = ["answers", "false alarms"] if is_ == "no" else ["refusals", "recognised"]
        seen = kinds[:1] if taken == "no" else kinds
        if is_ != "no" and taken == is_:
            seen.append("as they are")
        for name in (row["lang"], "all"):
            found.setdefault(name, Counter()).update(seen)
    found["all"] = found.pop("all")
    return found


COLUMNS = ("refusals", "recognised", "as they are", "answers", "false alarms")


def table(found: Mapping[str, Counter[str]]) -> str:
    """The figures as lines of text; the documentation publishes them as they are."""
    lines = ["language" + "".join(f"{column:>14s}" for column in COLUMNS)]
    lines += [f"{name:8s}" + "".join(f"{seen[column]:14d}" for column in COLUMNS) for name, seen in found.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="How well the offline judge knows a response that declines.")
    parser.add_argument("--show", action="store_true", help="name the responses that it gets wrong")
    show = parser.parse_args().show
    for name in CORPORA:
        rows = corpus(name)
        if show:
            wrong = ((row, taken_for(row)) for row in rows)
            for row, taken in wrong:
                if taken != row["response_declines"]:
                    print(f"{row['lang']} {row['response_declines']} taken for {taken}: {row['response']!r}")
        print(f"{name}\n{table(counts(rows))}\n")


if __name__ == "__main__":
    main()
