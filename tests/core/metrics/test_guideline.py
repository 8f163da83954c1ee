"""Guideline: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import Guideline
from recording import QUESTION, RESPONSE, Call, Exchange

SOURCES = "The response names its sources."

WORDS = {
    "critique_by_guidelines": {
        "1": "258583f55349c089",
        "2": "5209999a2cae8551",
        "3": "ead5510bce9a4a45",
        "4": "96c81fe5fbdd66fb",
        "5": "ac0dc22262c763ea",
    }
}

EXCHANGES = [
    Exchange(
        Guideline(SOURCES),
        [
            Call(
                "critique_by_guidelines",
                {"guidelines": SOURCES, "query": QUESTION, "response": RESPONSE},
                '{"feedback": "It names no source.", "passing": false}',
            )
        ],
        0.0,
        passing=False,
    ),
]


class TestGuideline(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
