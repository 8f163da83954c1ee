"""Gates as texts: what is one, what is none and why, and what no run of a metric could show."""

from __future__ import annotations

from typing import Any

import pytest

from core.report.comparing import metric_column, run_of
from ragmetrics_core import Gate, InvalidInput

METRICS = [
    metric_column("faithfulness", (0.0, 1.0), "Faithfulness()"),
    metric_column("correctness", (1.0, 5.0), "Correctness()"),
    metric_column("free", None, "Free()", higher_is_better=None),
    metric_column("a >= b", (0.0, 1.0), "AB()", higher_is_better=False),
]
RUN = run_of([({"id": f"q{row}"}, {metric.name: 1.0 for metric in METRICS}) for row in range(3)], METRICS)
COMPARISON = RUN.compare(RUN)


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("faithfulness >= 0.8", Gate("faithfulness", ">=", 0.8)),
        ("  faithfulness>=.8 ", Gate("faithfulness", ">=", 0.8)),
        ("hallucination <= 0.1", Gate("hallucination", "<=", 0.1)),
        ("faithfulness ≥ 8e-1", Gate("faithfulness", ">=", 0.8)),
        ("hallucination≤0.1", Gate("hallucination", "<=", 0.1)),
        ("free >= -3", Gate("free", ">=", -3.0)),
        ("faithfulness drop <= 0.03", Gate("faithfulness", "<=", 0.03, "drop")),
        ("faithfulness  drop<=-.01", Gate("faithfulness", "<=", -0.01, "drop")),
        ("drop <= 0.1", Gate("drop", "<=", 0.1)),
        ("backdrop <= 0.1", Gate("backdrop", "<=", 0.1)),
        ("a >= b <= 0.1", Gate("a >= b", "<=", 0.1)),
        ("two words = 3 >= 0.5", Gate("two words = 3", ">=", 0.5)),
        ("new\nline >= 0.5", Gate("new\nline", ">=", 0.5)),
    ],
)
def test_a_gate_of_a_text(text: str, gate: Gate) -> None:
    assert Gate.parse(text) == gate


@pytest.mark.parametrize("text", ["faithfulness >= 0.8", "hallucination <= 0.1", "free drop <= 0.123456789"])
def test_the_text_of_a_gate_is_read_back(text: str) -> None:
    assert str(Gate.parse(text)) == text


