"""The end of a session: everything that was scored becomes one run, and the gates are decided on it."""

from __future__ import annotations

import pytest

from ragmetrics_core import Evaluation, RagmetricsError, join_runs

from ._decision import decide
from ._options import setting
from ._outcome import Outcome
from ._report_properties import add_properties
from ._state import State

__all__ = ["finish"]


def finish(state: State, config: pytest.Config) -> bool:
    """Join what was scored and decide; True if the session fails by that."""
    undecided_fails = setting(config, "undecided") == "fail"
    state.outcome = outcome = Outcome(state.run_dir, undecided_fails=undecided_fails)
    try:
        _join(state, outcome)
        decide(config, outcome)
    except RagmetricsError as error:
        outcome.failures.append(str(error))
    add_properties(config, outcome)
    return outcome.red


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
