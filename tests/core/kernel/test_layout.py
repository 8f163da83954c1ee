"""Lines that fit a terminal and cannot steer it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core._kernel._layout import cells, fitted, printable, readable, shortened


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


def test_cut_at_the_end() -> None:
    assert shortened("one two three", 13) == "one two three"
    assert shortened("one two three", 10) == "one two..."
    assert shortened("日本語の文章です", 10) == "日本語..."
    assert cells(shortened("日本語の文章です", 10)) == 9
