"""ContextPrecision: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from core.metrics.useful_calls import WORDS, useful_exchanges
from ragmetrics_core.metrics import ContextPrecision
from recording import REFERENCE

EXCHANGES = useful_exchanges(ContextPrecision, REFERENCE, [False, True], 0.5)  # only rank 2 is useful: (1/2) / 1


class TestContextPrecision(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
