"""ContextUtilization: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import numbered
from core.metrics.contract import MetricContract
from core.metrics.useful_calls import WORDS, useful, useful_of_all
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
    Exchange(
        # the same verdicts, in one call
        ContextUtilization(per_passage=False),
        [
            Call(
                "judge_usefulness_of_all",
                {"question": QUESTION, "answer": RESPONSE, "contexts": numbered(*CONTEXTS)},
                useful_of_all(True, False),
            )
        ],
        1.0,
    ),
]


class TestContextUtilization(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
