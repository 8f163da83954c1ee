"""The formats as values: public names, schemas, instructions, equality, pickling, and what importing them costs."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from typing import Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

import ragmetrics_core.replies as replies
from ragmetrics_core import BadReply
from ragmetrics_core.replies import JsonReply, LinesReply, RatingReply, ReplyFormat, ScoreReply, YesNoReply


class Verdict(BaseModel):
    statement: str = Field(description="the statement, word by word")
    reason: str
    verdict: Literal[0, 1]


class Verdicts(BaseModel):
    """Verdicts on all statements."""

    statements: list[Verdict] = Field(min_length=1)
    noncommittal: bool = False
    share: Optional[float] = Field(default=None, ge=0, le=1)  # noqa: UP045


FORMATS: list[Any] = [
    YesNoReply(),
    ScoreReply(1, 5),
    ScoreReply(0, 4.5, halves=True),
    RatingReply([0, 1, 2]),
    LinesReply(),
    JsonReply(Verdicts),
]


def typed(reply: ReplyFormat[bool]) -> bool:
    """Type checkers accept a format where the protocol is asked for."""
    return reply.parse("yes")


def test_public_names() -> None:
    assert set(replies.__all__) >= {"JsonReply", "LinesReply", "RatingReply", "ReplyFormat", "ScoreReply", "YesNoReply"}
    assert all(getattr(replies, name) is not None for name in replies.__all__)
    assert typed(YesNoReply()) is True
    with pytest.raises(AttributeError, match="no attribute 'XmlReply'"):
        replies.XmlReply  # noqa: B018


@pytest.mark.parametrize("reply", FORMATS, ids=repr)
def test_formats_are_values(reply: Any) -> None:
    other = pickle.loads(pickle.dumps(reply))
    assert other == reply == copy.deepcopy(reply)
    assert hash(other) == hash(reply)
    assert eval(repr(reply), dict(globals())) == reply
    assert len({*FORMATS, other}) == len(FORMATS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        reply.low = 3


def test_pickling_after_use() -> None:
    reply = JsonReply(Verdicts)
    with pytest.raises(BadReply):
        reply.parse("nothing")
    assert reply.schema is reply.schema
    assert pickle.loads(pickle.dumps(reply)) == reply


def test_menus_are_sorted_sets() -> None:
    assert RatingReply([2, 0, 1, 1]) == RatingReply(range(3))
    assert repr(RatingReply(range(3))) == "RatingReply([0, 1, 2])"


def test_instructions_are_exact() -> None:
    assert (
        YesNoReply().instructions()
        == 'Reply with one JSON object and nothing else: {"reason": "<why, in one sentence>", "answer": "<yes or no>"}'
    )
    assert ScoreReply(1, 5, halves=True).instructions() == (
        'Reply with one JSON object and nothing else: {"reason": "<why, in one or two sentences>", '
        '"score": <number from 1 to 5, halves allowed>}'
    )
    assert RatingReply([0, 2, 4]).instructions() == (
        'Reply with one JSON object and nothing else: {"reason": "<why, in one sentence>", "rating": <0, 2 or 4>}'
    )
    assert LinesReply().instructions() == "Reply with a numbered list, one item per line, and nothing else."
    assert JsonReply(Verdicts).instructions() == (
        "Reply in JSON:\n"
        '{"statements": [{"statement": "<the statement, word by word>", "reason": "<text>", "verdict": <0 or 1>}, ...], '
        '"noncommittal": <boolean>, "share": <number> or null}'
    )


@pytest.mark.parametrize("reply", FORMATS, ids=repr)
def test_an_echo_of_the_instructions_is_no_answer(reply: Any) -> None:
    for echo in (reply.instructions(), reply.instructions().partition("{")[1] + reply.instructions().partition("{")[2]):
        if echo and not isinstance(reply, LinesReply):
            with pytest.raises(BadReply):
                reply.parse(echo)


def test_an_answer_after_the_echo_counts() -> None:
    assert YesNoReply().parse(YesNoReply().instructions() + '\n{"reason": "x", "answer": "no"}') is False
    assert ScoreReply(1, 5).parse(ScoreReply(1, 5).instructions() + '\n{"reason": "x", "score": 2}') == (2.0, "x")


def test_schemas_put_the_reason_first() -> None:
    for reply, answer in ((YesNoReply(), "answer"), (ScoreReply(1, 5), "score"), (RatingReply([0, 1]), "rating")):
        assert list(reply.schema["properties"]) == reply.schema["required"] == ["reason", answer]
        assert reply.schema["additionalProperties"] is False
    assert YesNoReply().schema["properties"]["answer"] == {"type": "string", "enum": ["yes", "no"]}
    assert RatingReply([0, 2]).schema["properties"]["rating"] == {"type": "integer", "enum": [0, 2]}
    assert LinesReply().schema is None


def test_the_strict_schema_of_a_model() -> None:
    assert JsonReply(Verdicts).schema == {
        "type": "object",
        "description": "Verdicts on all statements.",
        "properties": {
            "statements": {"type": "array", "items": {"$ref": "#/$defs/Verdict"}},
            "noncommittal": {"type": "boolean"},
            "share": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        },
        "required": ["statements", "noncommittal", "share"],
        "additionalProperties": False,
        "$defs": {
            "Verdict": {
                "type": "object",
                "properties": {
                    "statement": {"type": "string", "description": "the statement, word by word"},
                    "reason": {"type": "string"},
                    "verdict": {"type": "integer", "enum": [0, 1]},
                },
                "required": ["statement", "reason", "verdict"],
                "additionalProperties": False,
            }
        },
    }


class Node(BaseModel):
    name: str
    children: list[Node] = []


class Free(BaseModel):
    table: dict[str, int]


class Pair(BaseModel):
    pair: tuple[int, str]


class Whatever(BaseModel):
    value: Any


def test_schemas_of_unusual_models() -> None:
    recursive = JsonReply(Node)
    assert recursive.schema is not None
    assert recursive.schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert recursive.schema["required"] == ["name", "children"]
    assert [JsonReply(model).schema for model in (Free, Pair, Whatever)] == [None, None, None]
    assert '{"table": {"<name>": <integer>, ...}}' in JsonReply(Free).instructions()
    assert '{"value": <value>}' in JsonReply(Whatever).instructions()
    assert recursive.instructions().endswith("{...}, ...]}, ...]}, ...]}, ...]}, ...]}, ...]}")
    assert recursive.parse('{"Name": "a", "children": [{"name": "b"}]}').children[0].name == "b"


def test_the_other_formats_need_no_pydantic() -> None:
    code = (
        "import sys\nfrom ragmetrics_core.replies import RatingReply, ReplyFormat, ScoreReply, YesNoReply\n"
        'assert YesNoReply().parse(\'{"answer": "yes"} so\')\n'
        "assert ScoreReply(1, 5).parse('Score: 4')[0] == 4 and RatingReply([0, 1]).parse('1') == 1\n"
        "assert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
