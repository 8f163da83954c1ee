"""ContextRecall: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import EXTRACT_REFERENCE, REFERENCE_BY_CONTEXTS, WORDS
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import ContextRecall
from recording import Exchange

EXCHANGES = [
    Exchange(ContextRecall(), [EXTRACT_REFERENCE, REFERENCE_BY_CONTEXTS], 1.0),
]


class TestContextRecall(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False
