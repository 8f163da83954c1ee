"""The module that pytest loads in every session: options, the marker and two fixtures. It costs no time in a test suite that
uses neither.

Strategy. Each hook first checks whether the suite uses the plugin, and only then imports the module that does the work: `_marks`
reads markers and rows while tests are collected, `_scoring` scores all rows before the first test that needs them and the rows
that a test makes, and `_session` joins the scores and decides the gates when the session ends. A session has one directory (see
`_state`), in which several processes may score, such as the workers of pytest-xdist.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from ._options import add_options
from ._row import ROWS, check_errors
from ._state import State, state_of

if TYPE_CHECKING:
    from ._row import ScoredRow, Scorer

__all__: list[str] = []

CLAIMED = "ragmetrics_claimed"
MARKER = (
    "ragmetrics(rows, metrics, llm, embeddings, columns): make a test of every row, which these metrics score before the first of "
    "them runs; the fixture ragmetrics_row gives the scores."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and ini values, all of which begin with ``ragmetrics``."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and check the settings for gates."""
    config.addinivalue_line("markers", MARKER)
    config.stash[State.KEY] = State(config)
    state_of(config).check()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each row of a marked function."""
    if metafunc.definition.get_closest_marker("ragmetrics") is not None:
        from ._marks import parametrize_rows  # noqa: PLC0415  loads the core

        parametrize_rows(metafunc, state_of(metafunc.config))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Score all rows of the session before the first test that needs a score."""
    if ROWS in item.stash:  # a test that is run again
        del item.stash[ROWS]
    if item.get_closest_marker("ragmetrics") is not None:
        from ._scoring import prepare  # noqa: PLC0415  loads the core

        prepare(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that passed or skipped itself although one of its rows could not be scored."""
    try:
        result = yield
    except pytest.skip.Exception:
        check_errors(item)
        raise
    check_errors(item)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test if a fixture scored a row while it was torn down, and that row could not be scored."""
    before = len(item.stash.get(ROWS, ()))
    result = yield
    check_errors(item, before)
    return result


@pytest.fixture
def ragmetrics_row(request: pytest.FixtureRequest) -> ScoredRow:
    """The row that this test is about, with its scores: ``ragmetrics_row["faithfulness"]``."""
    if not hasattr(request, "param"):
        pytest.fail(
            "ragmetrics_row needs a row: mark the test with @pytest.mark.ragmetrics(rows=..., metrics=[...])",
            pytrace=False,
        )
    row: ScoredRow = request.node.stash[ROWS][0]
    return row


@pytest.fixture
def ragmetrics_scorer(request: pytest.FixtureRequest) -> Scorer:
    """Score rows that the test makes: ``ragmetrics_scorer.score({"question": ..., "answer": ...}, "faithfulness")``."""
    from ._row import Scorer  # noqa: PLC0415  used by few

    return Scorer(request.node)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Pass the name of the session to a worker of pytest-xdist."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]
    node.workerinput["ragmetrics_session"] = state_of(config).session  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Collect the names of the parts that a worker of pytest-xdist has scored; a worker that crashed reports none."""
    output: dict[str, list[str]] = getattr(node, "workeroutput", {})
    state_of(node.config).claimed.update(output.get(CLAIMED, ()))  # type: ignore[attr-defined]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Join the scores and decide the gates, before the reports are written that show the decision."""
    state = state_of(session.config)
    if state.is_worker:
        session.config.workeroutput[CLAIMED] = sorted(state.claimed)  # type: ignore[attr-defined]
        return
    if not (state.claimed or state.parts_of_session() or state.asked_to_decide()):
        return
    from ._session import finish  # noqa: PLC0415  loads the core

    if finish(state, session.config) and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write the section about scores and gates."""
    state = state_of(config)
    if state.outcome is not None:
        from ._session import write_summary  # noqa: PLC0415  used by few

        write_summary(terminalreporter, state.outcome)
