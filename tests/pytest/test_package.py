"""The package itself: what it may import, what it shows, how long its parts are, and that it costs nothing where it is not used."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import ragmetrics_pytest
from package_rules import check_lengths, imported

pytestmark = pytest.mark.slow

SOURCE = Path(ragmetrics_pytest.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports(path: Path) -> None:
    """pytest's public names, and those of the metrics' core."""
    for module, name in imported(path):
        if module == "_pytest.config.findpaths" and name in ("load_config_dict_from_file", "locate_config"):
            continue  # what a configuration file of pytest is, pytest alone knows; both are the same from 8.2 to 9.2
        assert module.split(".")[0] in {*sys.stdlib_module_names, "pytest", "ragmetrics_core"}, module
        assert module != "pytest" or not name
        if module.split(".")[0] == "ragmetrics_core":
            assert module == "ragmetrics_core"
            assert name in importlib.import_module(module).__all__, name
    assert "pickle" not in {module for module, _ in imported(path)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_sizes(path: Path) -> None:
    check_lengths(path)


def test_public_names() -> None:
    assert ragmetrics_pytest.__all__ == ["ScoredRow", "Scorer"]
    assert all(getattr(ragmetrics_pytest, name).__doc__ for name in ragmetrics_pytest.__all__)
    assert (SOURCE / "py.typed").exists()


def test_the_entry_point_loads_next_to_nothing() -> None:
    """Neither the core nor asyncio, nor anything else that pytest has not loaded itself, but for a handful of small modules."""
    (entry,) = [item for item in entry_points(group="pytest11") if item.name == "ragmetrics"]
    code = (
        "import json, sys, pytest\n"
        "before = set(sys.modules)\n"
        f"import {entry.value}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    own = {f"ragmetrics_pytest{part}" for part in ("", "._options", "._plugin", "._row", "._state")}
    assert set(loaded) - own <= {"uuid", "platform", "_uuid"}
    assert own <= set(loaded)


def test_a_session_that_does_not_use_it_is_as_it_was(pytester: pytest.Pytester) -> None:
    """No module, no file, no section; its tests see neither the core nor asyncio."""
    pytester.makepyfile(
        """
        import sys

        def test_it(request):
            assert not {name for name in sys.modules if name.startswith("ragmetrics_core")}
            assert "ragmetrics_pytest._plugin" in sys.modules
            assert not {name for name in request.fixturenames if "ragmetrics" in name}
        """
    )
    plugins = ("asyncio", "anyio", "hypothesispytest", "langsmith", "langsmith_plugin", "xdist", "cov", "pytest_cov")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *(f"-pno:{name}" for name in plugins))
    result.assert_outcomes(passed=1)
    assert "ragmetrics" not in result.stdout.str().partition("plugins:")[2].partition("\n")[2]
    assert not (pytester.path / ".ragmetrics").exists()


def test_help_and_markers(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    markers = pytester.runpytest_inprocess("--markers").stdout.str()
    assert "@pytest.mark.ragmetrics(rows, metrics, llm, embeddings, columns)" in markers
    text = " ".join(pytester.runpytest_inprocess("--help").stdout.str().split())
    assert "--ragmetrics-gate=GATE" in text
    assert "fails if the 95 % interval is on the wrong side" in text
    assert "ragmetrics_min_coverage" in text
