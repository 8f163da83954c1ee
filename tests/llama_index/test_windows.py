"""A window of contexts that the judge can read."""

from __future__ import annotations

import pytest

from ragmetrics_core import InvalidInput
from ragmetrics_core.metrics import RefineFaithfulness
from ragmetrics_core.metrics.windows import tokens
from ragmetrics_llama_index._windows import fit_window


@pytest.mark.parametrize(
    ("own", "fill", "window"), [(3000, False, 1900), (3000, True, 1900), (100, False, 100), (100, True, 1900)]
)
def test_a_window_that_the_judge_can_read(own: int, window: int, *, fill: bool) -> None:
    """95 % of the tokens that the longer prompt, the frame of the messages and twice the text leave."""
    metric = RefineFaithfulness(window=own)
    text = "one two three"
    taken = max(tokens(metric.first.system), tokens(metric.refine.system)) + 200 + 2 * tokens(text)
    assert fit_window(metric, [text, None], taken + 2000, fill=fill).window == window


def test_a_judge_without_room_is_refused() -> None:
    metric = RefineFaithfulness()
    taken = max(tokens(metric.first.system), tokens(metric.refine.system)) + 200
    with pytest.raises(InvalidInput) as raised:
        fit_window(metric, [], taken)
    assert str(raised.value) == (
        f"refine_faithfulness: the judge's context window leaves {taken} tokens for a question, but the prompt and the inputs "
        f"take {taken} without any context: give a judge with a longer context_window, or correct its metadata"
    )
