"""How far metrics with the offline judge agree with people, on public human labels: the tables of docs/agreement.md.

    python bench/agreement.py [DATA_FOLDER] [--write] [--only begin wice mtrag openqa alce pairs people]

DATA_FOLDER holds ``rag_records.jsonl.gz`` and ``rag_pairwise.jsonl.gz`` (default: the environment variable RAGMETRICS_DATA, else
../shared/data). ``--write`` puts the tables into the page. Only sources with labels by people are used, and, of those about
contexts, only those that come with the contexts. Intervals are of 95 %; rows about one text or question are a cluster, so that
they are not taken to be independent. All of it takes some minutes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core import Metric, evaluate
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    AnswerRelevanceRating,
    AnswerRelevancy,
    Correctness,
    FactualCorrectness,
    Faithfulness,
    Jury,
    PairwiseComparison,
    RefineFaithfulness,
    ResponseGroundedness,
    SinglePassFaithfulness,
    TokenF1,
)
from ragmetrics_core.statistics import Measure, agreement, annotator_alpha

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("RAGMETRICS_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "docs" / "agreement.md"
BEGIN, END = "<!-- measured: bench/agreement.py -->", "<!-- end: measured -->"

NO_QUESTION = "What is claimed?"
"""WiCE has claims without questions, and the metrics want one."""

Record = Mapping[str, Any]


class Source(NamedTuple):
    """Rows with labels of people, and the metrics that are held to them.

    Attributes:
        name: the beginning of the ids.
        kind: what the labels say.
        sample: a record as the metrics take it.
        label: of a record; None where people gave none that counts.
        metrics: the metrics.
    """

    name: str
    kind: str
    sample: Callable[[Record], dict[str, Any]]
    label: Callable[[Record], float | None]
    metrics: Sequence[Metric]


def faithful(record: Record) -> float | None:
    return None if record["faithful"] is None else float(record["faithful"])


def with_contexts(record: Record) -> dict[str, Any]:
    return {
        "user_input": record["question"] or NO_QUESTION,
        "response": record["answer"],
        "retrieved_contexts": record["contexts"],
    }


def with_reference(record: Record) -> dict[str, Any]:
    return {"user_input": record["question"], "response": record["answer"], "reference": record["reference"]}


def alone(record: Record) -> dict[str, Any]:
    return {"user_input": record["question"], "response": record["answer"]}


JURORS = (Faithfulness(), ResponseGroundedness(), RefineFaithfulness())
GROUNDED: tuple[Metric, ...] = (*JURORS, Jury(JURORS, name="jury of these three"), SinglePassFaithfulness())
RIGHT = (Correctness(), AnswerAccuracy(), FactualCorrectness(), TokenF1())
SOURCES = (
    *(Source(name, "faithful", with_contexts, faithful, GROUNDED) for name in ("begin", "wice", "mtrag")),
    Source("openqa", "right", with_reference, lambda record: float(record["correct"]), RIGHT),
    Source(
        "alce", "useful", alone, lambda record: record["label"]["utility"], (AnswerRelevancy(), AnswerRelevanceRating())
    ),
)


class Judged(NamedTuple):
    """Values of one metric beside the labels of people, with what rows share."""

    values: list[float]
    labels: list[float]
    clusters: list[str]
    unscored: int
    scale: tuple[float, float]


def records(folder: Path, name: str) -> list[Record]:
    with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def judged(source: Source, found: Sequence[Record]) -> dict[str, Judged]:
    """What each metric of a source says of its records."""
    kept = [record for record in found if source.label(record) is not None]
    rows = [source.sample(record) for record in kept]
    judge = {"llm": LexicalJudge(), "embeddings": HashingEmbeddings()}
    run = evaluate(rows, list(source.metrics), progress=False, **judge)  # type: ignore[arg-type]
    run.raise_for_errors()
    found_values = {}
    for metric in source.metrics:
        pairs = [
            (value, source.label(record), record["group"])
            for value, record in zip(run[metric.name], kept, strict=True)
            if value is not None
        ]
        values, labels, clusters = (list(column) for column in zip(*pairs, strict=True))
        found_values[metric.name] = Judged(values, labels, clusters, len(kept) - len(pairs), metric.scale or (0.0, 1.0))
    return found_values


def shown(measure: Measure) -> str:
    """A number with its interval, or a dash."""
    if measure.value is None:
        return "–"
    limits = measure.interval
    return f"{measure.value:.3f}" + (f" ({limits.low:.3f} to {limits.high:.3f})" if limits else "")


def verdict_rows(source: Source, found: Sequence[Record]) -> Iterator[list[str]]:
    """One row per metric: how well it orders rows that people pass and fail, and its verdicts from half of its scale on."""
    for name, item in judged(source, found).items():
        half = sum(item.scale) / 2
        said = agreement(item.values, item.labels, clusters=item.clusters, scale=(0.0, 1.0), threshold=half)
        yield [
            source.name,
            f"`{name}`" if " " not in name else name,
            f"{len(item.values):,}",
            f"{sum(item.labels) / len(item.labels):.3f}",
            f"{item.unscored}",
            shown(said.auroc),
            shown(said.kappa),
            *(f"{rate.value:.3f}" if rate.value is not None else "–" for rate in (said.sensitivity, said.specificity)),
        ]


def grade_rows(source: Source, found: Sequence[Record]) -> Iterator[list[str]]:
    """One row per metric: its rank correlation with the grades of people."""
    for name, item in judged(source, found).items():
        said = agreement(item.values, item.labels, clusters=item.clusters, scale=(1.0, 5.0))
        yield [source.name, f"`{name}`", f"{len(item.values):,}", f"{item.unscored}", shown(said.spearman)]


def pair_rows(pairs: Sequence[Record]) -> Iterator[list[str]]:
    """Which of two answers is better: of the pairs on which people decided, how often the better one scores above the other."""
    both = [pair for pair in pairs if pair["answer_a"].strip() and pair["answer_b"].strip()]
    rows = [
        {
            "user_input": pair["question"],
            "response": pair["answer_a"],
            "second_response": pair["answer_b"],
            "reference": pair["reference"],
        }
        for pair in both
    ]
    run = evaluate(rows, PairwiseComparison(), llm=LexicalJudge(), progress=False)
    run.raise_for_errors()
    sums = [sum(pair["human"]["overall"]) for pair in both]
    decided = [(value, total) for value, total in zip(run["pairwise_comparison"], sums, strict=True) if total]
    values = [value for value, _ in decided if value is not None]
    labels = [float(total < 0) for value, total in decided if value is not None]  # below 0: the first answer is better
    said = agreement(values, labels, scale=(0.0, 1.0), threshold=0.5)
    ties = sum(value == 0.5 for value in values)
    yield ["pairs", "`pairwise_comparison`", f"{len(values)} of {len(pairs)}", f"{ties}", shown(said.auroc)]


def people_rows(found: Sequence[Record], pairs: Sequence[Record]) -> Iterator[list[str]]:
    """How far the people agree with each other, where several labelled the same rows."""
    ratings = [record["label"]["faithfulness"]["ratings"] for record in found if record["id"].startswith("mtrag")]
    yield ["mtrag", "faithfulness, 1 to 4", "3", f"{len(ratings)}", shown(annotator_alpha(ratings))]
    for part in ("overall", "correctness", "completeness"):
        votes = [pair["human"][part] for pair in pairs]
        yield ["pairs", f"{part}, -2 to 2", "2", f"{len(votes)}", shown(annotator_alpha(votes))]


HEADINGS = {
    "faithful": [
        "labels",
        "metric",
        "rows",
        "faithful",
        "unscored",
        "AUROC",
        "kappa from half on",
        "sensitivity",
        "specificity",
    ],
    "right": [
        "labels",
        "metric",
        "rows",
        "right",
        "unscored",
        "AUROC",
        "kappa from half on",
        "sensitivity",
        "specificity",
    ],
    "useful": ["labels", "metric", "rows", "unscored", "rank correlation"],
    "pairs": ["labels", "metric", "decided pairs", "ties of the judge", "AUROC"],
    "people": ["labels", "of what", "people per row", "rows", "Krippendorff's alpha"],
}
TITLES = {
    "faithful": "Is the answer faithful to the contexts?",
    "right": "Is the answer right?",
    "useful": "Is the answer useful?",
    "pairs": "Which of two answers is better?",
    "people": "How far people agree with each other",
}


def measured(folder: Path, wanted: Sequence[str]) -> dict[str, list[list[str]]]:
    """The rows of each table, of the sources that are wanted."""
    found, pairs = records(folder, "rag_records.jsonl.gz"), records(folder, "rag_pairwise.jsonl.gz")
    tables: dict[str, list[list[str]]] = {kind: [] for kind in HEADINGS}
    for source in SOURCES:
        if source.name in wanted:
            own = [record for record in found if record["id"].startswith(f"{source.name}-")]
            own = [record for record in own if source.kind != "faithful" or record["contexts"]]
            tables[source.kind] += (grade_rows if source.kind == "useful" else verdict_rows)(source, own)
    if "pairs" in wanted:
        tables["pairs"] += pair_rows(pairs)
    if "people" in wanted:
        tables["people"] += people_rows(found, pairs)
    return tables


def lines_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines of a table in Markdown."""
    return [f"| {' | '.join(row)} |" for row in rows]


def as_markdown(tables: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The tables, each below its title."""
    parts = []
    for kind, rows in tables.items():
        if rows:
            head = [HEADINGS[kind], ["---"] * len(HEADINGS[kind])]
            parts.append("\n".join([f"### {TITLES[kind]}", "", *lines_of([*head, *rows])]))
    return "\n\n".join(parts)


ALL = (*(source.name for source in SOURCES), "pairs", "people")


def main() -> None:
    parser = argparse.ArgumentParser(description="Agreement of metrics with the offline judge with human labels.")
    parser.add_argument("data", nargs="?", type=Path, default=SHARED, help="folder with the labelled records")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/agreement.md")
    parser.add_argument("--only", nargs="+", choices=ALL, default=ALL, help="these sources alone; not with --write")
    given = parser.parse_args()
    if given.write and set(given.only) != set(ALL):
        parser.error("--write needs all sources")
    text = as_markdown(measured(given.data, given.only))
    print(text)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
