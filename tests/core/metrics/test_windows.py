"""Packing contexts into windows: in order, within the budget, nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.metrics.windows import pack, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),  # 5 / 4
        ("the tower", 3),  # 1 + 1/8 + 5/4
        ("abcdefgh", 3),  # 8 / 4 + 3 / 4 for the letters after the fifth
        ("Tower", 2),
        ("ERROR", 4),  # 5 * 5/8
        ("A", 1),
        ("1889", 4),
        ("3.14", 4),
        ('{[",:]}', 7),
        ("\n\n", 2),
        (" " * 16, 2),
        ("née", 3),
        ("Париж", 5),
        ("北京", 3),
        ("पेरिस", 8),
        ("🔥", 3),
    ],
)
def test_tokens_are_estimated_high(text: str, expected: int) -> None:
    assert tokens(text) == expected


def test_texts_share_windows_in_order() -> None:
    four = "1889"
    assert pack([four, four, four], 8) == [[four, four], [four]]
    assert pack([four], 4) == [[four]]


def test_a_long_text_is_split_between_sentences_then_words_then_anywhere() -> None:
    # 1 + 1 + 5/4 + 1 + 1 + 4/8 of a token, then the same for the other sentences
    assert pack(["One two three four. Five six seven eight. Nine."], 8) == [
        ["One two three four. "],
        ["Five six seven eight. Nine."],
    ]
    assert pack(["aaaa bbbb cccc"], 2) == [["aaaa "], ["bbbb "], ["cccc"]]
    # 5/4 for the first five letters, 1/2 for each of the others
    assert pack(["a" * 24], 4) == [["a" * 10], ["a" * 10], ["a" * 4]]
    assert pack(["1" * 10], 4) == [["1" * 4], ["1" * 4], ["1" * 2]]
    assert pack(["京" * 5], 3) == [["京" * 2], ["京" * 2], ["京"]]


def test_a_character_is_never_split() -> None:
    assert pack(["🔥🔥"], 1) == [["🔥"], ["🔥"]]


@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=6), st.integers(4, 64))
def test_nothing_is_lost_and_no_window_overflows(texts: list[str], window: int) -> None:
    windows = pack(texts, window)
    assert "".join(piece for group in windows for piece in group) == "".join(texts)
    assert all(sum(map(tokens, group)) <= window for group in windows)
