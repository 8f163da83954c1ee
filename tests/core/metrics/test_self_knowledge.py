"""SelfKnowledge: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import EXTRACT_RESPONSE, R1, R2, RESPONSE_BY_REFERENCE, WORDS, sides, verify
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import SelfKnowledge
from recording import CONTEXTS, Exchange

EXCHANGES = [
    # no passage supports a claim, and the reference supports the first of two
    Exchange(
        SelfKnowledge(),
        [EXTRACT_RESPONSE, verify(CONTEXTS, [R1, R2], sides([], [])), RESPONSE_BY_REFERENCE],
        1 / 2,
    ),
]


class TestSelfKnowledge(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False
