"""Without Chromium, tests of pages are left out with a warning; in continuous integration they never are."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from typing import Any
from unittest.mock import MagicMock

import pytest

from source_tree import ROOT

pytestmark = pytest.mark.slow

INSTALL = [("apt-get", "update"), ("apt-get", "install", "-y", "--no-install-recommends", "chromium")]
MESSAGE = (
    "Chromium is not installed, so the pages of reports are not tested. On Debian, as root: "
    "apt-get update && apt-get install -y --no-install-recommends chromium"
)


class Failed(Exception):
    """What nox raises to end a session."""


class Machine:
    """A session of nox on a machine that may have Chromium, or get it when that is installed."""

    def __init__(self, *, has: bool = False, installs: bool = True) -> None:
        self.has = has
        self.installs = installs
        self.ran: list[tuple[str, ...]] = []
        self.warned: list[str] = []

    def run(self, *command: str, external: bool) -> None:
        assert external
        self.ran.append(command)
        self.has = self.has or (self.installs and command == INSTALL[-1])

    def warn(self, message: str) -> None:
        self.warned.append(message)

    def error(self, message: str) -> None:
        raise Failed(message)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``has_chromium`` of the noxfile on a machine; nox itself is no dependency of the tests."""
    monkeypatch.setitem(sys.modules, "nox", MagicMock())
    has_chromium = runpy.run_path(str(ROOT / "noxfile.py"))["has_chromium"]

    def on(machine: Machine, *, ci: bool, root: bool) -> bool:
        monkeypatch.setattr("shutil.which", lambda name: name if machine.has and name == "chromium" else None)
        monkeypatch.setattr("os.geteuid", lambda: 0 if root else 1000)
        monkeypatch.setenv("CI", "true" if ci else "")
        found: bool = has_chromium(machine)
        return found

    return on


@pytest.mark.parametrize("ci", [True, False])
def test_it_is_used_where_it_is(gate: Any, ci: bool) -> None:
    machine = Machine(has=True)
    assert gate(machine, ci=ci, root=True)
    assert (machine.ran, machine.warned) == ([], [])


def test_root_installs_it_in_ci(gate: Any) -> None:
    machine = Machine()
    assert gate(machine, ci=True, root=True)
    assert (machine.ran, machine.warned) == (INSTALL, [])


@pytest.mark.parametrize(("root", "ran"), [(True, INSTALL), (False, [])])
def test_the_gate_fails_in_ci_without_it(gate: Any, root: bool, ran: list[tuple[str, ...]]) -> None:
    machine = Machine(installs=False)
    with pytest.raises(Failed) as failed:
        gate(machine, ci=True, root=root)
    assert (str(failed.value), machine.ran) == (MESSAGE, ran)


@pytest.mark.parametrize("root", [True, False])
def test_elsewhere_a_warning_names_the_command(gate: Any, root: bool) -> None:
    machine = Machine()
    assert not gate(machine, ci=False, root=root)
    assert (machine.ran, machine.warned) == ([], [MESSAGE])


@pytest.mark.parametrize(("ci", "outcome"), [("true", "1 error"), ("", "1 skipped")])
def test_a_test_of_a_page_without_it(ci: str, outcome: str) -> None:
    pytest.importorskip("playwright")
    test = "tests/browser/test_report_page.py"
    environment = {**os.environ, "PATH": "", "CI": ci}
    command = [
        sys.executable,
        "-m",
        "pytest",
        test,
        "-x",
        "--maxfail=1",
        "-q",
        "-rs",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, "-k", "test_the_worst_rows_come_first"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in done.stdout, done.stdout
    assert "Chromium is not installed: apt-get update && apt-get install" in done.stdout
