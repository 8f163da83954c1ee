"""Whether an error of a server is about the form of the reply (JSON schema, JSON mode), and how sure that is.

Strategy. A wrong guess costs a model its schemas for good, so the server's own pointer to the culprit (``param`` of the protocol,
``loc`` of FastAPI servers) decides where there is one. Without a pointer, only phrases that servers are known to use
count, and none that also stands in the question: servers quote what they were sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from ._failures import Refused

STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""Servers disagree on how to refuse a parameter; some even crash over it."""

OTHER_REASONS = frozenset({"content_filter", "context_length_exceeded", "json_validate_failed", "model_not_found"})
FORM = r"(?:response[ _.]?format|json[ _]?schema|json[ _]?(?:mode|object)|structured[ _]outputs?|grammar)"
ABOUT_THE_FORM = re.compile(FORM, re.IGNORECASE)
NO_BEFORE = (
    r"(?:not support|unsupported|unknown|unrecognized|unexpected|unavailable|not permitted|invalid|failed to parse)"
)
NO_AFTER = (
    r"(?:not (?:supported|implemented|available|allowed|permitted|enabled)|unsupported|unavailable|unimplemented|"
    r"unknown|unexpected|unrecognized|disabled|enabled only|(?:must|should) be|conversion failed)"
)
PHRASE = re.compile(rf"{NO_BEFORE}[^\n!?]{{0,40}}?{FORM}|{FORM}[^\n!?]{{0,40}}?{NO_AFTER}", re.IGNORECASE)
ABOUT_THE_SIZE = re.compile(r"context[ _]length|maximum context|too many tokens|too long", re.IGNORECASE)
ABOUT_ONE_SCHEMA = re.compile(
    r"invalid (?:json[ _]?)?schema|schema conversion|schema contains|parse grammar", re.IGNORECASE
)


def is_refusal(refused: Refused, sent: Iterable[str]) -> Literal["pointed at", "said"] | None:
    """Whether the error is about the form and nothing else: the server points at it, or only says so in words; or None.

    Args:
        refused: the error.
        sent: the texts of the question.
    """
    if refused.status not in STATUSES or refused.code in OTHER_REASONS:
        return None
    pointers = [refused.param] if refused.param else _locations(refused.body)
    if pointers:
        about_form = any(ABOUT_THE_FORM.search(pointer) for pointer in pointers)
        return "pointed at" if about_form and not ABOUT_THE_SIZE.search(refused.message) else None
    phrase = PHRASE.search(refused.message)
    if phrase is None or ABOUT_THE_SIZE.search(refused.message):
        return None
    quoted = any(phrase[0].casefold() in text.casefold() for text in sent)
    return None if quoted else "said"


def is_about_one_schema(refusal: str) -> bool:
    """Whether a refusal concerns the schema of this question, and not schemas as such."""
    return bool(ABOUT_ONE_SCHEMA.search(refusal))


def _locations(body: Any) -> list[str]:
    """The places that a FastAPI server names: ``{"detail": [{"loc": ["body", "response_format", "type"], ...}]}``."""
    details = body.get("detail") if isinstance(body, dict) else None
    found = [item.get("loc") for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    return [".".join(map(str, place)) for place in found if isinstance(place, list)]
