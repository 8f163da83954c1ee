"""Checks of settings that several functions have, with one message for each; whole numbers have theirs in ``_whole``."""

from __future__ import annotations

import os

from ._errors import InvalidInput

__all__ = ["check_run_dir", "check_seconds"]


def check_seconds(name: str, value: object) -> None:
    """Check that a setting is a positive number, or None.

    Raises:
        InvalidInput: it is not.
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise InvalidInput(f"{name} must be a positive number of seconds, got {value!r}")


def check_run_dir(path: object) -> None:
    """Check that the directory of a run is a path, or None.

    Raises:
        InvalidInput: it is not.
    """
    if path is None:
        return
    if not isinstance(path, str | os.PathLike) or not str(path).strip() or "\0" in str(path):
        raise InvalidInput(f"run_dir must be the path of a directory, got {path!r}")
