"""Packing contexts into windows: in order, within the budget, nothing lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.metrics.windows import pack, tokens


def test_tokens_are_estimated_high() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "北京", "née")] == [0, 1, 1, 2, 2, 2]


def test_texts_share_windows_in_order() -> None:
    four = "x" * 16
    assert pack([four, four, four], 8) == [[four, four], [four]]
    assert pack([four], 4) == [[four]]


def test_a_long_text_is_split_between_sentences_then_words_then_anywhere() -> None:
    # 5 estimated tokens, then 6 + 2
    assert pack(["One two three four. Five six seven eight. Nine."], 8) == [
        ["One two three four. "],
        ["Five six seven eight. Nine."],
    ]
    assert pack(["aaaa bbbb cccc"], 2) == [["aaaa "], ["bbbb "], ["cccc"]]
    assert pack(["a" * 40], 4) == [["a" * 16], ["a" * 16], ["a" * 8]]
    assert pack(["京" * 10], 4) == [["京" * 4], ["京" * 4], ["京" * 2]]


@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=6), st.integers(4, 64))
def test_nothing_is_lost_and_no_window_overflows(texts: list[str], window: int) -> None:
    windows = pack(texts, window)
    assert "".join(piece for group in windows for piece in group) == "".join(texts)
    assert all(sum(map(tokens, group)) <= window for group in windows)
