"""The rows of all marked tests, scored in one run before the first of these tests; and one call of ``ragmetrics_scorer``.

Strategy. The first test that needs scores has all rows scored that tests of this session need, by one call of ``evaluate``: as
many at once as it allows, each row by the metrics of its tests, the same row of several tests once. Its directory keeps the
replies, so that the next session pays for new questions alone. Processes of pytest-xdist have collected the same tests: one of
them scores while the others that need scores wait, and then read its results.
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
    aevaluate,
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
    "the rows of this test were not collected: tests of unittest cannot be given rows (write a function or a plain class, or use "
    "assert_score without the marker), and a marker that is added after collection comes too late"
)
NOT_SCORED = (
    "this row is not among those that were scored. Every process of pytest-xdist collects the rows, and they must be the same "
    "in all: keep what your system answered in a file, or score what differs in each call by the fixture ragmetrics_scorer"
)
NOT_FINISHED = "the rows could not be scored: see the first test that needed them"
SAME_PROBLEM = "no scores: the error of the first test that needed them says why, and so does the end of the session"


@dataclass(frozen=True)
class RowsOutcome:
    """What became of the rows.

    Attributes:
        scored: by the key of each row that has scores, these by metric; in memory, as another session may score in the same place.
        problem: why rows have no scores; empty if all have.
        needs_key: whether nothing but a key is missing.
        is_shown: whether a test has failed by the problem already.
    """

    scored: Mapping[str, Mapping[str, Score]]
    problem: str = ""
    needs_key: bool = False
    is_shown: bool = False


def prepare(item: pytest.Item) -> None:
    """See to it that the row of a marked test has its scores.

    Raises:
        pytest.fail.Exception, pytest.skip.Exception: it has none.
    """
    param = row_param(item)
    if item.config.getoption("setupplan", False):  # shows what would be done
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
        if outcome.is_shown and fails:  # the end of the session fails by it as well, so this hides nothing
            pytest.skip(SAME_PROBLEM)
        state.rows = replace(outcome, is_shown=outcome.problem not in ("", NOT_FINISHED))
        stop(outcome.problem or NOT_SCORED, needs_key=outcome.needs_key)
    scores = outcome.scored[param.key]
    note_scores(item, ScoredRow(param.sample, {name: scores[name] for name in param.metrics}))


def in_pytest_words(error: RagmetricsError) -> str:
    """What is wrong, with the names that settings have here."""
    return printable(error.message(as_option))


def stop(problem: str, *, needs_key: bool) -> NoReturn:
    """End a test whose rows cannot be scored: where only a key is missing it is skipped, but in continuous integration it fails."""
    if needs_key and not in_ci():
        pytest.skip(problem)
    pytest.fail(problem, pytrace=False)


def row_param(item: pytest.Item) -> RowParam | None:
    """The row of a test, if it has one."""
    callspec = getattr(item, "callspec", None)
    found = None if callspec is None else callspec.params.get(PARAM)
    return found if isinstance(found, RowParam) else None


@dataclass
class _Row:
    """A row of the run: the tests that it is for, and the metrics that score it."""

    sample: Sample
    tests: list[str]
    metrics: set[str]


def _rows_of(items: Sequence[pytest.Item]) -> dict[str, _Row]:
    """The rows of these tests by their keys, in the order of the files, whatever the order of the tests."""
    found: dict[str, _Row] = {}
    wanted = [(item, param) for item in items if (param := row_param(item)) and not _is_left_out(item)]
    for item, param in sorted(
        wanted, key=lambda pair: (pair[0].nodeid.partition("[")[0], pair[1].number, pair[0].nodeid)
    ):
        row = found.setdefault(param.key, _Row(param.sample, [], set()))
        row.tests.append(item.nodeid)
        row.metrics.update(param.metrics)
    return found


def _is_left_out(item: pytest.Item) -> bool:
    """Whether a marker keeps the test from running: ``skip``, ``skipif`` or ``xfail(run=False)``, as pytest itself reads them."""
    plugin = item.config.pluginmanager.get_plugin("skipping")
    if plugin is None:
        return False
    try:
        expected = plugin.evaluate_xfail_marks(item)
        return plugin.evaluate_skip_marks(item) is not None or (expected is not None and not expected.run)
    except pytest.fail.Exception:  # the marker cannot be read, and the test is going to say so
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
    """Score the rows; where there is no key, those that need none."""
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
    is_shown = bool(noted["problem"])  # by the process that has scored
    return RowsOutcome(_in_memory(noted["scored"], evaluation), noted["problem"], noted["needs_key"], is_shown)


def _run(state: State, rows: Mapping[str, _Row], judged: Mapping[str, Judged], part: Part) -> Evaluation:
    names = dict.fromkeys(name for name in judged if any(name in row.metrics for row in rows.values()))
    metrics = {with_models(judged[name]): _condition_of(rows, name) for name in names}
    return evaluate([row.sample for row in rows.values()], metrics, run_dir=part.path, **options_of(state))


def _condition_of(rows: Mapping[str, _Row], name: str) -> Callable[[Sample], bool]:
    asked = {key for key, row in rows.items() if name in row.metrics}
    return lambda sample: key_of(sample) in asked


def with_models(judged: Judged) -> Metric:
    """The metric, with the models that its marker gives, where the metric has none.

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
    """What all runs of a session have in common, as ``evaluate`` takes it."""
    given = settings(state.config, "llm", "embeddings", "repeats", "empty", "max_concurrency")
    return {"progress": not state.is_worker, **given}


