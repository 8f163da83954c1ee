"""``python -m ragmetrics_core`` is the command ``ragmetrics``."""

from __future__ import annotations

from .cli import main

main()
