"""Fixtures shared by the whole suite."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from waiting import HeldClock

pytest_plugins = ["pytester"]  # sessions in sessions, for the tests of ragmetrics-pytest

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # read when Haystack is imported
# each client reads the certificates that it trusts: one takes no time, the 130 of certifi take 30 ms; no test uses TLS
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "fixtures" / "certificate.pem")
os.environ["COLUMNS"] = "80"  # tables are laid out for the terminal, and the suite may run in any

# how long an example takes says as much about the machine as about the code, and the machine may be busy; how many of those that
# are drawn first are filtered out, or are large, is chance
hypothesis.settings.register_profile(
    "busy",
    deadline=None,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.data_too_large,
        hypothesis.HealthCheck.filter_too_much,
    ],
)
hypothesis.settings.register_profile("quick", hypothesis.settings.get_profile("busy"), max_examples=25)  # `nox -s fast`
hypothesis.settings.load_profile("busy")

SLOWEST = (
    "core/replies/test_properties.py",
    "core/engine/test_noise.py",
    "test_docs.py",
    "pytest/test_xdist.py",
    "pytest/test_interrupted.py",
    "pytest/test_gates.py",
    "core/statistics/test_coverage.py",
    "langchain/test_cost.py",
    "core/lexical/test_agreement_page.py",
    "pytest/test_false_alarms.py",
    "core/engine/test_pace.py",
    "core/cli/test_process.py",
)
"""The files that take longest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slowest files come first: where files are shared out among processes, none is left alone with one of them at the end."""
    order = {Path(__file__).parent / name: place for place, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No garbage is collected while tests and frameworks are loaded: what is loaded stays, so it is not looked at again either."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


SHARED = Path(__file__).resolve().parents[2] / "shared"
DATA = Path(os.environ.get("RAGMETRICS_DATA", SHARED / "data"))
BATCH = Path(os.environ.get("RAGMETRICS_BATCH", SHARED / "batch"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the real evaluation data; absent on a user's machine, required in continuous integration."""
    return _there(DATA, "the evaluation data is", "RAGMETRICS_DATA")


@pytest.fixture(scope="session")
def batch_server() -> Path:
    """The program of a server of the Batch API that counts what is paid; absent on a user's machine like the data."""
    return _there(BATCH, "the server of batches is", "RAGMETRICS_BATCH") / "batch_server.py"


def _there(folder: Path, what: str, variable: str) -> Path:
    if not folder.is_dir():
        message = f"{what} not at {folder}; set {variable} to its folder"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture
def untraced() -> Iterator[None]:
    """No line tracing in this thread and in those that it starts.

    What costs are measured must not be those of coverage. And simulations, which go through the same lines a million times, would
    take three times as long; tests beside them have gone through each of these lines.
    """
    own, others = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]  # None is what it takes to stop
    try:
        yield
    finally:
        threading.settrace(others)  # type: ignore[arg-type]
        sys.settrace(own)


@pytest.fixture
def held_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldClock]:
    """The clock that time limits in the background are kept by; the test moves it once those jobs run that are to be late."""
    from ragmetrics_core.adapters import _background

    clock = HeldClock()
    monkeypatch.setattr(_background, "time", clock)
    monkeypatch.setattr(_background, "PAUSE", 0.0)
    yield clock
    clock.move(1e9)  # every sleeper of this clock wakes up


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C reaches this process and those it starts, also where a shell started the tests in the background.

    Such a shell has its jobs ignore SIGINT, and what a process ignores its children ignore too.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
