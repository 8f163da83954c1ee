"""Relevancy: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import Relevancy
from recording import CONTEXTS, QUESTION, RESPONSE, Call, Exchange

WORDS = {
    "in_line_with_context": {
        "1": "0fccf398ea58d0e8",
        "2": "7b53e4cc7e86d8a4",
        "3": "a740254bf3441cc5",
        "4": "279b9ace4728397f",
        "5": "b05dc7aab64d7e55",
    },
    "refine_in_line": {
        "1": "9000ed54bbc85d0e",
        "2": "153e62d0d0dd7a57",
        "3": "a5314cb6a0ba8922",
        "4": "c5a1a4a0a5d941b0",
        "5": "96089a1bc1ed34cb",
    },
}

EXCHANGES = [
    Exchange(
        Relevancy(window=24),
        [
            Call("in_line_with_context", {"query": QUESTION, "response": RESPONSE, "context": CONTEXTS[0]}, "NO."),
            Call(
                "refine_in_line",
                {"query": QUESTION, "response": RESPONSE, "existing_answer": "NO", "context": CONTEXTS[1]},
                '{"reason": "Babbage only", "answer": "no"}',
            ),
        ],
        0.0,
        passing=False,
    ),
]


class TestRelevancy(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
