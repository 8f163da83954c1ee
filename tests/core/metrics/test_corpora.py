"""Rows with planted faults, in several languages: what a judge that answers truthfully makes of them."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from core.metrics.truthful_judge import TruthfulJudge, asked, corpus
from ragmetrics_core import Score
from ragmetrics_core.metrics import AnswerOrAbstain, Diagnosis
from source_tree import ROOT

Row = Mapping[str, Any]

DIAGNOSIS = corpus("diagnosis")
ABSTENTION = corpus("abstention")


def judge_of(rows: list[dict[str, Any]]) -> TruthfulJudge:
    """It gets the texts and what is true of them, and nothing that names the answer."""
    return TruthfulJudge([{key: row[key] for key in row if key not in ("id", "lang", "label", "cell")} for row in rows])


@pytest.fixture(scope="module")
def diagnosed() -> list[Score]:
    metric = Diagnosis(llm=judge_of(DIAGNOSIS))
    return [metric.score(asked(row)) for row in DIAGNOSIS]


def test_the_corpora_are_what_they_are_said_to_be() -> None:
    labels = Counter((row["lang"], row["label"]) for row in DIAGNOSIS)
    assert len(labels) == 32
    assert set(labels.values()) == {2}
    cells = Counter((row["lang"], row["cell"]) for row in ABSTENTION)
    assert {lang: {count for (of, _), count in cells.items() if of == lang} for lang, _ in cells} == {
        "en": {12}, "de": {10}, "fr": {10}, "es": {7}, "it": {4}, "nl": {3}, "pt": {2}, "zh": {1}, "ja": {1},
    }  # fmt: skip
    assert len(ABSTENTION) == 200
    for rows in (DIAGNOSIS, ABSTENTION):
        assert len({row["id"] for row in rows}) == len(rows) == len({str(asked(row)) for row in rows})


def test_no_two_rows_say_different_things_of_the_same_texts() -> None:
    judge = judge_of(DIAGNOSIS)
    for row in DIAGNOSIS:
        alone = judge_of([row])
        assert {key: judge.signs[key] for key in alone.signs} == alone.signs
        assert {text: judge.claims[text] for text in alone.claims} == alone.claims


@pytest.mark.parametrize("per_passage", [False, True])
def test_a_truthful_judge_finds_every_planted_fault(per_passage: bool) -> None:
    metric = Diagnosis(llm=judge_of(DIAGNOSIS), per_passage=per_passage)
    assert [row["id"] for row in DIAGNOSIS if metric.score(asked(row)).label != row["label"]] == []


def test_a_truthful_judge_puts_every_row_in_its_cell() -> None:
    metric = AnswerOrAbstain(llm=judge_of(ABSTENTION))
    assert [row["id"] for row in ABSTENTION if metric.score(asked(row)).label != row["cell"]] == []


def test_the_claims_that_a_label_rests_on_are_of_the_text_at_fault(diagnosed: list[Score]) -> None:
    for row, score in zip(DIAGNOSIS, diagnosed, strict=True):
        because = score.details["because"]
        side = "reference" if row["label"] in ("not_retrieved", "not_used") else "response"
        assert {*because} <= {claim["text"] for claim in row[f"{side}_claims"]}, row["id"]
        assert bool(because) is (row["label"] not in ("declined", "right")), row["id"]


@pytest.fixture(scope="module")
def bench() -> dict[str, Any]:
    """The benchmark that publishes how labels hold when verdicts are wrong."""
    return runpy.run_path(str(ROOT / "bench" / "diagnosis.py"))


def published(label: str) -> list[float]:
    """The figures of one line of the table in docs/diagnosis.md: per cent, by the rate of wrong verdicts."""
    page = (ROOT / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    lines = re.findall(rf"^{label} +((?: *\d+\.\d){{4}})$", page, re.MULTILINE)
    assert len(lines) == 1
    return [float(figure) for figure in lines[0].split()]


def test_how_labels_hold_when_verdicts_are_wrong_is_what_is_published(bench: dict[str, Any]) -> None:
    few = 3
    for at, rate in enumerate(bench["RATES"]):
        shares = bench["kept"](DIAGNOSIS, rate, few)
        assert set(shares) == {*bench["LABELS"], "all"}
        for label, share in shares.items():
            # 24 rows of a label against 400: three standard errors of the smaller number
            near = 0 if rate == 0 else 6 if label == "all" else 31
            assert 100 * share == pytest.approx(published(label)[at], abs=near), (label, rate)


def test_the_erring_judge_errs_as_often_as_it_is_set_to(bench: dict[str, Any]) -> None:
    truth, rows = judge_of(DIAGNOSIS), DIAGNOSIS
    judges = [bench["ErringJudge"](rows, 0.1, seed) for seed in range(5)]
    wrong = [
        ("+" in judge.signs_of(claim, [text])) is not (sign == "+")
        for judge in judges
        for (claim, text), sign in truth.signs.items()
    ]
    assert sum(wrong) / len(wrong) == pytest.approx(0.1, abs=0.02)


def test_the_table_is_printed_as_it_is_published(bench: dict[str, Any]) -> None:
    columns = {
        rate: {label: published(label)[at] / 100 for label in (*bench["LABELS"], "all")}
        for at, rate in enumerate(bench["RATES"])
    }
    assert bench["table"](columns) in (ROOT / "docs" / "diagnosis.md").read_text(encoding="utf-8")
