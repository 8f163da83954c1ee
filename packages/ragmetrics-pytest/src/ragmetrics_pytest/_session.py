"""The end of a session: join all scores into one run, decide the gates on it, and show the result.

Strategy. ``Evaluation.gate`` and ``Evaluation.compare`` decide, based on intervals and coverage. This module decides only whether
the session fails because of their results. Two kinds of gates stay undecided: gates of metrics without a score in this session,
and all gates if tests were chosen by their last outcome (``--lf``), because tests that failed last time do not represent all
tests. Undecided gates are shown. They fail the session if the setting ``undecided`` says so. The two kinds above also fail it in
continuous integration, where no person reads a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ragmetrics_core import Comparison, Decision, Evaluation, Gate, InvalidInput, RagmetricsError, join_runs

from ._options import SHARES, problem_of_configuration, setting, settings
from ._row import printable
from ._scoring import JOINING, locked
from ._state import State, in_ci


@dataclass
class Outcome:
    """The result of a test session.

    Attributes:
        run_dir: the directory in which the session's run is kept.
        evaluation: all scores of the session; None if nothing was scored.
        summary: the scores as text; empty if nothing was scored.
        decision: the verdicts on the gates; None if no gate was decided.
        comparison: the comparison with the baseline, if there is one.
        baseline: the baseline, as it is written in the settings.
        failures: reasons, in words, why the session fails, apart from the gates that ``decision`` failed.
        warnings: what could not be decided, in words.
        unscored_tests: for each process with tests that have no scores, how many and why.
        undecided_fails: whether the session fails because of gates or comparisons that could not be decided.
    """

    run_dir: Path
    evaluation: Evaluation | None = None
    summary: str = ""
    decision: Decision | None = None
    comparison: Comparison | None = None
    baseline: str = ""
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unscored_tests: list[str] = field(default_factory=list)
    undecided_fails: bool = False

    @property
    def red(self) -> bool:
        """Whether the session fails: a gate failed, there are other failures, or something is undecided and the settings let
        that fail the session.
        """
        verdict = None if self.decision is None else self.decision.verdict
        is_open = verdict == "undecided" or bool(self.warnings)
        return verdict == "failed" or bool(self.failures) or (is_open and self.undecided_fails)

    def open(self, problem: str, *, fails: bool) -> None:
        """Add a problem that could not be decided."""
        (self.failures if fails else self.warnings).append(problem)


CHOSEN_BY_OUTCOME = {"lf": "--lf", "stepwise": "--stepwise"}
"""Options that choose tests by their last outcome."""

CHOSEN_BY_NAME = {"keyword": "-k", "markexpr": "-m", "deselect": "--deselect"}
"""Options that choose tests by name."""


def check_settings(state: State) -> None:
    """Parse the gates and check the baseline.

    Raises:
        pytest.UsageError: a gate cannot be parsed or needs a baseline that is not given; the baseline does not exist, is damaged
        or would be overwritten; or a share is not from 0 to 1.
    """
    config = state.config
    try:
        gates = _gates(config)
    except InvalidInput as error:
        raise pytest.UsageError(f"--ragmetrics-gate: {error}") from None
    for name, value in settings(config, *SHARES).items():
        if not 0 <= value <= 1:
            raise pytest.UsageError(f"ragmetrics_{name} must be a share of the rows, from 0 to 1, got {value:g}")
    baseline = _baseline(config)
    drops = [gate for gate in gates if gate.of != "mean"]
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
        before.check_all_rows("a comparison")
    except RagmetricsError as error:
        raise pytest.UsageError(f"--ragmetrics-baseline: {error}") from None
    if before.state == "damaged":
        raise pytest.UsageError(f"--ragmetrics-baseline: {baseline}: {before.stopped}")
    if state.run_dir.resolve() in (baseline.resolve(), *baseline.resolve().parents):
        raise pytest.UsageError(
            f"--ragmetrics-baseline: {baseline} is in the directory of this session, which would overwrite it: copy it to "
            "another place first, and name the copy"
        )


def decide(config: pytest.Config, outcome: Outcome) -> None:
    """Decide the gates, and whether a metric is worse than in the baseline."""
    gates, baseline = _gates(config), _baseline(config)
    chosen = _chosen(config, CHOSEN_BY_OUTCOME)
    if chosen and (gates or baseline):
        outcome.open(f"no gate is decided: {chosen} chooses tests by their last outcome", fails=in_ci())
        return
    decidable = list(_decidable(gates, outcome))
    evaluation = outcome.evaluation
    if evaluation is None:
        return
    paths = settings(config, "by", "cluster")
    before = None if baseline is None else Evaluation.load(baseline)
    if before is not None:
        outcome.baseline = setting(config, "baseline")
        decidable = _compare(config, before, decidable, outcome)
    if not decidable:
        return
    conditions = settings(config, *SHARES)
    drops = any(gate.of != "mean" for gate in decidable)
    outcome.decision = evaluation.gate(*decidable, baseline=before if drops else None, **paths, **conditions)
    if in_ci():
        outcome.failures += [f"{result.name} is {result.doubt}" for result in outcome.decision.results if result.void]


def _compare(config: pytest.Config, before: Evaluation, gates: Sequence[Gate], outcome: Outcome) -> list[Gate]:
    """Compare the session with the baseline, and return the gates that are still to be decided.

    If there are gates on drops, they decide. Without them, the session fails if a metric is clearly worse.
    """
    assert outcome.evaluation is not None
    means, drops = ([gate for gate in gates if (gate.of == "mean") is of_mean] for of_mean in (True, False))
    try:
        outcome.comparison = comparison = before.compare(outcome.evaluation, **settings(config, "by", "cluster"))
    except InvalidInput as error:
        outcome.open(f"the session was not compared with {outcome.baseline}: {error}", fails=in_ci())
        return means
    chosen = _chosen(config, CHOSEN_BY_NAME)
    if drops and comparison.only_before and chosen:
        what = f"{len(comparison.only_before)} of {comparison.rows_before} rows of {outcome.baseline} are not in this session"
        outcome.open(f"no drop is decided: {what}, as {chosen} chooses tests", fails=in_ci())
        return means
    if not drops and not any(gate.of != "mean" for gate in _gates(config)):
        _judge(comparison, outcome)
    shared = {item.name for item in comparison.metrics}
    for gate in drops:
        if gate.metric not in shared:
            problem = f"gate '{gate}' is not decided: {outcome.baseline} has no scores of {gate.metric}"
            outcome.open(problem, fails=in_ci())
    return [*means, *(gate for gate in drops if gate.metric in shared)]


def _judge(comparison: Comparison, outcome: Outcome) -> None:
    """Add a failure for every metric that is worse, and a problem for every metric that could not be compared."""
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
            outcome.open(f"it is undecided whether {where} is worse than in {baseline}: {item.why}", fails=False)


def _decidable(gates: Sequence[Gate], outcome: Outcome) -> Iterator[Gate]:
    """Yield the gates of metrics that have rows in this session; report the others as undecided."""
    evaluation = outcome.evaluation
    metrics = set() if evaluation is None else {item.name for item in evaluation.summary().metrics if item.rows}
    for gate in gates:
        if gate.metric in metrics:
            yield gate
        else:
            problem = f"gate '{gate}' is not decided: no row of this session has a score of {gate.metric}"
            outcome.open(problem, fails=in_ci())


def _chosen(config: pytest.Config, options: dict[str, str]) -> str:
    """Return the first of these options that was given. Among the options that choose tests by name, the id of a test on the
    command line, such as ``test_rag.py::test_answers``, counts as one; it is returned itself.
    """
    given = (option for name, option in options.items() if config.getoption(name, None))
    named = (text for text in config.args if "::" in text) if options is CHOSEN_BY_NAME else iter(())
    return next(given, next(named, ""))


def _gates(config: pytest.Config) -> list[Gate]:
    texts = setting(config, "gates") or []
    return list(dict.fromkeys(Gate.parse(text) for text in texts))


def _baseline(config: pytest.Config) -> Path | None:
    """Return the path of the baseline, relative to the directory in which pytest was started or to the root directory."""
    path = setting(config, "baseline")
    if path is None:
        return None
    candidate = config.invocation_params.dir / path  # not the current directory, which a test may have changed
    return candidate if candidate.exists() else config.rootpath / path


def add_properties(config: pytest.Config, outcome: Outcome) -> None:
    """Add properties of the session to the reports of plugins that have such properties, for instance pytest's own JUnit
    reports.
    """
    for plugin in config.pluginmanager.get_plugins():
        add = getattr(plugin, "add_global_property", None)
        if callable(add):
            for name, value in _properties(outcome):
                add(name, value)


def _properties(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield "ragmetrics.run_dir", str(outcome.run_dir)
    for item in outcome.evaluation.summary().metrics if outcome.evaluation is not None else ():
        name = f"ragmetrics.{item.name}"
        yield f"{name}.rows", f"{item.scored} of {item.rows}"
        if item.mean is not None:
            yield f"{name}.mean", f"{item.mean:.6g}"
        if item.interval is not None:
            yield f"{name}.interval", f"{item.interval.low:.6g} to {item.interval.high:.6g}"
    for result in outcome.decision.results if outcome.decision is not None else ():
        yield f"ragmetrics.gate: {result.name}", result.verdict
    compared = (*outcome.comparison.metrics, *outcome.comparison.slices) if outcome.comparison is not None else ()
    for part in compared:
        where = part.name if part.slice is None else f"{part.name}, {part.slice}"
        yield f"ragmetrics.compared: {where}", part.verdict


def finish(state: State, config: pytest.Config) -> bool:
    """Join the scores and decide the gates; return True if the session fails because of them."""
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
    """Join the parts that this session scored into one run.

    Raises:
        InvalidInput: a part has disappeared, because another session uses the same directory and overwrote it.
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
            f"another session has used {state.run_dir} at the same time and overwritten {len(lost)} of {len(state.claimed)} parts "
            "of this session: give each session its own directory with --ragmetrics-run-dir"
        )
    outcome.evaluation = joined


