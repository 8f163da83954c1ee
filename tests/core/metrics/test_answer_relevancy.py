"""AnswerRelevancy: its recorded exchange, and the words it asks with."""

from __future__ import annotations

import json

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import AnswerRelevancy
from recording import RESPONSE, Call, Exchange

WORDS = {
    "questions_of_answer": {
        "1": "576e3e842d9bb2b8",
        "2": "ae8c6c6aa399e5ee",
        "3": "1e848646d929d110",
        "4": "a374dcafd5b3fcdb",
        "5": "849a4b99665d02cb",
    }
}

EXCHANGES = [
    # vectors [1, 0], [0.6, 0.8] and [0, 1] give cosines 0.6 and 0, mean 0.3
    Exchange(
        AnswerRelevancy(strictness=2),
        [
            Call(
                "questions_of_answer",
                {"answer": RESPONSE, "number_of_questions": 2},
                json.dumps({"questions": ["When was she born?", "When did she die?"], "noncommittal": False}),
            )
        ],
        0.3,
        embedding_requests=1,
    ),
]


class TestAnswerRelevancy(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
