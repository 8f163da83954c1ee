"""A rubric: what each score means, in whichever form it is given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ._errors import InvalidInput

RUBRIC_KEY = re.compile(r"(-?\d+)|score(\d+)_description")
"""What may stand for a score: a whole number, or the name that RAGAS gives to its description."""


def checked_rubric(path: str, value: Any) -> dict[int, str]:
    """A rubric with whole numbers as keys and a text for each, in ascending order.

    Numerals in text count, as in JSON, and so do the keys of RAGAS, ``score1_description``.

    Raises:
        InvalidInput: it is not a rubric; the message starts with ``path``.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{path} must be a mapping from scores to descriptions, got {type(value).__name__}")
    rubric: dict[int, str] = {}
    for key, text in value.items():
        found = None if isinstance(key, bool | float) else RUBRIC_KEY.fullmatch(str(key).strip())
        if found is None:
            raise InvalidInput(f"{path}: the score {key!r} must be a whole number")
        score = int(found[1] or found[2])
        if score in rubric:
            raise InvalidInput(f"{path} has the score {score} twice")
        if not isinstance(text, str):
            raise InvalidInput(f"{path}[{key!r}] must be a str, got {type(text).__name__}")
        rubric[score] = text
    return dict(sorted(rubric.items()))
