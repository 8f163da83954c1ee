"""How many samples are scored at once: scheduling, and nothing else.

The engine takes rows and metrics and hands back finished rows; it knows nothing of files, tables or results. Its parts:
``_schedule`` decides who runs when, ``_answers`` decides which requests become calls and holds the limit on calls in flight,
``_crew`` keeps the tasks of a run together, ``_blocking`` starts the event loop for synchronous callers.
"""

from __future__ import annotations

from ._blocking import run_blocking
from ._schedule import Engine

__all__ = ["Engine", "run_blocking"]
