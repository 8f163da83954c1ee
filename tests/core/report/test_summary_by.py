"""The summary of slices, to the letter, at several widths; and texts of data in a summary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.evaluate.doubles import Length
from core.report.comparing import text_at
from ragmetrics_core import InvalidInput, Metric, Score, evaluate

ROWS = [
    {"id": "a", "response": "xxxxx", "lang": "de"},
    {"id": "b", "response": "xx", "lang": "en"},
    {"id": "c", "response": "?", "lang": "en"},
    {"id": "d", "response": "xxx", "lang": "de"},
    {"id": "e", "response": 7},
]


def test_a_table_per_metric() -> None:
    summary = replace(evaluate(ROWS, [Length(), Length(name="b")]).summary(by="lang"), seconds=None)
    assert text_at(80, summary) == (
        "Length is 0.33 (0.10 to 0.70) and b 0.33 (0.10 to 0.70) on 3 of 5 rows. Scoring\n"
        "failed on 1 row (length and b).\n"
        "\n"
        "5 rows, 2 metrics\n"
        "\n"
        "metric   mean  scored   95 % interval  unscored  failed   scale\n"
        "length  0.333  3 of 5  0.096 to 0.702         1       1  0 to 1\n"
        "b       0.333  3 of 5  0.096 to 0.702         1       1  0 to 1\n"
        "\n"
        "length         mean  scored   95 % interval  unscored  failed\n"
        "lang=de       0.400  2 of 2  0.022 to 0.952         0       0\n"
        "lang=en       0.200  1 of 2               -         1       0\n"
        "without lang      -  0 of 1               -         0       1\n"
        "\n"
        "b              mean  scored   95 % interval  unscored  failed\n"
        "lang=de       0.400  2 of 2  0.022 to 0.952         0       0\n"
        "lang=en       0.200  1 of 2               -         1       0\n"
        "without lang      -  0 of 1               -         0       1\n"
        "\n"
        "slices: each interval is about its own slice; among many slices, some means\n"
        "      are low or high by chance\n"
        "\n"
        "95 % interval: Wilson with Student's t\n"
        "\n"
        "unscored:\n"
        "  1 row in each of length, b: the response is a question mark (c)\n"
        "\n"
        "failed:\n"
        "  1 row in each of length, b: InvalidInput: response must be a str, got int (e)"
    )


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_line_fits(width: int) -> None:
    rows = [{"response": "x", "team": f"a team with a long name, number {number:02}"} for number in range(20)]
    text = text_at(width, evaluate(rows, Length(name="length_of_the_response_in_characters")).summary(by="team"))
    assert max(map(len, text.splitlines())) <= max(width, 59)  # a name beside its value is never parted from it
    assert text.count("0.100") >= 20


def test_as_data() -> None:
    summary = evaluate(ROWS, Length()).summary("metadata.lang")
    assert list(summary.slices) == ["de", "en", None]
    german = summary.slices["de"]
    assert (german.name, german.rows, german["length"].mean) == ("lang=de", 2, 0.4)
    data = summary.to_dict()
    assert (data["by"], [part["label"] for part in data["slices"]]) == ("metadata.lang", ["de", "en", None])
    assert data["slices"][1]["metrics"]["length"]["unscored"] == 1
    with pytest.raises(KeyError, match="no metric 'x'; there are length"):
        german["x"]


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(InvalidInput, match="by='tongue': no row has it; columns of the metadata: lang"):
        evaluate(ROWS, Length()).summary(by="tongue")


HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202egnp\u2066\x9b2J\r"


def test_nothing_in_a_summary_steers_the_terminal() -> None:
    def measure(self: object, response: str) -> Score:
        return Score(0.1, label=f"label {HOSTILE}") if response == "x" else Score.unscored(f"no {HOSTILE}")

    metric = type("Hostile", (Metric,), {"measure": measure})(name=f"m{HOSTILE}")
    rows = [{"id": f"{number}{HOSTILE}", "response": "x" if number else "y", "lang": HOSTILE} for number in range(5)]
    rows.append({"id": HOSTILE, "response": 7, "lang": HOSTILE})
    summary = replace(
        evaluate(rows, [metric, Length(name=HOSTILE)]).summary(by="lang"), caveats=(HOSTILE,), title=HOSTILE
    )
    text = text_at(80, replace(summary, stopped=HOSTILE, waited={HOSTILE: 1.0}))
    assert "".join(text.splitlines()).isprintable()
    assert "\\x1b[31mred" in text
    assert "\\u202egnp" in text
