"""SinglePassFaithfulness: its recorded exchange, and the words it asks with."""

from __future__ import annotations

import json

from core.metrics.claim_calls import G1, G2, R1, R2
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import SinglePassFaithfulness
from recording import CONTEXTS, QUESTION, RESPONSE, Call, Exchange

WORDS = {
    "split_and_check": {
        "1": "56055331949ce023",
        "2": "9673c24dd030a575",
        "3": "acbf8107b4411585",
        "4": "22a0ce72a64dc81f",
        "5": "b31ab49107b4e05f",
    }
}

EXCHANGES = [
    Exchange(
        SinglePassFaithfulness(),
        [
            Call(
                "split_and_check",
                {"question": QUESTION, "contexts": CONTEXTS, "answer": RESPONSE},
                json.dumps(
                    {"statements": [R1, R2, G1, G2], "reasons": ["a", "b", "c", "d"], "statement_scores": [1, 0, 1, 1]}
                ),
            )
        ],
        0.75,
    ),
]


class TestSinglePassFaithfulness(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
