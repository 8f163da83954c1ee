"""What is sent to an LLM of LlamaIndex, and how its answer is read. No IO: the bridge makes the calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, MessageRole
from llama_index.core.llms import LLM

from ragmetrics_core import Message, Reply, Usage

__all__ = ["chat_messages", "completion_prompt", "read_answer"]

INPUT_COUNTS = ("prompt_tokens", "input_tokens", "prompt_token_count", "prompt_eval_count")
OUTPUT_COUNTS = ("completion_tokens", "output_tokens", "candidates_token_count", "eval_count")
ENDS = ("finish_reason", "stop_reason", "done_reason")
CUT = frozenset({"length", "max_tokens", "max_output_tokens"})


def chat_messages(llm: LLM, messages: Sequence[Message]) -> list[ChatMessage]:
    """The messages of a question, with the LLM's own system prompt in front of the first system message.

    They become one message: many chat templates take no second system message.
    """
    sent = [(message.role, _sendable(message.content)) for message in messages]
    if llm.system_prompt:
        if sent and sent[0][0] == "system":
            sent[0] = ("system", f"{llm.system_prompt}\n\n{sent[0][1]}")
        else:
            sent.insert(0, ("system", llm.system_prompt))
    return [ChatMessage(role=MessageRole(role), content=content) for role, content in sent]


def completion_prompt(llm: LLM, messages: Sequence[Message]) -> str:
    """The messages of a question as the one text that a completion model takes, in the LLM's own way."""
    if len(messages) == 1 and not llm.system_prompt:
        assert llm.completion_to_prompt is not None
        prompt = llm.completion_to_prompt(_sendable(messages[0].content))
    else:
        assert llm.messages_to_prompt is not None
        prompt = llm.messages_to_prompt(chat_messages(llm, messages))
    return llm.query_wrapper_prompt.format(query_str=prompt) if llm.query_wrapper_prompt else prompt


def read_answer(answer: ChatResponse | CompletionResponse) -> Reply[str]:
    """Text, token counts as far as the model reports them, and whether the model stopped at its token limit."""
    text = answer.message.content if isinstance(answer, ChatResponse) else answer.text
    places = list(_places(answer))
    prompt, completion = (_first_count(places, names) for names in (INPUT_COUNTS, OUTPUT_COUNTS))
    truncated = any(str(_field(place, name)).lower().rpartition(".")[2] in CUT for place in places for name in ENDS)
    return Reply(text or "", Usage(1, prompt, completion), truncated=truncated)


def _places(answer: ChatResponse | CompletionResponse) -> Iterator[Any]:
    """Where the integrations leave what the server said beside the text."""
    raw = answer.raw
    yield answer.additional_kwargs
    if isinstance(answer, ChatResponse):
        yield answer.message.additional_kwargs
    yield raw
    for name in ("usage", "usage_metadata"):
        yield _field(raw, name)
    for name in ("choices", "candidates"):
        several = _field(raw, name)
        if isinstance(several, list) and several:
            yield several[0]


def _first_count(places: Sequence[Any], names: Sequence[str]) -> int:
    counts = (_field(place, name) for place in places for name in names)
    return next((count for count in counts if isinstance(count, int) and count > 0), 0)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _sendable(text: str) -> str:
    """The text as well as UTF-8 can carry it: what a model wrote may hold lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()
