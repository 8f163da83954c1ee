"""ContextRelevanceRating: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import ContextRelevanceRating
from recording import CONTEXTS, QUESTION, Call, Exchange

WORDS = {
    "rate_context_relevance": {
        "1": "47723c779d470c09",
        "2": "3691e951170faaa5",
        "3": "687350a5d4f559de",
        "4": "22c08a4b4aae0b7a",
        "5": "9866a9c883661503",
    },
    "refine_context_relevance": {
        "1": "28ad1a184feac80e",
        "2": "db4c9da04a6681c8",
        "3": "1c4feb050a5220d5",
        "4": "6b2657c3eb9971fb",
        "5": "f768f7b4ae384cf1",
    },
}

EXCHANGES = [
    Exchange(
        # 2.5 of 4 for the first window; the second one cannot lower it
        ContextRelevanceRating(threshold=0.5, window=24),
        [
            Call(
                "rate_context_relevance",
                {"query": QUESTION, "context": CONTEXTS[0]},
                '{"reason": "the birth, but nothing else", "score": 2.5}',
            ),
            Call(
                "refine_context_relevance",
                {"query": QUESTION, "existing_score": 2.5, "context": CONTEXTS[1]},
                '{"reason": "nothing new", "score": 1}',
            ),
        ],
        0.625,
        passing=True,
    ),
]


class TestContextRelevanceRating(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
