"""Every metric that asks an LLM has a recorded exchange beside its tests."""

from __future__ import annotations

from exchanges import EXCHANGES, WITH_EMBEDDINGS
from ragmetrics_core.metrics import SemanticSimilarity, catalogue


def test_every_metric_that_asks_an_llm_has_a_recorded_exchange() -> None:
    recorded = {type(exchange.metric) for exchange in [*EXCHANGES, WITH_EMBEDDINGS]}
    asking = {entry.cls for entry in catalogue() if entry.calls != "none"} - {SemanticSimilarity}
    assert asking == recorded, "a metric that asks has EXCHANGES in its test module, and a test class of MetricContract"
