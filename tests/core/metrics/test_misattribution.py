"""Misattribution: its recorded exchange, the words it asks with, and its edges."""

from __future__ import annotations

from core.metrics.citation_calls import CHECKED, CITING, WORDS
from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import Misattribution
from ragmetrics_core.testing import ScriptedLLM
from recording import Exchange

EXCHANGES = [
    # of three statements with citations one is supported, but by the passage that it does not cite
    Exchange(Misattribution(), [CHECKED], 1 / 3, sample=CITING),
]


class TestMisattribution(MetricContract):
    exchanges = EXCHANGES
    words = WORDS
    judges_as_a_whole = False


def test_a_response_that_cites_nothing_is_unscored_and_costs_nothing() -> None:
    score = Misattribution(llm=ScriptedLLM({})).score({**CITING, "response": "She was born in London."})
    assert (score.value, score.reason, score.usage.calls) == (None, "the response cites nothing", 0)
