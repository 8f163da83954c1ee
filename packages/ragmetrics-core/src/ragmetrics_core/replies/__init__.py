"""Reply formats: how a model is asked to reply, and how its reply is read.

A format is a value with ``instructions()`` for the prompt, a ``schema`` for structured output where there is one,
and ``parse(text)``. The readers are tolerant of form and strict about meaning: fences, prose, thinking, near-JSON,
other keys, other languages and other ways of writing a number are read through; what has no honest reading raises
``BadReply``, never a default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._kernel._protocols import ReplyFormat
from ._lines import LinesReply
from ._object import ObjectReply
from ._prose._nothing import real_items
from ._rating import RatingReply
from ._read_prose import answer_text, read_prose
from ._score import ScoreReply
from ._with_reason import WithReason, value_and_reason
from ._yes_no import YesNoReply

if TYPE_CHECKING:
    from ._json import JsonReply

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
    "read_prose",
    "real_items",
    "value_and_reason",
]


def __getattr__(name: str) -> Any:
    """Load ``JsonReply``, the one format that needs pydantic, when it is asked for."""
    if name == "JsonReply":
        from ._json import JsonReply  # noqa: PLC0415  the one format that needs pydantic

        return JsonReply
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
