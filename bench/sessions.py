"""How often a session of pytest is red although the system is exactly as good as its gates ask.

    python bench/sessions.py [--sessions 1000] [--only NAME]

Every session scores rows of a system whose truth lies exactly at the limit, and decides with what decides sessions of users:
``ragmetrics_pytest._session.decide``, on what ``evaluate`` scored, with the settings that the case names. Each red one is a false
alarm; of 100 at most 5 may be red. The last line is a system that is worse by 0.3, which has to be found: gates that are never red
would have no false alarm either. Seeds are fixed: the same command prints the same figures. Processes of pytest are not started;
what they add to the decision, tests/pytest has.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Evaluation, evaluate, join_runs
from ragmetrics_core.metrics import TokenF1
from ragmetrics_pytest._session import Outcome, decide

GOAL = 0.05
BASELINE = "baseline"


@dataclass(frozen=True)
class Case:
    """What a session is asked, and of which system.

    Attributes:
        name: what it is called.
        settings: the settings of the session, without ``ragmetrics_``.
        rate: share of rows that the system answers right.
        rows: how many rows a session has.
        slices: how many values the column ``lang`` has.
        fallen: how much larger the rate was when the baseline was made; None: there is none.
    """

    name: str
    settings: Mapping[str, Any]
    rate: float
    rows: int
    slices: int = 1
    fallen: float | None = None


CASES = (
    Case("one gate", {"gates": ["token_f1 >= 0.8"]}, 0.8, 30),
    Case("few rows, high limit", {"gates": ["token_f1 >= 0.95"]}, 0.95, 20),
    Case("two gates", {"gates": ["token_f1 >= 0.7", "token_f1 <= 0.7"]}, 0.7, 40),
    Case("eight slices", {"gates": ["token_f1 >= 0.8"], "by": "metadata.lang"}, 0.8, 96, slices=8),
    Case("a drop as large as allowed", {"gates": ["token_f1 drop <= 0.1"]}, 0.7, 60, fallen=0.1),
    Case("nothing changed", {}, 0.75, 40, fallen=0.0),
    Case("nothing changed, four slices", {"by": "metadata.lang"}, 0.75, 80, slices=4, fallen=0.0),
    Case("mean and drop", {"gates": ["token_f1 >= 0.75", "token_f1 drop <= 0"]}, 0.75, 60, fallen=0.0),
    Case(
        "mean and drop, four slices",
        {"gates": ["token_f1 >= 0.75", "token_f1 drop <= 0"], "by": "metadata.lang"},
        0.75,
        80,
        slices=4,
        fallen=0.0,
    ),
    Case(
        "a mean, nothing changed, four slices",
        {"gates": ["token_f1 >= 0.75"], "by": "metadata.lang"},
        0.75,
        80,
        slices=4,
        fallen=0.0,
    ),
)
WORSE = Case("worse by 0.3", {"gates": ["token_f1 >= 0.8"]}, 0.5, 40)


@dataclass
class Settings:
    """In the place of pytest's configuration: what was set on the command line."""

    rootpath: Path
    given: Mapping[str, Any] = field(default_factory=dict)
    args: Sequence[str] = ()

    @property
    def invocation_params(self) -> pytest.Config.InvocationParams:
        return pytest.Config.InvocationParams(args=(), plugins=None, dir=self.rootpath)

    def getoption(self, name: str, default: Any = None) -> Any:
        return self.given.get(name, default)

    def getini(self, name: str) -> None:  # noqa: ARG002  nothing is set in a file
        return None


def red_sessions(case: Case, sessions: int, folder: Path) -> int:
    """How many of these sessions are red."""
    draw = random.Random(case.name)
    given = {f"ragmetrics_{name}": value for name, value in case.settings.items()}
    if case.fallen is not None:
        given["ragmetrics_baseline"] = str(folder / BASELINE)
    return sum(_is_red(case, Settings(folder, given), draw) for _ in range(sessions))


def _is_red(case: Case, config: Any, draw: random.Random) -> bool:
    rates = [case.rate + draw.uniform(-0.15, 0.15) * (case.fallen is not None) for _ in range(case.rows)]
    if case.fallen is not None:  # some questions are harder than others, for both systems
        before = _run(case, [draw.random() < rate + case.fallen for rate in rates])
        join_runs([before], config.rootpath / BASELINE, replace=True)
    after = _run(case, [draw.random() < rate for rate in rates])
    outcome = Outcome(config.rootpath, after)
    decide(config, outcome)
    return outcome.red


def _run(case: Case, right: Sequence[bool]) -> Evaluation:
    rows = [
        {
            "id": number,
            "question": f"{number}?",
            "answer": "yes" if right[number] else "no",
            "reference": "yes",
            "lang": f"l{number % case.slices}",
        }
        for number in range(case.rows)
    ]
    return evaluate(rows, TokenF1(), progress=False)


def main() -> None:
    parser = argparse.ArgumentParser(description="how often sessions are falsely red")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--only", default="", help="cases with this in their name")
    options = parser.parse_args()
    print(f"{options.sessions} sessions each; share that is red, goal: at most {GOAL:.2f} in all but the last")
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in (*CASES, WORSE):
            if options.only in case.name:
                share = red_sessions(case, options.sessions, Path(folder)) / options.sessions
                missed = share < 0.9 if case is WORSE else share > GOAL
                print(f"{case.name:40}{share:8.3f}{'!' if missed else ' '}", flush=True)
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
