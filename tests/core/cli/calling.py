"""The command, called in this process."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner, Result

from ragmetrics_core.cli import app

# Before click 8.2 the two outputs were one unless told otherwise.
SEPARATE = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner.__init__).parameters else {}


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    words = [str(argument) for argument in arguments]
    with patch.object(sys, "argv", ["ragmetrics", *words]):
        return CliRunner(**SEPARATE).invoke(app, words, input=stdin)