@contextmanager
def _show_progress(config: pytest.Config) -> Iterator[None]:
    """Let the progress bar reach the terminal, where there is one."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    with ExitStack() as stack:
        if capture is not None:
            stack.enter_context(capture.global_and_fixture_disabled())
        yield


class Call:
    """One call.

    Args:
        item: the test.
        number: which call of the test it is, from 1.
        rows: the rows, in any form that ``evaluate`` takes.
        metrics: metrics or their names; none: those of the marker.

    Raises:
        InvalidInput: rows or metrics are not what they should be, or there are no rows.
    """

    def __init__(self, item: pytest.Item, number: int, rows: Any, metrics: Any) -> None:
        self._item = item
        self._state = state_of(item.config)
        given = marked(item)
        self._registry = registry_of(self._state)
        self._names = self._registry.add({**given, "metrics": metrics or given.get("metrics")}, item.nodeid)
        self._samples = read_samples(rows, columns=given.get("columns"))
        if not self._samples:  # a loop over their scores would assert nothing
            raise InvalidInput(f"there are no rows: call {number} of ragmetrics_scorer in {item.nodeid} was given none")
        digest = blake2b(item.nodeid.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        self._part = Part(self._state.parts / f"test-{digest}-{number}")

    def run(self) -> list[ScoredRow]:
        """Score the rows."""
        with self._prepared() as arguments:
            evaluation = evaluate(**arguments)
        return self._finished(evaluation)

    async def arun(self) -> list[ScoredRow]:
        """Score the rows without blocking the running loop."""
        with self._prepared() as arguments:
            evaluation = await aevaluate(**arguments)
        return self._finished(evaluation)

    @contextmanager
    def _prepared(self) -> Iterator[dict[str, Any]]:
        """The arguments of ``evaluate``; without a key the test ends here."""
        self._part.claim()
        self._part.clear()
        try:
            metrics = [with_models(self._registry.metrics[name]) for name in self._names]
            options = {**options_of(self._state), "progress": False}
            yield {"samples": self._samples, "metrics": metrics, "run_dir": self._part.path, **options}
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
"""Who has it scores the rows of marked tests."""

JOINING = "joining.sqlite"
"""Who has it makes one run of all parts."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes out, until the end or the death of this one: a lock that every platform has, in a database."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    try:
        while not _acquire(connection):
            pass  # each try waits a second, so that Ctrl-C is heard
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
