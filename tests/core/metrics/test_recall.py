"""Recall in both modes against hand-computed values and the definition on sets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import InvalidInput, Metric
from ragmetrics_core.metrics import HitRate, Recall

letters = st.sampled_from("abcdefgh")


@pytest.mark.parametrize(
    ("retrieved", "reference", "k", "multi", "single"),
    [
        (["a", "x", "b"], ["a", "b"], None, 1.0, 1.0),
        (["a", "x", "b"], ["a", "b"], 2, 1 / 2, 1.0),
        (["a", "a", "x"], ["a", "b", "c"], None, 1 / 3, 1.0),  # the second a finds nothing new
        (["a"], ["a", "a", "b", "b"], None, 1 / 2, 1.0),  # two distinct relevant documents
        (["x"], ["a"], None, 0.0, 0.0),
        ([], ["a"], None, 0.0, 0.0),
    ],
)
def test_values_worked_out_by_hand(
    retrieved: list[str], reference: list[str], k: int | None, multi: float, single: float
) -> None:
    inputs = {"retrieved_documents": retrieved, "reference_documents": reference}

    assert Recall(k=k).score(**inputs).value == multi
    assert Recall("single_hit", k=k).score(**inputs).value == single


@given(st.lists(letters), st.lists(letters, min_size=1))
def test_equals_the_definition_on_sets(retrieved: list[str], reference: list[str]) -> None:
    share = len(set(retrieved) & set(reference)) / len(set(reference))

    assert Recall().measure(retrieved, reference).value == share
    assert Recall("single_hit").measure(retrieved, reference).value == HitRate().measure(retrieved, reference).value


@given(st.lists(letters), st.lists(letters, min_size=1))
def test_the_order_of_the_retrieved_is_irrelevant(retrieved: list[str], reference: list[str]) -> None:
    assert Recall().measure(retrieved, reference).value == Recall().measure(retrieved[::-1], reference).value


@given(st.lists(letters), st.lists(letters, min_size=1), st.integers(1, 9))
def test_a_larger_cut_off_never_lowers_it(retrieved: list[str], reference: list[str], k: int) -> None:
    smaller, larger = (Recall(k=cut).measure(retrieved, reference).value for cut in (k, k + 1))

    assert float(larger or 0) >= float(smaller or 0)


@pytest.mark.parametrize("mode", ["any", "MULTI_HIT", "", None, 1])
def test_refuses_an_unknown_mode(mode: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        Recall(mode)  # type: ignore[arg-type]
    assert str(caught.value) == f"recall: mode must be 'multi_hit' or 'single_hit', got {mode!r}"


def test_settings_in_order_round_trip() -> None:
    metric = Recall("single_hit", 5, "id")

    assert metric == Recall(mode="single_hit", k=5, field="id")
    assert repr(metric) == "Recall(mode='single_hit', k=5, field='id')"
    assert Metric.from_dict(metric.to_dict()) == metric
