"""Replies of the judge that says whether a context is useful, and the words that it is asked with."""

from __future__ import annotations

import json

WORDS = {"judge_usefulness": {"1": "3f763ee3455964a0", "2": "2cfe8763f2656759"}}


def useful(value: bool) -> str:
    return json.dumps({"reason": "because", "useful": value})
