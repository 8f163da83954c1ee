"""A rating from a short menu of integers.

The menu is strict: 1.5 is not rounded and 3 is not taken for 2. Everything else is read as a score is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._kernel._errors import InvalidInput
from ._pipeline import read_reply
from ._score import number_reader
from ._typed._schema import answer_schema


@dataclass(frozen=True, init=False)
class RatingReply:
    """One of a few integers, such as ``RatingReply([0, 1, 2])``; its value is an int.

    Raises:
        InvalidInput: the menu has fewer than two different integers.
    """

    choices: tuple[int, ...]

    def __init__(self, choices: Iterable[int]) -> None:
        menu = tuple(choices)
        if not all(isinstance(choice, int) and not isinstance(choice, bool) for choice in menu) or len(set(menu)) < 2:
            raise InvalidInput(f"RatingReply: choices={menu!r} must be at least two different integers")
        object.__setattr__(self, "choices", tuple(sorted(set(menu))))

    def __repr__(self) -> str:
        return f"RatingReply({list(self.choices)})"

    @property
    def schema(self) -> Mapping[str, Any]:
        """An object with the reason first and the rating, one of the choices, last."""
        return answer_schema("rating", {"type": "integer", "enum": list(self.choices)})

    def instructions(self) -> str:
        """The shape of the reply, for the system message."""
        menu = ", ".join(map(str, self.choices[:-1])) + f" or {self.choices[-1]}"
        return (
            f'Reply with one JSON object and nothing else: {{"reason": "<why, in one sentence>", "rating": <{menu}>}}'
        )

    def parse(self, text: str) -> int:
        """The rating.

        Raises:
            BadReply: the reply gives no rating of this menu, or several that disagree.
        """
        return self.parse_with_reason(text)[0]

    def parse_with_reason(self, text: str) -> tuple[int, str]:
        """The rating and its reason (empty when the reply gives none).

        Raises:
            BadReply: see ``parse``.
        """
        answer = read_reply(text, number_reader("rating", self.choices[0], self.choices[-1], self.choices))
        return int(answer.value), answer.reason
