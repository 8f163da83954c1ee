"""The end of a session: everything that was scored becomes one run, and the gates are decided on it.

Strategy. What decides is ``Evaluation.gate`` and ``Evaluation.compare``, on intervals, with coverage; nothing is decided here
but what follows from it. A gate about which nothing is known is open, and so is one over rows that were chosen by their last
outcome: those that failed last time are not like the others. Open gates are shown; they end the session with an error where the
settings say so, and those about which nothing is known also in continuous integration, where nobody reads a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Comparison, Decision, Evaluation, Gate, InvalidInput, RagmetricsError, join_runs

from ._options import setting, settings
from ._report_properties import add_properties
from ._state import State, in_ci

__all__ = ["Outcome", "check_settings", "finish"]

CHOSEN_BY_OUTCOME = {"lf": "--lf", "stepwise": "--stepwise"}
"""Options that choose tests by how they ended last time."""


@dataclass
class Outcome:
    """What became of a session.

    Attributes:
        run_dir: where it is kept.
        evaluation: all that was scored; None if nothing was.
        decisions: what became of the gates.
        comparison: with the baseline, if there is one.
        failures: why the session fails, besides gates, in words.
        warnings: what is open, in words.
        unscored_tests: how many tests have no scores, and why.
    """

    run_dir: Path
    evaluation: Evaluation | None = None
    decisions: list[Decision] = field(default_factory=list)
    comparison: Comparison | None = None
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unscored_tests: list[str] = field(default_factory=list)

    def open(self, problem: str, *, fails: bool) -> None:
        """Note a gate that cannot be decided."""
        (self.failures if fails else self.warnings).append(problem)


def check_settings(state: State) -> None:
    """Read the gates and look for the baseline.

    Raises:
        pytest.UsageError: a gate cannot be read or needs a baseline, the baseline is not there or would be overwritten, or a share
            is none.
    """
    config = state.config
    try:
        gates = _gates(config)
    except InvalidInput as error:
        raise pytest.UsageError(f"--ragmetrics-gate: {error}") from None
    for name, value in settings(config, "min_coverage", "max_failed").items():
        if not 0 <= value <= 1:
            raise pytest.UsageError(f"ragmetrics_{name} must be a share of the rows, from 0 to 1, got {value:g}")
    baseline = _baseline(config)
    drops = [gate for gate in gates if gate.of == "drop"]
    if baseline is None:
        if drops:
            raise pytest.UsageError(
                f"--ragmetrics-gate: '{drops[0]}' needs a run to compare with: give --ragmetrics-baseline RUN"
            )
        return
    if not baseline.exists():
        raise pytest.UsageError(f"--ragmetrics-baseline: there is no {baseline}")
    if baseline.resolve() == state.run_dir.resolve():
        raise pytest.UsageError(
            f"--ragmetrics-baseline: {baseline} is the directory of this session, which writes over it: copy it first, and name "
            "the copy"
        )


def finish(state: State, config: pytest.Config) -> bool:
    """Join what was scored and decide; True if the session fails by that."""
    state.outcome = outcome = Outcome(state.run_dir)
    try:
        _join(state, outcome)
        _decide(config, outcome)
    except RagmetricsError as error:
        outcome.failures.append(str(error))
    add_properties(config, outcome)
    undecided = setting(config, "undecided") == "fail"
    red = any(decision.of("failed") or (undecided and decision.of("undecided")) for decision in outcome.decisions)
    return red or bool(outcome.failures) or (undecided and bool(outcome.warnings))


def _join(state: State, outcome: Outcome) -> None:
    runs, places = [], []
    for part in state.parts_of_session():
        noted = part.read()
        if noted["scored"]:
            runs.append(Evaluation.load(part.path))
            places += noted["places"]
        if noted.get("left"):
            outcome.unscored_tests.append(f"{noted['left']} tests without scores: {noted['problem']}")
    if runs:
        outcome.evaluation = join_runs(runs, state.run_dir, places=places, once=True, replace=True)


def _decide(config: pytest.Config, outcome: Outcome) -> None:
    gates, baseline = _gates(config), _baseline(config)
    chosen = [option for name, option in CHOSEN_BY_OUTCOME.items() if config.getoption(name, None)]
    if chosen and (gates or baseline):
        outcome.open(f"no gate is decided: {chosen[0]} chooses tests by how they ended last time", fails=False)
        return
    known, unknown = _sorted(gates, outcome.evaluation)
    for gate in unknown:
        outcome.open(
            f"gate '{gate}' is not decided: no row of this session has a score of {gate.metric}", fails=in_ci()
        )
    if outcome.evaluation is None:
        return
    conditions = settings(config, "min_coverage", "max_failed")
    slices = settings(config, "by", "cluster")
    if means := [gate for gate in known if gate.of == "mean"]:
        outcome.decisions.append(outcome.evaluation.gate(*means, **slices, **conditions))
    if baseline is not None:
        _compare(baseline, [gate for gate in known if gate.of == "drop"], outcome, slices, conditions)


def _compare(
    baseline: Path, drops: Sequence[Gate], outcome: Outcome, slices: dict[str, Any], conditions: dict[str, Any]
) -> None:
    """Compare with the baseline: gates decide; where there are none, a metric that is worse beyond doubt fails."""
    assert outcome.evaluation is not None
    before = Evaluation.load(baseline)
    try:
        outcome.comparison = before.compare(outcome.evaluation, **slices)
    except InvalidInput as error:
        outcome.open(f"the session was not compared with {baseline}: {error}", fails=in_ci())
        return
    if drops:
        shared = {item.name for item in outcome.comparison.metrics}
        for gate in drops:
            if gate.metric not in shared:
                outcome.open(f"gate '{gate}' is not decided: {baseline} has no scores of {gate.metric}", fails=in_ci())
        if known := [gate for gate in drops if gate.metric in shared]:
            outcome.decisions.append(outcome.comparison.gate(*known, **conditions))
        return
    for item in (*outcome.comparison.metrics, *outcome.comparison.slices):
        if item.verdict == "worse":
            where = item.name if item.slice is None else f"{item.name}, {item.slice}"
            outcome.failures.append(f"{where} is worse than in {baseline}: {item.why}")


def _sorted(gates: Sequence[Gate], evaluation: Evaluation | None) -> tuple[list[Gate], list[Gate]]:
    """The gates of metrics that were asked about rows of this session, and the others."""
    asked = set() if evaluation is None else {item.name for item in evaluation.summary().metrics if item.rows}
    return [gate for gate in gates if gate.metric in asked], [gate for gate in gates if gate.metric not in asked]


def _gates(config: pytest.Config) -> list[Gate]:
    texts = setting(config, "gates") or []
    return list(dict.fromkeys(Gate.parse(text) for text in texts))


def _baseline(config: pytest.Config) -> Path | None:
    """The baseline, where pytest was started or in the root directory."""
    given = setting(config, "baseline")
    if given is None:
        return None
    here = Path(given)
    return here if here.exists() else config.rootpath / given
