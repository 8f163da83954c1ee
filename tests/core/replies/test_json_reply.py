"""Objects of pydantic models: other keys, other value types, other containers, and the errors when they do not fit."""

from __future__ import annotations

import json
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NewType, Optional

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, field_validator

from ragmetrics_core import BadReply, InvalidInput, Reply
from ragmetrics_core.metrics.claims import EXTRACT_CLAIMS
from ragmetrics_core.replies import JsonReply


class Item(BaseModel):
    statement: str = ""
    reason: str | None = None
    verdict: Literal[0, 1]


class Verdicts(BaseModel):
    statements: list[Item]


class Claims(BaseModel):
    statements: list[str]


class Questions(BaseModel):
    questions: list[str]
    noncommittal: bool = False


class Colour(Enum):
    RED = "red"
    DARK_BLUE = "dark blue"


Points = NewType("Points", int)


class Inner(BaseModel):
    first_name: str
    age: int | None = None


class Big(BaseModel):
    text: str
    flag: bool
    count: int
    share: float
    kind: Literal["full", "partial", "none"]
    colour: Colour
    points: Points
    level: Annotated[int, Field(ge=1, le=5)]
    inner: Inner
    inners: list[Inner]
    table: dict[str, float]
    maybe: Optional[Inner] = None  # noqa: UP045  the old spelling must work, too
    either: int | str = 0
    pair: tuple[int, int] = (0, 0)
    many: tuple[str, ...] = ()
    day: date = date(2020, 1, 1)
    anything: Any = None
    verdict: int = 0


BIG = {
    "text": "a",
    "flag": True,
    "count": 3,
    "share": 0.5,
    "kind": "partial",
    "colour": "red",
    "points": 7,
    "level": 4,
    "inner": {"first_name": "Ann", "age": 3},
    "inners": [{"first_name": "Bo"}],
    "table": {"x": 1.5},
}


def parse_big(**changes: Any) -> Big:
    import json

    return JsonReply(Big).parse(json.dumps(BIG | changes))


def bad(model: type[BaseModel], text: str) -> str:
    with pytest.raises(BadReply) as caught:
        JsonReply(model).parse(text)
    assert caught.value.raw == (text,)
    return caught.value.reason


def test_every_kind_of_field() -> None:
    assert parse_big() == Big.model_validate(BIG)


@pytest.mark.parametrize(
    ("field", "given", "meant"),
    [
        ("flag", "yes", True),
        ("flag", 0, False),
        ("flag", "False", False),
        ("flag", "Yes, it is.", True),
        ("count", "3", 3),
        ("count", "three", 3),
        ("count", 3.0, 3),
        ("count", "３", 3),
        ("count", [3], 3),
        ("share", "0.5", 0.5),
        ("share", "0,5", 0.5),
        ("share", 1, 1.0),
        ("kind", "Partial.", "partial"),
        ("kind", "FULL", "full"),
        ("kind", "none", "none"),
        ("kind", "full - all of it", "full"),
        ("colour", "Red", Colour.RED),
        ("colour", "DARK_BLUE", Colour.DARK_BLUE),
        ("colour", "dark-blue", Colour.DARK_BLUE),
        ("level", "4/5", 4),
        ("text", 5, "5"),
        ("text", ["a"], "a"),
        ("maybe", "null", None),
        ("maybe", {"First Name": "C"}, Inner(first_name="C")),
        ("either", "x", "x"),
        ("either", 4, 4),
        ("pair", [1, 2], (1, 2)),
        ("many", ["a", "b"], ("a", "b")),
        ("day", "2024-02-29", date(2024, 2, 29)),
        ("table", {"x": "2"}, {"x": 2.0}),
        ("anything", [1, {"a": None}], [1, {"a": None}]),
        ("verdict", "yes", 1),
        ("verdict", True, 1),
        ("verdict", 7, 7),
    ],
)
def test_value_types(field: str, given: Any, meant: Any) -> None:
    assert getattr(parse_big(**{field: given}), field) == meant


@pytest.mark.parametrize("text", ["...", "…", "<claim>"])
def test_a_blank_in_the_place_of_a_list_is_no_empty_list(text: str) -> None:
    with pytest.raises(BadReply, match="claims must be a list"):
        EXTRACT_CLAIMS.read(Reply(json.dumps({"claims": text})), {"question": "q", "answer": "a"})


