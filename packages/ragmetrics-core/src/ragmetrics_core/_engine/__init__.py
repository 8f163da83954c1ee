"""How many samples are scored at once: scheduling, and nothing else.

The engine takes rows and metrics and hands back finished rows; it knows nothing of files, tables or results. Its parts, from
the rows down to the wire: ``_schedule`` decides which row is scored when, and ``_task_group`` keeps the tasks of a run together;
``_questions`` decides which requests become calls (``_reply_keys`` names their replies in the journal, ``_batches`` makes one
call of many); ``_calls`` makes the calls to one model, as fast as ``_gate`` finds possible, as long as ``_deadline`` allows,
and within the ``_budget``, which ``_allowance`` shares out among the rows.
"""

from __future__ import annotations

from ._budget import Budget
from ._calls import Rules
from ._questions import Answers
from ._reply_keys import Keys, identity_digest
from ._reply_store import ReplyStore
from ._schedule import Assignment, Engine

__all__ = ["Answers", "Assignment", "Budget", "Engine", "Keys", "ReplyStore", "Rules", "identity_digest"]
