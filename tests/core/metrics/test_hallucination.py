"""Hallucination: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import EXTRACT_RESPONSE, RESPONSE_BY_CONTEXTS, RESPONSE_BY_REFERENCE, WORDS
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import Hallucination
from recording import Exchange

EXCHANGES = [
    # neither a passage nor the reference supports the second of two claims
    Exchange(Hallucination(), [EXTRACT_RESPONSE, RESPONSE_BY_CONTEXTS, RESPONSE_BY_REFERENCE], 1 / 2),
]


class TestHallucination(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False
