"""How often a session is red whose system is exactly as good as the gate asks: 1,000 sessions at the boundary, in one process."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ragmetrics_core import Evaluation, evaluate
from ragmetrics_core.metrics import TokenF1
from ragmetrics_pytest._session import Outcome, _decide

SESSIONS = 1000


def run_of(values: list[float], langs: list[str]) -> Evaluation:
    """A run with these values of token F1, 0 or 1."""
    rows = [
        {"question": f"{number}?", "answer": "yes" if value else "no", "reference": "yes", "lang": lang}
        for number, (value, lang) in enumerate(zip(values, langs, strict=True))
    ]
    return evaluate(rows, TokenF1(), progress=False)


def red(config: pytest.Config, evaluation: Evaluation) -> bool:
    outcome = Outcome(Path("run"), evaluation)
    _decide(config, outcome)
    return bool(outcome.failures) or any(decision.of("failed") for decision in outcome.decisions)


@pytest.mark.parametrize(
    ("limit", "count", "slices", "options"),
    [
        (0.8, 30, 1, ()),
        (0.95, 20, 1, ()),
        (0.8, 96, 8, ("--ragmetrics-by", "metadata.lang")),
        (0.7, 40, 1, ("--ragmetrics-gate", "token_f1 <= 0.7")),
    ],
)
def test_at_most_5_in_100_sessions_are_falsely_red(
    pytester: pytest.Pytester, limit: float, count: int, slices: int, options: tuple[str, ...]
) -> None:
    """The mean of the system is the limit itself: the gate is met, if only just. A red session is a false alarm."""
    config = pytester.parseconfig("--ragmetrics-gate", f"token_f1 >= {limit}", *options)
    draw = random.Random(f"{limit} {count} {slices}")
    langs = [f"l{number % slices}" for number in range(count)]
    alarms = sum(
        red(config, run_of([float(draw.random() < limit) for _ in range(count)], langs)) for _ in range(SESSIONS)
    )
    assert alarms <= 0.05 * SESSIONS


def test_a_system_that_is_worse_is_found(pytester: pytest.Pytester) -> None:
    """The test above can fail: gates that are never red would pass it."""
    config = pytester.parseconfig("--ragmetrics-gate", "token_f1 >= 0.8")
    draw = random.Random(7)
    runs = (run_of([float(draw.random() < 0.5) for _ in range(40)], [""] * 40) for _ in range(50))
    assert sum(red(config, run) for run in runs) >= 45


def test_nothing_changed_is_seldom_worse(pytester: pytest.Pytester, tmp_path: Path) -> None:
    """A baseline and a session of the same system: 150 pairs of runs, each row as likely right as before."""
    draw = random.Random(11)
    alarms = 0
    for number in range(150):
        path = tmp_path / f"run{number}"
        rates = [draw.betavariate(3, 1) for _ in range(40)]
        before, after = ([float(draw.random() < rate) for rate in rates] for _ in range(2))
        run_of(before, [""] * 40).to_jsonl(path.with_suffix(".jsonl"))
        config = pytester.parseconfig("--ragmetrics-baseline", str(path.with_suffix(".jsonl")))
        alarms += red(config, run_of(after, [""] * 40))
    assert alarms <= 0.05 * 150
