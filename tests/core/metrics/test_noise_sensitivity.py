"""NoiseSensitivity: its recorded exchange, and the words it asks with."""

from __future__ import annotations

import pytest

from core.metrics.claim_calls import (
    EXTRACT_REFERENCE,
    EXTRACT_RESPONSE,
    R1,
    R2,
    REFERENCE_BY_CONTEXTS,
    RESPONSE_BY_REFERENCE,
    WORDS,
    sides,
    verify,
)
from core.metrics.contract import MetricContract
from ragmetrics_core import InvalidInput
from ragmetrics_core.metrics import NoiseSensitivity
from recording import CONTEXTS, Exchange

EXCHANGES = [
    # the reference does not support the second claim of the response, and a relevant passage does
    Exchange(
        NoiseSensitivity(),
        [
            EXTRACT_RESPONSE,
            EXTRACT_REFERENCE,
            REFERENCE_BY_CONTEXTS,
            RESPONSE_BY_REFERENCE,
            verify(CONTEXTS, [R1, R2], sides([1], [1, 2])),
        ],
        1 / 2,
    ),
    # only the irrelevant passage supports it
    Exchange(
        NoiseSensitivity(relevant=False),
        [
            EXTRACT_RESPONSE,
            EXTRACT_REFERENCE,
            REFERENCE_BY_CONTEXTS,
            RESPONSE_BY_REFERENCE,
            verify(CONTEXTS, [R1, R2], sides([1], [2])),
        ],
        1 / 2,
    ),
]


class TestNoiseSensitivity(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False


def test_the_setting_is_checked() -> None:
    with pytest.raises(InvalidInput, match="NoiseSensitivity: relevant must be True or False, got 'yes'"):
        NoiseSensitivity(relevant="yes")  # type: ignore[arg-type]
