"""AnswerCorrectness: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import FACTUAL, WORDS
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import AnswerCorrectness
from recording import Exchange

EXCHANGES = [
    Exchange(AnswerCorrectness((1.0, 0.0)), FACTUAL, 2 / 3),
]


class TestAnswerCorrectness(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False
