"""ContextUtilization: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from core.metrics.useful_calls import WORDS, useful
from ragmetrics_core.metrics import ContextUtilization
from recording import CONTEXTS, QUESTION, RESPONSE, Call, Exchange

EXCHANGES = [
    Exchange(
        ContextUtilization(),
        [
            Call("judge_usefulness", {"question": QUESTION, "answer": RESPONSE, "context": CONTEXTS[0]}, useful(True)),
            Call("judge_usefulness", {"question": QUESTION, "answer": RESPONSE, "context": CONTEXTS[1]}, useful(False)),
        ],
        1.0,
    ),
]


class TestContextUtilization(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
