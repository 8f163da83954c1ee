"""Lines that fit a terminal and cannot steer it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core._values._layout import cells, fitted, harmless, printable, readable, shortened, within


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("The library opens at nine, and closes at six.", 24, ["- The library opens at", "  nine, and closes at", "  six."]),
        ("図書館は九時に開館します。 Open", 14, ["- 図書館は九時", "  に開館します", "  。 Open"]),
        ("x" * 20 + " y", 10, ["- xxxxxxxx", "  xxxxxxxx", "  xxxx y"]),
        ("", 10, ["- "]),
        ("two\n\tlines\u3000here", 40, ["- two lines here"]),
        ("می‌خواهم\u202e \x1b[0m", 40, ["- می‌خواهم\\u202e \\x1b[0m"]),
    ],
)  # fmt: skip
def test_lines(text: str, width: int, lines: list[str]) -> None:
    assert fitted(text, width, "- ", "  ") == lines


@given(st.text(), st.integers(12, 100))
def test_every_line_fits_and_nothing_is_lost(text: str, width: int) -> None:
    lines = fitted(text, width, "  ", "    ")
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(readable(text).split())


@given(st.text())
def test_nothing_steers_a_terminal(text: str) -> None:
    assert readable(text).replace("\u200c", "").replace("\u200d", "").isprintable()
    assert printable(text).isprintable()
    allowed = {"\n", "\u200c", "\u200d"}
    left = {character for character in harmless(text) if not character.isprintable()} - allowed
    assert {unicodedata.category(character) for character in left} <= {"Zs"}


def test_layout_stays_and_what_steers_does_not() -> None:
    assert harmless("a\nb\xa0c\u3000می\u200cخو") == "a\nb\xa0c\u3000می\u200cخو"
    hostile = "\x1b[2J\x9b2J\r\t\x00\u2028\u202e\u2066\u200e\u061c\ufeff\U000e0041\ud800"
    assert harmless(hostile) == (
        "\\x1b[2J\\x9b2J\\r\\t\\x00\\u2028\\u202e\\u2066\\u200e\\u061c\\ufeff\\U000e0041\\ud800"
    )


def test_columns() -> None:
    assert [cells(text) for text in ("abc", "図書", "e\u0301", "\u2764\ufe0f", "a\u200db", "✔ ✘ –")] == [
        3,
        4,
        1,
        1,
        2,
        5,
    ]
    assert [within("図書館", most) for most in range(8)] == ["", "", "図", "図", "図書", "図書", "図書館", "図書館"]


def test_cut_at_the_end() -> None:
    assert shortened("one two three", 13) == "one two three"
    assert shortened("one two three", 10) == "one two..."
    assert shortened("日本語の文章です", 10) == "日本語..."
    assert cells(shortened("日本語の文章です", 10)) == 9
