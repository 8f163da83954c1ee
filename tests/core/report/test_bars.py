"""Intervals as bars in terminals and notebooks: where they lie, at which widths, in which characters."""

from __future__ import annotations

import re
from typing import Any

import pytest

from core.report.comparing import (
    DRAWN,
    PLAIN,
    Bar,
    bar_lines,
    by_id,
    cells,
    glyphs_for,
    judged_by,
    run_of,
    symmetric,
    text_at,
)
from ragmetrics_core import Evaluation, Metric, Score, evaluate

HALF = Bar(0.5, (0.25, 0.75), (0.0, 1.0))


def lines(*bars: Bar | None, width: int = 40, glyphs: Any = PLAIN, name: str = "recall") -> list[Any]:
    return list(bar_lines([name] * len(bars), bars, width, glyphs))


def test_a_bar_lies_on_the_scale_of_its_metric() -> None:
    assert [line.text for line in lines(HALF, width=29)] == [
        "        0                   1",
        "recall  .....[----o----].....",
    ]


def test_the_same_in_characters_that_draw() -> None:
    assert lines(HALF, width=29, glyphs=DRAWN)[1].text == "recall  ·····├────●────┤·····"


@pytest.mark.parametrize(
    ("bar", "drawn"),
    [
        (Bar(0.1, (0.05, 0.15), (-0.2, 0.2)), "..........|.[--o-]..."),
        (Bar(-0.1, (-0.2, 0.0), (-0.2, 0.2)), "[----o----].........."),
        (Bar(0.05, (-0.1, 0.2), (-0.2, 0.2)), ".....[----+-o-------]"),
        (Bar(0.0, (0.0, 0.0), (-0.2, 0.2)), "..........o.........."),
        (Bar(1.0, (0.9, 1.3), (0.0, 1.0)), "..................[-o"),
    ],
    ids=["better", "worse", "around 0", "all equal", "beyond the scale"],
)
def test_zero_and_ends_are_marked(bar: Bar, drawn: str) -> None:
    assert lines(bar, width=29)[1].text == f"recall  {drawn}"


def test_the_axis_of_a_difference_has_0_in_its_middle() -> None:
    scale, bar = lines(Bar(0.1, (0.05, 0.15), (-0.2, 0.2)), width=29)
    assert scale.text == "        -0.2      0       0.2"
    assert bar.text.index("|") == scale.text.index(" 0 ") + 1


def test_bars_on_one_axis_share_it_and_rows_without_a_bar_are_left_out() -> None:
    stars = Bar(3.0, (2.0, 4.0), (1.0, 5.0), "bad")
    found = lines(HALF, None, HALF, stars)
    assert [line.tone for line in found] == ["aside", "", "", "aside", "bad"]
    assert [line.text.split()[0] for line in found] == ["0", "recall", "recall", "1", "recall"]


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("name", ["m", "faithfulness_of_the_answers_of_the_second_model", "\u5fe0\u5b9f\u5ea6" * 20])
def test_no_line_is_wider_than_the_terminal(width: int, name: str) -> None:
    found = lines(HALF, width=width, name=name, glyphs=DRAWN)
    assert max(cells(line.text) for line in found) <= width
    assert len({cells(line.text) for line in found}) == 1


@pytest.mark.parametrize(
    ("encoding", "glyphs"),
    [
        ("utf-8", DRAWN),
        ("cp437", PLAIN),
        ("ascii", PLAIN),
        ("latin-1", PLAIN),
        (None, PLAIN),
        ("no such encoding", PLAIN),
    ],
)
def test_characters_are_those_that_the_terminal_has(encoding: str | None, glyphs: Any) -> None:
    assert glyphs_for(encoding) is glyphs


@pytest.mark.parametrize(
    ("reach", "end"),
    [(0.158, 0.2), (0.2, 0.2), (0.03, 0.03), (0.031, 0.04), (1.0, 1.0), (1.2, 2.0), (7e-5, 7e-5), (0.0, 1.0)],
)
def test_an_axis_ends_at_a_round_number(reach: float, end: float) -> None:
    assert symmetric(reach) == pytest.approx((-end, end))


def two_runs() -> tuple[Evaluation, Evaluation]:
    rows = [({"id": n, "question": f"{n}?"}, {"faith": 0.5 + n % 2 / 10, "rank": 0.9}) for n in range(30)]
    after = [(row, {"faith": 0.9 - n % 2 / 10, "rank": 0.8 if n < 2 else 0.9}) for n, (row, _) in enumerate(rows)]
    return run_of(rows, name="old"), run_of(after, name="new")


def test_the_lines_of_a_terminal_are_the_text_with_bars_below_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the bars the lines are exactly those of the text."""
    monkeypatch.setenv("COLUMNS", "80")
    before, after = two_runs()
    comparison = before.compare(after)
    found = comparison.terminal_lines(PLAIN)
    bars = [line for line in found if re.search(r"\.\.\.|-0\.\d+ +0 +0\.\d", line.text)]
    assert [line.tone for line in bars] == ["aside", "good", "open"]
    rest = [line.text for line in found if line not in bars]
    text = str(comparison).split("\n")
    assert [line for line in rest if line] == [line for line in text if line]
    tones = {line.text: line.tone for line in found}
    assert tones[text[0]] == "title"
    assert tones["faith: better"] == "good"
    assert tones["rank: cannot say"] == "open"
    assert tones[next(line for line in text if line.startswith("metric "))] == "aside"


def test_a_run_without_intervals_has_no_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    summary = by_id([0.5]).summary()
    assert "\n".join(line.text for line in summary.terminal_lines(DRAWN)) == str(summary)


def test_slices_have_bars_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Share(Metric):
        scale = (0.0, 1.0)

        def measure(self, response: str) -> Score:
            return Score(float(response))

    monkeypatch.setenv("COLUMNS", "60")
    rows = [{"response": str(n % 3 / 2), "lang": "de" if n % 2 else "en"} for n in range(24)]
    found = evaluate(rows, Share(), progress=False).summary("lang").terminal_lines(DRAWN)
    assert sum("├" in line.text for line in found) == 3
    assert [line.text.split()[0] for line in found if "├" in line.text] == ["share", "lang=de", "lang=en"]


def test_gates_have_the_tone_of_their_verdicts() -> None:
    run = by_id([0.9, 0.95] * 20, settings=judged_by("m"))
    decision = run.gate("m >= 0.5", "m >= 0.99", "m >= 0.925")
    found = decision.terminal_lines(DRAWN)
    assert "\n".join(line.text for line in found) == str(decision)
    assert [line.tone for line in found if line.text.startswith(("gates", "PASSED", "FAILED", "UNDECIDED"))] == [
        "title",
        "bad",
        "open",
        "good",
    ]


def test_notebooks_draw_bars_beside_the_numbers() -> None:
    before, after = two_runs()
    shown = before.compare(after)._repr_html_()
    strips = re.findall(r'<svg class="strip ?(\w*)"[^>]*aria-label="([^"]*)"', shown)
    assert [tone for tone, _ in strips] == ["good", "open"]
    assert re.fullmatch(r"0\.3, 0\.\d+ to 0\.\d+, on -0\.\d to 0\.\d", strips[0][1])
    assert text_at(80, before.compare(after)).count("svg") == 0
