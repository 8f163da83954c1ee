"""Fabricated citations: what counts, and what there is where nothing was retrieved or cited."""

from __future__ import annotations

import pytest

from ragmetrics_core.metrics import FabricatedCitations


@pytest.mark.parametrize(
    ("response", "value", "fabricated"),
    [
        ("It is red [1]. It is tall [2].", 0.0, []),
        ("It is red [1, 9]. It is tall [0].", 2 / 3, ["9", "0"]),
        ("It is red [9].", 1.0, ["9"]),
        ("It is red [1]. It was [1999] then.", 0.0, []),
    ],
)
def test_values(response: str, value: float, fabricated: list[str]) -> None:
    score = FabricatedCitations().score(response=response, retrieved_contexts=["a", "b"])
    assert score.value == value
    assert score.details["fabricated"] == fabricated


def test_where_nothing_is_cited_there_is_no_score() -> None:
    score = FabricatedCitations().score(response="It is red.", retrieved_contexts=["a"])
    assert (score.value, score.reason) == (None, "the response cites nothing")


def test_where_nothing_was_retrieved_every_citation_is_fabricated() -> None:
    score = FabricatedCitations().score(response="It is red [1].", retrieved_contexts=[])
    assert (score.value, dict(score.details)) == (1.0, {"fabricated": ["1"], "citations": 1})


def test_a_pattern_of_ones_own() -> None:
    metric = FabricatedCitations(pattern=r"\(ref (\d+)\)")
    assert metric.score(response="It is red (ref 1)(ref 7) [9].", retrieved_contexts=["a"]).value == 1 / 2
