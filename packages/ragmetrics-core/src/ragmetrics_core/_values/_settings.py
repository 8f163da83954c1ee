"""Checks of settings that several functions share, so that each has one message."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable

from ._errors import InvalidInput, Setting


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
        at_least = "" if least is None else f" from {least}"
        raise InvalidInput(Setting(name), f" must be a whole number{at_least}, got {value!r}")


def check_seconds(name: str, value: object) -> None:
    """Check that a setting is a positive number, or None.

    Raises:
        InvalidInput: it is not.
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise InvalidInput(Setting(name), f" must be a positive number of seconds, got {value!r}")


def check_run_dir(path: object) -> None:
    """Check that the directory of a run is a path, or None.

    Raises:
        InvalidInput: it is not.
    """
    if path is None:
        return
    if not isinstance(path, str | os.PathLike) or not str(path).strip() or "\0" in str(path):
        raise InvalidInput(Setting("run_dir"), f" must be the path of a directory, got {path!r}")


def check_switch(name: str, value: object) -> None:
    """Check that a setting is on (True), off (False) or not set (None).

    Raises:
        InvalidInput: it is something else.
    """
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True, False or None, got {value!r}")


def check_calls(max_concurrency: object, max_retries: object = 0, timeout: object = None) -> None:
    """Check the settings of a run's calls.

    Raises:
        InvalidInput: one of them has no possible value.
    """
    check_whole("max_concurrency", max_concurrency, least=1)
    check_whole("max_retries", max_retries, least=0)
    check_seconds("timeout", timeout)


def check_known(owner: str, given: Iterable[str], known: Iterable[str], note: str = "") -> None:
    """Check that there are settings of these names.

    Args:
        owner: what messages call the one that has the settings.
        given: the names that were given.
        known: the names that there are.
        note: what messages add to the list of all names.

    Raises:
        InvalidInput: there is no such setting; the message has the nearest name, or all of them.
    """
    names = list(known)
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        close = difflib.get_close_matches(unknown, names, n=1)
        cure = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(names)}{note}"
        raise InvalidInput(f"{owner} has no setting {unknown!r}: {cure}")
