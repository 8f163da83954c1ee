"""The command ``ragmetrics``: `_app` declares its commands, the other files are what their options and outputs need."""

from __future__ import annotations

from ._app import app, main

__all__ = ["app", "main"]
