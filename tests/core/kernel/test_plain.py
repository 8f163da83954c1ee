"""One walk makes plain JSON of values; what becomes of a leaf or a mapping differs with what it is made for."""

from __future__ import annotations

from enum import IntEnum
from math import inf, nan
from typing import Any

import pytest

from ragmetrics_core._kernel._in_order import in_order
from ragmetrics_core._kernel._plain import json_walk, plain
from ragmetrics_core._store._records import json_value
from ragmetrics_core.adapters import json_settings


class Level(IntEnum):
    HIGH = 3


class Thing:
    def __repr__(self) -> str:
        return "a thing"


def test_the_walk_shows_leaves_only_what_is_not_plain() -> None:
    shown: list[Any] = []
    value = {1: ("a", [True, None, 2.5]), "n": {"x": Thing(), "y": [inf]}}
    assert json_walk(lambda leaf: shown.append(leaf) or "leaf")(value) == {
        "1": ["a", [True, None, 2.5]],
        "n": {"x": "leaf", "y": ["leaf"]},
    }
    assert [str(leaf) for leaf in shown] == ["a thing", "inf"]


def test_the_walk_copies_and_shows_mappings_where_asked() -> None:
    given = [[1, 2], {"a": [3]}]
    copied = json_walk(str)(given)
    assert copied == given
    assert copied is not given
    assert copied[0] is not given[0]
    assert json_walk(str, kept=frozenset({int}), mapping=len)(["x", 7, {"a": 1, "b": 2}]) == ["x", 7, 2]


def test_what_each_walk_makes_of_the_same_values() -> None:
    value = {"level": Level.HIGH, "pair": (1, {"b": 1, "a": 2})}
    assert plain(value) == {"level": 3, "pair": [1, {"b": 1, "a": 2}]}
    assert json_value(value) == {"level": 3, "pair": [1, {"b": 1, "a": 2}]}
    assert json_settings(value) == {"level": 3, "pair": [1, {"b": 1, "a": 2}]}
    assert in_order(value["pair"]) == [1, {"json_text": '{"b": 1, "a": 2}'}]


def test_a_number_that_is_not_finite_is_refused_left_out_or_kept() -> None:
    with pytest.raises(ValueError, match="details hold finite numbers, got nan"):
        plain([nan])
    assert json_value([nan]) == [None]
    assert json_settings({"limit": [inf]}) == {"limit": [inf]}


def test_an_object_is_refused_written_as_text_or_leaves_no_settings() -> None:
    with pytest.raises(TypeError, match="details hold plain JSON values, got Thing"):
        plain([Thing()])
    assert json_value([Thing()]) == ["a thing"]
    assert json_settings({"x": [Thing()]}) is None
