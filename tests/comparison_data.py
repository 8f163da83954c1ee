"""Pairs of runs to compare in a page: few rows with everything in them, hostile ones, and very many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragmetrics_core import Comparison
from report_data import XSS, claim, hostile, line, many, score, written

ANSWER_BEFORE = "The tower is in Rome. It is 330 metres tall."
ANSWER_AFTER = "The tower is in Paris. It is 330 metres tall."
TALL = "The tower is 330 metres tall."


def compared_small(folder: Path, *, twice: bool = False, **options: Any) -> Comparison:
    """Eight rows: better, worse, gained, the same, lost, in one run only (twice), and without a value in both.

    Args:
        folder: where the scores are written.
        twice: the second row stands twice in the first run, with another answer that has the value 0.
        options: those of ``Evaluation.compare``.
    """
    before = [
        _row(
            1,
            "en",
            0.5,
            _claims("The tower is in Rome.", "contradicted"),
            "contradicted",
            ANSWER_BEFORE,
            ["A city.", "Paris."],
        ),
        _row(2, "de", 1.0, [], "right"),
        _row(3, "en", None, [], None, error="BadReply: no JSON"),
        _row(4, "de", 0.5, [], "misled"),
        _row(5, "de", 0.75, [], "misled"),
        _row(6, "de", 0.25, [], "misled"),
        _nothing(8),
    ]
    after = [
        _row(
            1,
            "en",
            1.0,
            _claims("The tower is in Paris.", "supported"),
            "right",
            ANSWER_AFTER,
            ["Paris.", "The tower stands."],
        ),
        _row(2, "de", 0.75, [], "right"),
        _row(3, "en", 0.8, [], "right"),
        _row(4, "de", 0.5, [], "misled"),
        _row(5, "de", None, [], None, reason="the response makes no claims"),
        _row(7, "de", 1.0, [], "right"),
        _nothing(8),
    ]
    if twice:
        before.append(_row(2, "de", 0.0, [], "misled", "It is elsewhere."))
    one, two = (written(folder / f"{name}.jsonl", rows) for name, rows in (("before", before), ("after", after)))
    return one.compare(two, **options)


def _claims(place: str, verdict: str) -> list[dict[str, Any]]:
    """Two claims: where the tower is, with this verdict, and how tall, which has support in the second run only."""
    tall = "supported" if verdict == "supported" else "not stated"
    return [
        claim(place, verdict, [0, len(place)], [1] * (verdict == "supported"), [2] * (verdict == "contradicted")),
        claim(TALL, tall, [len(place) + 1, len(place) + 23], [2] * (tall == "supported"), []),
    ]


def _row(
    number: int,
    lang: str,
    value: float | None,
    verdicts: list[dict[str, Any]],
    label: str | None,
    answer: str = "It is there.",
    contexts: list[str] | None = None,
    **why: str,
) -> dict[str, Any]:
    sample = {
        "id": f"q{number}",
        "user_input": f"Where is tower {number}?",
        "response": answer,
        "retrieved_contexts": contexts or ["Paris."],
        "reference": "In Paris.",
        "metadata": {"lang": lang},
    }
    details = {"verdicts": verdicts, "prompts": {"verify_claims": "4"}} if verdicts else {}
    right = label == "right"
    return line(
        number,
        sample,
        score("faithfulness", value, details=details, **why),
        score("diagnosis", float(right), passing=right, label=label)
        if label
        else score("diagnosis", None, reason="no answer"),
    )


def _nothing(number: int) -> dict[str, Any]:
    """A row without an id, and without a value in either run."""
    sample = {"user_input": "Nothing?", "response": "Nothing.", "retrieved_contexts": []}
    return line(
        number, sample, *(score(name, None, reason="nothing was retrieved") for name in ("faithfulness", "diagnosis"))
    )


def compared_hostile(folder: Path, *, allow_different_judges: bool = True) -> Comparison:
    """Hostile texts in every field of both runs, whose judges differ: their names are hostile too. Sliced by a hostile column."""
    one, two = hostile(folder / "one.jsonl"), hostile(folder / "two.jsonl", value=1.0, judge=XSS[3])
    return one.compare(two, by="lang", allow_different_judges=allow_different_judges)


def compared_many(folder: Path, rows: int) -> Comparison:
    """So many rows of two systems that say other things."""
    return many(folder / "one.jsonl", rows).compare(many(folder / "two.jsonl", rows, system=1), by="lang")
