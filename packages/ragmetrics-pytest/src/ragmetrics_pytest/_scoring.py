"""Score the rows of all marked tests in one run before the first of these tests, and the rows of each call of
``ragmetrics_scorer``.

Strategy. The first test that needs a score has the rows of all tests of the session scored with one call of ``evaluate``. Each
row is scored by the metrics of its tests, and a row that several tests share is scored once. The run's directory stores the
replies, so the next session pays only for new questions. The workers of pytest-xdist all collect the same tests: one of them
scores, while the others wait for its results.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn

import pytest

from ragmetrics_core import (
    Evaluation,
    InvalidInput,
    Metric,
    ModelError,
    RagmetricsError,
    Sample,
    Score,
    Scorer,
    embeddings_named,
    evaluate,
    llm_named,
    read_samples,
)

from ._marks import Judged, key_of, marked, registry_of
from ._options import as_option, settings
from ._row import PARAM, RowParam, ScoredRow, note_scores, printable
from ._state import Part, State, in_ci, state_of

ROWS = "rows"
NO_ROWS = (
    "the rows of this test were not collected: a unittest.TestCase cannot get rows (write a function or a plain class, or use "
    "assert_score without the marker), and a marker that is added after collection comes too late"
)
NOT_SCORED = (
    "this row was not scored. Every worker of pytest-xdist collects the rows, and all must find the same rows: store the answers "
    "of your system in a file, or score rows that differ from worker to worker with the fixture ragmetrics_scorer"
)
NOT_FINISHED = "the rows could not be scored: see the first test that needed them"
SAME_PROBLEM = "no scores: for the reason, see the error of the first test that needed them, or the end of the session"


@dataclass(frozen=True)
class RowsOutcome:
    """The result of scoring the rows of the marked tests.

    Attributes:
        scored: for the key of each row that has scores, its scores by metric. They are in memory because another session may
            overwrite the files.
        problem: why some rows have no scores; empty if all have them.
        needs_key: whether only an API key is missing.
        is_shown: whether a test has already failed with this problem.
    """

    scored: Mapping[str, Mapping[str, Score]]
    problem: str = ""
    needs_key: bool = False
    is_shown: bool = False


def prepare(item: pytest.Item) -> None:
    """Make sure that the row of a marked test has its scores.

    Raises:
        pytest.fail.Exception: the row could not be scored.
        pytest.skip.Exception: the row could not be scored because an API key is missing, or for a reason that an earlier test has
        shown.
    """
    param = row_param(item)
    if item.config.getoption("setupplan", False):  # pytest only shows its plan
        return
    if param is None:
        if "rows" in marked(item):
            pytest.fail(NO_ROWS, pytrace=False)
        return
    state = state_of(item.config)
    if state.rows is None:
        state.rows = RowsOutcome({}, NOT_FINISHED)
        state.rows = _score_session(state, item.session.items)
    outcome = state.rows
    if param.key not in outcome.scored:
        fails = in_ci() or not outcome.needs_key
        if outcome.is_shown and fails:  # the session fails at its end too, so this hides nothing
            pytest.skip(SAME_PROBLEM)
        state.rows = replace(outcome, is_shown=outcome.problem not in ("", NOT_FINISHED))
        stop(outcome.problem or NOT_SCORED, needs_key=outcome.needs_key)
    scores = outcome.scored[param.key]
    note_scores(item, ScoredRow(param.sample, {name: scores[name] for name in param.metrics}))


def in_pytest_words(error: RagmetricsError) -> str:
    """Return the message of an error, with settings named as in pytest."""
    return printable(error.message(as_option))


def stop(problem: str, *, needs_key: bool) -> NoReturn:
    """End a test whose rows cannot be scored: skip it if only an API key is missing and this is not continuous integration, else
    fail it.
    """
    if needs_key and not in_ci():
        pytest.skip(problem)
    pytest.fail(problem, pytrace=False)


def row_param(item: pytest.Item) -> RowParam | None:
    """Return the row of a test, if it has one."""
    callspec = getattr(item, "callspec", None)
    param = None if callspec is None else callspec.params.get(PARAM)
    return param if isinstance(param, RowParam) else None


@dataclass
class _Row:
    """A row of the run, the tests that use it, and the metrics that score it."""

    sample: Sample
    tests: list[str]
    metrics: set[str]


def _rows_of(items: Sequence[pytest.Item]) -> dict[str, _Row]:
    """Return the rows of these tests by key, in the order of the test files, whatever the order in which the tests run."""
    rows: dict[str, _Row] = {}
    wanted = [(item, param) for item in items if (param := row_param(item)) and not _is_left_out(item)]
    for item, param in sorted(
        wanted, key=lambda pair: (pair[0].nodeid.partition("[")[0], pair[1].number, pair[0].nodeid)
    ):
        row = rows.setdefault(param.key, _Row(param.sample, [], set()))
        row.tests.append(item.nodeid)
        row.metrics.update(param.metrics)
    return rows


def _is_left_out(item: pytest.Item) -> bool:
    """Whether a marker keeps the test from running: ``skip``, ``skipif`` or ``xfail(run=False)``, as pytest itself reads them."""
    plugin = item.config.pluginmanager.get_plugin("skipping")
    if plugin is None:
        return False
    try:
        expected = plugin.evaluate_xfail_marks(item)
        return plugin.evaluate_skip_marks(item) is not None or (expected is not None and not expected.run)
    except pytest.fail.Exception:  # the marker cannot be read; the test will report that
        return True


def _score_session(state: State, items: Sequence[pytest.Item]) -> RowsOutcome:
    rows = _rows_of(items)
    part = Part(state.parts / ROWS)
    part.claim()
    with locked(state.run_dir / SCORING):
        noted = part.read()
        if noted.get("session") == state.session:
            state.claimed.add(ROWS)
            return _load_outcome(part, noted)
        part.clear()
        with _show_progress(state.config):
            return _score(state, rows, part)


def _score(state: State, rows: Mapping[str, _Row], part: Part) -> RowsOutcome:
    """Score the rows; if an API key is missing, score only the rows whose metrics call no model."""
    judged = registry_of(state).metrics
    problem, needs_key, evaluation, chosen = "", False, None, rows
    try:
        evaluation = _run(state, rows, judged, part)
    except RagmetricsError as error:
        problem, needs_key = in_pytest_words(error), error.needs_key
    if needs_key:
        chosen = {
            key: row for key, row in rows.items() if all(judged[name].metric.calls == "none" for name in row.metrics)
        }
        part.clear()  # rows that need no model may have been scored already
        try:
            evaluation = _run(state, chosen, judged, part) if chosen else None
        except RagmetricsError as error:
            problem, needs_key = in_pytest_words(error), error.needs_key
    scored = {} if evaluation is None else {key: index for index, key in enumerate(chosen)}
    state.finished(
        part,
        places=[rows[key].tests[0] for key in scored],
        scored=scored,
        problem=problem,
        needs_key=needs_key,
        left=sum(len(row.tests) for key, row in rows.items() if key not in scored),
    )
    return RowsOutcome(_in_memory(scored, evaluation), problem, needs_key)


def _in_memory(scored: Mapping[str, int], evaluation: Evaluation | None) -> dict[str, dict[str, Score]]:
    return {key: dict(evaluation.records[index].scores) for key, index in scored.items()} if evaluation else {}


def _load_outcome(part: Part, noted: Mapping[str, Any]) -> RowsOutcome:
    evaluation = Evaluation.load(part.path) if noted["scored"] else None
    is_shown = bool(noted["problem"])  # the process that scored has shown it
    return RowsOutcome(_in_memory(noted["scored"], evaluation), noted["problem"], noted["needs_key"], is_shown)


def _run(state: State, rows: Mapping[str, _Row], judged: Mapping[str, Judged], part: Part) -> Evaluation:
    names = dict.fromkeys(name for name in judged if any(name in row.metrics for row in rows.values()))
    metrics = {with_models(judged[name]): _condition_of(rows, name) for name in names}
    samples = [row.sample for row in rows.values()]
    return evaluate(samples, metrics, run_dir=part.path, progress=not state.is_worker, **options_of(state))


def _condition_of(rows: Mapping[str, _Row], name: str) -> Callable[[Sample], bool]:
    keys = {key for key, row in rows.items() if name in row.metrics}
    return lambda sample: key_of(sample) in keys


def with_models(judged: Judged) -> Metric:
    """Return the metric with the models of its marker; a model that the metric already has stays.

    Raises:
        RagmetricsError: there is no model of that name, or it needs a key.
    """
    metric = judged.metric
    own: dict[str, Any] = {}
    if judged.llm is not None and metric.llm is None:
        own["llm"] = llm_named(judged.llm)
    if judged.embeddings is not None and metric.embeddings is None:
        own["embeddings"] = embeddings_named(judged.embeddings)
    return replace(metric, **own) if own else metric


def options_of(state: State) -> dict[str, Any]:
    """Return the arguments of ``evaluate`` that are the same for all runs of a session."""
    return settings(state.config, "llm", "embeddings", "repeats", "empty", "max_concurrency")


@contextmanager
def _show_progress(config: pytest.Config) -> Iterator[None]:
    """Let the progress bar reach the terminal while pytest captures output."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    with ExitStack() as stack:
        if capture is not None:
            stack.enter_context(capture.global_and_fixture_disabled())
        yield


