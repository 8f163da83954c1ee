"""Tables, paragraphs and lists that fit, in all scripts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.report.comparing import text_at
from ragmetrics_core import Metric, Score, evaluate
from ragmetrics_core._show._tables import cut_middle, hanging, table, whole, wrapped
from ragmetrics_core._values._layout import cells


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
