"""The command ``ragmetrics``: `_app` declares its commands, and each command has a file, whose docstring is its help."""

from __future__ import annotations

from ._app import app, main

__all__ = ["app", "main"]