class Call:
    """One call of ``ragmetrics_scorer``.

    Args:
        item: the test.
        number: the number of the call within the test, from 1.
        rows: the rows, in any form that ``evaluate`` accepts.
        metrics: metrics or their names; if empty, the metrics of the marker.

    Raises:
        InvalidInput: the rows or the metrics are invalid, or there are no rows.
    """

    def __init__(self, item: pytest.Item, number: int, rows: Any, metrics: Any) -> None:
        self._item = item
        self._state = state_of(item.config)
        given = marked(item)
        self._registry = registry_of(self._state)
        self._names = self._registry.add({**given, "metrics": metrics or given.get("metrics")}, item.nodeid)
        self._samples = read_samples(rows, columns=given.get("columns"))
        if not self._samples:  # the test would loop over no scores and assert nothing
            raise InvalidInput(
                f"there are no rows: call {number} of ragmetrics_scorer in {item.nodeid} got an empty list"
            )
        digest = blake2b(item.nodeid.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        self._part = Part(self._state.parts / f"test-{digest}-{number}")

    def run(self) -> list[ScoredRow]:
        """Score the rows."""
        with self._prepared() as scorer:
            evaluation = scorer.evaluate(self._samples, run_dir=self._part.path, progress=False)
        return self._finished(evaluation)

    async def arun(self) -> list[ScoredRow]:
        """Score the rows without blocking the running loop."""
        with self._prepared() as scorer:
            evaluation = await scorer.aevaluate(self._samples, run_dir=self._part.path, progress=False)
        return self._finished(evaluation)

    @contextmanager
    def _prepared(self) -> Iterator[Scorer]:
        """The scorer of these metrics, the same for all calls of the session; without a key the test ends here."""
        self._part.claim()
        self._part.clear()
        try:
            names = tuple(self._names)
            if names not in self._state.scorers:
                metrics = [with_models(self._registry.metrics[name]) for name in names]
                self._state.scorers[names] = Scorer(metrics, **options_of(self._state))
            yield self._state.scorers[names]
        except RagmetricsError as error:
            words = in_pytest_words(error)
            if not error.needs_key and (not isinstance(error, ModelError) or words == printable(str(error))):
                raise
            stop(words, needs_key=error.needs_key)

    def _finished(self, evaluation: Evaluation) -> list[ScoredRow]:
        count = len(evaluation)
        self._state.finished(self._part, places=[self._item.nodeid] * count, scored=count)
        rows = [ScoredRow(record.sample, dict(record.scores)) for record in evaluation.records]
        for row in rows:
            note_scores(self._item, row)
        return rows


SCORING = "lock.sqlite"
"""The lock of the process that scores the rows of marked tests."""

JOINING = "joining.sqlite"
"""The lock of the process that joins all parts into one run."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock until the end of the block or of the process. It is a lock on an SQLite database, which works on every
    platform.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    try:
        while not _acquire(connection):
            pass  # each attempt waits at most a second, so Ctrl-C works
        yield
    finally:
        connection.close()


def _acquire(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        return False
    return True
