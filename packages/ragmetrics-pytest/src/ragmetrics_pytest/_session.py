"""The end of a session: everything that was scored becomes one run, and the gates are decided on it."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from ragmetrics_core import Evaluation, InvalidInput, RagmetricsError, join_runs

from ._configuration import problem_of_configuration
from ._decision import decide
from ._locks import JOINING, locked
from ._options import setting
from ._outcome import Outcome
from ._report_properties import add_properties
from ._state import State, in_ci


def finish(state: State, config: pytest.Config) -> bool:
    """Join what was scored and decide; True if the session fails by that."""
    undecided_fails = setting(config, "undecided") == "fail"
    state.outcome = outcome = Outcome(state.run_dir, undecided_fails=undecided_fails)
    problem = problem_of_configuration(config)
    if problem is not None:
        outcome.open(problem, fails=in_ci())
    with locked(state.run_dir / JOINING) if state.parts.exists() else nullcontext():
        try:
            _join(state, outcome)
            decide(config, outcome)
        except RagmetricsError as error:
            outcome.failures.append(str(error))
        outcome.summary = "" if outcome.evaluation is None else str(outcome.evaluation.summary())
        add_properties(config, outcome)
    return outcome.red


def _join(state: State, outcome: Outcome) -> None:
    """Make one run of the parts.

    All of them must be there still when it is made: another session in the same directory writes over them.
    """
    runs, places, joined = [], [], None
    for part in state.parts_of_session():
        noted = part.read()
        if noted["scored"]:
            runs.append(Evaluation.load(part.path))
            places += noted["places"]
        if noted.get("left"):
            fails = in_ci() or not noted["needs_key"]
            problems = outcome.failures if fails else outcome.unscored_tests
            problems.append(f"{noted['left']} tests without scores: {noted['problem']}")
    if runs:
        joined = join_runs(runs, state.run_dir, places=places, once=True, replace=True)
    if lost := state.claimed - {part.path.name for part in state.parts_of_session()}:
        raise InvalidInput(
            f"another session has scored in {state.run_dir} meanwhile, and {len(lost)} of {len(state.claimed)} parts of this one "
            "are lost: give each a directory of its own by --ragmetrics-run-dir"
        )
    outcome.evaluation = joined
