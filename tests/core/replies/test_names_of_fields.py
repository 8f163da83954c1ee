"""Fields that validation takes under several names: any of them alone is clean, two of them at once are looked at."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel, Field

from ragmetrics_core.replies import JsonReply
from ragmetrics_core.replies._json_text._find import clean_json, decoder_of
from ragmetrics_core.replies._typed._plan import plan_of


class Passages(BaseModel):
    number: int
    supported_by: list[int] = Field(validation_alias=AliasChoices("for", "supported_by", "backed_by"))


class ManyPassages(BaseModel):
    verdicts: list[Passages]


def is_clean(model: type[BaseModel], data: Any) -> bool:
    plan = plan_of(model)
    found = clean_json(json.dumps(data), decoder_of(plan.knows))
    return found is not None and plan.takes(found[0])


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
