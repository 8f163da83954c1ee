"""ContextUtilization: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from core.metrics.useful_calls import WORDS, useful_exchanges
from ragmetrics_core.metrics import ContextUtilization
from recording import RESPONSE

EXCHANGES = useful_exchanges(ContextUtilization, RESPONSE, [True, False], 1.0)  # only rank 1 is useful: (1/1) / 1


class TestContextUtilization(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
