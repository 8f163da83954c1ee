"""How many samples are scored at once: scheduling, and nothing else.

The engine takes rows and metrics and hands back finished rows; it knows nothing of files, tables or results. Its parts, from the
rows down to the wire: ``_schedule`` decides who runs when, and ``_crew`` keeps the tasks of a run together; ``_answers`` decides
which requests become calls (``_keys`` names their replies in the journal, ``_batches`` makes one call of many); ``_line`` makes
the calls to one model, as fast as ``_pace`` finds possible, as long as ``_deadline`` allows, and within the ``_budget``.
``_blocking`` starts the event loop for synchronous callers.
"""

from __future__ import annotations

from ._answers import Answers
from ._blocking import run_blocking
from ._budget import Budget
from ._line import Rules
from ._schedule import Engine, Judge

__all__ = ["Answers", "Budget", "Engine", "Judge", "Rules", "run_blocking"]