COLOURS = {"failed": {"red": True, "bold": True}, "undecided": {"yellow": True}, "passed": {"green": True}}


def write_summary(terminal: pytest.TerminalReporter, outcome: Outcome) -> None:
    """Write the summary of the scores, the comparison and the gates, then what is undecided or failed."""
    terminal.section("ragmetrics")
    if outcome.evaluation is not None:
        _write(terminal, outcome.summary)
        _write(terminal, "")
    for text in outcome.unscored_tests:
        _write(terminal, text, yellow=True)
    if outcome.comparison is not None:
        _write_comparison(terminal, outcome.comparison, outcome.baseline)
    if outcome.decision is not None:
        _write(terminal, str(outcome.decision), **COLOURS[outcome.decision.verdict])
    for text in outcome.warnings:
        _write(terminal, f"UNDECIDED {text}", **COLOURS["undecided"])
    for text in outcome.failures:
        _write(terminal, f"FAILED {text}", **COLOURS["failed"])
    if outcome.evaluation is not None:
        _write(terminal, f"run: {outcome.run_dir} (ragmetrics show, report and compare read it)")


def _write(terminal: pytest.TerminalReporter, text: str, **colours: bool) -> None:
    terminal.write_line(printable(text), **colours)


def _write_comparison(terminal: pytest.TerminalReporter, comparison: Comparison, baseline: str) -> None:
    """Write the result for every metric, the slices that became better or worse, and the notes of the comparison."""
    _write(terminal, comparison.sentence)
    _write(terminal, f"compared with {baseline}: {comparison.pairs} pairs of rows")
    unpaired = ((comparison.only_before, "the baseline"), (comparison.only_after, "this session"))
    for rows, where in unpaired:
        if rows:
            _write(terminal, f"{len(rows)} rows are only in {where}")
    for item in (*comparison.metrics, *comparison.slices):
        if item.slice is None or item.verdict in ("better", "worse"):
            name = item.name if item.slice is None else f"{item.name}, {item.slice}"
            _write(terminal, f"{name}: {item.verdict}; {item.why}")
    for text in (*comparison.warnings, *comparison.notes):
        _write(terminal, text)
    _write(terminal, "")
