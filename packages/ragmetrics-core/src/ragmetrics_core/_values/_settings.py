"""Validation of settings that several functions have, with the same message everywhere."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ._errors import InvalidInput, Setting


def check_whole(name: str, value: object, *, least: int | None = None) -> None:
    """Check that a setting is a whole number, and not below ``least``.

    Args:
        name: the name of the setting in messages.
        value: the value given; a bool is not a number.
        least: the lowest possible value; None: there is no lowest value.

    Raises:
        InvalidInput: the value is not such a number.
    """
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        at_least = "" if least is None else f" from {least}"
        raise InvalidInput(Setting(name), f" must be a whole number{at_least}, got {value!r}")


def check_seconds(name: str, value: object, *, option: str = "", or_none: bool = True) -> None:
    """Check that a setting is a positive number of seconds, or None if ``or_none``.

    Args:
        name: the name of the setting in messages.
        value: the value given.
        option: its name on the command line, if that differs.
        or_none: whether it may be None.

    Raises:
        InvalidInput: the value is neither.
    """
    if value is None and or_none:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise InvalidInput(
            Setting(option or name, python=name), f" must be a positive number of seconds, got {value!r}"
        )


def check_run_dir(path: object) -> None:
    """Check that the directory of a run is a path, or None.

    Raises:
        InvalidInput: the value is neither.
    """
    if path is None:
        return
    if not isinstance(path, str | os.PathLike) or not str(path).strip() or "\0" in str(path):
        raise InvalidInput(Setting("run_dir"), f" must be the path of a directory, got {path!r}")


def check_switch(name: str, value: object) -> None:
    """Check that a setting is on (True), off (False) or not set (None).

    Raises:
        InvalidInput: the value is something else.
    """
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True, False or None, got {value!r}")


def check_calls(max_concurrency: object, max_retries: object = 0, timeout: object = None) -> None:
    """Check the settings for the calls of a run.

    Raises:
        InvalidInput: the value of one of them is not possible.
    """
    check_whole("max_concurrency", max_concurrency, least=1)
    check_whole("max_retries", max_retries, least=0)
    check_seconds("timeout", timeout)


def check_known(owner: str, given: Iterable[str], known: Iterable[str], note: str = "") -> None:
    """Check that all given names are names of settings.

    Args:
        owner: the name, in messages, of the object that has the settings.
        given: the names to check.
        known: the names of all settings.
        note: a text to add to the list of names in messages.

    Raises:
        InvalidInput: a name is unknown; the message suggests the most similar name, or else lists all names.
    """
    names = list(known)
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        import difflib  # noqa: PLC0415  for mistakes only

        close = difflib.get_close_matches(unknown, names, n=1)
        cure = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(names)}{note}"
        raise InvalidInput(f"{owner} has no setting {unknown!r}: {cure}")
