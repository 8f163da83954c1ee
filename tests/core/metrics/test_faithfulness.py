"""Faithfulness: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import EXTRACT_RESPONSE, R1, R2, RESPONSE_BY_CONTEXTS, WORDS, sides, verify
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import Faithfulness
from recording import CONTEXTS, Exchange

EXCHANGES = [
    Exchange(Faithfulness(), [EXTRACT_RESPONSE, RESPONSE_BY_CONTEXTS], 0.5),
    Exchange(
        # a window of 16 estimated tokens holds one of the two contexts: 52 / 4 = 13 and 47 / 4 = 12 tokens
        Faithfulness(window=24, name="faithfulness_by_windows"),
        [
            EXTRACT_RESPONSE,
            verify(CONTEXTS[:1], [R1, R2], sides([1], [])),
            verify(CONTEXTS[1:], [R1, R2], sides([], [])),
        ],
        0.5,
    ),
]


class TestFaithfulness(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False