@pytest.mark.parametrize(
    ("field", "given", "reason"),
    [
        ("flag", "maybe", "flag must be true or false, not 'maybe'"),
        ("count", True, "count must be a whole number, not true"),
        ("count", 3.5, "count must be a whole number, not 3.5"),
        ("count", "many", "count must be a whole number, not 'many'"),
        ("count", None, "count must be a whole number, not null"),
        ("share", "nan", "share must be a number, not 'nan'"),
        ("share", [1, 2], "share must be a number, not a list"),
        ("kind", "most", "kind must be 'full', 'partial' or 'none', not 'most'"),
        ("colour", "green", "colour must be 'red' or 'dark blue', not 'green'"),
        ("level", 9, "level: input should be less than or equal to 5"),
        ("level", "4/10", "level must be a whole number, not '4/10'"),
        ("text", None, "text must be a text, not null"),
        ("text", {"a": 1}, "text must be a text, not an object"),
        ("text", "<text>", "text is a placeholder copied from the template: fill in a text"),
        ("inner", {"age": 3}, "inner.first_name is missing"),
        ("inner", [1], "inner must be an object"),
        ("inners", [{"first_name": "Bo"}, {"age": 2}], "inners[1].first_name is missing"),
        ("inners", None, "inners must be a list"),
        ("table", {"x": "much"}, "table['x'] must be a number, not 'much'"),
        ("pair", [1], "pair[1]: field required"),
        ("day", "soon", "day: input should be a valid date"),
    ],
)
def test_value_errors(field: str, given: Any, reason: str) -> None:
    with pytest.raises(BadReply) as caught:
        parse_big(**{field: given})
    assert caught.value.reason.startswith(reason)


VERDICTS = [
    '{"statements": [{"verdict": 1}, {"verdict": 0}]}',
    '{"verdicts": [1, 0]}',
    "[1, 0]",
    "[true, false]",
    '["yes", "no"]',
    "verdicts = [1, 0]",
    '{"verdicts": ["supported", "not supported"]}',
    '{"verdicts": [{"verdict": "1 - supported"}, {"verdict": "0 - not in the text"}]}',
    "1: yes\n2: no",
    "1. Yes\n2. No",
    "1. supported - x\n2. not supported - y",
    "Statement 1: Yes. Statement 2: No.",
    "2: no\n1: yes",
    "statement 1 is supported. Statement 2 is not supported.",
    "**1.** Yes\n**2.** No",
    '{"1": 1, "2": 0}',
    '{"1": {"verdict": 1}, "2": {"verdict": 0}}',
    '{"statement_1": {"verdict": 1}, "statement_2": {"verdict": 0}}',
    '{"verdict": 1}\n{"verdict": 0}',
    '{"statement": "a", "verdict": 1},\n{"statement": "b", "verdict": 0}',
    '[{"id": 2, "verdict": 0}, {"id": 1, "verdict": 1}]',
    '[{"claim_number": "claim 2", "verdict": 0}, {"claim_number": "claim 1", "verdict": 1}]',
    "verdicts:\n- verdict: yes\n  reason: 'so'\n- verdict: no",
    "- verdict: 1\n  reason: it says\n    so\n- verdict: 0",
    '{"answers": [{"answer": "yes"}, {"answer": "no"}]}',
    '{"statements": [{"statement": "a", "supported": true}, {"statement": "b", "supported": false}]}',
    '{"statements": ["a", "b"], "verdicts": [{"verdict": 1}, {"verdict": 0}]}',
    "<verdicts><verdict>1</verdict><verdict>0</verdict></verdicts>",
    '{"statements": [{"Statement": "a", "Verdict": "Yes"}, {"Statement": "b", "Verdict": "No"}]}',
    '{"verdicts": [{"verdict": 1}, {"verdict": 0}]',
    '{"verdicts": "1, 0"}',
    '{"verdicts": [[1], [0]]}',
    "[[1, 0]]",
    '{"verdicts": [{"verdict": 1, "reason": null}, {"verdict": 0, "reason": ["x", "y"]}]}',
]
NO_VERDICTS = [
    '{"verdicts": [2, 0]}',
    '{"verdicts": [-1, 0]}',
    '{"verdicts": [null, 0]}',
    '{"verdicts": [0.5, 1]}',
    '{"verdicts": ["maybe", "no"]}',
    '{"verdicts": [{"verdict": 1}, {"reason": "x"}]}',
    '{"verdicts": ["1 - not supported", "0"]}',
    "1: supported\n2: partially supported",
    "1: yes\n1: no",
    "1: yes\n3: no",
    '{"1": 1, "3": 0}',
    "[1, 0, ...]",
    '[{"id": 1, "verdict": 0}, {"id": 1, "verdict": 1}]',
    "Both are supported.",
    '{"verdicts": [{"verdict": 1}, {"verd',
    '{"verdicts": [{"verdict": 1},',
    '{"verdicts": [{"verdict": 1}, {"verdict": 0}',
    '{"verdicts": [{"verdict": 1}, {"verdict": 0 oops',
    "I cannot say.",
    "See [1] and [0].",
    '{"verdicts": [1, 0]}\n{"verdicts": [0, 1]}',
]


