"""The ranking metrics equal NIST's trec_eval on real TREC runs, query by query.

How trec_eval's world maps to ours: a run's documents in trec_eval's order (score descending, then document number descending;
scores are single-precision floats) are the retrieved documents; judged documents at or above the relevance level are the
relevant ones. Its nDCG reads grades instead, and knows no level: every document judged above 0 is relevant with its grade.
Judgements of 0 or below mean "not relevant", so those documents are left out. Every query here has relevant documents.
"""

from __future__ import annotations

import csv
import gzip
import json
from array import array
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragmetrics_core import Document, Metric
from ragmetrics_core.metrics import NDCG, AveragePrecision, HitRate, Precision, Recall, ReciprocalRank

pytestmark = pytest.mark.slow

FAMILIES: dict[str, type[Metric]] = {
    "map_cut": AveragePrecision,
    "ndcg_cut": NDCG,
    "P": Precision,
    "recall": Recall,
    "success": HitRate,
}
METRICS: dict[str, Metric] = {
    "map": AveragePrecision(field="id"),
    "recip_rank": ReciprocalRank(field="id"),
    "ndcg": NDCG(field="id"),
    "set_P": Precision(field="id"),
    "set_recall": Recall(field="id"),
}
NOT_OURS = {"bpref", "set_F"}

ENTRIES = [
    *(f"robust03/{run}" for run in ("UIUC03Rd1", "rutcor03100")),
    *(f"dl19/{run}{level}" for run in ("BM25", "D_BERT_KD_TASB") for level in ("", "@l2")),
    *(
        f"dl20/{run}{level}"
        for run in ("BM25_RM3", "OPEN_AI_ADA2", "SPLADE_P_P_ENSEMBLE_DISTIL")
        for level in ("", "@l2")
    ),
    *(f"covid/{run}" for run in ("BM25", "BM25_RM3")),
    "cast2021/org_convdr",
]


@dataclass(frozen=True)
class Trec:
    """The expected values: per entry its description, per entry and query the value of every measure."""

    entries: dict[str, dict]
    values: dict[str, dict[str, dict[str, float]]]
    folder: Path


@pytest.fixture(scope="module")
def trec(shared_data: Path) -> Trec:
    folder = shared_data / "trec"
    values: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    with gzip.open(folder / "expected_per_query.tsv.gz", "rt") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            values[row["id"]][row["qid"]][row["measure"]] = float(row["value"])
    entries = {entry["id"]: entry for entry in json.loads((folder / "expected.json").read_text())}
    return Trec(entries, values, folder)


def ranking(path: Path) -> dict[str, list[str]]:
    """Per query the document numbers in trec_eval's order."""
    rows: dict[str, list[tuple[float, str]]] = defaultdict(list)
    with gzip.open(path, "rt") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            rows[query].append((array("f", [float(score)])[0], document))
    return {query: [document for _, document in sorted(found, reverse=True)] for query, found in rows.items()}


def judgements(path: Path) -> dict[str, list[Document]]:
    """Per query the documents judged above 0, with their grades."""
    rows: dict[str, list[Document]] = defaultdict(list)
    with gzip.open(path, "rt") as lines:
        for line in lines:
            query, _, document, grade = line.split()
            if int(grade) > 0:
                rows[query].append(Document(id=document, score=float(grade)))
    return rows


def metric_of(measure: str, relevant: int) -> Metric | None:
    """Our metric for a measure of trec_eval; None for those that have none."""
    if measure in NOT_OURS:
        return None
    if measure == "Rprec":
        return Precision(relevant, "id")
    if measure in METRICS:
        return METRICS[measure]
    family, _, k = measure.rpartition("_")
    return FAMILIES[family](k=int(k), field="id")


def test_the_list_of_entries_is_complete(trec: Trec) -> None:
    assert sorted(trec.entries) == sorted(ENTRIES)
    assert sorted(trec.values) == sorted(ENTRIES)


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("name", ENTRIES)
def test_equals_trec_eval_on_every_query(trec: Trec, name: str) -> None:
    entry = trec.entries[name]
    runs = ranking(trec.folder / entry["run"])
    judged = judgements(trec.folder / entry["qrels"])
    compared = 0
    for query, expected in trec.values[name].items():
        relevant = [document for document in judged[query] if (document.score or 0) >= entry["relevance_level"]]
        for measure, value in expected.items():
            metric = metric_of(measure, len(relevant))
            if metric is None:
                continue
            reference = judged[query] if isinstance(metric, NDCG) else relevant
            ours = metric.measure(runs[query], reference).value
            assert ours == pytest.approx(value, abs=1e-6), (query, measure)
            compared += 1

    assert compared == 28 * entry["trec_eval"]["num_q"]


@pytest.mark.parametrize(("name", "measure"), [("robust03/UIUC03Rd1", "map"), ("dl19/BM25@l2", "ndcg_cut_10")])
def test_means_equal_the_printed_ones(trec: Trec, name: str, measure: str) -> None:
    entry = trec.entries[name]
    runs = ranking(trec.folder / entry["run"])
    judged = judgements(trec.folder / entry["qrels"])
    metric = metric_of(measure, 0)
    assert metric is not None
    values = [metric.measure(runs[query], judged[query]).value for query in trec.values[name]]

    assert round(sum(values) / len(values), 4) == entry["trec_eval"][measure]
