"""The scores of a run by metric.

The rows of a run and their scores, in input order: what an ``Evaluation`` holds, as it is, and as tables for others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from .._kernel._metric import Metric
from .._store._loaded_run import LoadedRun
from .._store._prices import ModelUsage
from .._store._records import Records, record_line
from .._store._run_dir import SCORES, UNFINISHED, UNVERIFIED, Fault
from .._store._run_settings import MetricColumn, RunSettings
from .._values._errors import InvalidInput
from .._values._layout import printable
from .._values._sample import Sample
from .._values._score import Score
from ._export import frame_of, write_csv
from ._worst_rows import DisputedRows, WorstRows, disputed_rows, worst_rows

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]


class Scores(Mapping[str, Sequence[Score]]):
    """The scores of every metric, in row order; the key is the metric or its name."""

    def __init__(self, columns: Mapping[str, Sequence[Score]]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, metric: str | Metric) -> Sequence[Score]:
        name = metric.name if isinstance(metric, Metric) else metric
        if name not in self._columns:
            raise KeyError(f"no metric {name!r}; there are {', '.join(self._columns)}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"Scores({self._columns!r})"


Run = TypeVar("Run", bound="ScoredRows")
State = Literal["finished", "stopped", "interrupted", "damaged", "unverified"]


@contextmanager
def damage_first(*runs: ScoredRows) -> Iterator[None]:
    """An error in here says first which of the runs are damaged, as that may be the cause."""
    try:
        yield
    except InvalidInput as error:
        damaged = [f"{run.run_dir}: {run.doubt}" for run in runs if run.state == "damaged"]
        if not damaged:
            raise
        raise InvalidInput("; ".join(dict.fromkeys([*damaged, str(error)]))) from None


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
        stopped: why the run ended before its last row, or that its scores are damaged; None where neither is so.
        earlier: what every model was asked in earlier parts of the run, before this one went on with it.
        waited: seconds that the rows of each metric have waited for models, all rows together.
        run_dir: where it is kept; None if it is not.
        settings: what decides about the scores, as ``run.json`` holds it; None where it is not known, as in a file of scores.
        fault: ``damaged`` or ``unverified``, as ``state`` says; None where neither is so.
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
    fault: Fault | None = None

    @classmethod
    def of(cls: type[Run], run: LoadedRun) -> Run:
        """The result of a run, from the account of it."""
        account = {name: value for name, value in vars(run.account).items() if name != "seal"}
        return cls(run.records, run.metrics, run_dir=run.run_dir, settings=run.settings, **account)

    @classmethod
    def load(cls: type[Run], run_dir: str | os.PathLike[str]) -> Run:
        """What the run in this directory has finished so far; its rows are read when they are looked at.

        Args:
            run_dir: the directory of a run, or a file that ``to_jsonl`` or ``--out`` wrote; that tells no settings and no models.

        Raises:
            InvalidInput: it is neither, or nothing was finished there.
        """
        return cls.of(LoadedRun.of(Path(run_dir)))

    @property
    def state(self) -> State:
        """What became of the run.

        ``finished``; ``stopped`` on purpose, by a budget or a person; ``interrupted``: it has not come to its end; ``damaged``: its
        scores are not those that it ended with; ``unverified``: it is finished, and an earlier version kept no digest of them.
        """
        if self.fault == "damaged":
            return "damaged"
        if self.stopped is not None:
            return "interrupted" if self.stopped == UNFINISHED else "stopped"
        return self.fault or "finished"

    @property
    def doubt(self) -> str:
        """Why its scores may not be those that it ended with, in a sentence; empty where they are, or it has not ended."""
        return {"damaged": str(self.stopped), "unverified": UNVERIFIED}.get(self.fault or "", "")

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

    def worst(self, metric: str | Metric, n: int = 10) -> WorstRows:
        """The rows with the worst values of a metric, the worst first; ``print`` shows each with its evidence.

        The worst are the lowest, or the highest where the metric says that low values are good (``higher_is_better``). Rows
        without a value are not among them: ``summary()`` tells why they have none.

        Args:
            metric: the metric, or its name.
            n: how many rows, at least 1; fewer come where fewer have a value.

        Raises:
            InvalidInput: there is no such metric, neither end of its scale is the worse one, or ``n`` is no such number.
        """
        name = metric.name if isinstance(metric, Metric) else metric
        return worst_rows(self.records, self.metrics, name, n)

    def disagreements(self, metric: str | Metric, n: int = 10) -> DisputedRows:
        """The rows on which the jurors of a ``Jury`` differ, the most first; ``print`` shows each with the evidence of all jurors.

        By how much is the difference of two jurors on average. Rows on which they agree are not among them, nor are those where
        fewer than two have a value; of a metric that is no jury there are none.

        Args:
            metric: the jury, or its name.
            n: how many rows, at least 1.

        Raises:
            InvalidInput: there is no such metric, or ``n`` is no such number.
        """
        name = metric.name if isinstance(metric, Metric) else metric
        return disputed_rows(self.records, self.metrics, name, n)

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON object per row: its place, the sample, and every score with its evidence.

        Raises:
            InvalidInput: the path is that of the scores in the directory of the run, which hold just that.
        """
        self._spare_own_scores(path)
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(map(record_line, self.records))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a table for spreadsheets: one row per sample, in the columns of ``to_pandas()``.

        Lists are JSON in their cell. A text that a spreadsheet would take for a formula gets an apostrophe before it.

        Raises:
            InvalidInput: the path is that of the scores in the directory of the run.
        """
        self._spare_own_scores(path)
        write_csv(path, list(self.records), [item.name for item in self.metrics])

    def to_pandas(self, *, evidence: bool = False) -> pd.DataFrame:
        """One row per sample, in columns of one type each, so that ``to_parquet`` and ``to_sql`` take the frame as it is.

        * the fields of the sample that any row has; a document that is no text is one of JSON;
        * ``metadata.<key>``: a column per key. Values of different kinds, lists and objects become texts of JSON;
        * ``<metric>``: the value; ``<metric>_passing``, where the metric gives verdicts; ``<metric>_label``, where it labels rows;
          ``<metric>_state``; ``<metric>_note``, the reason or the error.

        Where a metric is called as another column is, its columns get a number: ``response_2``.

        A pass rate is ``frame["<metric>_passing"].mean()``: over rows with a verdict, as in ``summary()``.

        Args:
            evidence: also ``<metric>_claims``, ``_parts`` (what they are, such as "response claims"), ``_verdicts``, ``_passages``
                and ``_against`` (numbers from 1 of passages that support and that contradict), ``_reasons``: lists of equal
                length, which ``frame.explode([...])`` makes rows of; and ``<metric>_details``, all evidence as JSON.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return frame_of(list(self.records), [item.name for item in self.metrics], evidence=evidence)

    def _spare_own_scores(self, path: str | os.PathLike[str]) -> None:
        if self.run_dir is not None and Path(path).resolve() == (self.run_dir / SCORES).resolve():
            raise InvalidInput(f"{path} holds these scores already: give another path")


def size_in_words(rows: int, metrics: int) -> str:
    """Such as ``12 rows, 1 metric``."""
    return f"{rows} row{'s' * (rows != 1)}, {metrics} metric{'s' * (metrics != 1)}"
