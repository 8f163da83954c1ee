"""ResponseGroundedness: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import ResponseGroundedness
from recording import CONTEXTS, RESPONSE, Call, Exchange

WORDS = {
    "rate_groundedness": {
        "1": "80a9b355bb9431b9",
        "2": "105e275b32d43ab2",
        "3": "db0cfcd110014548",
        "4": "7057c6943ce07bf6",
        "5": "8669bf1e5ca9db92",
    },
    "rate_groundedness_again": {
        "1": "317b06b028bad67a",
        "2": "26629d95e5355b9d",
        "3": "621a113f96822f88",
        "4": "7f08e8c41abdb208",
        "5": "ace47e6c048f10dc",
    },
}

EXCHANGES = [
    Exchange(
        ResponseGroundedness(),
        [
            Call("rate_groundedness", {"contexts": CONTEXTS, "response": RESPONSE}, "1"),
            Call("rate_groundedness_again", {"contexts": CONTEXTS, "response": RESPONSE}, "0"),
        ],
        0.25,
    ),
]


class TestResponseGroundedness(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