@pytest.mark.parametrize("text", VERDICTS)
def test_a_list_of_verdicts(text: str) -> None:
    assert [item.verdict for item in JsonReply(Verdicts).parse(text).statements] == [1, 0]


@pytest.mark.parametrize("text", NO_VERDICTS)
def test_no_list_of_verdicts(text: str) -> None:
    assert bad(Verdicts, text)


CLAIMS = [
    '{"statements": ["A b.", "C d."]}',
    '{"claims": ["A b.", "C d."]}',
    '{"Statements": ["A b.", "C d."]}',
    '["A b.", "C d."]',
    '[{"statement": "A b."}, {"statement": "C d."}]',
    '{"statements": [{"text": "A b."}, {"text": "C d."}]}',
    '{"statements": {"1": "A b.", "2": "C d."}}',
    '{"statement_1": "A b.", "statement_2": "C d."}',
    "1. A b.\n2. C d.",
    "- A b.\n- C d.",
    "Statement 1: A b.\nStatement 2: C d.",
    'statements:\n  - "A b."\n  - "C d."',
    "<statements><statement>A b.</statement><statement>C d.</statement></statements>",
    '{"extracted_statements": ["A b.", "C d."]}',
    '{"output": ["A b.", "C d."]}',
    '{"statements": "1. A b.\\n2. C d."}',
    '{"statements": ("A b.", "C d.")}',
    '{"sentences": [{"simpler_statements": ["A b."]}, {"simpler_statements": ["C d."]}]}',
    '{"statements": ["A b.", "C d."], "count": 2}',
    '{"statements": "[\\"A b.\\", \\"C d.\\"]"}',
]
NO_CLAIMS = [
    '{"statements": ["A b.", "C',
    '{"statements": ["A b.",',
    '{"statements": [',
    '{"statements": null}',
    '{"statements": [null]}',
    '{"errors": ["limit"]}',
    '{"error": "x"}',
    '{"statements": ["..."]}',
    '{"statements": ["<statement>"]}',
    '{"statements": ["A", ...]}',
    '{"tp": ["a"], "fp": ["b"]}',
    "None",
    "The answer has two claims. One is A.",
    '{"statements": {"type": "array", "items": {"type": "string"}}}',
    '{"statements": true}',
    '{"message": "no"}',
    '{"statements": ["A"]}{"statements": ["B"]}',
    '{"statements": [{"type": "string"}]}',
    '{"statements": [{"a": "x", "b": "y"}]}',
    "HTTP 502 Bad Gateway",
    '{"sources": ["a"]}',
    '{"required": ["statements"]}',
]


@pytest.mark.parametrize("text", CLAIMS)
def test_claims(text: str) -> None:
    assert JsonReply(Claims).parse(text).statements == ["A b.", "C d."]


@pytest.mark.parametrize("text", NO_CLAIMS)
def test_no_claims(text: str) -> None:
    assert bad(Claims, text)


def test_an_empty_list_is_an_answer() -> None:
    assert JsonReply(Claims).parse("[]\n\nThere is nothing to check.").statements == []
    assert JsonReply(Claims).parse('{"statements": []}').statements == []


@pytest.mark.parametrize(
    "text",
    [
        '{"questions": ["What?"], "noncommittal": 1}',
        '{"question": "What?", "noncommittal": true}',
        '{"questions": "What?", "non_committal": "yes"}',
        '[{"questions": ["What?"], "isNoncommittal": 1}]',
        "{'question': 'What?', 'noncommittal': True}",
        '{"output": [{"questions": ["What?"], "noncommittal": 1}]}',
        "questions:\n- What?\nnoncommittal: true",
    ],
)
def test_questions_with_a_flag(text: str) -> None:
    assert JsonReply(Questions).parse(text) == Questions(questions=["What?"], noncommittal=True)


def test_tags_in_content_are_content() -> None:
    text = '{"statements": ["<think> is a tag.", "</think> closes it.", "</s> ends."]}'
    expected = ["<think> is a tag.", "</think> closes it.", "</s> ends."]
    assert JsonReply(Claims).parse(text).statements == expected
    assert JsonReply(Claims).parse(f"<think>hm</think>Here:\n{text}\nDone.").statements == expected


def test_a_model_of_defaults_does_not_accept_anything() -> None:
    class Loose(BaseModel):
        score: int = 0
        reason: str = ""

    assert JsonReply(Loose).parse('{"output": {"score": 4}}').score == 4
    assert bad(Loose, '{"colour": "red"}') == "the JSON in the reply has none of the fields 'score', 'reason'"
    assert bad(Loose, "{}")


