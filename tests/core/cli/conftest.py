"""A metric of the user's own, a small file, and what the table for both must be."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core.cli.own import OWN, OWN_METRIC
from ragmetrics_core import evaluate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a metric of the user's own and a small file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "ownmetric", raising=False)
    (tmp_path / "ownmetric.py").write_text(OWN_METRIC)
    (tmp_path / "q.jsonl").write_text(
        '{"response": "12345"}\n{"response": "?"}\n{"response": 3}\n{"answer": "123456789"}\n'
    )
    return tmp_path


@pytest.fixture
def own_table(folder: Path) -> str:
    """What the API says about the same run; the wall time is left out, as ``timeless`` leaves it out."""
    sys.path.insert(0, str(folder))
    table = str(replace(evaluate("q.jsonl", OWN), seconds=None).summary())
    assert "1 row in shortness: InvalidInput: response must be a str, got int" in table
    return table + "\n"
