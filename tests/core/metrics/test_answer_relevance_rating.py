"""AnswerRelevanceRating: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import AnswerRelevanceRating
from recording import QUESTION, RESPONSE, Call, Exchange

WORDS = {
    "rate_answer_relevance": {
        "1": "81a976d64b82c803",
        "2": "0c4fe656c5d1e513",
        "3": "23a0eea934e6489f",
        "4": "1c880d3ef5a6b061",
        "5": "4f8d0c8b6b833af6",
    }
}

EXCHANGES = [
    Exchange(
        AnswerRelevanceRating(),
        [
            Call(
                "rate_answer_relevance",
                {"query": QUESTION, "response": RESPONSE},
                "1. YES. It is about her.\n2. NO. It adds her death.\n\n[RESULT] 1",
            )
        ],
        0.5,
        passing=False,
    ),
]


class TestAnswerRelevanceRating(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
