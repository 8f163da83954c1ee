"""Every check of the workspace. ``nox`` alone runs the gate; ``nox --list`` shows the sessions.

Python versions, dependencies and their lower bounds are read from the pyproject files, so they stand in one place. Plain venv
and pip do the installing: they are on every machine, and they honour whatever index and wheels pip is configured for.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nox
from packaging.specifiers import SpecifierSet

nox.needs_version = ">=2025.2.9"
nox.options.sessions = ["gate"]
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = False

PACKAGES = {path.parent.name: nox.project.load_toml(path) for path in sorted(Path("packages").glob("*/pyproject.toml"))}
WORKSPACE = nox.project.load_toml("pyproject.toml")
CORE = PACKAGES["ragmetrics-core"]
PYTHONS = nox.project.python_versions(CORE)
CONSTRAINTS = "constraints-test.txt"

# The real embedding models are tested on one Python: torch is large, and what is tested is our use of it.
MODELS_PYTHON = "3.11"


EXTRAS = "anthropic,documents,excel,fsspec,gemini,openai,otel,pandas,parquet,prices,server,view"

BUILD = sorted({"editables", *(item for project in PACKAGES.values() for item in project["build-system"]["requires"])})
"""What builds the packages, also in place: installed once, so that no build makes an environment of its own."""

HEAP = {"NODE_OPTIONS": "--max-old-space-size=8192"}
"""Pyright empties its cache of types when its heap is nearly full, and may then call a type different from itself."""

KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": None}
"""Where bytecode is not kept, each of the many processes that tests start compiles every file anew."""

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
INSTALL_CHROMIUM = (
    ("apt-get", "update"),
    ("apt-get", "install", "-y", "--no-install-recommends", "chromium"),
)
NO_CHROMIUM = "Chromium is not installed, so the pages of reports are not tested. On Debian, as root: " + " && ".join(
    map(" ".join, INSTALL_CHROMIUM)
)


def install(session: nox.Session, *groups: str, extras: str = EXTRAS, adapters: Sequence[str] = ()) -> None:
    """The core in place, with extras, adapters in place with what their tests use, and dependency groups of the workspace."""
    wanted = nox.project.dependency_groups(WORKSPACE, *groups, *adapters)
    editable = [item for name in adapters for item in ("-e", f"packages/{name}")]
    core = f"packages/ragmetrics-core[{extras}]"
    session.install("-q", *BUILD)
    session.install("-q", "--no-build-isolation", "-c", CONSTRAINTS, "-e", core, *editable, *wanted)


def adapters_on(version: str) -> list[str]:
    """The adapters that run on this Python."""
    return [name for name, project in PACKAGES.items() if project is not CORE and runs_on(project, version)]


def runs_on(project: dict[str, Any], version: str) -> bool:
    """Whether a package runs on this version of Python."""
    return version in SpecifierSet(project["project"]["requires-python"])


def check_style(session: nox.Session) -> None:
    session.install("-q", *nox.project.dependency_groups(WORKSPACE, "lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


def check_types(session: nox.Session) -> None:
    """Both checkers side by side, as each of them keeps one core busy; what they say comes one after the other."""
    python = str(Path(session.bin) / "python")  # not that of a .venv in this folder
    with ThreadPoolExecutor() as pool:
        checks = [
            pool.submit(session.run, *command, silent=True, env=HEAP)
            for command in (["mypy"], ["basedpyright", "--pythonpath", python])
        ]
        for check in checks:
            session.log(str(check.result()).strip())


def check_wheel(session: nox.Session) -> None:
    """Build the wheel of every package and compare its files with the source tree."""
    session.install("-q", *BUILD)
    pip = ("python", "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation")
    with tempfile.TemporaryDirectory() as folder:
        session.run(*pip, "--wheel-dir", folder, *(f"./packages/{name}" for name in PACKAGES))
        found = {name: [*Path(folder).glob(f"{name.replace('-', '_')}-*.whl")] for name in PACKAGES}
        files = {name: zipfile.ZipFile(wheel).namelist() for name, (wheel,) in found.items()}
    for name in PACKAGES:
        packed = {file for file in files[name] if ".dist-info/" not in file}
        source = Path("packages") / name / "src"
        expected = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
        expected = {file for file in expected if "__pycache__" not in file}
        if packed != expected:
            session.error(f"the wheel of {name} and the source tree differ in {sorted(packed ^ expected)}")
        if f"{name.replace('-', '_')}/py.typed" not in packed:
            session.error(f"the wheel of {name} holds no py.typed")


def install_tests(session: nox.Session, version: str, *groups: str) -> list[str]:
    """Everything that the whole suite uses on this Python; the import names of the adapters."""
    adapters = adapters_on(version)
    if version == MODELS_PYTHON:
        extras = f"{EXTRAS},sentence-transformers"
        install(session, *groups, "test", "docs", "models", extras=extras, adapters=adapters)
    else:
        install(session, *groups, "test", "docs", adapters=adapters)
    return [name.replace("-", "_") for name in adapters]


IN_PARALLEL = ("-n", str(2 * (os.cpu_count() or 1)), "--dist", "loadfile", "--no-loadscope-reorder")
"""Two workers for each core, since tests mostly wait, for servers and for other processes. The tests of one file stay together, as
some share a model that takes long to load. Files are given out in the order of `tests/conftest.py`, the slowest first."""


def measured(adapters: list[str]) -> tuple[str, ...]:
    """The options that measure the branch coverage of the core and of these adapters."""
    return ("--cov", *(f"--cov={name}" for name in adapters))


def run_tests(session: nox.Session, adapters: list[str], *arguments: str) -> None:
    """The suite, or what the arguments choose of it, without the tests of pages."""
    session.run(
        "pytest",
        *measured(adapters),
        *IN_PARALLEL,
        "--ignore=tests/browser",
        *arguments,
        *session.posargs,
        env=KEEP_BYTECODE,
    )


def has_chromium(session: nox.Session) -> bool:
    """Whether the pages can be tested; where not, the session warns.

    Where CI is set they must be tested: root installs Debian's Chromium, and without Chromium the session fails.
    """
    required = bool(os.environ.get("CI"))
    found = any(map(shutil.which, CHROMIUM))
    if not found and required and os.geteuid() == 0:
        for command in INSTALL_CHROMIUM:
            session.run(*command, external=True)
        found = any(map(shutil.which, CHROMIUM))
    if not found and required:
        session.error(NO_CHROMIUM)
    if not found:
        session.warn(NO_CHROMIUM)
    return found


def run_browser(session: nox.Session, *arguments: str) -> None:
    """The tests of pages, in a process of their own: playwright's event loop would be in the way of others."""
    session.run("pytest", "tests/browser", "-n", "2", *arguments)


