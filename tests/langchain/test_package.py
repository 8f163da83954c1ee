"""The package itself: what it may import, what it shows, how long its parts are."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import ragmetrics_langchain
from package_rules import check_lengths, imported

SOURCE = Path(ragmetrics_langchain.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports(path: Path) -> None:
    """LangChain's core and what it brings, and public names of the metrics' core; typing_extensions is for type checkers only."""
    brought = {"langchain_core", "langsmith", "pydantic_core"}
    allowed = {*sys.stdlib_module_names, *brought, "ragmetrics_core", "typing_extensions"}
    for module, name in imported(path):
        top = module.split(".")[0]
        assert top in allowed, module
        if top == "ragmetrics_core":
            assert not any(part.startswith("_") for part in module.split("."))
            assert name in importlib.import_module(module).__all__, f"{module}.{name}"
    assert "pickle" not in {module for module, _ in imported(path)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_sizes(path: Path) -> None:
    check_lengths(path)


def test_public_names() -> None:
    names = ragmetrics_langchain.__all__
    assert set(names) >= {
        "LangChainEmbeddings",
        "LangChainLLM",
        "MetricRunnable",
        "RagEvaluationCallback",
        "as_langsmith_evaluator",
        "as_openevals",
        "langsmith_feedback",
    }
    assert all(getattr(ragmetrics_langchain, name).__doc__ for name in names)
    assert (SOURCE / "py.typed").exists()
