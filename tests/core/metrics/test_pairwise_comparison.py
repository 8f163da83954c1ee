"""PairwiseComparison: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import PairwiseComparison
from recording import QUESTION, REFERENCE, RESPONSE, SAMPLE, Call, Exchange

SECOND = "Ada Lovelace was an English mathematician."

WORDS = {
    "compare_responses": {
        "1": "27d6e9a72014feed",
        "2": "33c585c8d3a2fb19",
        "3": "e0a38ff5356e5e59",
        "4": "5d954f43de5c77db",
        "5": "56434d02f4c18455",
    }
}

EXCHANGES = [
    Exchange(
        # only the second order is decisive, and there B is the response
        PairwiseComparison(),
        [
            Call(
                "compare_responses",
                {"query": QUESTION, "reference": REFERENCE, "response_a": RESPONSE, "response_b": SECOND},
                '{"reason": "both are short", "better": "tie"}',
            ),
            Call(
                "compare_responses",
                {"query": QUESTION, "reference": REFERENCE, "response_a": SECOND, "response_b": RESPONSE},
                "A never says where or when. [[B]]",
            ),
        ],
        1.0,
        sample={**SAMPLE, "second_response": SECOND},
        passing=True,
    ),
]


class TestPairwiseComparison(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
