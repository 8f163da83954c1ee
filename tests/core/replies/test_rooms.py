"""The rooms below the reply formats are their own affair; which way imports between them point is for ``test_architecture``."""

from __future__ import annotations

from source_tree import CORE, all_imports

HOME = f"{CORE}.replies"


def test_the_rest_of_the_core_knows_no_room_of_the_replies() -> None:
    wrong = [
        str(item)
        for item in all_imports()
        if item.statement.startswith(f"{HOME}._") and not item.source.startswith(HOME)
    ]
    assert wrong == []
