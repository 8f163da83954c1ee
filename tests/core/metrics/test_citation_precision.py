"""Citation precision: its recorded exchange, the words it asks with, and its edges."""

from __future__ import annotations

from core.metrics.citation_calls import CHECKED, CITING, WORDS
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import CitationPrecision
from ragmetrics_core.testing import ScriptedLLM
from recording import Exchange

EXCHANGES = [
    # of five citations only the first is of a passage that supports its statement
    Exchange(CitationPrecision(), [CHECKED], 1 / 5, sample=CITING),
]


class TestCitationPrecision(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False


def test_a_response_that_cites_nothing_is_unscored_and_costs_nothing() -> None:
    score = CitationPrecision(llm=ScriptedLLM({})).score({**CITING, "response": "She was born in London."})
    assert (score.value, score.reason, score.usage.calls) == (None, "the response cites nothing", 0)
