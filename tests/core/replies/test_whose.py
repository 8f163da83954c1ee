"""The quick look for words that decline sees whatever the pattern behind it would find."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core.replies import _whose
from ragmetrics_core.replies._whose import DECLINES


@given(st.from_regex(DECLINES))
@settings(max_examples=300, deadline=None)
def test_no_words_that_decline_are_overlooked(text: str) -> None:
    lower = _whose._lower(text)
    assert _whose.declines(text) == (len(text) >= _whose._FEW and DECLINES.search(lower) is not None)


def test_a_plain_reply_declines_nothing() -> None:
    assert not _whose.declines("The context supports every claim of the answer.")
    assert _whose.declines("I decline to judge this.")
