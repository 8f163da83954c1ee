"""Lines, tables, paragraphs and lists that fit a terminal, in all scripts, and cannot steer it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.report.comparing import text_at
from ragmetrics_core import Metric, Score, evaluate
from ragmetrics_core._show._tables import cut_middle, hanging, table, whole, wrapped
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


def test_columns_stand_below_each_other_in_every_script() -> None:
    rows = [["lang=ja", "0.5"], ["lang=日本語", "0.75"], ["lang=e\u0301", "1"]]
    assert table(["metric", "mean"], rows, 80).splitlines() == [
        "metric       mean",
        "lang=ja       0.5",
        "lang=日本語  0.75",
        "lang=e\u0301          1",
    ]


def test_a_table_that_is_too_wide_goes_on_below() -> None:
    assert table(["名前", "one", "two"], [["図書館", "1", "2"]], 12).splitlines() == [
        "名前    one",
        "図書館    1",
        "",
        "名前    two",
        "図書館    2",
    ]


def test_paragraphs() -> None:
    assert wrapped("", 20) == wrapped("  ", 20) == []
    assert wrapped("one two three", 8, indent="  ") == ["  one", "      two", "      three"]
    assert wrapped("https://example.org/a-long-path here", 10) == ["https://example.org/a-long-path", "here"]
    assert wrapped("x 図書館は九時に開館します", 10) == ["x 図書館は", "九時に開館", "します"]
    assert hanging("note: one two three", 12) == ["note: one", "      two", "      three"]


def test_items_stay_whole() -> None:
    items = ["row 1 (0.5)", "図書 館 (0.25)"]
    assert wrapped(f"length: {', '.join(map(whole, items))}", 20, indent="  ") == [
        "  length:",
        "      row 1 (0.5),",
        "      図書 館 (0.25)",
    ]
    assert wrapped("length: ", 20) == ["length:"]


def test_names_are_cut_in_the_middle() -> None:
    assert cut_middle("abcdefghij", 10) == "abcdefghij"
    assert cut_middle("abcdefghijk", 10) == "abcd...ijk"
    assert cut_middle("図書館は九時に開館します", 11) == "図書...ます"


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zs"]) | st.sampled_from("ab 図 ")).map(str.strip)


@given(TEXTS, st.integers(3, 50))
def test_a_name_takes_no_more_than_it_may(text: str, most: int) -> None:
    assert cells(cut_middle(text, most)) <= most


@given(st.lists(TEXTS.filter(bool), min_size=1), st.integers(20, 200))
def test_no_line_of_a_table_is_wider_than_there_is_room_for_it(names: list[str], width: int) -> None:
    rows = [[cut_middle(name, 12), "0.123", "12 of 345"] for name in names]
    shown = table(["metric", "mean", "scored"], rows, width)
    assert max(map(cells, shown.split("\n"))) <= max(width, 12 + 2 + 9)
    assert shown.count("0.123") >= len(names)
    assert shown.count("12 of 345") >= len(names)


@given(
    st.lists(TEXTS.filter(bool), min_size=2, max_size=2, unique=True), TEXTS.filter(bool), st.sampled_from([80, 200])
)
def test_a_summary_fits_whatever_metrics_labels_slices_and_rows_are_called(
    names: list[str], text: str, width: int
) -> None:
    def measure(self: object, response: str) -> Score:
        return Score(len(response) / 10, passing=len(response) > 3, label=text * len(response))

    kind = type("Kind", (Metric,), {"measure": measure})
    metrics = [kind(name=name) for name in names]
    rows = [{"id": f"{text}{size}" * 9, "response": "x" * size, "lang": text * size} for size in range(1, 6)]
    summary = evaluate([*rows, {"lang": text}], metrics, progress=False).summary(by="lang")
    shown = text_at(width, summary)
    assert max(map(cells, shown.split("\n"))) <= width
    assert all(f"{item.mean:.3f}" in shown for item in summary.metrics)
    assert shown.count("5 of 6") >= len(names)
