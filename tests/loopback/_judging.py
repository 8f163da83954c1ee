"""A judge of claims that always says the same, and the faults that real servers mix in, as often as a test wants them.

What happens to a request is decided by a digest of its messages and of how often they have come already, so that it does not
depend on the order of concurrent requests, and one seed gives one history.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ._protocol import Response, rate_limited, server_error

__all__ = ["Faults", "judge"]


def judge(body: Mapping[str, Any]) -> Response:
    """The claims of an answer are its sentences; a claim is supported if a digest of it says so."""
    data = json.loads(next(item["content"] for item in body["messages"] if item["role"] == "user"))
    if "claims" not in data:
        return Response({"claims": [text.strip() for text in data["answer"].split(".") if text.strip()]})
    verdicts = [
        {"number": int(number), "reason": "it is so", "supported": share(claim) < 0.6}
        for number, claim in data["claims"].items()
    ]
    return Response({"verdicts": verdicts})


class Faults:
    """A responder with faults.

    Args:
        seed: decides which requests are hit.
        shares: share of the requests hit by each kind: ``busy`` (429), ``failing`` (500), ``reset``, ``hang``, ``malformed``
            (the reply lacks its end), ``truncated`` (the same, and the server says so).
        delay: seconds before each answer.
        stubborn: the same messages always meet the same fate, however often they come.

    Attributes:
        met: how many requests met each kind.
    """

    def __init__(self, seed: int, shares: Mapping[str, float], *, delay: float = 0.0, stubborn: bool = False) -> None:
        self.seed = seed
        self.shares = dict(shares)
        self.delay = delay
        self.stubborn = stubborn
        self.met: Counter[str] = Counter()
        self._came: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, body: Mapping[str, Any]) -> Response:
        messages = json.dumps(body["messages"])
        with self._lock:
            self._came[messages] += 1
            came = 0 if self.stubborn else self._came[messages]
            kind = self._kind(share(f"{self.seed} {came} {messages}"))
            self.met[kind] += 1
        return replace(self._response(kind, body), delay=self.delay)

    def _kind(self, place: float) -> str:
        for kind, part in self.shares.items():
            place -= part
            if place < 0:
                return kind
        return "none"

    def _response(self, kind: str, body: Mapping[str, Any]) -> Response:
        ways = {
            "busy": rate_limited("0.05"),
            "failing": server_error(),
            "reset": Response(reset=True),
            "hang": Response(hang=True),
        }
        if kind in ways:
            return ways[kind]
        answer = judge(body)
        cut = answer.text[: -4 - int(share(answer.text) * len(answer.text) / 2)]
        if kind == "malformed":
            return Response(cut)
        return Response(cut, finish_reason="length") if kind == "truncated" else answer


def share(text: str) -> float:
    """A number from 0 to 1 that looks random and is not."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:6], "big") / 2**48
