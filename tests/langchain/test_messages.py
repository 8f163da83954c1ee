"""The same conversation in every form in which programs keep one, also in those that LangChain itself refuses to read."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage, messages_to_dict
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.runnables import RunnableLambda

from ragmetrics_core import Sample
from ragmetrics_langchain import RagEvaluationCallback

CALL = {"name": "search", "args": {"q": "x"}, "id": "1"}
TALK = [
    HumanMessage("earlier"),
    AIMessage("nothing"),
    HumanMessage("q"),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("found", tool_call_id="1"),
    AIMessage([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": "u"}, "b"]),
]


def in_openai_s_dialect(arguments: str) -> list[dict[str, Any]]:
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": arguments}}
    return [
        {"role": "developer", "content": "s"},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None},
        {"role": "tool", "content": "found"},
        {"role": "assistant", "content": [{"text": "a"}, {"type": "text", "text": "b"}, 3], "tool_calls": None},
    ]


def recovered(messages: Any) -> Sample:
    with RagEvaluationCallback([]) as callback:
        RunnableLambda(lambda _: {"messages": messages}).invoke({}, {"callbacks": [callback]})
    return callback.results[0].sample


@pytest.mark.parametrize(
    "messages",
    [
        TALK,
        tuple(TALK),
        ChatPromptValue(messages=TALK),
        [*TALK[2:-1], AIMessageChunk("ab")],
        messages_to_dict(TALK),
        [message.model_dump() for message in TALK],
        in_openai_s_dialect('{"q": "x"}'),
        in_openai_s_dialect('{"q": "x'),
        [("human", "q"), ("function", "found"), ["ai", "ab"]],
    ],
    ids=["objects", "a tuple", "a prompt", "chunks", "stored", "dumped", "OpenAI's", "OpenAI's, cut short", "pairs"],
)
def test_one_conversation_in_every_form(messages: Any) -> None:
    sample = recovered(messages)
    assert (sample.user_input, sample.response, sample.retrieved_contexts) == ("q", "ab", ["found"])


@pytest.mark.parametrize(
    "message",
    [
        ("critic", "a"),
        {"role": "critic", "content": "a"},
        {"role": "assistant"},
        {"type": "human", "data": {}},
        3,
        None,
    ],
    ids=repr,
)
def test_what_is_no_message_is_none(message: Any) -> None:
    """And it spoils the list that contains it: nothing shows what comes before and after it."""
    sample = recovered([("user", "q"), ("ai", "a"), message])
    assert (sample.user_input, sample.response) == (None, None)
