"""ContextPrecision: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import numbered
from core.metrics.contract import MetricContract
from core.metrics.useful_calls import WORDS, useful, useful_of_all
from ragmetrics_core.metrics import ContextPrecision
from recording import CONTEXTS, QUESTION, REFERENCE, Call, Exchange

EXCHANGES = [
    Exchange(
        # only rank 2 is useful: (1/2) / 1
        ContextPrecision(),
        [
            Call(
                "judge_usefulness", {"question": QUESTION, "answer": REFERENCE, "context": CONTEXTS[0]}, useful(False)
            ),
            Call("judge_usefulness", {"question": QUESTION, "answer": REFERENCE, "context": CONTEXTS[1]}, useful(True)),
        ],
        0.5,
    ),
    Exchange(
        # the same verdicts, in one call
        ContextPrecision(per_passage=False),
        [
            Call(
                "judge_usefulness_of_all",
                {"question": QUESTION, "answer": REFERENCE, "contexts": numbered(*CONTEXTS)},
                useful_of_all(False, True),
            )
        ],
        0.5,
    ),
]


class TestContextPrecision(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
