"""How many samples are scored at once: scheduling, retries, limits on calls; it answers the requests of metrics.

The engine takes rows and metrics and hands back finished rows; it knows nothing of files, tables or results. Its parts, from
the rows down to the wire: ``_schedule`` decides which row is scored when; ``_questions`` decides which requests become calls
(``_pending`` knows which are the same, ``_reply_keys`` names their replies in the journal); ``_transport`` leads to one model, and
``_batches`` makes one call of many; ``_calls`` makes the calls, as fast as ``_gate`` and ``_window`` find possible, as long as
``_deadline`` allows, and within the ``_budget``.
"""

from __future__ import annotations

from ._budget import Budget
from ._calls import Rules
from ._questions import Answers
from ._reply_keys import Keys, ReplyStore
from ._schedule import AskedBy, Assignment, Engine

__all__ = ["Answers", "AskedBy", "Assignment", "Budget", "Engine", "Keys", "ReplyStore", "Rules"]
