"""Replies of the judge that says whether a context is useful, and the words that it is asked with."""

from __future__ import annotations

import json

from core.metrics.claim_calls import numbered
from ragmetrics_core.metrics import ContextPrecision, ContextUtilization
from recording import CONTEXTS, QUESTION, Call, Exchange

WORDS = {
    "judge_usefulness": {
        "1": "3f763ee3455964a0",
        "2": "2cfe8763f2656759",
        "3": "e2e48abf94c00a7f",
        "4": "ceb89793d1766899",
        "5": "3f93777f5c5a0185",
    },
    "judge_usefulness_of_all": {"1": "0be7805a87826b36", "2": "ed478814e591dc1f", "3": "2fe3de11a336973b"},
}


def useful(value: bool) -> str:
    return json.dumps({"reason": "because", "useful": value})


def useful_of_all(*values: bool) -> str:
    """The reply on all contexts; the last one first, as their order in it does not matter."""
    verdicts = [{"number": number, "reason": "because", "useful": value} for number, value in enumerate(values, 1)]
    return json.dumps({"verdicts": verdicts[::-1]})


def useful_exchanges(
    metric: type[ContextPrecision | ContextUtilization], answer: str, verdicts: list[bool], score: float
) -> list[Exchange]:
    """The same verdicts on the two contexts and the same score, asked context by context and in one call."""
    asked = {"question": QUESTION, "answer": answer}
    each = [
        Call("judge_usefulness", {**asked, "context": context}, useful(verdict))
        for context, verdict in zip(CONTEXTS, verdicts, strict=True)
    ]
    of_all = Call("judge_usefulness_of_all", {**asked, "contexts": numbered(*CONTEXTS)}, useful_of_all(*verdicts))
    return [Exchange(metric(), each, score), Exchange(metric(per_passage=False), [of_all], score)]
