"""Messages become turns of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest

from ragmetrics_core import InvalidInput
from ragmetrics_core.adapters import earlier_turns, turns_of, way_of

SYSTEM, HI, HELLO = ("system", "Be brief."), ("human", "Hi"), ("ai", "Hello")
WHO, SHE = ("user", "Who?"), ("assistant", "She.")
TURNS = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
CALL = {"name": "search"}


class Role(Enum):
    USER = "user"
    MODEL = "model"


@dataclass
class Message:
    """A message as the frameworks have them."""

    role: Any = None
    content: Any = None
    type: Any = None
    text: str = ""
    tool_calls: list[Any] = field(default_factory=list)
    additional_kwargs: dict[str, Any] = field(default_factory=dict)


@pytest.mark.parametrize(
    "messages",
    [
        [HI, HELLO],
        (["user", "Hi"], ("assistant", "Hello")),
        [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "text", "text": "Hel"}, "lo", {"url": "u"}]},
        ],
        [{"type": "human", "content": "Hi"}, {"type": "AIMessageChunk", "content": "Hello", "tool_calls": []}],
        [Message(Role.USER, "Hi"), Message(Role.MODEL, None, text="Hello")],
        [Message(type="human", content=["Hi"]), Message(type="ai", content=[{"text": "x"}], text="Hello")],
    ],
    ids=["pairs", "lists", "OpenAI's", "LangChain's as mappings", "with an enum", "with parts"],
)
def test_one_conversation_in_every_form(messages: Any) -> None:
    assert turns_of(messages) == TURNS


def test_other_names_of_roles() -> None:
    assert [
        turn["role"] for turn in turns_of([HI, ("chatbot", "a"), ("developer", "b"), ("SystemMessageChunk", "c")])
    ] == [
        "user",
        "assistant",
        "system",
        "system",
    ]


def test_the_contexts_of_a_turn_stay() -> None:
    assert turns_of([{"role": "ai", "content": "Hello", "retrieved_contexts": ["c"], "id": 3}]) == [
        {"role": "assistant", "content": "Hello", "retrieved_contexts": ["c"]}
    ]


def test_tools_and_messages_without_a_text_are_no_turns() -> None:
    others = [
        ("tool", "found"),
        ("function", "found"),
        ("critic", "no"),
        ("ai", " \n"),
        ("ai", None),
        {"role": "assistant", "content": "I search.", "tool_calls": [CALL]},
        Message("assistant", "I search.", tool_calls=[CALL]),
        Message("assistant", "I search.", additional_kwargs={"tool_calls": [CALL]}),
        Message(3, "x"),
        "Hi",
        7,
        None,
    ]
    assert turns_of([HI, *others, HELLO]) == TURNS


@pytest.mark.parametrize("value", ["Human: Hi", None, 3, {"role": "user", "content": "Hi"}, [], [1815, 1852]], ids=repr)
def test_what_is_no_list_of_messages_has_no_turns(value: Any) -> None:
    assert turns_of(value) == []


def test_the_instructions_before_the_first_turn_are_no_turns() -> None:
    assert turns_of([SYSTEM, SYSTEM, HI, HELLO]) == TURNS
    assert turns_of([SYSTEM]) == []
    assert turns_of([HI, SYSTEM, HELLO]) == [TURNS[0], {"role": "system", "content": "Be brief."}, TURNS[1]]


def test_what_comes_before_the_last_question() -> None:
    assert earlier_turns((), [[HI, HELLO, WHO, SHE]]) == TURNS
    assert earlier_turns((), [[HI, HELLO, WHO]]) == TURNS
    assert earlier_turns((), [[WHO, SHE], [HELLO], []]) is None
    assert earlier_turns((), [[WHO], [HI, HELLO, WHO]]) == TURNS, "the first list that has any counts"


def test_a_question_may_stand_in_a_longer_message() -> None:
    wrapped, later = ("user", "Context: she did. Question: Who? Answer:"), ("user", "Observation: found")
    assert earlier_turns((), [[HI, HELLO, wrapped, later]], "Who?") == TURNS
    assert earlier_turns((), [[HI, HELLO, later]], "Who?") is None


def test_a_list_of_earlier_messages_counts_first_and_may_end_with_the_question() -> None:
    assert earlier_turns([None, [], [HI, HELLO]], [[WHO, SHE, HI]]) == TURNS
    assert earlier_turns([[HI, HELLO, WHO]], (), "Who?") == TURNS
    assert earlier_turns([[WHO]], [[HI, HELLO, WHO]], "Who?") == TURNS
    assert earlier_turns([[HI]], (), "Who?") == TURNS[:1], "another message of the user is a turn without an answer"


def test_the_way_to_the_question() -> None:
    ways = {"last": str.lower, "condensed": str.upper}
    assert [way_of(name, ways)("Who?") for name in ("last", "condensed", str.title)] == ["who?", "WHO?", "Who?"]
    for wrong in ("first", 3, None):
        with pytest.raises(InvalidInput) as caught:
            way_of(wrong, ways)
        assert str(caught.value) == f"question must be 'last', 'condensed' or a function, got {wrong!r}"
