"""The settings of a live evaluation: one vocabulary for all adapters, and the checks.

Strategy. A wrong setting is told where it is written, and not by a thread in the background. An adapter passes on what it was
given, so what a user did not write down is not there, and ``current_names`` can tell a former name beside its current one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from .._kernel._errors import InvalidInput


class LiveSettings(TypedDict, total=False):
    """What the user of a live evaluation can set, whatever the framework; ``LiveEvaluation`` says what each means."""

    sample_rate: float
    seed: int | None
    only: Callable[[Any], object] | None
    on_result: Callable[[Any], object] | None
    max_pending: int
    workers: int
    keep: int | None
    timeout: float | None
    exit_timeout: float


SETTINGS = tuple(LiveSettings.__annotations__)


def current_names(given: Mapping[str, Any], former: Mapping[str, str]) -> dict[str, Any]:
    """Settings under their current names, with a ``DeprecationWarning`` for each that came under a former one.

    Args:
        given: the keyword arguments of a constructor, whose caller is the one to be warned.
        former: the former names, each with the current one.

    Raises:
        InvalidInput: a setting came under both names.
    """
    found = dict(given)
    for old, new in former.items():
        if old not in found:
            continue
        if new in found:
            raise InvalidInput(f"{old} is the former name of {new}: give {new} alone")
        warnings.warn(f"{old} is now called {new}", DeprecationWarning, stacklevel=3)
        found[new] = found.pop(old)
    return found


def check_share(name: str, value: Any) -> None:
    """Refuse what is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} is a share from 0 to 1, got {value!r}")


def check_count(name: str, value: Any) -> None:
    """Refuse what is no whole number from 1 up."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number, got {value!r}")
    if value < 1:
        raise InvalidInput(f"{name} must be at least 1, got {value!r}")


def check_seconds(name: str, value: Any, *, least: float) -> None:
    """Refuse what is no finite number of seconds, or less than the least."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value < math.inf:
        raise InvalidInput(f"{name} must be a number of seconds, at least {least:g}, got {value!r}")


def check_function(name: str, value: Any, argument: str | None) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise InvalidInput(f"{name} must be a function{f' of {argument}' if argument else ''}, got {value!r}")
