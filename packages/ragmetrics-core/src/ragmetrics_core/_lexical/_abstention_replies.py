"""What the offline judge answers about a response that may decline, and about contexts that may not suffice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._claims import ends_in_refusal, is_question, is_refusal, sentences
from ._phrases import is_greeting
from ._ratings import noncommittal, relevance
from ._words import guess_language

ENOUGH = 0.75
"""Share of the question's words that contexts hold which suffice; words alone cannot tell more."""


def judge_abstention(data: Mapping[str, Any]) -> str:
    held = max((relevance(data["question"], context) for context in data["contexts"]), default=0.0)
    return json.dumps(
        {
            "reason": f"a context holds {held:.0%} of the words of the question",
            "contexts_suffice": "yes" if held >= ENOUGH else "no",
            "response_declines": _declines(data["response"]),
        }
    )


def _declines(response: str) -> str:
    said = [sentence for sentence in sentences(response) if not is_greeting(sentence)]
    if noncommittal(response) or all(is_question(sentence) for sentence in said):
        return "wholly"  # so does a response that only asks back, or says nothing
    language = guess_language(response)
    refuses = (is_refusal(sentence, language) or ends_in_refusal(sentence) for sentence in said)
    return "partly" if any(refuses) else "no"
