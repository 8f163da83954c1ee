"""The arguments of ``evaluate`` and ``Scorer``, other than the rows. They are checked here, so that no other module has to.

A check raises ``InvalidInput`` that names the argument and its possible values. A mapping of metrics says which rows each metric
is asked about: ``evaluate(rows, {"faithfulness": None, "recall": lambda sample: sample.reference_documents is not None})``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

from .._gate._gates import Gate, parsed_gates
from .._kernel._metric import Metric
from .._names._named import metrics_named
from .._read._input_file import FileOptions
from .._show._progress import Progress, check_progress
from .._values._errors import InvalidInput, Setting
from .._values._requests import AnyEmbeddings, AnyLLM
from .._values._sample import Row, Sample
from .._values._settings import check_calls, check_run_dir, check_seconds, check_whole
from ._evaluation import Evaluation
from ._sinks import Sink

T = TypeVar("T", "ScorerOptions", "RunOptions")


def options_of(kind: type[T], arguments: Mapping[str, Any]) -> T:
    """Pick the options from all arguments of a function, by name."""
    return kind(**{item.name: arguments[item.name] for item in fields(kind)})


@dataclass(frozen=True)
class ScorerOptions:
    """The keyword arguments of ``Scorer`` that ``evaluate`` has too; its docstring explains them.

    Raises:
        InvalidInput: an argument has an impossible value.
    """

    llm: AnyLLM | str | None
    embeddings: AnyEmbeddings | str | None
    max_concurrency: int
    on_error: str
    repeats: int
    budget: Mapping[str, float] | None
    timeout: float | None
    max_retries: int
    empty: str
    sinks: Iterable[Sink]

    def __post_init__(self) -> None:
        if callable(self.sinks) or not isinstance(self.sinks, Iterable):
            raise InvalidInput(f"sinks must be a list of functions, got {self.sinks!r}")
        object.__setattr__(self, "sinks", tuple(self.sinks))  # read once
        for place, sink in enumerate(self.sinks):
            if not callable(sink):
                raise InvalidInput(f"sinks[{place}] must be a function of a row with its scores, got {sink!r}")
        check_calls(self.max_concurrency, self.max_retries, self.timeout)
        check_whole("repeats", self.repeats, least=1)
        check_choice("on_error", self.on_error, "record", "raise")
        check_choice("empty", self.empty, "skip", "zero")


@dataclass(frozen=True)
class Batch:
    """How questions are asked in batches, which providers answer within a day at half the price.

    Attributes:
        poll: seconds between two looks at the batches.
        window_rows: the questions of this many rows are sent at a time.
        grace: seconds for which a batch is looked for if its creation got no answer, before it is created again.
        wait: False: send the questions and return; the same call continues later.
        finish_online: cancel the batches, keep what they have answered, and ask everything else online.

    Raises:
        InvalidInput: a value is impossible, or ``finish_online`` is given without ``wait``.
    """

    poll: float = 60.0
    window_rows: int = 20_000
    grace: float = 120.0
    wait: bool = True
    finish_online: bool = False

    def __post_init__(self) -> None:
        for name in ("poll", "grace"):
            check_seconds(name, getattr(self, name), option=f"batch_{name}", or_none=False)
        check_whole("window_rows", self.window_rows, least=1)
        if self.finish_online and not self.wait:
            left_out = Setting("no_wait", python="wait=False")
            raise InvalidInput(Setting("finish_online"), " waits for all answers: leave ", left_out, " out")


WHEN_DECIDED = "when_decided"


@dataclass(frozen=True)
class Stop:
    """When a run stops, and how its gates are decided: the arguments of ``Evaluation.gate``.

    The run scores rows in a random order, drawn with its ``seed``, and stops as soon as all gates are decided. The verdicts are in
    ``Evaluation.decision``. Its intervals are wider than those of other runs, because they hold at any number of rows: see ``left``
    and `ragmetrics_core.statistics.always_valid_interval`.

    Attributes:
        by: the path of a column: each gate is decided for every value in it too, and the run stops when all of them are.
        cluster: the path of a column: rows with the same value are alike, and are drawn together.
        min_coverage: a gate fails if less than this share of its rows has a score; such rows do not stop the run.
        max_failed: the same for rows that failed.
        baseline: the earlier run from which drops are measured, or its path.
        allow_different_judges: measure drops even if the judges of the two runs differ.
    """

    by: str | None = None
    cluster: str | None = None
    min_coverage: float = 0.9
    max_failed: float = 0.05
    baseline: Evaluation | str | os.PathLike[str] | None = None
    allow_different_judges: bool = False


@dataclass(frozen=True)
class RunOptions:
    """The other keyword arguments of ``evaluate``: the rows, and what is kept of them.

    Raises:
        InvalidInput: an argument has an impossible value.
    """

    run_dir: str | os.PathLike[str] | None
    progress: Progress
    limit: int | None
    sample: int | None
    seed: int
    replace: bool
    encoding: str | None
    at: str | None
    columns: Mapping[str, str] | None
    separator: str | None
    batch: Batch | bool | None
    gates: str | Gate | Iterable[str | Gate]
    stop: Literal["when_decided"] | Stop | None

    def __post_init__(self) -> None:
        for name in ("limit", "sample"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), least=1)
        check_whole("seed", self.seed)
        check_progress(self.progress)
        check_replace(self.replace, self.run_dir)
        check_run_dir(self.run_dir)
        if not isinstance(self.batch, Batch | bool | None):
            raise InvalidInput(Setting("batch"), f" must be True, False or a Batch, got {self.batch!r}")
        if self.batches is not None and self.run_dir is None:
            raise InvalidInput(Setting("batch"), " keeps what it sends in a directory: give ", Setting("run_dir", ...))
        if self.stop is None and self.gates:
            why = " only decide when a run stops: give ", Setting("stop", WHEN_DECIDED)
            raise InvalidInput(Setting("gates"), *why, ", or decide the finished run with .gate(...)")
        if self.stop is not None:
            if self.stop != WHEN_DECIDED and not isinstance(self.stop, Stop):
                raise InvalidInput(Setting("stop"), f" must be {WHEN_DECIDED!r}, a Stop or None, got {self.stop!r}")
            if self.batches is not None:
                raise InvalidInput(Setting("batch"), " asks for all rows at once: leave ", Setting("stop"), " out")
            _ = self.parsed_gates

    @property
    def stopping(self) -> Stop | None:
        """When the run stops before its last row; None: it does not."""
        return self.stop if isinstance(self.stop, Stop) else Stop() if self.stop else None

    @cached_property
    def parsed_gates(self) -> list[Gate]:
        """The gates."""
        return parsed_gates([self.gates] if isinstance(self.gates, str | Gate) else self.gates)

    @property
    def batches(self) -> Batch | None:
        """How questions are asked in batches; None: they are asked online."""
        return Batch() if self.batch is True else self.batch or None

    @property
    def file(self) -> FileOptions:
        """The options for reading the file of rows."""
        return FileOptions(self.encoding, self.at)

    @property
    def directory(self) -> Path | None:
        """The run directory; None without one."""
        return None if self.run_dir is None else Path(self.run_dir)

    @property
    def most_rows(self) -> int | None:
        """The largest number of rows to score; None: all."""
        return min(filter(None, (self.limit, self.sample)), default=None)

    @property
    def sampled(self) -> dict[str, int | None] | None:
        """How rows are chosen at random, as in ``run.json``; None: all rows are taken."""
        return None if self.sample is None else {"sample": self.sample, "seed": self.seed, "limit": self.limit}


def checked_metrics(metrics: Any) -> tuple[Metric, ...]:
    """Return the metrics as objects: at least one, and no two with the same name.

    Raises:
        InvalidInput: there are none, two have the same name, or an item is not a metric.
    """
    several = isinstance(metrics, Iterable) and not isinstance(metrics, Metric | type | str)
    listed: Iterable[Any] = metrics if several else (metrics,)
    named = (metrics_named([item]) if isinstance(item, str) else [item] for item in listed)
    instances: tuple[Any, ...] = tuple(chain.from_iterable(named))
    if not instances:
        raise InvalidInput("metrics is empty: give at least one metric")
    for item in instances:
        check_metric(item)
    check_names(instances)
    return instances


def check_metric(item: object) -> None:
    """Check that an item is an instance of ``Metric``."""
    if isinstance(item, type) and issubclass(item, Metric):
        raise InvalidInput(f"metrics must be instances, got the class {item.__name__}: write {item.__name__}()")
    if not isinstance(item, Metric):
        raise InvalidInput(f"metrics must be Metric instances such as Faithfulness(), got {item!r}")


def check_names(metrics: Sequence[Metric]) -> None:
    """Check that all metrics have different names."""
    for item in metrics:
        namesakes = [other for other in metrics if other.name == item.name]
        if len(namesakes) > 1:
            first, second = namesakes[:2]
            raise InvalidInput(
                f"two metrics are named {item.name!r} ({first!r} and {second!r}): give one of them another name, "
                f"as in name='{item.name}_2'"
            )


def check_replace(value: object, run_dir: object) -> None:
    """Check that ``replace`` is True or False, and True only with a run directory."""
    if not isinstance(value, bool):
        raise InvalidInput(f"replace must be True or False, got {value!r}")
    if value and run_dir is None:
        why = " only applies to the scores in a run directory: give "
        raise InvalidInput(Setting("replace"), why, Setting("run_dir", ...), ", or leave it out")


def check_choice(name: str, value: object, *known: str) -> None:
    """Check that an argument is one of the known words."""
    if value not in known:
        raise InvalidInput(Setting(name), f" must be {' or '.join(map(repr, known))}, got {value!r}")


Condition = Callable[[Sample], object]
"""Decides whether a metric is asked about a sample; its result counts as true or false."""


def conditions_of(metrics: Any) -> dict[str, Condition]:
    """Return the conditions of the metrics that are not asked about all samples, by name. ``metrics`` is the argument of
    ``evaluate``.

    Raises:
        InvalidInput: a mapping of metrics has a value that is neither a function nor None.
    """
    if not isinstance(metrics, Mapping):
        return {}
    conditions: dict[str, Condition] = {}
    for item, condition in metrics.items():
        if condition is None:
            continue
        if not callable(condition):
            raise InvalidInput(
                f"metrics[{item!r}] must be a function of a sample, or None for all samples, got {type(condition).__name__}"
            )
        conditions.update((metric.name, condition) for metric in checked_metrics([item]))
    return conditions


def with_conditions(rows: Iterator[Row], conditions: Mapping[str, Condition], names: Sequence[str]) -> Iterator[Row]:
    """Return the rows, each with the names of the metrics that are asked about it. All metrics are asked about a row that cannot be
    read.
    """
    return (_with_metrics(row, conditions, names) for row in rows) if conditions else rows


def _with_metrics(row: Row, conditions: Mapping[str, Condition], names: Sequence[str]) -> Row:
    if row.problem is not None:
        return row
    asked = (name for name in names if name not in conditions or conditions[name](row.sample))
    return replace(row, asked=frozenset(asked))
