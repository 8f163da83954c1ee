"""AnswerAccuracy: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import AnswerAccuracy
from recording import QUESTION, REFERENCE, RESPONSE, Call, Exchange

WORDS = {
    "compare_answers": {
        "1": "7a7f38048deca3c3",
        "2": "51b3a3f42d4fdf07",
        "3": "84eb3f58fc301b94",
        "4": "649fe1af749cd681",
        "5": "dc4f0776d906d101",
    },
    "rate_answer": {
        "1": "c40fe6a4538f01f2",
        "2": "edc5e02f6ca7eefb",
        "3": "81b8f04cceea10e4",
        "4": "5e3b7065bae52622",
        "5": "05055449fbbaa926",
    },
}

EXCHANGES = [
    Exchange(
        AnswerAccuracy(),
        [
            Call("rate_answer", {"question": QUESTION, "reference": REFERENCE, "answer": RESPONSE}, "2"),
            Call("compare_answers", {"question": QUESTION, "first_answer": RESPONSE, "second_answer": REFERENCE}, "4"),
        ],
        0.75,
    ),
]


class TestAnswerAccuracy(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