def this_python() -> str:
    """The version of the Python that runs nox, such as 3.11."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


@nox.session
def gate(session: nox.Session) -> None:
    """Style, wheels, types and all tests but the slow ones, on the Python that runs nox."""
    check_style(session)  # first, as it fails fastest
    check_wheel(session)
    adapters = install_tests(session, this_python(), "types")
    check_types(session)
    run_tests(session, adapters, "-m", "not slow", "--cov-fail-under=0")  # `slow` adds its part and checks the sum


@nox.session
def fast(session: nox.Session) -> None:
    """The tests that a change is tried with: all but the slow ones, without coverage and with fewer generated examples."""
    adapters = adapters_on(this_python())
    install(session, "test", "docs", adapters=adapters)
    examples = "--hypothesis-profile=quick"
    session.run("pytest", "-q", *IN_PARALLEL, examples, "-m", "not slow", *session.posargs, env=KEEP_BYTECODE)


@nox.session
def slow(session: nox.Session) -> None:
    """The slow tests: faults, kills, simulations, and pages in Chromium, which CI needs; then those of `newest_openai` and
    `phoenix`.

    After `gate` it adds to its coverage, and checks the sum.
    """
    session.notify("newest_openai")
    session.notify("phoenix")
    pages = ["browser"] if has_chromium(session) else []
    adapters = install_tests(session, this_python(), *pages)
    both = Path(".coverage").exists()
    run_tests(session, adapters, "-m", "slow", "--cov-append", *([] if both else ["--cov-fail-under=0"]))
    if pages:
        run_browser(session)
    else:
        session.warn(NO_CHROMIUM)  # once more, where it is read


@nox.session
def lint(session: nox.Session) -> None:
    """Style, format, and what the wheel holds."""
    check_style(session)
    check_wheel(session)


@nox.session
def types(session: nox.Session) -> None:
    """mypy in strict mode and pyright."""
    install_tests(session, this_python(), "types")
    check_types(session)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The test suite with branch coverage, on each Python that is present."""
    run_tests(session, install_tests(session, str(session.python)))


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """The tests of the core with the oldest dependencies that it says it works with."""
    project = CORE["project"]
    extras = project["optional-dependencies"]
    names = (
        "documents",
        "excel",
        "fsspec",
        "openai",
        "otel",
        "pandas",
        "parquet",
        "server",
        "view",
    )  # the price table asks for a younger pydantic than the rest
    bounds = [*project["dependencies"], *(item for name in names for item in extras[name])]
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "lowest.txt"
        pins.write_text("".join(f"{lower_bound(item)}\n" for item in bounds))
        wanted = nox.project.dependency_groups(WORKSPACE, "test")
        session.install("-q", "-c", str(pins), "-e", f"packages/ragmetrics-core[{','.join(names)}]", *wanted)
    # old releases use what others have deprecated since; that is not ours to mend
    warnings = ("-W", "default::DeprecationWarning")
    # its yardstick is the import of pydantic, which was cheaper then
    left_out = ("--deselect", "tests/test_architecture.py::test_importing_is_cheap")
    session.run("pytest", *warnings, *left_out, "tests/core", "tests/test_architecture.py", *session.posargs)


