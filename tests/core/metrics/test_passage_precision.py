"""PassagePrecision: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.claim_calls import EXTRACT_REFERENCE, G1, G2, REFERENCE_BY_CONTEXTS, WORDS, sides, verify
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import PassagePrecision
from recording import CONTEXTS, Exchange

EXCHANGES = [
    # of two passages the first supports claims of the reference
    Exchange(PassagePrecision(), [EXTRACT_REFERENCE, REFERENCE_BY_CONTEXTS], 1 / 2),
    Exchange(
        PassagePrecision(per_passage=True, name="passage_precision_one_by_one"),
        [
            EXTRACT_REFERENCE,
            verify(CONTEXTS[:1], [G1, G2], sides([1], [])),
            verify(CONTEXTS[1:], [G1, G2], sides([], [1])),
        ],
        1.0,  # both passages support a claim each
    ),
]


class TestPassagePrecision(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False
