"""RubricScore: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import RubricScore
from recording import CONTEXTS, QUESTION, REFERENCE, RESPONSE, Call, Exchange

WORDS = {
    "grade_by_rubric": {
        "1": "7fbfd86c079fe150",
        "2": "3f678c96d0ee9fd7",
        "3": "c69f78768a1ef9ef",
        "4": "202d5bc39ef213e8",
        "5": "7dc82e20e08d2692",
    }
}

EXCHANGES = [
    Exchange(
        RubricScore({1: "wrong", 2: "half right", 3: "right"}),
        [
            Call(
                "grade_by_rubric",
                {
                    "rubric": {"1": "wrong", "2": "half right", "3": "right"},
                    "question": QUESTION,
                    "contexts": CONTEXTS,
                    "reference": REFERENCE,
                    "response": RESPONSE,
                },
                '{"reason": "the date is incomplete", "score": 2}',
            )
        ],
        2.0,
    ),
]


class TestRubricScore(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
