"""Correctness: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import Correctness
from recording import QUESTION, REFERENCE, RESPONSE, Call, Exchange

WORDS = {
    "grade_correctness": {
        "1": "c10fc2acaf2a8876",
        "2": "ae4283d3b057eaa0",
        "3": "069feafbcd024312",
        "4": "616e2d279d361417",
        "5": "13cae54882c8de5e",
    }
}

EXCHANGES = [
    Exchange(
        Correctness(),
        [
            Call(
                "grade_correctness",
                {"query": QUESTION, "reference_answer": REFERENCE, "generated_answer": RESPONSE},
                "3.5\nRight about the birth; the death was not asked for.",
            )
        ],
        3.5,
        passing=False,
    ),
]


class TestCorrectness(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
