"""The arguments of ``evaluate``, checked one by one: a check raises ``InvalidInput`` that names the argument and what it may be."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric
from .._names._metrics import metrics_named

__all__ = [
    "check_choice",
    "check_positive",
    "check_progress",
    "check_replace",
    "check_seconds",
    "check_whole",
    "checked_directory",
    "checked_metrics",
]

OPTIONAL = ("limit", "sample")


def checked_metrics(metrics: Any) -> tuple[Metric, ...]:
    """The metrics, at least one and each of another name; names are looked up.

    Raises:
        InvalidInput: there is none, two share a name, or something else stands among them.
    """
    several = isinstance(metrics, Iterable) and not isinstance(metrics, Metric | type | str)
    listed: Iterable[Any] = metrics if several else (metrics,)
    given: tuple[Any, ...] = tuple(
        made for item in listed for made in (metrics_named([item]) if isinstance(item, str) else [item])
    )
    if not given:
        raise InvalidInput("metrics is empty: give at least one metric")
    for item in given:
        if isinstance(item, type) and issubclass(item, Metric):
            raise InvalidInput(f"metrics must be instances, got the class {item.__name__}: write {item.__name__}()")
        if not isinstance(item, Metric):
            raise InvalidInput(f"metrics must be Metric instances such as Faithfulness(), got {item!r}")
    names = [item.name for item in given]
    for name in names:
        if names.count(name) > 1:
            first, second = [item for item in given if item.name == name][:2]
            raise InvalidInput(
                f"two metrics are named {name!r} ({first!r} and {second!r}): give one of them another name=..."
            )
    return given


def checked_directory(path: object) -> Path:
    """The path that was given."""
    if not isinstance(path, str | os.PathLike) or not str(path).strip() or "\0" in str(path):
        raise InvalidInput(f"run_dir must be the path of a directory, got {path!r}")
    return Path(path)


def check_progress(progress: object) -> None:
    """True, False or "always"."""
    if not (isinstance(progress, bool) or progress == "always"):
        raise InvalidInput(f"progress must be True, False or 'always', got {progress!r}")


def check_replace(value: object, run_dir: object) -> None:
    """True or False, and True only where there is a directory."""
    if not isinstance(value, bool):
        raise InvalidInput(f"replace must be True or False, got {value!r}")
    if value and run_dir is None:
        raise InvalidInput("replace=True is about the scores in a run_dir: give run_dir=..., or leave replace out")


def check_positive(**numbers: int | None) -> None:
    """Each is a whole number from 1; None where it may be left out."""
    for name, number in numbers.items():
        check_whole(name, number, least=1)


def check_whole(name: str, value: object, *, least: int | None = None) -> None:
    """A whole number; None where it may be left out."""
    if value is None and name in OPTIONAL:
        return
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        raise InvalidInput(f"{name} must be a whole number{'' if least is None else f' from {least}'}, got {value!r}")


def check_choice(name: str, value: object, *known: str) -> None:
    """One of the known words."""
    if value not in known:
        raise InvalidInput(f"{name} must be {' or '.join(map(repr, known))}, got {value!r}")


def check_seconds(name: str, value: object) -> None:
    """A positive number, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise InvalidInput(f"{name} must be a positive number of seconds, got {value!r}")
