"""The reply in a message of a LangChain model: its text and its cost, or why it is no answer."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from ragmetrics_core import BadReply, Reply, Usage
from ragmetrics_core.adapters import finish_reason_of, is_cut_off, usage_of

__all__ = ["finish_errors", "finished", "read_answer"]

FILTERED = re.compile(
    "blocklist|content_filter(?:ed)?|error_toxic|guardrail_intervened|prohibited_content|recitation|safety|spii"
)
NO_ROOM = "model_context_window_exceeded"
"""Finish reasons of the providers for which there is no answer, in lower case."""


def read_answer(answer: BaseMessage, name: str) -> Reply[str]:
    """The answer of the model of this name.

    Raises:
        BadReply: the model refused to answer, or a content filter stopped it, or it answered without any text.
    """
    usage, text, details = _usage(answer), _text(answer), answer.response_metadata.get("incomplete_details")
    incomplete = {"finish_reason": details.get("reason")} if isinstance(details, Mapping) else {}
    reason = finish_reason_of(answer.response_metadata, incomplete)
    problem = _problem(name, answer, reason, text)
    if problem is not None:
        problem.usage = usage  # a server asks to be paid for a refusal too
        raise problem
    return Reply(text, usage, truncated=is_cut_off(reason))


def _text(answer: BaseMessage) -> str:
    """What the model says; if its provider asks for a schema by way of a tool, the arguments of that tool's call."""
    calls = [*getattr(answer, "tool_calls", ()), *getattr(answer, "invalid_tool_calls", ())]
    if not calls:
        return str(answer.text)
    said = calls[0]["args"]
    return said if isinstance(said, str) else json.dumps(said or {}, ensure_ascii=False)


def _problem(name: str, answer: BaseMessage, reason: str | None, text: str) -> BadReply | None:
    """Why there is no answer in a message; None where there is one."""
    refusal = _refusal(answer)
    if refusal or reason == "refusal":
        return BadReply(f"{name} refuses to answer: {refusal or text or 'it gives no reason'}", refusal or text)
    if reason is not None and FILTERED.fullmatch(reason):
        return BadReply(f"a content filter stopped the answer of {name}", text)
    if reason == NO_ROOM:
        return BadReply(f"{name} has no room left for its answer: the question fills its context window", text)
    if not text and not is_cut_off(reason):
        return BadReply(f"{name} answered without any text (finish reason {reason!r})")
    return None


def _refusal(answer: BaseMessage) -> str:
    """What the model says when it refuses, if its provider has a field for that."""
    blocks = answer.content if isinstance(answer.content, list) else []
    said = [block.get("refusal") for block in blocks if isinstance(block, Mapping) and block.get("type") == "refusal"]
    return str(answer.additional_kwargs.get("refusal") or "".join(filter(None, said)))


def _usage(answer: BaseMessage) -> Usage:
    counts = getattr(answer, "usage_metadata", None) or {}
    if counts.get("total_cost") == 0:  # LangChain's word for an answer from its cache
        return Usage(1, cached_calls=1)
    return usage_of(counts)


def finish_errors() -> tuple[type[Exception], ...]:
    """What the openai package raises for an unfinished answer in a schema; if the model uses the package, it is loaded already."""
    openai = sys.modules.get("openai")
    names = ("LengthFinishReasonError", "ContentFilterFinishReasonError")
    return tuple(getattr(openai, name) for name in names if hasattr(openai, name))


def finished(error: Any) -> Reply[str] | AIMessage:
    """The answer that such an error holds."""
    completion = getattr(error, "completion", None)
    if completion is None:
        return AIMessage("", response_metadata={"finish_reason": "content_filter"})
    return Reply(completion.choices[0].message.content or "", usage_of(completion), truncated=True)
