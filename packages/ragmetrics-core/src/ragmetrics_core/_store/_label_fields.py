"""The fields of a line of labels, each in the words in which people and programs write it.

Strategy. One table holds the words for right and wrong. A number is left a number here, 1 and 0 too: whether 1 is a pass or the
lowest grade of a scale from 1 to 5, only the other labels of the metric and its scale can tell. Whatever is in neither form is
refused with the forms that are read, for a label that is guessed would be worse than none.
"""

from __future__ import annotations

import math
import re
from typing import Any

from .._kernel._errors import InvalidInput

RIGHT = ("true", "t", "yes", "y", "pass", "passed", "right", "correct", "good", "supported", "\u2714", "\u2713")
WRONG = (
    *("false", "f", "no", "n", "fail", "failed", "wrong", "incorrect", "bad", "unsupported", "not supported"),
    *("contradicted", "not stated", "\u2718", "\u2717"),
)
VERDICTS = {**dict.fromkeys(RIGHT, True), **dict.fromkeys(WRONG, False)}
"""What is read as a pass and as a fail, in small letters; besides, 1 and 0 are."""

FORMS = "true or false (also yes/no, pass/fail, right/wrong, correct/incorrect, 1/0)"
MOST_ROWS = 1e12
"""That a label may stand for: squares and sums of such weights neither overflow nor vanish."""

DIGEST = re.compile("[0-9a-f]{32}")

LONGEST = 80
"""Characters of a value that a message shows."""


def quoted(value: object) -> str:
    """The value as messages show it: on one line, escaped and cut."""
    shown = repr(value)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}\u2026"


def label_of(value: Any) -> bool | float:
    """True or False where words say so, else the number.

    Raises:
        InvalidInput: it is neither, or not finite.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        said = VERDICTS.get(" ".join(value.casefold().split()))
        if said is not None:
            return said
    number = _number(value)
    if number is None:
        raise InvalidInput(
            f"the label {quoted(value)} is neither a pass nor a fail nor a number: write {FORMS}, or a grade on the metric's "
            "scale; leave it empty where there is no label yet"
        )
    return number


def flag_of(value: Any) -> bool | None:
    """Whether a label was given blind; None where nothing is said."""
    if value is None:
        return None
    said = value if isinstance(value, bool) else VERDICTS.get(str(value).strip().casefold())
    number = _number(value)
    if said is None and number not in (0, 1):
        raise InvalidInput(f"blind is {quoted(value)}: write true or false, or leave it out")
    return bool(number) if said is None else said


def weight_of(value: Any) -> float | None:
    """How many rows a label stands for; None where nothing is said."""
    if value is None:
        return None
    number = _number(value)
    if number is None or number <= 0:
        raise InvalidInput(
            f"the weight {quoted(value)} is no number above 0: write how many rows the row stands for, or leave it out"
        )
    if not 1 / MOST_ROWS <= number <= MOST_ROWS:
        raise InvalidInput(
            f"the weight {quoted(value)} does not lie between {1 / MOST_ROWS:g} and {MOST_ROWS:g}: write how many rows the row "
            "stands for, or leave it out"
        )
    return number


def digest_in(value: Any) -> str | None:
    """The digest of the row that was labelled; None where nothing is said."""
    found = text_of("digest", value)
    if found is None or DIGEST.fullmatch(found.strip()):
        return found and found.strip()
    raise InvalidInput(
        f"the digest {quoted(value)} is not one that a report or --suggest writes (32 letters and digits): copy the line as it was "
        "written, or leave the digest out"
    )


def id_of(value: Any) -> str:
    """The id of a row as text; whole numbers that a table has turned into 7.0 are 7."""
    found = text_of("id", value)
    if found is None or not found.strip():
        raise InvalidInput("the field 'id' is empty: write the id of the row that the label is about")
    return found


def claim_of(value: Any) -> str | int | None:
    """The claim, by its text or by its number from 1; None for a label of the whole row."""
    if isinstance(value, str) and not (value.strip().isascii() and value.strip().isdigit()):
        return value
    number = _number(value)
    if value is not None and (number is None or number != int(number) or number < 1):
        raise InvalidInput(f"the claim {quoted(value)} is no number from 1: write the claim's number, or its text")
    return None if number is None else int(number)


def text_of(name: str, value: Any) -> str | None:
    """A text, or a number as text; None where there is none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"the field {name!r} must be a text, got {quoted(value)}")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(value: Any) -> float | None:
    """The finite number that a value is, or says; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and "_" not in str(value) else None
