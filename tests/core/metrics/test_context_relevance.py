"""ContextRelevance: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import ContextRelevance
from recording import CONTEXTS, QUESTION, Call, Exchange

WORDS = {
    "rate_contexts": {
        "1": "46e9154b21e53838",
        "2": "831608863ca122b6",
        "3": "e9c7ff2f32830a3e",
        "4": "1b23d35840374200",
        "5": "369aff332731c15a",
    },
    "rate_contexts_again": {
        "1": "0037124b8b571e8c",
        "2": "7d17f5a12e8e3de2",
        "3": "103078b203ad7585",
        "4": "703facfa67f67692",
        "5": "33e2dd7762259ee6",
    },
}

EXCHANGES = [
    Exchange(
        ContextRelevance(),
        [
            Call("rate_contexts", {"question": QUESTION, "contexts": CONTEXTS}, '{"reason": "all there", "rating": 2}'),
            Call("rate_contexts_again", {"question": QUESTION, "contexts": CONTEXTS}, "Rating: 1"),
        ],
        0.75,
    ),
]


class TestContextRelevance(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
