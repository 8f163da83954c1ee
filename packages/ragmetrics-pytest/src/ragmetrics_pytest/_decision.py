"""The gates of a session and its baseline: what is asked, and what the scores say to it.

Strategy. What decides is ``Evaluation.gate`` and ``Evaluation.compare``, on intervals, with coverage, all gates together; nothing
is decided here but what follows from it. A gate about which nothing is known is open, and so is one over rows that were chosen by
their last outcome: those that failed last time are not like the others. Open gates are shown; they fail the session where the
settings say so, and those about which nothing is known also in continuous integration, where nobody reads a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ragmetrics_core import Comparison, Evaluation, Gate, InvalidInput, RagmetricsError

from ._options import setting, settings
from ._outcome import Outcome
from ._state import State, in_ci

CHOSEN_BY_OUTCOME = {"lf": "--lf", "stepwise": "--stepwise"}
"""Options that choose tests by how they ended last time."""

CHOSEN_BY_NAME = {"keyword": "-k", "markexpr": "-m", "deselect": "--deselect"}
"""Options that choose tests by what they are called."""


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
    try:
        before = Evaluation.load(baseline)
    except RagmetricsError as error:
        raise pytest.UsageError(f"--ragmetrics-baseline: {error}") from None
    if before.state == "damaged":
        raise pytest.UsageError(f"--ragmetrics-baseline: {baseline}: {before.stopped}")
    if state.run_dir.resolve() in (baseline.resolve(), *baseline.resolve().parents):
        raise pytest.UsageError(
            f"--ragmetrics-baseline: {baseline} is in the directory of this session, which writes over it: copy it to another "
            "place first, and name the copy"
        )


def decide(config: pytest.Config, outcome: Outcome) -> None:
    """Decide what the gates ask and whether anything is worse than in the baseline."""
    gates, baseline = _gates(config), _baseline(config)
    chosen = _chosen(config, CHOSEN_BY_OUTCOME)
    if chosen and (gates or baseline):
        outcome.open(f"no gate is decided: {chosen} chooses tests by how they ended last time", fails=in_ci())
        return
    known = list(_known(gates, outcome))
    evaluation = outcome.evaluation
    if evaluation is None:
        return
    paths = settings(config, "by", "cluster")
    before = None if baseline is None else Evaluation.load(baseline)
    if before is not None:
        outcome.baseline = setting(config, "baseline")
        known = _compare(config, before, known, outcome)
    if not known:
        return
    conditions = settings(config, "min_coverage", "max_failed")
    drops = any(gate.of == "drop" for gate in known)
    outcome.decision = evaluation.gate(*known, baseline=before if drops else None, **paths, **conditions)
    if in_ci():
        outcome.failures += [f"{result.name} is {result.doubt}" for result in outcome.decision.results if result.void]


def _compare(config: pytest.Config, before: Evaluation, gates: Sequence[Gate], outcome: Outcome) -> list[Gate]:
    """Compare with the baseline; the gates that are still to be decided.

    Gates on drops decide; where there are none, a metric that is worse beyond doubt fails.
    """
    assert outcome.evaluation is not None
    means, drops = ([gate for gate in gates if gate.of == kind] for kind in ("mean", "drop"))
    try:
        outcome.comparison = found = before.compare(outcome.evaluation, **settings(config, "by", "cluster"))
    except InvalidInput as error:
        outcome.open(f"the session was not compared with {outcome.baseline}: {error}", fails=in_ci())
        return means
    chosen = _chosen(config, CHOSEN_BY_NAME)
    if drops and found.only_before and chosen:
        what = f"{len(found.only_before)} of {found.rows_before} rows of {outcome.baseline} are not in this session"
        outcome.open(f"no drop is decided: {what}, as {chosen} chooses tests", fails=in_ci())
        return means
    if not drops and not _asks_for_drops(config):
        _judge(found, outcome)
    shared = {item.name for item in found.metrics}
    for gate in drops:
        if gate.metric not in shared:
            problem = f"gate '{gate}' is not decided: {outcome.baseline} has no scores of {gate.metric}"
            outcome.open(problem, fails=in_ci())
    return [*means, *(gate for gate in drops if gate.metric in shared)]


def _judge(comparison: Comparison, outcome: Outcome) -> None:
    """Fail for every metric that is worse; what cannot be said of all rows is open."""
    baseline = outcome.baseline
    for item in (*comparison.metrics, *comparison.slices):
        where = item.name if item.slice is None else f"{item.name}, {item.slice},"
        if item.void:
            if item.slice is None:
                outcome.open(f"{where} was not compared with {baseline}: {item.void}", fails=in_ci())
        elif item.verdict == "worse":
            outcome.failures.append(f"{where} is worse than in {baseline}: {item.why}")
        elif item.slice is None and not item.credited:
            outcome.open(f"{where} was not compared with {baseline}: {item.why}", fails=in_ci())
        elif item.slice is None and item.verdict == "cannot say" and outcome.undecided_fails:
            outcome.open(f"nobody can say whether {where} is worse than in {baseline}: {item.why}", fails=False)


def _known(gates: Sequence[Gate], outcome: Outcome) -> Iterator[Gate]:
    """The gates of metrics that were asked about rows of this session; the others are open."""
    evaluation = outcome.evaluation
    asked = set() if evaluation is None else {item.name for item in evaluation.summary().metrics if item.rows}
    for gate in gates:
        if gate.metric in asked:
            yield gate
        else:
            problem = f"gate '{gate}' is not decided: no row of this session has a score of {gate.metric}"
            outcome.open(problem, fails=in_ci())


def _chosen(config: pytest.Config, options: dict[str, str]) -> str:
    """The first of these options that is given; for names, a test that is named itself is one too."""
    given = (option for name, option in options.items() if config.getoption(name, None))
    named = (text for text in config.args if "::" in text) if options is CHOSEN_BY_NAME else iter(())
    return next(given, next(named, ""))


def _asks_for_drops(config: pytest.Config) -> bool:
    return any(gate.of == "drop" for gate in _gates(config))


def _gates(config: pytest.Config) -> list[Gate]:
    texts = setting(config, "gates") or []
    return list(dict.fromkeys(Gate.parse(text) for text in texts))


def _baseline(config: pytest.Config) -> Path | None:
    """The baseline, where pytest was started or in the root directory."""
    given = setting(config, "baseline")
    if given is None:
        return None
    here = config.invocation_params.dir / given  # a test may have left another directory
    return here if here.exists() else config.rootpath / given
