"""Keys and other values that travel in a header, checked before anything is sent.

Strategy. The HTTP libraries find a bad character too late and quote the whole header in their error, key included. So whatever goes
into a header passes through here first, and the error names the place of the character instead of the value.
"""

from __future__ import annotations

import re

from ..._kernel._errors import InvalidInput, ModelError

HOLDS_KEY = (
    "a model that was given a key or a client cannot be pickled, for the key would be written: leave api_key and client out and "
    "set the environment variable OPENAI_API_KEY, or make the model in the other process"
)

NO_HEADER_CHARACTER = re.compile(r"[^ -~]")


def tidy_key(key: str | None) -> str | None:
    """The key without the white space around it, which files and shells add; None where nothing is left."""
    return (key.strip() or None) if isinstance(key, str) else key


def check_key(name: str, key: object) -> None:
    """Refuse what is no text.

    Raises:
        InvalidInput: it is of another type.
    """
    if key is not None and not isinstance(key, str):
        raise InvalidInput(f"{name} must be a str, got {type(key).__name__}")


def check_header(what: str, value: object) -> None:
    """Refuse a text that cannot be the value of a header; other types are not looked at.

    Raises:
        ModelError: it holds a character that is not printable ASCII, or white space at an end.
    """
    if not isinstance(value, str):
        return
    found = NO_HEADER_CHARACTER.search(value)
    if found is None and value == value.strip():
        return
    place = found.start() if found else 0 if value.startswith(" ") else len(value) - 1
    raise ModelError(
        f"{what} holds a character that no header can carry (position {place}): is it copied whole, and nothing else with it?",
        fatal=True,
    )
