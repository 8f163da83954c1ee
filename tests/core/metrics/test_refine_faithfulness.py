"""RefineFaithfulness: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import RefineFaithfulness
from recording import CONTEXTS, RESPONSE, Call, Exchange

WORDS = {
    "refine_supported": {
        "1": "6d550c4d43af605d",
        "2": "7fa6280608ed3fde",
        "3": "fa13b80acbf5e825",
        "4": "04c53839ff16575d",
        "5": "355045e2a990ac21",
    },
    "supported_by_context": {
        "1": "cf279e04afc763fd",
        "2": "ea120fa57c427e61",
        "3": "dcd4ed0d986c6aa3",
        "4": "c4f5d3c8a9f05f1e",
        "5": "1909d884164cde0f",
    },
}

EXCHANGES = [
    Exchange(
        RefineFaithfulness(window=24),
        [
            Call("supported_by_context", {"information": RESPONSE, "context": CONTEXTS[0]}, "NO"),
            Call(
                "refine_supported",
                {"information": RESPONSE, "existing_answer": "NO", "context": CONTEXTS[1]},
                "**Yes**, it does.",
            ),
        ],
        1.0,
        passing=True,
    ),
]


class TestRefineFaithfulness(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
