"""Reply formats: how a model is asked to reply, and how its reply is read.

A format is a value with ``instructions()`` for the prompt, ``parse(text)`` and, if structured output can express the reply, a
``schema``. The readers are tolerant of form and strict about meaning. They accept code fences, prose, thinking, near-JSON, other
keys, other languages and other ways of writing a number. A reply that has no honest reading raises ``BadReply``; it never becomes
a default value.

Before a format reads a reply, the prompt removes the passages that repeat its data, and refuses a structured verdict that is
itself in the data (``_kernel/_repeated``).

The steps from there are the same for every format; ``_pipeline`` calls them in this order:

1. A reply that is clean JSON and nothing else is decoded, and step 5 reads it (``_json_text``). ``JsonReply`` takes
   a still shorter path if every key is known (``_json``).
2. Thinking, tokens of chat templates and invented turns are cut off. A part that was cut off although it might be the answer is
   kept as doubtful (``_answer_part``).
3. The JSON values in the remaining text are found, broken ones included (``_json_text``). The ``Reader`` of the format names
   those that may be the answer.
4. One of these values is chosen. They must agree, none may be in the data that was sent, and none may be announced as another
   speaker's words (``_pipeline``, ``_whose``).
5. The value is read. Data for a model are fitted and validated (``_fit``, ``_plan``); a yes, a number or a list of texts is
   looked for under the keys that models give it (``_scalar``, ``_lines``, ``_keys``).
6. If no JSON value is the answer, the words are read: tags, tables, outlines, lists, verdicts and scores (``_markup``,
   ``_items``, ``_verdict``, ``_marks``).
7. The doubtful parts of step 2 must not contradict the answer (``_pipeline``).

A step that finds no honest reading raises ``Unreadable``; the pipeline turns that into a ``BadReply`` with the raw text.
Each format is one file of this folder; ``_yes_no`` is a short one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._values._requests import ReplyFormat
from ._items import is_chat, real_items
from ._object import ObjectReply
from ._pipeline import answer_text, read_prose
from ._score import RatingReply, ScoreReply
from ._with_reason import WithReason, value_and_reason
from ._yes_no import YesNoReply

if TYPE_CHECKING:
    from ._json import JsonReply
    from ._lines import LinesReply

__all__ = [
    "JsonReply",
    "LinesReply",
    "ObjectReply",
    "RatingReply",
    "ReplyFormat",
    "ScoreReply",
    "WithReason",
    "YesNoReply",
    "answer_text",
    "is_chat",
    "read_prose",
    "real_items",
    "value_and_reason",
]


def __getattr__(name: str) -> Any:
    """Load the formats that need pydantic when they are asked for."""
    if name == "JsonReply":
        from ._json import JsonReply  # noqa: PLC0415

        return JsonReply
    if name == "LinesReply":
        from ._lines import LinesReply  # noqa: PLC0415

        return LinesReply
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
