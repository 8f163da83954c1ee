"""Fields that validation takes under several names: any of them alone is clean, two of them at once are looked at."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel, Field

from ragmetrics_core import BadReply
from ragmetrics_core.replies import JsonReply


class Passages(BaseModel):
    number: int
    supported_by: list[int] = Field(validation_alias=AliasChoices("for", "supported_by", "backed_by"))


class ManyPassages(BaseModel):
    verdicts: list[Passages]


class Tables(BaseModel):
    """Takes keys of any name, but for its own."""

    by: list[int] = Field(default=[], validation_alias=AliasChoices("for", "by"))
    more: dict[str, Any] = {}


def is_clean(model: type[BaseModel], data: Any) -> bool:
    """Whether the reply takes the short way: it is validated once, strictly, and as it is."""
    given = []

    class Watched(model):  # type: ignore[misc, valid-type]
        @classmethod
        def model_validate(cls, obj: Any, **settings: Any) -> Any:
            given.append((obj, settings))
            return super().model_validate(obj, **settings)

    try:
        JsonReply(Watched).parse(json.dumps(data))
    except BadReply:
        return False
    return given == [(data, {"strict": True})]


@pytest.mark.parametrize("key", ["for", "supported_by", "backed_by"])
def test_a_clean_reply_with_any_name_of_a_field_takes_the_short_way(key: str) -> None:
    """The long way costs a hundred times as much; stored replies in the form of earlier prompts have earlier names."""
    data = {"verdicts": [{"number": 1, key: [2]}]}
    assert is_clean(ManyPassages, data)
    assert JsonReply(ManyPassages).parse(json.dumps(data)).verdicts[0].supported_by == [2]


@pytest.mark.parametrize(("one", "two"), [("for", "supported_by"), ("for", "backed_by"), ("supported_by", "backed_by")])
def test_two_names_of_one_field_take_the_long_way(one: str, two: str) -> None:
    data = {"verdicts": [{"number": 1, one: [2], two: [3]}]}
    assert not is_clean(ManyPassages, data)
    assert not is_clean(Passages, data["verdicts"][0])


@pytest.mark.parametrize(
    ("data", "clean"),
    [
        ({"for": [1], "more": {"any": {"for": 1, "by": 2}}}, True),
        ({"by": [1]}, True),
        ({"for": [1], "by": [1]}, False),
        ({"for": [1], "other": 1}, False),
        ({}, False),
    ],
)
def test_where_keys_may_have_any_name_the_object_itself_is_looked_at(data: Any, clean: bool) -> None:
    assert is_clean(Tables, data) is clean


@pytest.mark.parametrize(
    "data",
    [
        {"verdicts": [{"number": 1, "for": [2], "other": 1}]},
        {"verdicts": [], "number": 1},
        [{"verdicts": []}],
    ],
)
def test_keys_that_belong_elsewhere_take_the_long_way(data: Any) -> None:
    assert not is_clean(ManyPassages, data)