@nox.session
def newest_openai(session: nox.Session) -> None:
    """The tests of models with the newest release of openai, which frameworks of the adapters hold back elsewhere."""
    wanted = nox.project.dependency_groups(WORKSPACE, "test")
    session.install("-q", "-c", CONSTRAINTS, "-e", "packages/ragmetrics-core[openai,server]", "openai>=3", *wanted)
    batches = ("tests/core/evaluate/test_batches.py", "tests/core/evaluate/test_batch_server.py")
    session.run("pytest", "-q", "-m", "not slow", "tests/core/llms", *batches, *session.posargs)


@nox.session
def phoenix(session: nox.Session) -> None:
    """The test of the sink for Phoenix with a real server, which needs more than a hundred packages of its own."""
    wanted = nox.project.dependency_groups(WORKSPACE, "test")
    session.install("-q", "-c", CONSTRAINTS, "-e", "packages/ragmetrics-core[otel]", "arize-phoenix", *wanted)
    # its plugin for pytest would load the server into the tests
    session.run("pytest", "-q", "-p", "no:phoenix", "tests/core/adapters/test_sink_phoenix.py", *session.posargs)


ADAPTERS = [name for name in PACKAGES if name != "ragmetrics-core"]


@nox.session(python=MODELS_PYTHON)
@nox.parametrize("name", ADAPTERS, ids=ADAPTERS)
def lowest_framework(session: nox.Session, name: str) -> None:
    """The tests of an adapter with the oldest release of its framework that it says it works with."""
    bounds = [item for item in PACKAGES[name]["project"]["dependencies"] if not item.startswith("ragmetrics")]
    pins = [lower_bound(item) for item in bounds]
    wanted = nox.project.dependency_groups(WORKSPACE, "test", name)
    editable = ["-e", f"packages/ragmetrics-core[{EXTRAS}]", "-e", f"packages/{name}"]
    session.install("-q", "-c", CONSTRAINTS, *editable, *wanted, *pins)
    folder = name.removeprefix("ragmetrics-").replace("-", "_")
    session.run("pytest", "-W", "default", f"tests/{folder}", *session.posargs)


def lower_bound(requirement: str) -> str:
    """``pydantic>=2.7`` as ``pydantic==2.7``."""
    match = re.fullmatch(r"([\w.-]+)>=([\d.]+)(?:,.*)?", requirement)
    if match is None:
        raise ValueError(f"{requirement!r} has no lower bound of the form name>=version")
    return f"{match[1]}=={match[2]}"


@nox.session
def browser(session: nox.Session) -> None:
    """The tests of pages, in Chromium."""
    if not has_chromium(session):
        session.skip("nothing was tested")
    install(session, "test", "browser")
    run_browser(session, *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Write the generated pages and the picture of a report anew, then run every code block of README and docs."""
    adapters = adapters_on(this_python())
    install(session, "test", "docs", adapters=adapters)
    session.run("python", "docs/metric_names.py")
    session.run("python", "docs/generate.py")
    session.run("python", "docs/rooms.py")
    session.run("python", "docs/picture.py")
    session.run("pytest", "tests/test_docs.py", *session.posargs)
