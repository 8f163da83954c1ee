"""FactualCorrectness: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import (
    EXTRACT_REFERENCE,
    EXTRACT_RESPONSE,
    FACTUAL,
    REFERENCE_BY_RESPONSE,
    RESPONSE_BY_REFERENCE,
    WORDS,
)
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import FactualCorrectness
from recording import Exchange

EXCHANGES = [
    # P = 1/2, R = 2/2, F1 = 2 * 0.5 * 1 / 1.5
    Exchange(FactualCorrectness(), FACTUAL, 2 / 3),
    Exchange(FactualCorrectness("precision", name="factual_precision"), [EXTRACT_RESPONSE, RESPONSE_BY_REFERENCE], 0.5),
    Exchange(FactualCorrectness("recall", name="factual_recall"), [EXTRACT_REFERENCE, REFERENCE_BY_RESPONSE], 1.0),
]


class TestFactualCorrectness(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False
