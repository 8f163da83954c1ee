"""What the evaluators with a score make of the results of their rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from haystack import logging

from ._replies import clean_object
from ._rows import RowJudge

__all__ = ["extras", "with_scores"]

logger = logging.getLogger(__name__)


def with_scores(result: Mapping[str, Any], outputs: Iterable[str]) -> dict[str, Any]:
    """The results with a status per row, the scores of all rows (NaN where a row failed) and their mean.

    Args:
        result: what the evaluator of rows returns, with a ``score`` in each row that did not fail.
        outputs: names of the lists that a failed row has, empty.
    """
    rows: list[dict[str, Any]] = [
        {**{name: [] for name in outputs}, "score": math.nan, "status": "error"}
        if row is None
        else {**row, "status": "evaluated"}
        for row in result["results"]
    ]
    scores = [row["score"] for row in rows]
    valid = [score for score in scores if not math.isnan(score)]
    skipped = len(scores) - len(valid)
    if skipped:
        logger.warning("{skipped} query(s) failed and were excluded from the score.", skipped=skipped)
    mean = sum(valid) / len(valid) if valid else math.nan
    return {**result, "results": rows, "score": mean, "individual_scores": scores}


def extras(judge: RowJudge, row: int, outputs: Iterable[str]) -> dict[str, Any]:
    """What the model gave for a row besides what it was asked for."""
    reply = judge.replies.get(row)
    found = clean_object(reply.text or "") if reply is not None else None
    return {name: value for name, value in (found or {}).items() if name not in {*outputs, "score", "status"}}
