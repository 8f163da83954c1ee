"""Replies of the judge that says whether a context is useful, and the words that it is asked with."""

from __future__ import annotations

import json

WORDS = {
    "judge_usefulness": {"1": "3f763ee3455964a0", "2": "2cfe8763f2656759", "3": "e2e48abf94c00a7f"},
    "judge_usefulness_of_all": {"1": "0be7805a87826b36"},
}


def useful(value: bool) -> str:
    return json.dumps({"reason": "because", "useful": value})


def useful_of_all(*values: bool) -> str:
    """The reply on all contexts; the last one first, as their order in it does not matter."""
    verdicts = [{"number": number, "reason": "because", "useful": value} for number, value in enumerate(values, 1)]
    return json.dumps({"verdicts": verdicts[::-1]})
