"""Messages become turns of a conversation."""

from __future__ import annotations

from ragmetrics_core.adapters import before_question, turns_of

SYSTEM, HI, HELLO = ("system", "Be brief."), ("human", "Hi"), ("ai", "Hello")
TURNS = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def test_the_roles_of_frameworks() -> None:
    assert turns_of([("user", "a"), ("assistant", "b"), ("chatbot", "c"), ("model", "d"), ("developer", "e")]) == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "assistant", "content": "c"},
        {"role": "assistant", "content": "d"},
        {"role": "system", "content": "e"},
    ]


def test_tools_and_messages_without_a_text_are_no_turns() -> None:
    assert (
        turns_of([HI, ("tool", "found"), ("function", "found"), ("critic", "no"), ("ai", " \n"), ("ai", None), HELLO])
        == TURNS
    )


def test_the_instructions_before_the_first_turn_are_no_turns() -> None:
    assert turns_of([SYSTEM, SYSTEM, HI, HELLO]) == TURNS
    assert turns_of([SYSTEM]) == []
    assert turns_of([HI, SYSTEM, HELLO]) == [TURNS[0], {"role": "system", "content": "Be brief."}, TURNS[1]]


def test_what_comes_before_the_last_question() -> None:
    asked = {"role": "user", "content": "Who?"}
    assert before_question([*TURNS, asked, {"role": "assistant", "content": "She."}]) == TURNS
    assert before_question([*TURNS, asked]) == TURNS
    assert before_question([asked, TURNS[1]]) is None
    assert before_question([TURNS[1]]) is None
    assert before_question([]) is None
