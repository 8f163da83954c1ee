"""The rows of a run and their scores, in input order: what an ``Evaluation`` holds, before anybody looks at it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, TypeVar

from .._kernel._layout import printable
from .._kernel._metric import Metric
from .._kernel._sample import Sample
from .._store._loaded_run import LoadedRun
from .._store._prices import ModelUsage
from .._store._records import Records
from .._store._run_settings import RunSettings
from .._store._scored_by import MetricColumn
from ._scores import Scores
from ._summary import size_in_words

__all__ = ["ScoredRows"]

Run = TypeVar("Run", bound="ScoredRows")


@dataclass(frozen=True, repr=False)
class ScoredRows:
    """Rows and their scores, in input order.

    Attributes:
        records: every row with its place and its scores; made when it is looked at, so changing one changes nothing.
        metrics: the metrics, in the order given.
        caveats: what must be known about the models that were asked.
        source: name of the file that was read, or "".
        seconds: wall time of the run; None if it is not known.
        models: what every model was asked.
        stopped: why the run ended before its last row; None if it did not.
        earlier: what every model was asked in earlier parts of the run, before this one went on with it.
        waited: seconds that the rows of each metric have waited for models, all rows together.
        run_dir: where it is kept; None if it is not.
        settings: what decides about the scores, as ``run.json`` holds it; None where nobody knows, as in a file of scores.
    """

    records: Records
    metrics: tuple[MetricColumn, ...]
    caveats: tuple[str, ...] = ()
    source: str = ""
    seconds: float | None = None
    models: tuple[ModelUsage, ...] = ()
    stopped: str | None = None
    earlier: tuple[ModelUsage, ...] = ()
    waited: Mapping[str, float] = field(default_factory=dict)
    run_dir: Path | None = None
    settings: RunSettings | None = field(default=None, compare=False)  # a model may be known by nothing but itself

    @classmethod
    def of(cls: type[Run], run: LoadedRun) -> Run:
        """The result of a run, from the account of it."""
        return cls(run.records, run.metrics, run_dir=run.run_dir, settings=run.settings, **vars(run.account))

    @classmethod
    def load(cls: type[Run], run_dir: str | os.PathLike[str]) -> Run:
        """What the run in this directory has finished so far; its rows are read when they are looked at.

        Args:
            run_dir: the directory of a run, or a file that ``to_jsonl`` or ``--out`` wrote; that tells no settings and no models.

        Raises:
            InvalidInput: it is neither, or nothing was finished there.
        """
        return cls.of(LoadedRun.of(Path(run_dir)))

    @cached_property
    def rows(self) -> Sequence[Sample]:
        """The samples that were evaluated."""
        return self.records.samples()

    @cached_property
    def places(self) -> Sequence[str]:
        """Where each row stood in the input, such as ``questions.jsonl, line 7``."""
        return self.records.places()

    @cached_property
    def scores(self) -> Scores:
        """``scores[metric]`` or ``scores["name"]``: that metric's scores, one per row."""
        return Scores({item.name: self.records.scores(item.name) for item in self.metrics})

    __iter__: ClassVar[None] = None  # rows, metrics or scores: who goes through them says which

    def __getitem__(self, metric: str | Metric) -> list[float | None]:
        """The values of a metric, one per row; None where a row was not scored. ``scores[metric]`` tells why."""
        return [score.value for score in self.scores[metric]]

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        # reads no score: asyncio puts the result into the repr of a task that is done
        size = size_in_words(len(self), len(self.metrics))
        return printable(f"<Evaluation of {size}: {', '.join(item.name for item in self.metrics)}>")