SHAPE = "write METRIC >= NUMBER or METRIC <= NUMBER, such as 'faithfulness >= 0.8'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("faithfulness", f"gate 'faithfulness': {SHAPE} (in quotes: a shell takes > and < for itself)"),
        ("", f"gate '': {SHAPE} (in quotes: a shell takes > and < for itself)"),
        (">= 0.8", f"gate '>= 0.8': {SHAPE}"),
        (
            "faithfulness > 0.8",
            "gate 'faithfulness > 0.8': write >= or <= instead of >",
        ),
        (
            "faithfulness < 0.8",
            "gate 'faithfulness < 0.8': write >= or <= instead of <",
        ),
        (
            "faithfulness=0.8",
            "gate 'faithfulness=0.8': write >= or <= instead of =",
        ),
        ("faithfulness => 0.8", "gate 'faithfulness => 0.8': write >= or <= instead of =>"),
        (
            "faithfulness >= 80%",
            "gate 'faithfulness >= 80%': '80%' is not a number on a metric's scale: write a number such as 0.8",
        ),
        ("faithfulness >= ", "gate 'faithfulness >= ': '' is not a number on a metric's scale: write a number such as 0.8"),
        (
            "faithfulness >= nan",
            "gate 'faithfulness >= nan': 'nan' is not a number on a metric's scale: write a number such as 0.8"),
        (
            "faithfulness >= 1e999",
            "gate 'faithfulness >= 1e999': '1e999' is not a number on a metric's scale: write a number such as 0.8"),
        (
            "\x1b[2Jx >= a",
            "gate '\\x1b[2Jx >= a': 'a' is not a number on a metric's scale: write a number such as 0.8",
        ),
        (
            "faithfulness drop >= 0.03",
            "gate 'faithfulness drop >= 0.03': a gate limits how large a drop may be: write 'faithfulness drop <= 0.03'",
        ),
        (
            "faithfulness drop < 0.03",
            "gate 'faithfulness drop < 0.03': write <= instead of <",
        ),
        (
            "faithfulness drop <= 3%",
            "gate 'faithfulness drop <= 3%': '3%' is not a number on a metric's scale: write a number such as 0.03",
        ),
        (0.8, "a gate must be a text such as 'faithfulness >= 0.8', got float"),
        (["faithfulness >= 0.8"], "a gate must be a text such as 'faithfulness >= 0.8', got list"),
    ],
)  # fmt: skip
def test_what_is_no_gate(text: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Gate.parse(text)
    assert str(caught.value) == message


def test_between_two_runs_errors_show_the_form_of_a_drop() -> None:
    shape = "write METRIC drop <= NUMBER or METRIC change within NUMBER, such as 'faithfulness drop <= 0.03'"
    with pytest.raises(InvalidInput) as caught:
        Gate.parse("<= 0.1", "drop")
    assert str(caught.value) == f"gate '<= 0.1': {shape}"
    with pytest.raises(InvalidInput) as caught:
        COMPARISON.gate()
    assert str(caught.value) == "there is no gate: name at least one, such as 'faithfulness drop <= 0.03'"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("", ">=", 0.8), "a gate needs a metric's name and a number, got '' and 0.8"),
        (("faithfulness", ">=", True), "a gate needs a metric's name and a number, got 'faithfulness' and True"),
        (("faithfulness", ">=", float("inf")), "a gate needs a metric's name and a number, got 'faithfulness' and inf"),
        (("faithfulness", ">", 0.8), "a gate must be >= or <= for the mean, the drop or the change, got '>' for 'mean'"),
        (
            ("faithfulness", ">=", 0.8, "median"),
            "a gate must be >= or <= for the mean, the drop or the change, got '>=' for 'median'",
        ),
        (
            ("faithfulness", ">=", 0.8, "change"),
            ("gate 'faithfulness change within 0.8': a gate limits how large a change may be: "
            "write 'faithfulness change within 0.03'"),
        ),
    ],
)  # fmt: skip
def test_parts_that_make_no_gate(parts: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Gate(*parts)
    assert str(caught.value) == message


def test_gates_are_texts_or_gates_and_each_counts_once() -> None:
    gates = RUN.gate("faithfulness >= 0.8", Gate("faithfulness", ">=", 0.8), "correctness>=4", "a >= b >= 0").results
    assert [result.gate for result in gates] == [
        Gate("faithfulness", ">=", 0.8),
        Gate("correctness", ">=", 4.0),
        Gate("a >= b", ">=", 0.0),
    ]


@pytest.mark.parametrize(
    "text", ["faithfulness >= 0", "faithfulness <= 1", "correctness >= 1", "free >= 1e9", "free <= -1e9"]
)
def test_the_end_of_a_scale_that_every_run_reaches_leaves_the_conditions(text: str) -> None:
    assert RUN.gate(text).results[0].gate == Gate.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "faithfullness >= 0.8",
            (
                "gate 'faithfullness >= 0.8': 'faithfullness' is not among the metrics: faithfulness, correctness, free, a >= b; "
                "did you mean 'faithfulness'?"
            ),
        ),
        (
            "correctness >= 0.8",
            "gate 'correctness >= 0.8': the scale of correctness is 1 to 5, and 0.8 is outside it",
        ),
        (
            "faithfulness >= 80",
            "gate 'faithfulness >= 80': the scale of faithfulness is 0 to 1, and 80 is outside it",
        ),
        (
            "faithfulness >= 1",
            (
                "gate 'faithfulness >= 1': no number of rows can prove a mean at the very end of its scale: give a limit "
                "under 1"
            ),
        ),
        (
            "correctness <= 1",
            (
                "gate 'correctness <= 1': no number of rows can prove a mean at the very end of its scale: give a limit "
                "over 1"
            ),
        ),
        (
            "faithfulness drop <= 0.03",
            "gate 'faithfulness drop <= 0.03': a drop needs two runs, and this is only one: compare it with another run",
        ),
    ],
)
def test_what_no_run_could_show(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        RUN.gate(text)
    assert str(caught.value) == message


def test_no_gates() -> None:
    with pytest.raises(InvalidInput) as caught:
        RUN.gate()
    assert str(caught.value) == "there is no gate: name at least one, such as 'faithfulness >= 0.8'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("correctness drop <= 4", ""),
        ("correctness drop <= -3.9", ""),
        ("a >= b drop <= 0.1", ""),
        (
            "correctness drop <= 4.1",
            "gate 'correctness drop <= 4.1': the scale of correctness is 1 to 5, so a drop of 4.1 is impossible",
        ),
        (
            "correctness drop <= -4",
            "gate 'correctness drop <= -4': the scale of correctness is 1 to 5, so a drop of -4 is impossible",
        ),
        (
            "free drop <= 0.1",
            (
                "gate 'free drop <= 0.1': it is unknown which end of free is better, so a drop is not defined: gate its mean"
            ),
        ),
        (
            "other drop <= 0.1",
            "gate 'other drop <= 0.1': 'other' is not among the metrics: faithfulness, correctness, free, a >= b",
        ),
    ],
)
def test_drops(text: str, message: str) -> None:
    if not message:
        assert COMPARISON.gate(text).results[0].gate == Gate.parse(text)
        return
    with pytest.raises(InvalidInput) as caught:
        COMPARISON.gate(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), True, "0.9", None])
@pytest.mark.parametrize("name", ["min_coverage", "max_failed"])
def test_conditions_are_shares(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        RUN.gate("faithfulness >= 0.5", **{name: value})
    assert str(caught.value) == f"{name} must be a share of the rows, from 0 to 1, got {value!r}"
