"""RelevantStatements: its recorded exchange, and the words it asks with."""

from __future__ import annotations

import json

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import RelevantStatements
from recording import CONTEXTS, QUESTION, Call, Exchange

WORDS = {
    "find_relevant_statements": {
        "1": "6cde9f70dc0d8b81",
        "2": "5278fdd56b254642",
        "3": "af93915a2d2d11cb",
        "4": "f5b3037bf701ae7e",
        "5": "bad9dd789bdea31c",
    }
}

EXCHANGES = [
    Exchange(
        RelevantStatements(),
        [
            Call(
                "find_relevant_statements",
                {"question": QUESTION, "contexts": CONTEXTS},
                json.dumps({"relevant_statements": [CONTEXTS[0]]}),
            )
        ],
        1.0,
    ),
]


class TestRelevantStatements(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
