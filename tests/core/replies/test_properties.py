"""What holds for every text: a value in range or BadReply; what is written as JSON is read back; all in linear time."""

from __future__ import annotations

import json
import string
from contextlib import suppress
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from examples import examples
from growth import assert_linear
from ragmetrics_core import BadReply
from ragmetrics_core.replies import JsonReply, LinesReply, RatingReply, ReplyFormat, ScoreReply, YesNoReply

pytestmark = pytest.mark.slow


class Item(BaseModel):
    statement: str
    reason: str
    verdict: Literal[0, 1]


class Verdicts(BaseModel):
    statements: list[Item]
    noncommittal: bool = False


class Claims(BaseModel):
    statements: list[str]


class Table(BaseModel):
    rows: dict[str, list[float]]
    note: str | None
    count: int


# Snippets that replies are made of, so that random texts come close to replies.
SNIPPETS = [
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    ",",
    ":",
    "\n",
    " ",
    "\\",
    "```",
    "```json\n",
    "<think>",
    "</think>",
    "<|im_end|>",
    "[/INST]",
    "yes",
    "No",
    "maybe",
    "not ",
    "4",
    "0",
    "1.5",
    "/5",
    "-",
    "3-4",
    "%",
    "score",
    "Score: ",
    "rating",
    "verdict",
    "answer",
    "reason",
    "statements",
    "statement",
    "true",
    "null",
    "NaN",
    "[[",
    "]]",
    ". ",
    "Final answer: ",
    "Correction: ",
    "1. ",
    "- ",
    "Q: ",
    "是",
    "否",
    "４",
    "&quot;",
    "…",
    "...",
    "<answer>",
    "</answer>",
    "\u200b",
    "\ufeff",
    "\x00",
    "\ud800",
    "//",
    "#",
    "(",
    ")",
    "|",
    "*",
    "If ",
    "would be ",
    "supported",
    "and ",
    "or ",
]
TEXTS = st.one_of(
    st.text(max_size=80),
    st.text(st.characters(exclude_categories=[]), max_size=40),
    st.lists(st.sampled_from(SNIPPETS), max_size=40).map("".join),
)
FORMATS = [
    YesNoReply(),
    ScoreReply(1, 5),
    RatingReply([0, 2, 4]),
    LinesReply(),
    JsonReply(Verdicts),
    JsonReply(Claims),
    JsonReply(Table),
]


def in_range(reply: ReplyFormat[Any], value: Any) -> bool:
    if isinstance(reply, YesNoReply):
        return value is True or value is False
    if isinstance(reply, ScoreReply):
        return type(value[0]) is float and reply.low <= value[0] <= reply.high and type(value[1]) is str
    if isinstance(reply, RatingReply):
        return type(value) is int and value in reply.choices
    if isinstance(reply, LinesReply):
        return all(type(item) is str and item.strip() for item in value)
    assert isinstance(reply, JsonReply)
    return type(value) is reply.model and value == reply.model.model_validate(value.model_dump())


@pytest.mark.parametrize("reply", FORMATS, ids=repr)
@given(text=TEXTS)
@examples(300)
def test_any_text_is_a_value_in_range_or_a_bad_reply(reply: ReplyFormat[Any], text: str) -> None:
    failed: BadReply | None = None
    value: Any = None
    try:
        value = reply.parse(text)
    except BadReply as bad:
        failed = bad
    if failed is None:
        assert in_range(reply, value)
    else:
        assert (failed.raw, "\n" in failed.reason) == ((text,), False)
        assert failed.reason


# Letters, blanks and everything that has a meaning in JSON, Markdown or prose; nothing that is a blank of a template.
CONTENT = st.text(
    st.sampled_from(string.ascii_letters + "äß中語 ,.:;!?()[]{}<>/\\\"'“”’*_#&%-+=|~1450"), max_size=60
).filter(
    lambda text: text.strip() not in {"...", "…"} and not (text.strip().startswith("<") and text.strip().endswith(">"))
)
VERDICTS = st.builds(
    Verdicts,
    statements=st.lists(
        st.builds(Item, statement=CONTENT, reason=CONTENT, verdict=st.sampled_from([0, 1])), max_size=4
    ),
    noncommittal=st.booleans(),
)
TABLES = st.builds(
    Table,
    rows=st.dictionaries(CONTENT, st.lists(st.floats(-1e9, 1e9, allow_nan=False), max_size=3), max_size=3),
    note=st.none() | CONTENT,
    count=st.integers(-(10**9), 10**9),
)
FRAMES = st.sampled_from(
    [
        "%s",
        "```json\n%s\n```",
        "```\n%s\n```",
        "Sure, here it is:\n\n%s",
        "%s\n\nI hope this helps!",
        "<think>Perhaps not.</think>\n%s",
        "Thinking...\n</think>\n%s",
        "<|im_start|>assistant\n%s<|im_end|>",
        "\ufeff%s\n",
        "Answer: %s.",
        "**Result**\n\n%s\n\n---",
        "Of course.\n```json\n%s\n```\nShall I go on?",
    ]
)


