"""The rooms of the replies: the formats know the three rooms below them, and each room only those further down."""

from __future__ import annotations

from source_tree import CORE, all_imports

HOME = f"{CORE}.replies"
ROOMS = ["_json_text", "_prose", "_model", ""]
"""From the bottom up; the formats themselves stand in no room."""


def room_of(module: str) -> int:
    first = module.removeprefix(HOME).lstrip(".").split(".")[0]
    return ROOMS.index(first if first in ROOMS else "")


def test_imports_between_the_rooms_point_downwards() -> None:
    inner = [item for item in all_imports() if item.source.startswith(HOME) and item.target.startswith(f"{HOME}.")]
    assert [str(item) for item in inner if room_of(item.target) > room_of(item.source)] == []
    assert {room_of(item.target) for item in inner} >= {0, 1, 2}


def test_the_rest_of_the_core_knows_no_room() -> None:
    doors = tuple(f"{HOME}.{room}" for room in ROOMS if room)
    wrong = [str(item) for item in all_imports() if item.statement.startswith(doors) and HOME not in item.source]
    assert wrong == []
