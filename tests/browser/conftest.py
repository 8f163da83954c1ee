"""A real browser for the tests of pages: Debian's Chromium, driven by playwright.

Without either of them the tests are skipped, and fail where CI is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from growth import slowness_on_clock
from report_data import hostile, small

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_CHROMIUM = "Chromium is not installed: apt-get update && apt-get install -y --no-install-recommends chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

Opener = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of a page is slow."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        skip_or_fail("playwright is not installed: nox -s browser brings it")
    if CHROMIUM is None:
        skip_or_fail(NO_CHROMIUM)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Opener]:
    """Opens a file; the test fails if its script does, or if it asks for anything but itself."""
    troubles: list[str] = []
    contexts = []

    def open_page(
        path: Path, address: str = "", *, width: int = 1280, scheme: str = "light", scripts: bool = True
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
        )
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: troubles.append(request.url) if request.url != wanted else None)
        wanted = path.as_uri()
        page.goto(wanted + address)
        if scripts:
            page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The page of a small run; a file whose tests are about another page has a fixture of that name itself."""
    path = tmp_path / "report.html"
    small(tmp_path / "scores.jsonl").to_html(path)
    return path


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run whose every field holds a text that would do something."""
    folder = tmp_path_factory.mktemp("hostile")
    hostile(folder / "scores.jsonl").to_html(folder / "report.html")
    return folder / "report.html"


def first_view(opened: Opener, path: Path) -> tuple[Any, float]:
    """The page, and the seconds to its first view: the shortest of three, as other programs take from the processor too.

    They are those of the machine where this was written: each is divided by how much longer other work takes here and now.
    """
    views = []
    for _ in range(3):
        start = time.perf_counter()
        page = opened(path)
        taken = time.perf_counter() - start
        views.append(taken / slowness_on_clock())
    return page, min(views)


def until(page: Any, expression: str) -> None:
    """Wait until an expression is true, by looking again: the policy of the page forbids what playwright would use."""
    latest = time.monotonic() + 30
    while not page.evaluate(expression):
        assert time.monotonic() < latest, f"never came true: {expression}"
        page.wait_for_timeout(10)


def skip_or_fail(why: str) -> NoReturn:
    """Skip a test that needs what is not here; where CI is set, it has to be here."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def axe(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of axe-core, which finds what assistive technology cannot use; npm brings it."""
    npm = shutil.which("npm")
    if npm is None:
        skip_or_fail(
            "npm is not installed, so axe-core cannot be installed, which checks what assistive technology needs"
        )
    folder = tmp_path_factory.mktemp("npm")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), "axe-core@4"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        skip_or_fail("npm did not install axe-core in five minutes")
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        skip_or_fail(f"npm could not install axe-core: {done.stderr.strip()[-300:]}")
    return script.read_text(encoding="utf-8")
