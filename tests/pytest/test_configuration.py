"""A session whose configuration file was not read: it has no gates, and says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MARKED = """
@pytest.mark.ragmetrics(rows=[{"answer": "a", "reference": "a"}], metrics=["exact_match"])
def test_exact(ragmetrics_row): pass
"""
PLAIN = "\ndef test_plain(): pass\n"
CURE = (
    " instead: join each option and its value by '=', as in --ragmetrics-baseline=RUN (pytest treats a path after a space as the "
    "path of a test), or give -c {file}"
)
FILES = {
    "pytest.ini": "[pytest]\nragmetrics_gates = exact_match >= 0.5\n",
    ".pytest.ini": "[pytest]\nragmetrics_gates = exact_match >= 0.5\n",
    "tox.ini": "[pytest]\nragmetrics_gates = exact_match >= 0.5\n",
    "setup.cfg": "[tool:pytest]\nragmetrics_gates = exact_match >= 0.5\n",
    "pyproject.toml": '[tool.pytest.ini_options]\nragmetrics_gates = ["exact_match >= 0.5"]\n',
}


@pytest.fixture
def project(suite) -> Path:
    """A project without any configuration file yet, with a run beside it."""
    (suite.path / "pytest.ini").unlink()
    folder = suite.path / "project"
    folder.mkdir()
    suite.tests(MARKED, name="project/test_rag")
    suite.run("project", "--ragmetrics-run-dir", "base")
    (suite.path / "elsewhere").mkdir()
    shutil.copytree(suite.path / "base", suite.path / "elsewhere" / "base")
    return folder


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")


def run(suite, project: Path, *options: str) -> pytest.RunResult:
    """A session that is started in the project."""
    suite.pytester._monkeypatch.chdir(project)
    return suite.run("-p", "no:cacheprovider", *options)


@pytest.mark.usefixtures("ci")
@pytest.mark.parametrize("name", FILES)
def test_a_path_after_a_blank_hides_the_configuration(suite, project: Path, name: str) -> None:
    (project / name).write_text(FILES[name])
    result = run(suite, project, "--ragmetrics-baseline", "../elsewhere/base")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    file = project / name
    sentence = f"{file} sets ragmetrics_gates, but pytest has read no configuration file" + CURE.format(file=file)
    assert f"ERROR: {sentence}" in result.stderr.str()
    for options in (
        ["--ragmetrics-baseline=../elsewhere/base"],
        ["--ragmetrics-baseline", "../elsewhere/base", "-c", name],
    ):
        cured = run(suite, project, *options)
        assert "PASSED exact_match >= 0.5" in cured.stdout.str() or "UNDECIDED exact_match >= 0.5" in cured.stdout.str()


def test_elsewhere_it_is_a_warning(suite, project: Path) -> None:
    (project / "pytest.ini").write_text(FILES["pytest.ini"])
    result = run(suite, project, "--ragmetrics-baseline", "../elsewhere/base")
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"UNDECIDED {project / 'pytest.ini'} sets ragmetrics_gates, but pytest has read no *"])


@pytest.mark.usefixtures("ci")
def test_a_session_without_options_that_uses_the_marker(suite, project: Path) -> None:
    (project / "pytest.ini").write_text(FILES["pytest.ini"])
    (suite.path / "setup.py").touch()  # the folder above is the root directory, then
    suite.tests(PLAIN, name="elsewhere/test_plain")
    result = run(suite, project, ".", "../elsewhere/test_plain.py")
    assert result.ret == 1
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"FAILED {project / 'pytest.ini'} sets ragmetrics_gates, but pytest has read no *"])
    suite.tests(PLAIN, name="project/test_rag")
    result = run(suite, project, ".", "../elsewhere/test_plain.py")
    assert result.ret == 0  # nothing of ragmetrics is used


@pytest.mark.usefixtures("ci")
def test_another_file_with_fewer_gates(suite, project: Path) -> None:
    """One gate of two is lost where pytest reads the file of the folder above."""
    pytest.importorskip("xdist")
    (suite.path / "pytest.ini").write_text("[pytest]\nragmetrics_gates = exact_match  >= 0\n")
    gates = "exact_match >= 0\n    exact_match >= 0.01"
    (project / "pytest.ini").write_text(f"[pytest]\nragmetrics_gates = {gates}\n")
    suite.tests(PLAIN, name="elsewhere/test_plain")
    options = (".", "../elsewhere/test_plain.py")
    for processes in ((), ("-n1",)):
        result = run(suite, project, *options, *processes)
        assert result.ret == 1
        found = project / "pytest.ini"
        sentence = f"{found} sets the gate 'exact_match >= 0.01', but pytest has read {suite.path / 'pytest.ini'}"
        assert f"FAILED {sentence}{CURE.format(file=found)}" in result.stdout.str()
    assert run(suite, project, *options, "-o", f"ragmetrics_gates={gates}").ret == 0
    assert run(suite, project, *options, "-c", "../pytest.ini").ret == 0
    (project / "pytest.ini").write_text("[pytest]\naddopts = --ragmetrics-gate 'exact_match >= 0.01'\n")
    assert run(suite, project, *options).ret == 1


@pytest.mark.usefixtures("ci")
@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("ragmetrics_baseline = ../base", "ragmetrics_baseline"),
        ("ragmetrics_gates = exact_match >= 0\nragmetrics_undecided = fail", "ragmetrics_undecided"),
        ("addopts = --ragmetrics-min-coverage=1", "--ragmetrics-min-coverage"),
        ("ragmetrics_llm = lexical", None),
    ],
)
def test_another_file_without_what_decides(suite, project: Path, text: str, lost: str | None) -> None:
    """A baseline and what becomes of undecided gates are lost as gates are."""
    (suite.path / "pytest.ini").write_text("[pytest]\nragmetrics_gates = exact_match >= 0\n")
    (project / "pytest.ini").write_text(f"[pytest]\n{text}\n")
    suite.tests(PLAIN, name="elsewhere/test_plain")
    result = run(suite, project, ".", "../elsewhere/test_plain.py")
    said = f"FAILED {project / 'pytest.ini'} sets {lost}, but pytest has read {suite.path / 'pytest.ini'} instead"
    assert (result.ret, said in result.stdout.str()) == ((1, True) if lost else (0, False))


@pytest.mark.usefixtures("ci")
@pytest.mark.parametrize(
    ("written", "options"),
    [
        ({}, ("--ragmetrics-baseline", "../elsewhere/base")),  # no gates anywhere
        ({"project/pytest.ini": "[pytest]\n"}, ("--ragmetrics-baseline", "../elsewhere/base")),
        ({"project/pyproject.toml": "[project]\nname = 'x'\n"}, ("--ragmetrics-run-dir", "../runs")),
        ({"project/pytest.ini": FILES["pytest.ini"]}, ("--rootdir", "..", "--ragmetrics-run-dir=../runs")),
        # a part of a project with its own file
        ({"pytest.ini": FILES["pytest.ini"], "project/pytest.ini": "[pytest]\n"}, ()),
        ({"pytest.ini": FILES["pytest.ini"], "project/pytest.ini": "[pytest]\n"}, ("../project",)),
        # what the file of another part sets
        ({"pytest.ini": "[pytest]\n", "elsewhere/pytest.ini": FILES["pytest.ini"]}, ()),
    ],
)
def test_nothing_is_lost(suite, project: Path, written: dict[str, str], options: tuple[str, ...]) -> None:
    for name, text in written.items():
        (suite.path / name).write_text(text)
    result = run(suite, project, *options)
    assert "pytest has read" not in result.stdout.str() + result.stderr.str()
    assert result.ret == 0


@pytest.mark.usefixtures("ci")
def test_a_part_of_a_project_that_is_run_from_above(suite, project: Path) -> None:
    (suite.path / "pytest.ini").write_text(FILES["pytest.ini"])
    (project / "pytest.ini").write_text("[pytest]\n")
    assert run(suite, suite.path, "project", "--ragmetrics-run-dir=runs").ret == 0
