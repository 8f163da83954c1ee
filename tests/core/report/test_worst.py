"""The worst rows of a metric, in its direction, and what is printed of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from core.evaluate.doubles import Length
from ragmetrics_core import Evaluation, InvalidInput, Metric, Score, evaluate


@dataclass(frozen=True)
class Errors(Metric):
    """Low is good."""

    higher_is_better: ClassVar[bool | None] = False

    def measure(self, response: str) -> Score:
        return Score(min(len(response), 10) / 10, details={"verdicts": VERDICTS})


@dataclass(frozen=True)
class Size(Metric):
    """Neither is good."""

    higher_is_better: ClassVar[bool | None] = None

    def measure(self, response: str) -> Score:
        return Score(len(response) / 10)


VERDICTS = [
    {"claim": "It opens at nine.", "supported": True, "verdict": "supported", "supported_by": [1], "reason": ""},
    {
        "claim": "It opens at ten.",
        "supported": False,
        "verdict": "contradicted",
        "contradicted_by": [1],
        "reason": "nine",
    },
    {"claim": "It is red.", "supported": False, "verdict": "not stated", "supported_by": [], "reason": "no colour"},
]
ROWS = [
    {"id": "a", "response": "xxxxx"},
    {"id": "b", "response": "xx"},
    {"id": "c", "response": "?"},
    {"response": "xx"},
    {"id": "e"},
]


def ids(rows: Sequence[object]) -> list[object]:
    return [row.sample.id or row.place for row in rows]  # type: ignore[attr-defined]


def test_the_lowest_first_and_among_equals_the_earlier_row() -> None:
    result = evaluate(ROWS, [Length(), Errors()])
    rows = result.worst("length", 2)
    assert (ids(rows), rows[0].score.value, rows[0].index) == (["b", "row 4"], 0.2, 1)
    assert ids(result.worst(Length())) == ["b", "row 4", "a"]


def test_where_low_is_good_the_highest_come_first() -> None:
    assert ids(evaluate(ROWS, Errors()).worst("errors", 2)) == ["a", "b"]


@pytest.mark.parametrize(
    ("metric", "n", "message"),
    [
        ("faith", 1, "worst: there is no metric 'faith'; there are length, size"),
        ("size", 1, "worst: neither high nor low values of size are better, so that no row is the worst"),
        ("length", 0, "worst: n must be a whole number, at least 1, got 0"),
        ("length", True, "worst: n must be a whole number, at least 1, got True"),
    ],
)
def test_what_cannot_be_the_worst(metric: str, n: int, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate(ROWS, [Length(), Size()]).worst(metric, n)
    assert str(caught.value) == message


def test_a_run_on_disk_knows_the_direction(tmp_path: Path) -> None:
    evaluate(ROWS, Errors(), run_dir=tmp_path / "run")
    assert ids(Evaluation.load(tmp_path / "run").worst("errors", 1)) == ["a"]


def test_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    row = {
        "id": "a",
        "question": "When does the library open, and when does it close?",
        "response": "At\x1b[31m nine.\nOr ten.",
        "contexts": ["The library opens at nine, every day of the week but Sunday."],
    }
    rows = evaluate([row, {"id": "b", "response": "x"}], Errors()).worst("errors", 1)
    assert repr(rows) == "<1 worst rows of errors>"
    assert str(rows) == (
        "a (row 1)\n"
        "  question: When does the library open, and when does it\n"
        "    close?\n"
        "  answer: At\\x1b[31m nine. Or ten.\n"
        "  errors: 1 (scale 0 to 1)\n"
        "    claims:\n"
        "    ✔ It opens at nine.\n"
        "        supported by passage 1\n"
        '        passage 1: "The library opens at nine, every day of\n'
        '          the week but Sunday."\n'
        "    ✘ It opens at ten.\n"
        "        contradicted by passage 1: nine\n"
        "    – It is red.\n"
        "        not stated: no colour"
    )


def test_nothing_to_print() -> None:
    assert str(evaluate([{"response": "?"}], Length()).worst("length")) == "no row has a value of length"