@given(value=VERDICTS | TABLES, frame=FRAMES, indent=st.sampled_from([None, 2]), ascii_only=st.booleans())
@examples(400)
def test_what_is_written_as_json_is_read_back(
    value: BaseModel, frame: str, indent: int | None, ascii_only: bool
) -> None:
    text = frame.replace("%s", json.dumps(value.model_dump(), indent=indent, ensure_ascii=ascii_only))
    assert JsonReply(type(value)).parse(text) == value


@given(claims=st.lists(CONTENT, max_size=5), frame=FRAMES)
@examples(300)
def test_lists_of_texts_are_read_back(claims: list[str], frame: str) -> None:
    text = frame.replace("%s", json.dumps({"statements": claims}, ensure_ascii=False))
    assert JsonReply(Claims).parse(text).statements == claims


@given(value=st.integers(10, 50).map(lambda tenths: tenths / 10), reason=CONTENT, frame=FRAMES, first=st.booleans())
@examples(300)
def test_scores_in_objects_are_read_back(value: float, reason: str, frame: str, first: bool) -> None:
    data = {"score": value, "reason": reason} if first else {"reason": reason, "score": value}
    assert ScoreReply(1, 5).parse(frame.replace("%s", json.dumps(data))) == (value, reason.strip())


@given(answer=st.booleans(), reason=CONTENT, frame=FRAMES)
@examples(300)
def test_answers_in_objects_are_read_back(answer: bool, reason: str, frame: str) -> None:
    data = {"reason": reason, "answer": "yes" if answer else "no"}
    assert YesNoReply().parse(frame.replace("%s", json.dumps(data, ensure_ascii=False))) is answer


UNITS = [
    "[", "{", '"', "\\", "'", "“", "1", "9 ", "<think>", "</think>", "<analysis>", "```", "yes ", "No. ", "[[1",
    "✅ ", "a✅", "é!.", "**3**/", "_4_ ", "i rate it 4 ", "ich gebe eine 4 ", "[result] ", "assistant: ", "<verdict>", "4½",
    "[1", "{[", "((1", " ", "\n", "a", "是", "ﷺ", "\u200b", "\x00", "1. ", "4/5 ", "<|im_end|>", "{}</s>", "<a>",
    "<a></a>", "is correct ", "answer: ", "yes/", "&quot;", "score: ", "rating is ", "1,", "1-", "final ",
    "between 1 and ", "1점", '["a",', '["a" ', '{"a":', '{"a": "b" ', '{"a":"b",,, ', '{\\"', '{"score":4}',
    '{"verdict":1}\n', "- a: b\n", "[/*", "question: ", "statement 1: yes. ", "### user:\n", "0\n", '", "',
]  # fmt: skip
TIMED = [YesNoReply(), ScoreReply(1, 5), LinesReply(), JsonReply(Verdicts), JsonReply(Claims)]


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_a_hundred_kilobytes_take_linear_time(unit: str) -> None:
    assert_fast("", unit)


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("unit", ["[", '"', "\\", "1,", "{[", "</think>", '{"a":'], ids=ascii)
@pytest.mark.parametrize("start", ['{"statements": ["', '{"statements": [', "<think>hm</think>"])
def test_so_do_unfinished_replies_with_a_proper_beginning(start: str, unit: str) -> None:
    assert_fast(start, unit)


def assert_fast(start: str, unit: str) -> None:
    for reply in TIMED:

        def read(size: int, reply: Any = reply) -> None:
            with suppress(BadReply):
                reply.parse(start + unit * (size // len(unit)))

        assert_linear(read, 100_000)
