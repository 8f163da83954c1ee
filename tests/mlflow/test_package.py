"""The package itself: what it imports, what it shows, and how long its parts are."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import ragmetrics_mlflow
from package_rules import check_lengths, imported

SOURCE = Path(ragmetrics_mlflow.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_imports_mlflow_and_public_names_of_the_core_alone(path: Path) -> None:
    for module, name in imported(path):
        assert module.split(".")[0] in {*sys.stdlib_module_names, "mlflow", "pydantic", "ragmetrics_core"}, module
        assert not any(part.startswith("_") for part in f"{module}.{name}".split(".") if part != "__future__")
        if module.split(".")[0] == "ragmetrics_core" and name:
            assert name in importlib.import_module(module).__all__, f"{module}.{name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_functions_are_short(path: Path) -> None:
    check_lengths(path)


def test_public_names() -> None:
    assert ragmetrics_mlflow.__all__ == sorted(ragmetrics_mlflow.__all__)
    assert all(getattr(ragmetrics_mlflow, name).__doc__ for name in ragmetrics_mlflow.__all__)
    assert (SOURCE / "py.typed").exists()


def test_the_package_has_at_most_600_lines() -> None:
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in FILES) <= 600
