"""The command, called in this process."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from ragmetrics_core.cli import app

COMMAND = get_command(app)
"""The command of click that typer makes of the app, made once: it takes 15 ms, and would be made at each call."""

# Before click 8.2 the two outputs were one by default.
SEPARATE = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner.__init__).parameters else {}


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    words = [str(argument) for argument in arguments]
    with patch.object(sys, "argv", ["ragmetrics", *words]), patch("typer.testing._get_command", return_value=COMMAND):
        return CliRunner(**SEPARATE).invoke(app, words, input=stdin)


def write_towers(path: Path, right: int, count: int) -> None:
    """Rows of which so many answer what is expected, the first ones, in two languages."""
    lines = (
        {
            "id": f"q{n}",
            "question": f"Who built tower {n}?",
            "answer": "Gustave Eiffel" if n < right else "Nobody knows it",
            "reference": "Gustave Eiffel",
            "lang": "de" if n % 2 else "en",
        }
        for n in range(count)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def tower_runs(path: Path, rows: int, **right: int) -> Path:
    """Score so many rows of towers in a directory, once for each name, of which so many are right; return the directory."""
    with pytest.MonkeyPatch.context() as context:
        context.chdir(path)
        for name, number in right.items():
            write_towers(path / f"{name}.rows.jsonl", number, rows)
            made = call("evaluate", f"{name}.rows.jsonl", "-m", "exact_match", "--run-dir", name)
            assert made.exit_code == 0
    return path
