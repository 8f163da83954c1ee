"""The check of a setting that is a whole number, with one message for all of them."""

from __future__ import annotations

from ._errors import InvalidInput


def check_whole(name: str, value: object, *, least: int | None = None) -> None:
    """Check that a setting is a whole number, and none below ``least``.

    Args:
        name: what messages call the setting.
        value: what was given; a bool is not a number.
        least: the lowest possible value; None: there is none.

    Raises:
        InvalidInput: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        raise InvalidInput(f"{name} must be a whole number{'' if least is None else f' from {least}'}, got {value!r}")
