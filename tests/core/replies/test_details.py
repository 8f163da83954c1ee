"""Corners of reading: near-JSON, depth, numbers without end, drafts, tags, outlines, odd types of models."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from ragmetrics_core import BadReply, InvalidInput
from ragmetrics_core.replies import JsonReply, LinesReply, ObjectReply, RatingReply, ScoreReply, YesNoReply


class Anything(BaseModel):
    value: Any


class Item(BaseModel):
    statement: str
    verdict: Literal[0, 1]


class Items(BaseModel):
    statements: list[Item]


class Verdict(BaseModel):
    verdict: bool


class Verdicts(BaseModel):
    verdicts: list[Verdict]


class Claims(BaseModel):
    statements: list[str]


def value(text: str) -> Any:
    return JsonReply(Anything).parse(text).value


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("{value: [True, False, None, nil, undefined]}", [True, False, None, None, None]),
        ("{'value': [+4, 04, .5, 5., -1.5e2]}", [4, 4, 0.5, 5.0, -150.0]),
        ("{'value': 'It's the boys', isn't it?'}", "It's the boys', isn't it?"),
        ('{"value": "He said "no" and left", "x": 1}', 'He said "no" and left'),
        ('{"value": "a\nb\tc"}', "a\nb\tc"),
        (r'{"value": "x \$ \d \u00e9 \ud83d\ude00 \n", }', "x $ \\d é 😀 \n"),
        ("{“value”: “a “b” c”}", "a “b” c"),
        ("{‘value’: ‘a’}", "a"),
        ("{„value“: „a“}", "a"),
        ('{"value" => "a"}', "a"),
        ('{"value": some words here}', "some words here"),
        ('{"value": one // two\n}', "one"),
        ('{"value": , "x": 1}', None),
        ('{"value": ("a", "b")}', ["a", "b"]),
        ('{"value": {"a": {"b": ["c"]', {"a": {"b": ["c"]}}),
        ('{"value": "a" "x": "b"}', "a"),
        ('{"value": {"a": 1, "a": 1}}', {"a": 1}),
        ('{"value": ""}', ""),
        ("> {\n> 'value': 3\n> }", 3),
    ],
)
def test_near_json(text: str, meant: Any) -> None:
    assert value(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        '{"value": "a',
        '{"value": ["a", "b',
        '{"value": {"a": 1, "a": 2}}',
        '{"value": {"a": 1, "a": 2}} x',
        '{"value": [1, 2}',
        '{"value": ...}'[:9],
        '{"val',
        '{"value"',
        "{value",
        '{"' + "v" * 300 + '": 1}',
        '{"value": ' + "[" * 80 + "]" * 80 + "}",
        '{"value": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"value": ' + '{"a": ' * 70 + "1" + "}" * 70 + "}",
        '{"a": ' * 10 + '{"value": 1}' + "}" * 10,
    ],
)
def test_broken_cut_or_bottomless(text: str) -> None:
    with pytest.raises(BadReply):
        value(text)


def test_many_brackets_are_fine_when_they_are_not_deep() -> None:
    items = [{"statement": f"s{number}", "verdict": number % 2} for number in range(200)]
    assert len(JsonReply(Items).parse(json.dumps({"statements": items})).statements) == 200
    assert len(JsonReply(Items).parse(f"Here: {json.dumps(items)}").statements) == 200


def test_more_items_than_any_answer_has() -> None:
    with pytest.raises(BadReply, match="^statements has 5001 items, more than any honest answer$"):
        JsonReply(Claims).parse("So: " + json.dumps({"claims": ["a"] * 5001}))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5000, "NaN", "1" + "0" * 400 + ".5"])
def test_numbers_without_a_sensible_size(number: str) -> None:
    class Share(BaseModel):
        share: float

    deep = "a:\n" + "".join(f"{' ' * depth}a:\n" for depth in range(1, 20))
    for text in ("score: 4\nscore: 5", "score: 4\nand so on it goes", "score:", "- 4\nscore: 4", deep):
        with pytest.raises(BadReply):
            JsonReply(Share).parse(text)
    with pytest.raises(BadReply):
        ScoreReply(1, 5).parse(f'{{"score": {number}}}')


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('First guess: {"rating": 9}. The rating:\n{"rating": 1}', 1),
        ('First guess: {"rating": 2}\n\nFinal: {"rating": 1}', 1),
        ('{"rating": 1}{"rating": 1}', 1),
        ('{"rating": "<0, 1 or 2>"}\n{"rating": 1}', 1),
        ('{"rating": 1} {"note": "x"}', 1),
        ('{"result": "{rating: 1}"}', 1),
        ('{"result": [{"rating": 1}, {"rating": 1}]}', 1),
        ('{"content": "The rating is 1."}', 1),
    ],
)
def test_which_object_counts(text: str, meant: int) -> None:
    assert RatingReply([0, 1, 2]).parse(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        '{"rating": 1}{"rating": 2}',
        '{"rating": 1}{"rating": 9}',
        'Final: {"rating": 2}\n{"rating": 1}',
        '{"result": [{"rating": 1}, {"rating": 2}]}',
        '{"result": [{"rating": 1}, {"rating": null}]}',
        '{"result": {"a": {"rating": 1}, "b": {"rating": 2}}}',
        "<output><rating>1</rating><rating>2</rating></output>",
        "<rating></rating>",
        "<rating>1",
        "<x>" * 30 + "</x>" * 30,
        '{"$schema": "x", "rating": 1}',
        '{"rating": {"type": "integer"}}',
    ],
)
def test_no_object_counts(text: str) -> None:
    with pytest.raises(BadReply):
        RatingReply([0, 1, 2]).parse(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("<output><explanation>1 < 2</explanation><br/><rating>2</rating></output>", 2),
        ("<result><rating>2\n</result>", 2),
        ("</x><rating>2</rating>", 2),
    ],
)
def test_tags(text: str, meant: int) -> None:
    assert RatingReply([0, 1, 2]).parse(text) == meant


def test_outlines() -> None:
    class Graded(BaseModel):
        score: int
        reason: str = ""

    reply = JsonReply(Graded)
    assert reply.parse("Score: 4\nReason: it is\n  long") == Graded(score=4, reason="it is long")
    assert reply.parse("result:\n  score: 4\n  reason: 'a: b'") == Graded(score=4, reason="a: b")
    assert reply.parse('```yaml\n---\nscore: "4"\nreason: null\n```') == Graded(score=4)
    for text in (
        "score: 4\nscore: 5",
        "score: 4\nand so on it goes",
        "score:",
        "- 4\nscore: 4",
        "a:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 20)),
    ):
        with pytest.raises(BadReply):
            reply.parse(text)


class Size(Enum):
    SMALL = 1
    LARGE = 2


Names = TypeAliasType("Names", list[str])


class Odd(BaseModel):
    size: Size = Field(default=Size.SMALL, description="how large")
    names: Names = []
    levels: list[Annotated[int, Field(le=9)]] = []
    plain: list = []  # type: ignore[type-arg]
    nothing: None = None
    either: Item | Verdict | None = None
    picked: Literal["yes", "no"] = "no"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"size": "large"}, {"size": Size.LARGE}),
        ({"size": "2"}, {"size": Size.LARGE}),
        ({"names": {"item": "a"}}, {"names": ["a"]}),
        ({"Names": [{"name": "a", "why": "b"}]}, {"names": ["a"]}),
        ({"Levels": ["4", 5]}, {"levels": [4, 5]}),
        ({"Levels": 4}, {"levels": [4]}),
        ({"Plain": [1, "a"]}, {"plain": [1, "a"]}),
        ({"nothing": "n/a", "size": 1}, {"nothing": None}),
        ({"either": {"Verdict": "yes"}}, {"either": Verdict(verdict=True)}),
        ({"picked": True}, {"picked": "yes"}),
        ({"picked": 0}, {"picked": "no"}),
        ({"picked": ["Yes."]}, {"picked": "yes"}),
    ],
)
def test_odd_types(given: dict[str, Any], meant: dict[str, Any]) -> None:
    read = JsonReply(Odd).parse("So: " + json.dumps(given))
    assert {key: getattr(read, key) for key in meant} == meant


@pytest.mark.parametrize(
    "given",
    [
        {"size": "huge"},
        {"nothing": 4},
        {"levels": [10]},
        {"levels": [True]},
        {"either": {"statement": "a"}},
        {"picked": "maybe"},
        {"picked": None},
        {"names": [{"a": "x", "b": "y"}]},
        {"names": [{"a": {"b": "x"}}]},
        {"size": {"type": "integer"}},
    ],
)
def test_odd_types_misread(given: dict[str, Any]) -> None:
    with pytest.raises(BadReply):
        JsonReply(Odd).parse("So: " + json.dumps(given))


def test_the_instructions_of_odd_types() -> None:
    assert JsonReply(Odd).instructions().partition("\n")[2] == (
        '{"size": <1 or 2: how large>, "names": ["<text>", ...], "levels": [<integer>, ...], '
        '"plain": [<value>, ...], "nothing": null, '
        '"either": {"statement": "<text>", "verdict": <0 or 1>} or {"verdict": <boolean>} or null, "picked": <"yes" or "no">}'
    )


def test_items_in_their_own_order() -> None:
    reply = JsonReply(Verdicts)
    mixed = '[{"id": "b", "verdict": 0}, {"id": 1, "verdict": 1}]'
    assert [item.verdict for item in reply.parse(mixed).verdicts] == [False, True]
    named = '{"verdicts": {"claim 2": {"verdict": 0}, "claim 1": {"verdict": 1}}}'
    assert [item.verdict for item in reply.parse(named).verdicts] == [True, False]
    with pytest.raises(BadReply, match="^verdicts must number its items consecutively, starting at 0 or 1$"):
        reply.parse('{"verdicts": {"1": true, "3": true}}')


def test_two_readings_inside_one_object() -> None:
    with pytest.raises(BadReply, match="two different answers"):
        JsonReply(Verdict).parse('{"output": {"verdict": true}, "data": {"verdict": false}}')
    assert JsonReply(Verdict).parse('{"output": {"verdict": true}, "data": {"verdict": true}}').verdict is True


def test_lists_in_lists_of_objects() -> None:
    assert LinesReply().parse('{"pages": [{"items": ["b?"]}, {"items": ["a?"]}]}') == ["b?", "a?"]


def test_objects_by_key() -> None:
    reply = ObjectReply(("score", "why not"))
    assert reply.parse('Sure: {"Score": 4, "why_not": ["a"]}') == {"score": 4, "why not": ["a"]}
    assert eval(repr(reply), {"ObjectReply": ObjectReply}) == reply
    assert (reply.schema, reply.instructions().partition("\n")[2]) == (None, '{"score": <value>, "why not": <value>}')
    with pytest.raises(BadReply, match="score is missing"):
        reply.parse('{"why not": 1}')
    with pytest.raises(InvalidInput, match="keys must be names"):
        ObjectReply(())


def test_reasons_that_are_no_text() -> None:
    assert ScoreReply(1, 5).parse('{"score": 4, "reason": {"a": 1}}') == (4.0, "")
    assert YesNoReply().parse('{"reason": null, "answer": "no"}') is False


@pytest.mark.parametrize("reply", [YesNoReply(), ScoreReply(1, 5), LinesReply(), JsonReply(Verdicts)], ids=repr)
@pytest.mark.parametrize("text", ['[{"a": 1, "b": 2, "c": 3, "a": 4}]', 'So: [{"ab": "x", "ab": "y"}]'])
def test_a_list_of_objects_that_repeat_a_key_is_broken(reply: Any, text: str) -> None:
    with pytest.raises(BadReply):
        reply.parse(text)


def test_a_list_under_the_key_type_is_no_schema() -> None:
    text = '{"type": ["a"], "answer": "yes", "questions": ["Why?"]}'
    assert YesNoReply().parse(text) is True
    assert ObjectReply(("type", "answer")).parse(text) == {"type": ["a"], "answer": "yes"}
