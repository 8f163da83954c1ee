"""Reply formats: how a model is asked to reply, and how its reply is read.

A format is a value with ``instructions()`` for the prompt, a ``schema`` for structured output where there is one,
and ``parse(text)``. The readers are tolerant of form and strict about meaning: fences, prose, thinking, near-JSON,
other keys, other languages and other ways of writing a number are read through; what has no honest reading raises
``BadReply``, never a default.

A prompt takes out of a reply what repeats its data, and refuses a structured verdict that is in the data, before a format
reads it (``_kernel/_repeated``).

What happens to a reply then, in this order, whatever its format; ``_pipeline`` calls the steps:

1. A reply that is clean JSON and nothing else is decoded, and step 5 reads it (``_json_text``). ``JsonReply`` goes
   a still shorter way where every key is known (``_json``).
2. Thinking, the tokens of chat templates and invented turns are cut off; what may be the answer all the same is kept in
   doubt (``_answer_part``).
3. The JSON values in the rest are found, broken ones too (``_json_text``), and the format names those that may be the answer
   (its ``Reader``).
4. One of them is chosen, if they speak with one voice, and none is in the data that was sent or is announced as another's
   (``_pipeline``, ``_whose``).
5. The value is read: a model is fitted and validated (``_fit``, ``_plan``); a yes, a number or a list of texts is looked for under
   the names that models give it (``_scalar``, ``_lines``, ``_keys``).
6. Where no JSON value is the answer, the words are read: tags, tables and outlines, lists, verdicts, scores (``_markup``,
   ``_items``, ``_verdict``, ``_marks``).
7. What was kept in doubt must not say something else (``_pipeline``).

A step that finds no honest reading raises ``Unreadable``; the pipeline makes it a ``BadReply`` with the raw text.
A format is one file of this folder: ``_yes_no`` is a short one.
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
