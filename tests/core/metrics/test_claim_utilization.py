"""ClaimUtilization: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import EXTRACT_REFERENCE, G1, G2, REFERENCE_BY_CONTEXTS, WORDS, sides, verify
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import ClaimUtilization
from recording import RESPONSE, Exchange

EXCHANGES = [
    # both claims of the reference were found, and the response says one of them
    Exchange(
        ClaimUtilization(),
        [EXTRACT_REFERENCE, REFERENCE_BY_CONTEXTS, verify([RESPONSE], [G1, G2], sides([1], []))],
        1 / 2,
    ),
]


class TestClaimUtilization(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False