def test_a_boolean_is_no_score() -> None:
    class Scored(BaseModel):
        score: int

    assert bad(Scored, '{"score": true}') == "score must be a whole number, not true"
    assert JsonReply(Scored).parse('{"rating": 4, "max_rating": 5}').score == 4


def test_aliases_and_extra_fields() -> None:
    class Named(BaseModel):
        model_config = ConfigDict(extra="allow")
        first: int = Field(alias="firstValue")
        second: int = Field(default=0, validation_alias=AliasChoices("two", "zwei"))

    read = JsonReply(Named).parse('Here: {"first_value": "1", "two": 2, "more": [1]}')
    assert (read.first, read.second, read.model_extra) == (1, 2, {"more": [1]})
    assert JsonReply(Named).parse('{"firstValue": 1, "more": 2}').model_extra == {"more": 2}

    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")
        answer: bool

    assert JsonReply(Strict).parse('{"answer": "yes", "comment": "x"}').answer is True


def test_a_field_under_two_of_its_names() -> None:
    """Which of them holds is not for the reader to say; reasons may differ."""

    class Found(BaseModel):
        pages: list[int] = Field(default_factory=list, validation_alias=AliasChoices("on", "pages"))
        reason: str = ""

    assert bad(Found, '{"on": [1], "pages": []}') == "pages and 'on' say different things; give one"
    assert bad(Found, '{"On": [1], "pages": [2]}') == "pages and 'On' say different things; give one"
    assert bad(Found, '{"pages": [1], "on": "see below"}') == "pages must be a list"
    for same in (
        '{"on": [1], "pages": ["1"]}',
        '{"on": null, "pages": [1]}',
        '{"On": [1], "Reason": "a", "reason": "b"}',
    ):
        assert JsonReply(Found).parse(same).pages == [1]


def test_unions_of_models() -> None:
    class Cat(BaseModel):
        lives: int

    class Dog(BaseModel):
        tricks: list[str]

    class Pet(BaseModel):
        pet: Cat | Dog

    assert JsonReply(Pet).parse('{"Pet": {"Tricks": ["sit"]}}').pet == Dog(tricks=["sit"])
    assert JsonReply(Pet).parse('{"Pet": {"Lives": "9"}}').pet == Cat(lives=9)


def test_root_models() -> None:
    reply = JsonReply(RootModel[list[int]])
    assert reply.parse('Sure: ["1", 2]').root == [1, 2]
    assert reply.schema is None
    assert reply.instructions().endswith("[<integer>, ...]")


def test_a_validator_of_the_user_speaks_in_the_reason() -> None:
    class Even(BaseModel):
        value: int

        @field_validator("value")
        @classmethod
        def even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("must be even")
            return value

    assert JsonReply(Even).parse('{"value": "4"}').value == 4
    assert bad(Even, '{"value": 3}') == "value: value error, must be even"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"verdicts": [1, 2]}', "statements[1].verdict must be 0 or 1, not 2"),
        ('{"statements": [{"verdict": 1}, {"statement": "b"}]}', "statements[1].verdict is missing"),
        (
            '{"statements": [{"verdict": 1}, {"verd',
            "the reply ends in the middle of its JSON; reply with the whole object, more briefly",
        ),
        (
            '{"statements": [{"verdict": 1} oops {"verdict": 0}]}',
            "the JSON in the reply is broken or repeats a key with another value",
        ),
        ("They look fine.", "the reply holds no JSON object of the shape asked for"),
        ('{"a": 1}', "the JSON in the reply has none of the fields 'statements'"),
        ('{"verdicts": [1]} {"verdicts": [0]}', "the reply gives two different answers; give one"),
        ('{"x": 1} ' * 99, "the reply holds too many objects; give one"),
        ('{"verdicts": [{"n": 1, "verdict": 1}, {"n": 1, "verdict": 1}]}', "statements gives the same n twice"),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    assert bad(Verdicts, text) == reason


def test_answers_that_differ_only_in_their_reasons_agree() -> None:
    read = JsonReply(Verdicts).parse(
        '{"verdicts": [{"verdict": 1, "reason": "a"}]}\n{"verdicts": [{"verdict": 1, "reason": "b"}]}'
    )
    assert [(item.verdict, item.reason) for item in read.statements] == [(1, "a")]


def test_only_models() -> None:
    with pytest.raises(InvalidInput, match="must be a pydantic BaseModel class"):
        JsonReply(dict)  # type: ignore[type-var]
