"""Lists of texts, one per line or as JSON."""

from __future__ import annotations

import pytest

from ragmetrics_core import BadReply
from ragmetrics_core.replies import LinesReply

TWO = [
    "1. What is it?\n2. When?",
    "1) What is it?\n2) When?\n",
    "(1) What is it?\n(2) When?",
    "[1] What is it?\n[2] When?",
    "1: What is it?\n2: When?",
    "1 - What is it?\n2 - When?",
    "1、What is it?\n2、When?",
    "１．What is it?\n２．When?",
    "① What is it?\n② When?",
    "a) What is it?\nb) When?",
    "* What is it?\n* When?",
    "- What is it?\n- When?",
    "• What is it?\n• When?",
    "Q: What is it?\nQ: When?",
    "Q1: What is it?\nQ2: When?",
    "Question: What is it?\nQuestion: When?",
    "Question 1: What is it?\nQuestion 2: When?",
    "What is it?\nWhen?",
    "What is it?\n\nWhen?\n",
    '"What is it?"\n"When?"',
    '1. "What is it?"\n2. "When?"',
    "1. **What is it?**\n2. **When?**",
    "**1.** What is it?\n**2.** When?",
    "1. What is it? 2. When?",
    "1. What\n   is it?\n2. When?",
    "Sure, here are 2 questions: 1. What is it? 2. When?",
    "1. What is it?\n- When?",
    "Here are two questions:\n\n1. What is it?\n2. When?\n\nI hope this helps!",
    "Questions:\nWhat is it?\nWhen?",
    "Sure!\nWhat is it?\nWhen?\nLet me know if you need more.",
    "### Questions\n1. What is it?\n2. When?",
    "1. What is it?\nAnswer: x\n2. When?\nAnswer: y",
    "What is it?\nWHAT is  it?\nWhen?",
    "```\nWhat is it?\nWhen?\n```",
    "<think>1. A?\n2. B?</think>1. What is it?\n2. When?",
    "1. What is it?\n2. When?<|im_end|>",
    "<ol><li>What is it?</li><li>When?</li></ol>",
    "<question>What is it?</question>\n<question>When?</question>",
    '["What is it?", "When?"]',
    "['What is it?', 'When?']",
    '{"questions": ["What is it?", "When?"], "noncommittal": 0}',
    '{"questions": [{"question": "What is it?"}, {"question": "When?"}]}',
    '{"questions": [{"n": 1, "text": "What is it?"}, {"n": 2, "text": "When?"}]}',
    '{"questions": "1. What is it?\\n2. When?"}',
    '{"result": {"questions": ["What is it?", "When?"]}}',
    '{"result": "{\\"questions\\": [\\"What is it?\\", \\"When?\\"]}"}',
    '"{\\"questions\\": [\\"What is it?\\", \\"When?\\"]}"',
    '{"type": "object", "properties": {"questions": ["What is it?", "When?"]}, "required": ["questions"]}',
    'Sure:\n```json\n{"questions": ["What is it?", "When?"]}\n```\nDone.',
    "{&quot;questions&quot;: [&quot;What is it?&quot;, &quot;When?&quot;]}",
]
NOTHING = [
    "",
    " \n ",
    "None",
    "N/A",
    "I cannot help with that.",
    "I'm sorry, I can't.",
    "HTTP 502 Bad Gateway",
    "There are no questions.",
    "...",
    "---",
    "Here they are:",
    "<think>1. A?",
    '{"question": "What is the',
    '["a?", "b?',
    '```json\n{"questions',
    '{"error": "x"}',
    '{"questions": null}',
    '{"sentences": [{"index": 0, "questions": ["What is it?"]}, {"index": 1, "questions": ["When?"]}]}',
    '{"questions": ["..."]}',
    '{"questions": [{"type": "string"}]}',
    '{"questions": [{"a": "x?", "b": "y?"}]}',
    '{"a": ["x?"], "b": ["y?"]}',
    '["a?"] or ["b?"]',
    '{"type": "object", "properties": {"questions": {"type": "array"}}}',
    "A long paragraph. " * 40,
    12 * '{"result": ' + '["x?"]' + 12 * "}",
]


@pytest.mark.parametrize("text", TWO)
def test_two_questions(text: str) -> None:
    assert LinesReply().parse(text) == ["What is it?", "When?"]


@pytest.mark.parametrize("text", NOTHING)
def test_nothing(text: str) -> None:
    with pytest.raises(BadReply) as caught:
        LinesReply().parse(text)
    assert caught.value.raw == (text,)


@pytest.mark.parametrize("text", ["[]", '{"questions": []}', "[]\n\nThe passage asks nothing."])
def test_an_empty_list_is_an_answer(text: str) -> None:
    assert LinesReply().parse(text) == []


def test_wording_is_not_touched() -> None:
    assert LinesReply().parse("1. Prices rose by 3.5 %, i.e. {about} [half] of it.\n2. Is “this” 5 * 3？") == [
        "Prices rose by 3.5 %, i.e. {about} [half] of it.",
        "Is “this” 5 * 3？",
    ]


def test_numbers_inside_items_are_no_numbering() -> None:
    assert LinesReply().parse("3.5 million people live there.\n2019 was dry.") == [
        "3.5 million people live there.",
        "2019 was dry.",
    ]


def test_points_under_a_numbered_item_are_left_out() -> None:
    assert LinesReply().parse("1. What is it?\n   - because\n2. When?") == ["What is it?", "When?"]


def test_reasons() -> None:
    with pytest.raises(BadReply, match="^the reply lists nothing; write one item per line$"):
        LinesReply().parse("None")
    with pytest.raises(BadReply, match="^the reply holds several lists; give one$"):
        LinesReply().parse('{"a": ["x"], "b": ["y"]}')
    with pytest.raises(
        BadReply, match="^the reply ends in the middle of its JSON; reply with the whole object, more briefly$"
    ):
        LinesReply().parse('```json\n{"questions')


def test_initials_are_no_numerals() -> None:
    assert LinesReply().parse("V. Woolf wrote it.\nX. Li read it.") == ["V. Woolf wrote it.", "X. Li read it."]
    assert LinesReply().parse("I. Newton wrote it.") == ["I. Newton wrote it."]


def test_a_bullet_among_numbers_counts_only_as_a_question_among_questions() -> None:
    assert LinesReply().parse("1. What is A?\n\n2) What is B?\n- What is C?\n3. What is D?") == [
        "What is A?",
        "What is B?",
        "What is C?",
        "What is D?",
    ]
    assert LinesReply().parse("1. What is A?\n- It is a letter.\n2. What is B?") == ["What is A?", "What is B?"]
    assert LinesReply().parse("1. A is a letter.\n- Is it?\n2. B is one.") == ["A is a letter.", "B is one."]
    assert LinesReply().parse("1. What is A?\n    - Or B?\n2. What is C?") == ["What is A?", "What is C?"]
