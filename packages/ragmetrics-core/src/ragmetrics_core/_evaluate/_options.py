"""The arguments of ``evaluate`` besides rows and metrics, checked once, so that no other module needs to.

A check raises ``InvalidInput`` that names the argument and what it may be.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric
from .._kernel._requests import AnyEmbeddings, AnyLLM
from .._kernel._settings import check_run_dir, check_seconds, check_whole
from .._names._metrics import metrics_named
from .._read import FileOptions
from .._show._progress import Progress, check_progress


@dataclass(frozen=True)
class RunOptions:
    """How a run goes: the keyword arguments of ``evaluate``, which says what each of them means.

    Raises:
        InvalidInput: one of them may not have this value.
    """

    llm: AnyLLM | str | None
    embeddings: AnyEmbeddings | str | None
    run_dir: str | os.PathLike[str] | None
    max_concurrency: int
    on_error: str
    progress: Progress
    limit: int | None
    sample: int | None
    seed: int
    repeats: int
    budget: Mapping[str, float] | None
    timeout: float | None
    max_retries: int
    empty: str
    replace: bool
    encoding: str | None
    at: str | None
    columns: Mapping[str, str] | None
    separator: str | None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> RunOptions:
        """The options among all arguments of ``evaluate``, by name."""
        return cls(**{item.name: arguments[item.name] for item in fields(cls)})

    def __post_init__(self) -> None:
        for name in ("max_concurrency", "repeats"):
            check_whole(name, getattr(self, name), least=1)
        for name in ("limit", "sample"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), least=1)
        check_whole("max_retries", self.max_retries, least=0)
        check_whole("seed", self.seed)
        check_seconds("timeout", self.timeout)
        check_choice("on_error", self.on_error, "record", "raise")
        check_choice("empty", self.empty, "skip", "zero")
        check_progress(self.progress)
        check_replace(self.replace, self.run_dir)
        check_run_dir(self.run_dir)

    @property
    def file(self) -> FileOptions:
        """What is said about the file that the rows come from."""
        return FileOptions(self.encoding, self.at)

    @property
    def directory(self) -> Path | None:
        """Where the run is kept; None if it is not."""
        return None if self.run_dir is None else Path(self.run_dir)

    @property
    def most_rows(self) -> int | None:
        """Rows that are scored at most; None: all."""
        if self.sample is None or self.limit is None:
            return self.sample or self.limit
        return min(self.limit, self.sample)

    @property
    def sampled(self) -> dict[str, int | None] | None:
        """How rows are chosen at random, as ``run.json`` holds it; None: all are taken."""
        return None if self.sample is None else {"sample": self.sample, "seed": self.seed, "limit": self.limit}


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
        check_metric(item)
    check_names(given)
    return given


def check_metric(item: object) -> None:
    """An instance of ``Metric``."""
    if isinstance(item, type) and issubclass(item, Metric):
        raise InvalidInput(f"metrics must be instances, got the class {item.__name__}: write {item.__name__}()")
    if not isinstance(item, Metric):
        raise InvalidInput(f"metrics must be Metric instances such as Faithfulness(), got {item!r}")


def check_names(metrics: Sequence[Metric]) -> None:
    """Metrics of different names."""
    for item in metrics:
        namesakes = [other for other in metrics if other.name == item.name]
        if len(namesakes) > 1:
            first, second = namesakes[:2]
            raise InvalidInput(
                f"two metrics are named {item.name!r} ({first!r} and {second!r}): give one of them another name=..."
            )


def check_replace(value: object, run_dir: object) -> None:
    """True or False, and True only where there is a directory."""
    if not isinstance(value, bool):
        raise InvalidInput(f"replace must be True or False, got {value!r}")
    if value and run_dir is None:
        raise InvalidInput("replace=True is about the scores in a run_dir: give run_dir=..., or leave replace out")


def check_choice(name: str, value: object, *known: str) -> None:
    """One of the known words."""
    if value not in known:
        raise InvalidInput(f"{name} must be {' or '.join(map(repr, known))}, got {value!r}")
